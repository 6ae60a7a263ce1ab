/** Lists, chooses and opens Vulkan devices. */
import { DeviceError } from "../../core/errors.js";
import { cacheFolder } from "../disk/cache-folder.js";
import { garbageShare } from "../garbage.js";
import { VulkanDevice } from "./device.js";
import type { Interposer } from "./driver/api.js";
import type { ValidationMode } from "./driver/validation.js";
import { type FoundDevice, Instance } from "./instance.js";
import type { EngineKernels } from "./memory/copy-kernels.js";
import { isSoftware, type PhysicalDevice, planDevice, rankDevice } from "./plan.js";

/** Options of `openDevice`. */
export interface OpenOptions {
  /** Open a software device (lavapipe, SwiftShader). They are never opened unless asked for. */
  readonly software?: boolean;
  /** Position in `listDevices()`. */
  readonly index?: number;
  /** Part of the device's name, in any case. */
  readonly name?: string;
  /** The folder of compiled pipelines; null keeps none. Defaults to the user's cache folder. */
  readonly cacheFolder?: string | null;
  /**
   * The share of the device's free memory that buffers nobody can reach may fill before garbage is collected. Defaults to
   * `PUMICE_GARBAGE`, else to a half on large GPUs, a quarter below 16 GiB, and an eighth below 4 GiB or where the memory is
   * the processor's.
   */
  readonly garbage?: number;
  /** Khronos validation; defaults to `PUMICE_VALIDATE`. */
  readonly validate?: ValidationMode;
  /** Wraps every driver function: for logging, counting and fault injection. */
  readonly interpose?: Interposer;
}

/** A Vulkan device of this machine, from `listDevices()`. */
export interface ListedDevice {
  readonly index: number;
  readonly properties: PhysicalDevice;
  /** Why it cannot be used, or null. */
  readonly refusal: string | null;
  /** Bytes this process may still take from each memory heap; null where the driver does not say. */
  readonly availableBytes: readonly number[] | null;
}

/** The Vulkan devices of this machine, best first. */
export function listDevices(options: Pick<OpenOptions, "interpose" | "validate"> = {}): ListedDevice[] {
  const instance = Instance.open(options);
  try {
    return ranked(instance).map(({ handle, description }, index) => {
      const result = planDevice(description, process.env);
      const isTold = description.extensions.includes("VK_EXT_memory_budget");
      const memory = isTold ? instance.memoryBudget(handle) : null;
      const availableBytes = memory?.budget.map((most, i) => Math.max(0, most - (memory.usage[i] ?? 0))) ?? null;
      return { index, properties: description, refusal: result.ok ? null : result.why, availableBytes };
    });
  } finally {
    instance.release();
  }
}

const ranked = (instance: Instance): FoundDevice[] =>
  [...instance.devices()].sort((a, b) => rankDevice(b.description) - rankDevice(a.description));

/** Opens the best real GPU, or the one asked for. */
export function openEngine(options: OpenOptions = {}, kernels: EngineKernels | null = null): VulkanDevice {
  const instance = Instance.open({
    ...(options.interpose ? { interpose: options.interpose } : {}),
    validate: options.validate,
  });
  try {
    const chosen = choose(ranked(instance), options);
    const result = planDevice(chosen.description, process.env);
    if (!result.ok) throw new DeviceError(`${chosen.description.name} cannot be used: ${result.why}.`);
    const folder = options.cacheFolder === undefined ? cacheFolder() : options.cacheFolder;
    const garbage = garbageShare(result.plan.garbage, options.garbage, "");
    const plan = { ...result.plan, garbage, dearGarbage: options.garbage ?? result.plan.dearGarbage };
    return new VulkanDevice(instance, chosen, plan, folder, kernels);
  } finally {
    instance.release();
  }
}

/** Waits for a device when the process ends: drivers crash if they are torn down while their threads still work. */
export function finishAtExit(device: VulkanDevice): void {
  process.once("exit", () => {
    try {
      device.finishSync();
    } catch {
      // A lost or closed device has nothing to wait for.
    }
  });
}

/** Chooses by the options; without any, `PUMICE_DEVICE=vulkan` allows the best Vulkan device, even a software one. */
function choose(devices: readonly FoundDevice[], options: OpenOptions): FoundDevice {
  const { index, name, software } = options;
  const listing = devices.map((device, i) => `${i}: ${device.description.name}`).join(", ") || "none";
  if (devices.length === 0)
    throw new DeviceError("No Vulkan device was found. `npx pumice doctor` says what is missing.");
  if (index !== undefined) {
    const found = devices[index];
    if (!found) throw new DeviceError(`There is no Vulkan device ${index}; there are: ${listing}.`);
    return found;
  }
  if (name !== undefined) {
    const found = devices.find((device) => device.description.name.toLowerCase().includes(name.toLowerCase()));
    if (!found) throw new DeviceError(`No Vulkan device's name contains "${name}"; there are: ${listing}.`);
    return found;
  }
  const wish = process.env.PUMICE_DEVICE;
  const named = software === undefined && wish ? /^(?:cpu|vulkan(?::(\d+))?)$/.exec(wish) : undefined;
  if (named === null)
    throw new DeviceError(`PUMICE_DEVICE=${wish} names no device: it takes cpu, vulkan or vulkan:<number>.`);
  if (named?.[1]) return choose(devices, { index: Number(named[1]) });
  const wanted =
    named && named[0] !== "cpu"
      ? devices
      : devices.filter((device) => isSoftware(device.description) === (software === true));
  const usable = wanted.find((device) => planDevice(device.description).ok) ?? wanted[0];
  if (usable) return usable;
  throw new DeviceError(
    software
      ? `No software Vulkan device was found (Debian: apt-get install mesa-vulkan-drivers); there are: ${listing}.`
      : `Only software Vulkan was found (${listing}). It is slow and is opened only when asked for: openDevice({ software: true }).`,
  );
}
