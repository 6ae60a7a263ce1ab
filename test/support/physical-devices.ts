/**
 * Physical devices as drivers describe them, written by hand from vulkan.gpuinfo.org reports: for tests of what is
 * decided about a device without having it. Only what the plan looks at is filled in with care.
 */
import type { DeviceLimits, PhysicalDevice } from "../../src/engines/vulkan/plan.js";

const MiB = 1024 * 1024;
const GiB = 1024 * MiB;

const limits: DeviceLimits = {
  maxPushConstantsSize: 256,
  maxStorageBufferRange: 4294967295,
  maxMemoryAllocationCount: 4096,
  maxMemoryAllocationSize: 4292870144,
  maxBufferSize: 2 ** 40,
  maxComputeSharedMemorySize: 49152,
  maxComputeWorkGroupCount: [2147483647, 65535, 65535],
  maxComputeWorkGroupInvocations: 1024,
  maxComputeWorkGroupSize: [1024, 1024, 64],
  maxPerStageDescriptorStorageBuffers: 1048576,
  minStorageBufferOffsetAlignment: 32,
  nonCoherentAtomSize: 64,
  timestampPeriod: 1,
  maxPushDescriptors: 32,
  minImportedHostPointerAlignment: 4096,
};

const basicFeatures = { timelineSemaphore: true, bufferDeviceAddress: true, scalarBlockLayout: true };
const features = {
  ...basicFeatures,
  shaderFloat64: true,
  shaderInt64: true,
  shaderInt16: true,
  storageBuffer16BitAccess: true,
  vulkanMemoryModel: true,
  vulkanMemoryModelDeviceScope: true,
};

const graphics = { flags: 15, count: 16, timestampValidBits: 64 };
const transfer = { flags: 12, count: 2, timestampValidBits: 64 };
const computeOnly = { flags: 14, count: 8, timestampValidBits: 64 };

const blank: PhysicalDevice = {
  name: "blank",
  type: "discrete",
  vendorId: 0x10de,
  deviceId: 1,
  apiVersion: [1, 3, 250],
  driverVersion: 1,
  driverName: "",
  driverInfo: "",
  deviceUUID: "00".repeat(16),
  driverUUID: "11".repeat(16),
  pipelineCacheUUID: "22".repeat(16),
  limits,
  subgroup: { size: 32, min: 32, max: 32, operations: 0xff },
  features,
  floatControls: {},
  extensions: [],
  memoryTypes: [],
  memoryHeaps: [],
  queueFamilies: [graphics, transfer, computeOnly],
  cooperativeMatrices: [],
};

/** A laptop of 2012: Kepler, the last driver that supports it, Vulkan 1.2 and few extensions. */
export const gt650m: PhysicalDevice = {
  ...blank,
  name: "GeForce GT 650M",
  apiVersion: [1, 2, 175],
  driverName: "NVIDIA",
  driverInfo: "470.256.02",
  limits: {
    ...limits,
    maxStorageBufferRange: 2 ** 31 - 1,
    minStorageBufferOffsetAlignment: 256,
    maxPushDescriptors: 0,
    minImportedHostPointerAlignment: 0,
    maxBufferSize: Number.MAX_SAFE_INTEGER,
  },
  extensions: ["VK_KHR_timeline_semaphore", "VK_KHR_buffer_device_address", "VK_EXT_scalar_block_layout"],
  // This driver lists many types without any property before the ones that matter.
  memoryTypes: [
    ...Array.from({ length: 7 }, () => ({ flags: 0, heap: 1 })),
    { flags: 1, heap: 0 },
    { flags: 1, heap: 0 },
    { flags: 6, heap: 1 },
    { flags: 14, heap: 1 },
  ],
  memoryHeaps: [
    { size: 1 * GiB, flags: 1 },
    { size: 12 * GiB, flags: 0 },
  ],
  queueFamilies: [graphics, { flags: 4, count: 1, timestampValidBits: 64 }],
};

export const h200: PhysicalDevice = {
  ...blank,
  name: "NVIDIA H200",
  apiVersion: [1, 4, 303],
  driverName: "NVIDIA",
  driverInfo: "570.86.15",
  limits: { ...limits, maxComputeSharedMemorySize: 233472, minStorageBufferOffsetAlignment: 16 },
  features: {
    ...features,
    shaderFloat16: true,
    shaderInt8: true,
    subgroupSizeControl: true,
    computeFullSubgroups: true,
    maintenance4: true,
    deviceFault: true,
    cooperativeMatrix: true,
    geometryShader: true,
  },
  extensions: [
    "VK_KHR_push_descriptor",
    "VK_EXT_memory_budget",
    "VK_EXT_external_memory_host",
    "VK_EXT_subgroup_size_control",
    "VK_KHR_maintenance4",
    "VK_EXT_shader_atomic_float",
    "VK_EXT_device_fault",
    "VK_KHR_cooperative_matrix",
    "VK_KHR_ray_query",
  ],
  memoryTypes: [
    { flags: 0, heap: 1 },
    { flags: 1, heap: 0 },
    { flags: 6, heap: 1 },
    { flags: 14, heap: 1 },
    { flags: 7, heap: 2 },
  ],
  memoryHeaps: [
    { size: 141 * GiB, flags: 1 },
    { size: 96 * GiB, flags: 0 },
    { size: 256 * MiB, flags: 1 },
  ],
  cooperativeMatrices: [{ m: 16, n: 16, k: 16, a: "f16", b: "f16", c: "f32", result: "f32", scope: "subgroup" }],
};

export const intel: PhysicalDevice = {
  ...blank,
  name: "Intel(R) UHD Graphics 620 (KBL GT2)",
  type: "integrated",
  vendorId: 0x8086,
  apiVersion: [1, 3, 255],
  driverName: "Intel open-source Mesa driver",
  limits: { ...limits, minStorageBufferOffsetAlignment: 4, maxComputeSharedMemorySize: 65536 },
  features: { ...features, shaderFloat64: false },
  extensions: ["VK_KHR_push_descriptor", "VK_EXT_memory_budget", "VK_EXT_external_memory_host"],
  subgroup: { size: 32, min: 8, max: 32, operations: 0xff },
  memoryTypes: [
    { flags: 1, heap: 0 },
    { flags: 7, heap: 0 },
    { flags: 15, heap: 0 },
  ],
  memoryHeaps: [{ size: 12 * GiB, flags: 1 }],
  queueFamilies: [{ flags: 7, count: 1, timestampValidBits: 36 }],
};

export const moltenVk: PhysicalDevice = {
  ...blank,
  name: "Apple M2",
  type: "integrated",
  vendorId: 0x106b,
  apiVersion: [1, 2, 283],
  driverName: "MoltenVK",
  features: { ...basicFeatures, shaderInt64: true, shaderInt16: true, shaderFloat16: true },
  extensions: [
    "VK_KHR_portability_subset",
    "VK_KHR_push_descriptor",
    "VK_EXT_subgroup_size_control",
    "VK_KHR_maintenance4",
  ],
  memoryTypes: [
    { flags: 1, heap: 0 },
    { flags: 15, heap: 0 },
    { flags: 11, heap: 0 },
    { flags: 0x11, heap: 0 },
  ],
  memoryHeaps: [{ size: 16 * GiB, flags: 1 }],
  queueFamilies: [{ flags: 7, count: 1, timestampValidBits: 64 }],
};

export const lavapipe: PhysicalDevice = {
  ...blank,
  name: "llvmpipe (LLVM 15.0.6, 256 bits)",
  type: "cpu",
  vendorId: 0x10005,
  apiVersion: [1, 3, 230],
  driverName: "llvmpipe",
  extensions: ["VK_KHR_push_descriptor", "VK_EXT_external_memory_host", "VK_EXT_subgroup_size_control"],
  memoryTypes: [{ flags: 15, heap: 0 }],
  memoryHeaps: [{ size: 2 * GiB, flags: 1 }],
  queueFamilies: [{ flags: 7, count: 1, timestampValidBits: 64 }],
};
