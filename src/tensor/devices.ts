/**
 * Devices as users name them: "cpu", "vulkan", "vulkan:1". A device is opened when the first tensor goes to it. The
 * default is the one that `PUMICE_DEVICE` names, else the best real GPU, else the CPU; never a software Vulkan driver.
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { checkFunction, inOperation } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import { DeviceError } from "../core/errors.js";
import { shown } from "../core/shown.js";
import type { Backend } from "../runtime/backend.js";
import { hostBackend, type ListedGpu, listGpus, openVulkan } from "../runtime/open.js";

const open = new Map<string, Backend>();
/** The default where no `withDevice` is at work. */
const everywhere: { device: string | null } = { device: null };
const within = new AsyncLocalStorage<{ device: string | null }>();
const choice = (): { device: string | null } => within.getStore() ?? everywhere;

/** The devices of this machine: Vulkan devices, best first, and the CPU, which is always there. */
export function devices(): string[] {
  checkCount("devices", 0, arguments);
  return [...usableVulkan().map(({ index }) => `vulkan:${index}`), "cpu"];
}

/** Vulkan devices that can be used; none where there is no loader or no driver. */
const usableVulkan = (): ListedGpu[] => vulkanDevices().filter(({ refusal }) => refusal === null);

let found: ListedGpu[] | undefined;
function vulkanDevices(): ListedGpu[] {
  found ??= listGpus();
  return found;
}

/** The device new tensors go to. */
export function defaultDevice(): string {
  checkCount("defaultDevice", 0, arguments);
  return defaultFor("defaultDevice");
}

function defaultFor(operation: string): string {
  const chosen = choice();
  const wish = process.env.PUMICE_DEVICE;
  chosen.device ??= wish ? canonical(wish, operation, ", which PUMICE_DEVICE names") : bestDevice();
  return chosen.device;
}

/** Makes another device the default: from now on or, inside `withDevice`, until that work is done. */
export function setDefaultDevice(device: string): void {
  checkCount("setDefaultDevice", 1, arguments);
  choice().device = canonical(device, "setDefaultDevice");
}

/** Runs `work` with another default device, which an asynchronous function keeps to its end. */
export function withDevice<T>(device: string, work: () => T): T {
  checkCount("withDevice", 2, arguments);
  checkFunction("withDevice", work);
  return within.run({ device: canonical(device, "withDevice") }, work);
}

function bestDevice(): string {
  const best = usableVulkan().find(({ isSoftware }) => !isSoftware);
  return best ? `vulkan:${best.index}` : "cpu";
}

/** The full name of a device, as "vulkan:0"; throws where there is none. `reason`: why it is asked for, for the message. */
function canonical(device: string, operation: string, reason = ""): string {
  if (device === "cpu" || open.has(device)) return device;
  const match = typeof device === "string" ? /^vulkan(?::(\d+))?$/.exec(device) : null;
  if (match && usableVulkan().length === 0) {
    throw new DeviceError(`${operation}: no Vulkan device was found; \`npx pumice doctor\` says what is missing.`);
  }
  const index = match?.[1] === undefined ? usableVulkan()[0]?.index : Number(match[1]);
  const listed = match && vulkanDevices().find((each) => each.index === index);
  if (!listed) {
    throw new DeviceError(
      `${operation}: there is no device ${shown(device)}${reason}; there are: ${devices().join(", ")}.`,
    );
  }
  if (listed.refusal !== null) {
    const { name, refusal } = listed;
    throw new DeviceError(`${operation}: ${device}${reason} (${name}) cannot be used: ${refusal}.`);
  }
  return `vulkan:${index}`;
}

/** @internal The open backend of a device; the operation is the one that asked for it. */
export function backendFor(device?: string, operation = "device"): Backend {
  const id = device === undefined ? defaultFor(operation) : canonical(device, operation);
  let backend = open.get(id);
  if (!backend) {
    const opened = inOperation(operation, () =>
      id === "cpu" ? hostBackend() : openVulkan(id, Number(id.split(":")[1])),
    );
    backend = opened as unknown as Backend;
    open.set(id, backend);
  }
  return backend;
}
