/** Opens backends: an engine and the target that kernels for it are compiled for. */
import { type GpuDescription, spirvTarget } from "../compiler/emit/spirv/target.js";
import { hasRelaxedSimd } from "../compiler/emit/wasm/multiply-add.js";
import { wasmTarget } from "../compiler/emit/wasm/target.js";
import type { TargetProfile } from "../compiler/target/profile.js";
import type { FragmentShape } from "../compiler/target/tile-profile.js";
import { DeviceError } from "../core/errors.js";
import type { ProgramCache } from "../engines/disk/program-cache.js";
import { isTuningAsked, tuningFile } from "../engines/disk/tuning-file.js";
import { type HostDevice, openHostDevice } from "../engines/host/device.js";
import type { VulkanDevice } from "../engines/vulkan/device.js";
import { finishAtExit, listDevices, openEngine } from "../engines/vulkan/open.js";
import { type DeviceType, isSoftware } from "../engines/vulkan/plan.js";
import { copyKernel } from "../spirv/copy-kernel.js";
import { floatControlsOf } from "../spirv/module/float-controls.js";
import { Backend } from "./backend.js";
import { type TunerOptions, withTilings } from "./tuning/tuner.js";

interface BackendOptions {
  /** Used instead of the device's own profile. */
  readonly profile?: TargetProfile;
  /** Null: nothing is kept on disk. */
  readonly files?: ProgramCache | null;
  /** Measured tilings, and whether to measure; without it there are none. */
  readonly tuning?: TunerOptions;
}

/** @internal for tests: backends with other profiles, and without files */
export function hostBackend(device: HostDevice = openHostDevice(), { profile, files, tuning }: BackendOptions = {}) {
  const target = wasmTarget(device.threads, profile, { relaxedSimd: device.mayFuse && hasRelaxedSimd() });
  return new Backend("cpu", device, tuning ? withTilings(target, tuning.store) : target, files, tuning);
}

/** The CPU, with what was measured on it. */
export function openHost() {
  const device = openHostDevice();
  return hostBackend(device, { tuning: tuningOf(device.name) });
}

/** The measured tilings of a device. `identity`: it and its driver, as text. */
const tuningOf = (identity: string): TunerOptions => ({ store: tuningFile(identity), isAsked: isTuningAsked() });

/** @internal for tests: backends with other profiles, without files, and of a described GPU */
export function vulkanBackend(
  id: string,
  device: VulkanDevice,
  { profile, files, tuning, gpu = describeGpu(device) }: BackendOptions & { readonly gpu?: GpuDescription } = {},
) {
  const target = spirvTarget(gpu, profile);
  return new Backend(id, device, tuning ? withTilings(target, tuning.store) : target, files, tuning);
}

/** A Vulkan device of this machine. `refusal`: why it cannot be used, or null. */
export interface ListedGpu {
  readonly index: number;
  readonly name: string;
  readonly isSoftware: boolean;
  readonly refusal: string | null;
}

/** The Vulkan devices, best first; none where there is no loader or no driver. */
export function listGpus(): ListedGpu[] {
  try {
    return listDevices().map(({ index, properties, refusal }) => ({
      index,
      name: properties.name,
      isSoftware: isSoftware(properties),
      refusal,
    }));
  } catch (error) {
    if (error instanceof DeviceError) return [];
    throw error;
  }
}

/** The Vulkan device with this number in the list of devices. */
export function openVulkan(id: string, index: number) {
  const device = openEngine({ index }, { copy: copyKernel });
  finishAtExit(device);
  const { name, driverName, driverInfo, driverVersion } = device.properties;
  return vulkanBackend(id, device, { tuning: tuningOf(`${name}, ${driverName} ${driverInfo} ${driverVersion}`) });
}

/** Multiprocessors by kind of device. Vulkan does not report their number; a guess is enough to choose tiles. */
const UNITS: Readonly<Record<DeviceType, number>> = { discrete: 128, virtual: 64, integrated: 16, other: 16, cpu: 4 };

/** Families of GPUs by the number of their maker (VkPhysicalDeviceProperties.vendorID). */
const FAMILIES: Readonly<Record<number, string>> = {
  4318: "nvidia",
  4098: "amd",
  32902: "intel",
  4203: "apple",
};

/** VK_SUBGROUP_FEATURE_SHUFFLE_BIT, VK_SUBGROUP_FEATURE_BALLOT_BIT */
const [SHUFFLE, BALLOT] = [0x10, 0x8];

/**
 * A Vulkan device as the compiler sees it.
 * @internal for tests: a description with other abilities is made from it
 */
export function describeGpu({ plan: { limits, features, deviceHeapBytes }, properties }: VulkanDevice): GpuDescription {
  const { size, min, max, operations } = properties.subgroup;
  const hasAtomic = (bits: 32 | 64) => features.includes(`shaderBufferFloat${bits}AtomicAdd`);
  return {
    isSoftware: isSoftware(properties),
    family: FAMILIES[properties.vendorId],
    units: UNITS[properties.type],
    sharedBytes: limits.maxComputeSharedMemorySize,
    maxThreads: Math.min(limits.maxComputeWorkGroupSize[0], limits.maxComputeWorkGroupInvocations),
    memoryBytes: deviceHeapBytes,
    maxColumns: limits.maxComputeWorkGroupCount[0],
    subgroupSize: operations & SHUFFLE ? size : 0,
    votingLanes: operations & SHUFFLE && operations & BALLOT && min === max ? size : 0,
    floatControls: {
      ...floatControlsOf(properties.floatControls),
      // Software drivers report it too, but some do not follow it.
      ...(!isSoftware(properties) &&
        properties.floatControls.shaderRoundingModeRTEFloat16 && { 16: { rounding: "RTE" } }),
    },
    // Vulkan leaves it to the driver. NVIDIA's GPUs have the instruction for both types; test/engines/vulkan/fused-multiply-add.test.ts looks.
    fusesMultiplyAdds: FAMILIES[properties.vendorId] === "nvidia",
    atomicFloats: [...(hasAtomic(32) ? (["f32"] as const) : []), ...(hasAtomic(64) ? (["f64"] as const) : [])],
    fragments: fragmentsOf(properties, features),
  };
}

/** The products of fragments that the device offers and our tiles use: 16×16, of f16, bf16 or i8, with a wider sum. */
function fragmentsOf(
  { cooperativeMatrices, subgroup, vendorId }: VulkanDevice["properties"],
  features: readonly string[],
): FragmentShape[] {
  // Tiles must know the size of a subgroup.
  const isUsable = features.includes("cooperativeMatrix") && features.includes("vulkanMemoryModel");
  if (!isUsable || subgroup.min !== subgroup.max) return [];
  return (["f16", "bf16", "i8"] as const).flatMap((operand) => {
    if (operand === "bf16" && !features.includes("shaderBFloat16CooperativeMatrix")) return [];
    const sum = operand === "i8" ? "i32" : "f32";
    const found = cooperativeMatrices.find(
      ({ m, n, a, b, c, result, scope }) =>
        scope === "subgroup" && m === 16 && n === 16 && a === operand && b === operand && c === sum && result === sum,
    );
    // Every NVIDIA GPU with matrix units gives lanes pairs of neighbours; test/engines/vulkan/fragment-layout.test.ts looks.
    const pairs = FAMILIES[vendorId] === "nvidia";
    return found ? [{ operand, rows: found.m, columns: found.n, depth: found.k, pairs }] : [];
  });
}
