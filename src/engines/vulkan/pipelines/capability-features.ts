/** Capabilities of modules, and the features of a device that allow them. The pipeline compiler asks before the driver sees a module. */
import { Capability } from "../../../spirv/enumerants.js";
import type { DevicePlan, PhysicalDevice } from "../plan.js";

/** Why the device cannot run a module with this capability, or null when it can. */
export function refuseCapability(capability: number, physical: PhysicalDevice, plan: DevicePlan): string | null {
  const feature = featureFor[capability];
  if (feature === true) return null;
  if (typeof feature === "number") {
    return (physical.subgroup.operations & feature) !== 0 ? null : `which ${physical.name} does not offer to subgroups`;
  }
  if (feature === undefined) return "which Pumice does not enable: it runs compute kernels over storage buffers";
  const has = feature.some((name) => plan.features.includes(name) || physical.floatControls[name]);
  return has ? null : `which ${physical.name} does not have (${feature.join(" or ")})`;
}

export const capabilityName = (capability: number): string =>
  Object.entries(Capability).find(([, value]) => value === capability)?.[0] ?? `capability ${capability}`;

const floatControl = (name: string) => [16, 32, 64].map((width) => `shader${name}Float${width}`);

/** Capability → the features any of which allow it; `true` when Vulkan 1.2 guarantees it; a number: subgroup operations. */
const featureFor: Readonly<Record<number, true | number | readonly string[]>> = {
  [Capability.Matrix]: true,
  [Capability.Shader]: true,
  [Capability.PhysicalStorageBufferAddresses]: true,
  [Capability.UniformDecoration]: true,
  [Capability.Float64]: ["shaderFloat64"],
  [Capability.Int64]: ["shaderInt64"],
  [Capability.Int16]: ["shaderInt16"],
  [Capability.Int8]: ["shaderInt8"],
  [Capability.Float16]: ["shaderFloat16"],
  [Capability.StorageBuffer16BitAccess]: ["storageBuffer16BitAccess"],
  [Capability.UniformAndStorageBuffer16BitAccess]: ["uniformAndStorageBuffer16BitAccess"],
  [Capability.StoragePushConstant16]: ["storagePushConstant16"],
  [Capability.StorageBuffer8BitAccess]: ["storageBuffer8BitAccess"],
  [Capability.UniformAndStorageBuffer8BitAccess]: ["uniformAndStorageBuffer8BitAccess"],
  [Capability.StoragePushConstant8]: ["storagePushConstant8"],
  [Capability.Int64Atomics]: ["shaderBufferInt64Atomics", "shaderSharedInt64Atomics"],
  [Capability.VariablePointersStorageBuffer]: ["variablePointersStorageBuffer"],
  [Capability.VariablePointers]: ["variablePointers"],
  [Capability.VulkanMemoryModel]: ["vulkanMemoryModel"],
  [Capability.VulkanMemoryModelDeviceScope]: ["vulkanMemoryModelDeviceScope"],
  [Capability.AtomicFloat32AddEXT]: ["shaderBufferFloat32AtomicAdd", "shaderSharedFloat32AtomicAdd"],
  [Capability.AtomicFloat64AddEXT]: ["shaderBufferFloat64AtomicAdd", "shaderSharedFloat64AtomicAdd"],
  [Capability.CooperativeMatrixKHR]: ["cooperativeMatrix"],
  [Capability.BFloat16TypeKHR]: ["shaderBFloat16Type"],
  [Capability.BFloat16DotProductKHR]: ["shaderBFloat16DotProduct"],
  [Capability.BFloat16CooperativeMatrixKHR]: ["shaderBFloat16CooperativeMatrix"],
  [Capability.DenormPreserve]: floatControl("DenormPreserve"),
  [Capability.DenormFlushToZero]: floatControl("DenormFlushToZero"),
  [Capability.SignedZeroInfNanPreserve]: floatControl("SignedZeroInfNanPreserve"),
  [Capability.RoundingModeRTE]: floatControl("RoundingModeRTE"),
  [Capability.RoundingModeRTZ]: floatControl("RoundingModeRTZ"),
  [Capability.GroupNonUniform]: 0x01,
  [Capability.GroupNonUniformVote]: 0x02,
  [Capability.GroupNonUniformArithmetic]: 0x04,
  [Capability.GroupNonUniformBallot]: 0x08,
  [Capability.GroupNonUniformShuffle]: 0x10,
  [Capability.GroupNonUniformShuffleRelative]: 0x20,
  [Capability.GroupNonUniformClustered]: 0x40,
  [Capability.GroupNonUniformQuad]: 0x80,
};
