/** Opens backends: an engine and the target that kernels for it are compiled for. */
import { type GpuDescription, spirvTarget } from "../compiler/emit/spirv/target.js";
import { hasRelaxedSimd } from "../compiler/emit/wasm/multiply-add.js";
import { wasmTarget } from "../compiler/emit/wasm/target.js";
import type { TargetProfile } from "../compiler/target/profile.js";
import type { FragmentShape } from "../compiler/target/tile-profile.js";
import { DeviceError } from "../core/errors.js";
import type { ProgramCache } from "../engines/disk/program-cache.js";
import { type HostDevice, openHostDevice } from "../engines/host/device.js";
import type { VulkanDevice } from "../engines/vulkan/device.js";
import { finishAtExit, listDevices, openEngine } from "../engines/vulkan/open.js";
import { type DeviceType, isSoftware } from "../engines/vulkan/plan.js";
import { copyKernel } from "../spirv/copy-kernel.js";
import { floatControlsOf } from "../spirv/float-controls.js";
import { Backend } from "./backend.js";

interface BackendOptions {
  /** Used instead of the device's own profile. */
  readonly profile?: TargetProfile;
  /** Null: nothing is kept on disk. */
  readonly files?: ProgramCache | null;
}

export function hostBackend(device: HostDevice = openHostDevice(), { profile, files }: BackendOptions = {}) {
  return new Backend(
    "cpu",
    device,
    wasmTarget(device.threads, profile, { relaxedSimd: device.mayFuse && hasRelaxedSimd() }),
    files,
  );
}

/** @internal for tests: backends with other profiles, without files, and of a described GPU */
export function vulkanBackend(
  id: string,
  device: VulkanDevice,
  { profile, files, gpu = describeGpu(device) }: BackendOptions & { readonly gpu?: GpuDescription } = {},
) {
  return new Backend(id, device, spirvTarget(gpu, profile), files);
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
  return vulkanBackend(id, device);
}

/** Multiprocessors by kind of device. Vulkan does not report their number; a guess is enough to choose tiles. */
const UNITS: Readonly<Record<DeviceType, number>> = { discrete: 128, virtual: 64, integrated: 16, other: 16, cpu: 4 };

/** Every NVIDIA GPU with matrix units gives lanes pairs of neighbours; test/engines/vulkan/fragment-layout.test.ts looks. */
const NVIDIA = 0x10de;

/** VK_SUBGROUP_FEATURE_SHUFFLE_BIT */
const SHUFFLE = 0x10;

/**
 * A Vulkan device as the compiler sees it.
 * @internal for tests: a description with other abilities is made from it
 */
export function describeGpu({ plan: { limits, features }, properties }: VulkanDevice): GpuDescription {
  const { size, operations } = properties.subgroup;
  const hasAtomic = (bits: 32 | 64) => features.includes(`shaderBufferFloat${bits}AtomicAdd`);
  return {
    isSoftware: isSoftware(properties),
    units: UNITS[properties.type],
    sharedBytes: limits.maxComputeSharedMemorySize,
    maxThreads: Math.min(limits.maxComputeWorkGroupSize[0], limits.maxComputeWorkGroupInvocations),
    maxColumns: limits.maxComputeWorkGroupCount[0],
    subgroupSize: operations & SHUFFLE ? size : 0,
    floatControls: {
      ...floatControlsOf(properties.floatControls),
      // Software drivers report it too, but some do not follow it.
      ...(!isSoftware(properties) &&
        properties.floatControls.shaderRoundingModeRTEFloat16 && { 16: { rounding: "RTE" } }),
    },
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
    const pairs = vendorId === NVIDIA;
    return found ? [{ operand, rows: found.m, columns: found.n, depth: found.k, pairs }] : [];
  });
}
