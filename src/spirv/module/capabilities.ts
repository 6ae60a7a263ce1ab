/**
 * The capabilities and extensions that features need.
 *
 * Nobody declares capabilities by hand: the builder requires one where it writes the type, variable or instruction that
 * needs it. This file has its two rules: the extension of each capability (until a SPIR-V version made it core), and the
 * capabilities of narrow numbers by the memory they are in.
 */
import { Capability } from "../enumerants.js";
import {
  CONTAINS_BFLOAT16,
  CONTAINS_FLOAT16,
  CONTAINS_INT8,
  CONTAINS_INT16,
  type StorageClassName,
  type Type,
} from "./types.js";

/** The SPIR-V versions the assembler writes, as [major, minor]. */
export type Version = readonly [1, 3 | 4 | 5 | 6];

interface Origin {
  readonly extension: string;
  /** Minor version of SPIR-V 1 from which the extension need not be named. */
  readonly coreSince?: number;
}

const EIGHT_BIT_STORAGE: Origin = { extension: "SPV_KHR_8bit_storage", coreSince: 5 };
const FLOAT_CONTROLS: Origin = { extension: "SPV_KHR_float_controls", coreSince: 4 };
const VULKAN_MEMORY_MODEL: Origin = { extension: "SPV_KHR_vulkan_memory_model", coreSince: 5 };
const INTEGER_DOT: Origin = { extension: "SPV_KHR_integer_dot_product", coreSince: 6 };
const FLOAT_ADD: Origin = { extension: "SPV_EXT_shader_atomic_float_add" };
const FLOAT_MIN_MAX: Origin = { extension: "SPV_EXT_shader_atomic_float_min_max" };
const BFLOAT16: Origin = { extension: "SPV_KHR_bfloat16" };

/** Capabilities that were not core in SPIR-V 1.3, and the extension each comes from. */
const ORIGINS: ReadonlyMap<number, Origin> = new Map<number, Origin>([
  [Capability.StorageBuffer8BitAccess, EIGHT_BIT_STORAGE],
  [Capability.UniformAndStorageBuffer8BitAccess, EIGHT_BIT_STORAGE],
  [Capability.StoragePushConstant8, EIGHT_BIT_STORAGE],
  [Capability.DenormPreserve, FLOAT_CONTROLS],
  [Capability.DenormFlushToZero, FLOAT_CONTROLS],
  [Capability.SignedZeroInfNanPreserve, FLOAT_CONTROLS],
  [Capability.RoundingModeRTE, FLOAT_CONTROLS],
  [Capability.RoundingModeRTZ, FLOAT_CONTROLS],
  [Capability.VulkanMemoryModel, VULKAN_MEMORY_MODEL],
  [Capability.VulkanMemoryModelDeviceScope, VULKAN_MEMORY_MODEL],
  [Capability.PhysicalStorageBufferAddresses, { extension: "SPV_KHR_physical_storage_buffer", coreSince: 5 }],
  [Capability.DotProduct, INTEGER_DOT],
  [Capability.DotProductInput4x8BitPacked, INTEGER_DOT],
  [Capability.AtomicFloat32AddEXT, FLOAT_ADD],
  [Capability.AtomicFloat64AddEXT, FLOAT_ADD],
  [Capability.AtomicFloat16AddEXT, { extension: "SPV_EXT_shader_atomic_float16_add" }],
  [Capability.AtomicFloat16MinMaxEXT, FLOAT_MIN_MAX],
  [Capability.AtomicFloat32MinMaxEXT, FLOAT_MIN_MAX],
  [Capability.AtomicFloat64MinMaxEXT, FLOAT_MIN_MAX],
  [Capability.GroupNonUniformRotateKHR, { extension: "SPV_KHR_subgroup_rotate" }],
  [Capability.ShaderClockKHR, { extension: "SPV_KHR_shader_clock" }],
  [Capability.CooperativeMatrixKHR, { extension: "SPV_KHR_cooperative_matrix" }],
  [Capability.BFloat16TypeKHR, BFLOAT16],
  [Capability.BFloat16DotProductKHR, BFLOAT16],
  [Capability.BFloat16CooperativeMatrixKHR, BFLOAT16],
]);

/** The extension to name beside `capability` in a module of SPIR-V 1.`minor`; undefined when it is core there. */
export function extensionFor(capability: number, minor: number): string | undefined {
  const origin = ORIGINS.get(capability);
  if (!origin || (origin.coreSince !== undefined && minor >= origin.coreSince)) return undefined;
  return origin.extension;
}

/**
 * Capabilities for computing with `type`. A module may load, store and widen narrow numbers with the storage capabilities
 * alone (many devices offer only those); constants, arithmetic, local variables and the rest need these.
 */
export function arithmeticCapabilities(type: Type): number[] {
  const needed: number[] = [];
  if (type.contents & CONTAINS_INT8) needed.push(Capability.Int8);
  if (type.contents & CONTAINS_INT16) needed.push(Capability.Int16);
  if (type.contents & CONTAINS_FLOAT16) needed.push(Capability.Float16);
  return needed;
}

const STORAGE_8 = [
  Capability.StorageBuffer8BitAccess,
  Capability.UniformAndStorageBuffer8BitAccess,
  Capability.StoragePushConstant8,
] as const;
const STORAGE_16 = [
  Capability.StorageBuffer16BitAccess,
  Capability.UniformAndStorageBuffer16BitAccess,
  Capability.StoragePushConstant16,
] as const;

/**
 * Capabilities that a module with narrow numbers (a mask of CONTAINS bits) must still declare: the type alone needs a storage
 * or the arithmetic capability, even in a conversion from f32 to f16 and back.
 */
export function declarationCapabilities(contents: number, declared: ReadonlySet<number>): number[] {
  const rows = [
    [CONTAINS_INT8, Capability.Int8, STORAGE_8],
    [CONTAINS_INT16, Capability.Int16, STORAGE_16],
    [CONTAINS_FLOAT16, Capability.Float16, STORAGE_16],
  ] as const;
  return rows
    .filter(([bit, , storage]) => contents & bit && !storage.some((capability) => declared.has(capability)))
    .map(([, arithmetic]) => arithmetic);
}

/** Capabilities for `type` in memory of a storage class. */
export function storageCapabilities(storage: StorageClassName, type: Type): number[] {
  const has8 = (type.contents & CONTAINS_INT8) !== 0;
  const has16 = (type.contents & (CONTAINS_INT16 | CONTAINS_FLOAT16 | CONTAINS_BFLOAT16)) !== 0;
  const needed: number[] = [];
  switch (storage) {
    case "StorageBuffer":
    case "PhysicalStorageBuffer":
      if (has8) needed.push(Capability.StorageBuffer8BitAccess);
      if (has16) needed.push(Capability.StorageBuffer16BitAccess);
      return needed;
    case "Uniform":
      if (has8) needed.push(Capability.UniformAndStorageBuffer8BitAccess);
      if (has16) needed.push(Capability.UniformAndStorageBuffer16BitAccess);
      return needed;
    case "PushConstant":
      if (has8) needed.push(Capability.StoragePushConstant8);
      if (has16) needed.push(Capability.StoragePushConstant16);
      return needed;
    default:
      return arithmeticCapabilities(type);
  }
}
