/** `pumice/vulkan`: the native layer, usable on its own. Buffers, kernels from any SPIR-V, and nothing in between. */

export type { ByteSource } from "../engines/byte-source.js";
export { cacheFolder, cacheKinds } from "../engines/disk/cache-folder.js";
export { cacheRefusal } from "../engines/disk/own-folder.js";
export { listTunings } from "../engines/disk/tuning-file.js";
export { Profile } from "../engines/profile.js";
export { type DeviceStats, VulkanDevice } from "../engines/vulkan/device.js";
export type { FunctionName, Interposer, VulkanFunction } from "../engines/vulkan/driver/api.js";
export { loaderRemedy } from "../engines/vulkan/driver/loader.js";
export { inspectLoader, type LoaderReport } from "../engines/vulkan/instance.js";
export { DeviceBuffer } from "../engines/vulkan/memory/buffer.js";
export { HostBuffer } from "../engines/vulkan/memory/host-buffer.js";
export { type ListedDevice, listDevices, type OpenOptions } from "../engines/vulkan/open.js";
export { Kernel, type RunOptions } from "../engines/vulkan/pipelines/kernel.js";
export type { KernelOptions } from "../engines/vulkan/pipelines/pipeline-compiler.js";
export { type DevicePlan, type PhysicalDevice, planDevice } from "../engines/vulkan/plan.js";
export * as spirv from "../spirv/index.js";
export * as catalogue from "./catalogue.js";
export { openDevice } from "./open.js";
