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
import { DEVICE_KINDS, type DeviceKind, type ListedDevice } from "../runtime/device-kinds.js";

const open = new Map<string, Backend>();
/** The default where no `withDevice` is at work. */
const everywhere: { device: string | null } = { device: null };
const within = new AsyncLocalStorage<{ device: string | null }>();
const choice = (): { device: string | null } => within.getStore() ?? everywhere;

/** The devices of this machine: Vulkan devices, best first, and the CPU, which is always there. */
export function devices(): string[] {
  checkCount("devices", 0, arguments);
  return DEVICE_KINDS.flatMap((kind) => usable(kind).map(({ index }) => nameOf(kind, index)));
}

const listed = new Map<DeviceKind, readonly ListedDevice[]>();

/** The devices of a kind, looked for once. */
function listedOf(kind: DeviceKind): readonly ListedDevice[] {
  const known = listed.get(kind) ?? kind.list();
  listed.set(kind, known);
  return known;
}

const usable = (kind: DeviceKind): ListedDevice[] => listedOf(kind).filter(({ refusal }) => refusal === null);

const nameOf = ({ name, isNumbered }: DeviceKind, index: number): string => (isNumbered ? `${name}:${index}` : name);

/** The device new tensors go to. */
export function defaultDevice(): string {
  checkCount("defaultDevice", 0, arguments);
  return defaultFor("defaultDevice");
}

function defaultFor(operation: string): string {
  const chosen = choice();
  chosen.device ??= firstDefault(operation);
  return chosen.device;
}

function firstDefault(operation: string): string {
  const wish = process.env.PUMICE_DEVICE;
  return wish ? canonical(wish, operation, ", which PUMICE_DEVICE names") : bestDevice();
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
  for (const kind of DEVICE_KINDS) {
    const best = usable(kind).find(({ isSoftware }) => !isSoftware);
    if (best) return nameOf(kind, best.index);
  }
  throw new DeviceError("There is no device.");
}

/** The full name of a device, as "vulkan:0"; throws where there is none. `reason`: why it is asked for, for the message. */
function canonical(device: string, operation: string, reason = ""): string {
  if (open.has(device)) return device;
  const { kind, index } = parsed(device);
  if (kind && usable(kind).length === 0) throw new DeviceError(`${operation}: ${kind.absence}.`);
  const found = kind && (index === null ? usable(kind)[0] : listedOf(kind).find((each) => each.index === index));
  if (!kind || !found) {
    throw new DeviceError(
      `${operation}: there is no device ${shown(device)}${reason}; there are: ${devices().join(", ")}.`,
    );
  }
  const { name, refusal } = found;
  if (refusal !== null) {
    throw new DeviceError(`${operation}: ${device}${reason} (${name}) cannot be used: ${refusal}.`);
  }
  return nameOf(kind, found.index);
}

/** The kind and number in a device's name. Kind null: it is no device's name. Index null: the name has no number. */
function parsed(device: string): { readonly kind: DeviceKind | null; readonly index: number | null } {
  const [, name, digits] = (typeof device === "string" && /^([a-z]+)(?::(\d+))?$/.exec(device)) || [];
  const kind = DEVICE_KINDS.find((each) => each.name === name && (each.isNumbered || digits === undefined)) ?? null;
  return { kind, index: digits === undefined ? null : Number(digits) };
}

/** @internal The open backend of a device; the operation is the one that asked for it. */
export function backendFor(device?: string, operation = "device"): Backend {
  const id = device === undefined ? defaultFor(operation) : canonical(device, operation);
  const known = open.get(id);
  if (known) return known;
  const { kind, index } = parsed(id);
  const backend = inOperation(operation, () => (kind as DeviceKind).open(id, index ?? 0));
  open.set(id, backend);
  return backend;
}
