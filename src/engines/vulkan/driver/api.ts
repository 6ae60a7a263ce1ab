/**
 * Every Vulkan function the runtime calls, as data: name → "result: argument types".
 *
 * Pointers and handles are `u64`; JavaScript passes them as numbers (addresses fit in 53 bits) or, for the few drivers
 * that hand out full-width handles, as bigints. Because there is one table, one wrapper sees every driver call: tests log,
 * count and inject faults with it, and `PUMICE_DEBUG` traces.
 */

/** A Vulkan handle or an address. Numbers where they are exact, bigints otherwise. */
export type Handle = number | bigint;

/** Functions that exist before there is an instance. */
export const globalSignatures = {
  vkEnumerateInstanceVersion: "i32: u64",
  vkEnumerateInstanceLayerProperties: "i32: u64 u64",
  vkEnumerateInstanceExtensionProperties: "i32: u64 u64 u64",
  vkCreateInstance: "i32: u64 u64 u64",
} as const;

export const instanceSignatures = {
  vkDestroyInstance: "void: u64 u64",
  vkEnumeratePhysicalDevices: "i32: u64 u64 u64",
  vkGetPhysicalDeviceProperties2: "void: u64 u64",
  vkGetPhysicalDeviceFeatures2: "void: u64 u64",
  vkGetPhysicalDeviceMemoryProperties2: "void: u64 u64",
  vkGetPhysicalDeviceQueueFamilyProperties2: "void: u64 u64 u64",
  vkEnumerateDeviceExtensionProperties: "i32: u64 u64 u64 u64",
  vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR: "i32: u64 u64 u64",
  vkCreateDevice: "i32: u64 u64 u64 u64",
  vkGetDeviceProcAddr: "u64: u64 u64",
  vkCreateDebugUtilsMessengerEXT: "i32: u64 u64 u64 u64",
  vkDestroyDebugUtilsMessengerEXT: "void: u64 u64 u64",
} as const;

export const deviceSignatures = {
  vkDestroyDevice: "void: u64 u64",
  vkGetDeviceQueue: "void: u64 u32 u32 u64",
  vkDeviceWaitIdle: "i32: u64",
  vkAllocateMemory: "i32: u64 u64 u64 u64",
  vkFreeMemory: "void: u64 u64 u64",
  vkMapMemory: "i32: u64 u64 u64 u64 u32 u64",
  vkUnmapMemory: "void: u64 u64",
  vkCreateBuffer: "i32: u64 u64 u64 u64",
  vkDestroyBuffer: "void: u64 u64 u64",
  vkGetBufferMemoryRequirements: "void: u64 u64 u64",
  vkBindBufferMemory: "i32: u64 u64 u64 u64",
  vkGetBufferDeviceAddress: "u64: u64 u64",
  vkCreateSemaphore: "i32: u64 u64 u64 u64",
  vkDestroySemaphore: "void: u64 u64 u64",
  vkGetSemaphoreCounterValue: "i32: u64 u64 u64",
  vkWaitSemaphores: "i32: u64 u64 u64",
  vkCreateCommandPool: "i32: u64 u64 u64 u64",
  vkDestroyCommandPool: "void: u64 u64 u64",
  vkResetCommandPool: "i32: u64 u64 u32",
  vkAllocateCommandBuffers: "i32: u64 u64 u64",
  vkBeginCommandBuffer: "i32: u64 u64",
  vkEndCommandBuffer: "i32: u64",
  vkQueueSubmit: "i32: u64 u32 u64 u64",
  vkCreateShaderModule: "i32: u64 u64 u64 u64",
  vkDestroyShaderModule: "void: u64 u64 u64",
  vkCreateDescriptorSetLayout: "i32: u64 u64 u64 u64",
  vkDestroyDescriptorSetLayout: "void: u64 u64 u64",
  vkCreatePipelineLayout: "i32: u64 u64 u64 u64",
  vkDestroyPipelineLayout: "void: u64 u64 u64",
  vkCreateComputePipelines: "i32: u64 u64 u32 u64 u64 u64",
  vkDestroyPipeline: "void: u64 u64 u64",
  vkCreatePipelineCache: "i32: u64 u64 u64 u64",
  vkGetPipelineCacheData: "i32: u64 u64 u64 u64",
  vkDestroyPipelineCache: "void: u64 u64 u64",
  vkCreateDescriptorPool: "i32: u64 u64 u64 u64",
  vkDestroyDescriptorPool: "void: u64 u64 u64",
  vkResetDescriptorPool: "i32: u64 u64 u32",
  vkAllocateDescriptorSets: "i32: u64 u64 u64",
  vkUpdateDescriptorSets: "void: u64 u32 u64 u32 u64",
  vkCreateQueryPool: "i32: u64 u64 u64 u64",
  vkDestroyQueryPool: "void: u64 u64 u64",
  vkGetQueryPoolResults: "i32: u64 u64 u32 u32 u64 u64 u64 u32",
  vkCmdBindPipeline: "void: u64 u32 u64",
  vkCmdBindDescriptorSets: "void: u64 u32 u64 u32 u32 u64 u32 u64",
  vkCmdPushDescriptorSetKHR: "void: u64 u32 u64 u32 u32 u64",
  vkCmdPushConstants: "void: u64 u64 u32 u32 u32 u64",
  vkCmdDispatch: "void: u64 u32 u32 u32",
  vkCmdExecuteCommands: "void: u64 u32 u64",
  vkCmdPipelineBarrier: "void: u64 u32 u32 u32 u32 u64 u32 u64 u32 u64",
  vkCmdCopyBuffer: "void: u64 u64 u64 u32 u64",
  vkCmdFillBuffer: "void: u64 u64 u64 u64 u32",
  vkCmdResetQueryPool: "void: u64 u64 u32 u32",
  vkCmdWriteTimestamp: "void: u64 u32 u64 u32",
  vkGetDeviceFaultInfoEXT: "i32: u64 u64 u64",
  vkGetMemoryHostPointerPropertiesEXT: "i32: u64 u32 u64 u64",
  vkGetPipelineExecutablePropertiesKHR: "i32: u64 u64 u64 u64",
  vkGetPipelineExecutableStatisticsKHR: "i32: u64 u64 u64 u64",
} as const;

export type GlobalFunction = keyof typeof globalSignatures;
export type InstanceFunction = keyof typeof instanceSignatures;
export type DeviceFunction = keyof typeof deviceSignatures;

/** The name of a driver function that Pumice calls. */
export type FunctionName = GlobalFunction | InstanceFunction | DeviceFunction;

/** A bound driver function. `void` functions return undefined; their result is never used. */
export type VulkanFunction = ((...args: Handle[]) => number) & {
  /** Runs the call on a worker thread. Only waiting calls use it. */
  async?: (...args: Handle[]) => Promise<number>;
};

export type FunctionTable<Name extends FunctionName> = Record<Name, VulkanFunction>;

/** Wraps each driver function as it is bound: the seam for logging, counting and fault injection. */
export type Interposer = (name: FunctionName, call: VulkanFunction) => VulkanFunction;

/** Functions that only exist when their extension or layer is on; the table omits them when the driver has none. */
export const optionalFunctions: ReadonlySet<FunctionName> = new Set<FunctionName>([
  "vkGetPipelineExecutablePropertiesKHR",
  "vkGetPipelineExecutableStatisticsKHR",
  "vkCmdPushDescriptorSetKHR",
  "vkGetDeviceFaultInfoEXT",
  "vkGetMemoryHostPointerPropertiesEXT",
  "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR",
  "vkCreateDebugUtilsMessengerEXT",
  "vkDestroyDebugUtilsMessengerEXT",
]);

export const VK_INCOMPLETE = 5;

/** VkResult names, for messages. */
export const resultNames: Readonly<Record<number, string>> = {
  0: "VK_SUCCESS",
  1: "VK_NOT_READY",
  2: "VK_TIMEOUT",
  3: "VK_EVENT_SET",
  4: "VK_EVENT_RESET",
  5: "VK_INCOMPLETE",
  [-1]: "VK_ERROR_OUT_OF_HOST_MEMORY",
  [-2]: "VK_ERROR_OUT_OF_DEVICE_MEMORY",
  [-3]: "VK_ERROR_INITIALIZATION_FAILED",
  [-4]: "VK_ERROR_DEVICE_LOST",
  [-5]: "VK_ERROR_MEMORY_MAP_FAILED",
  [-6]: "VK_ERROR_LAYER_NOT_PRESENT",
  [-7]: "VK_ERROR_EXTENSION_NOT_PRESENT",
  [-8]: "VK_ERROR_FEATURE_NOT_PRESENT",
  [-9]: "VK_ERROR_INCOMPATIBLE_DRIVER",
  [-10]: "VK_ERROR_TOO_MANY_OBJECTS",
  [-11]: "VK_ERROR_FORMAT_NOT_SUPPORTED",
  [-12]: "VK_ERROR_FRAGMENTED_POOL",
  [-13]: "VK_ERROR_UNKNOWN",
  [-1000069000]: "VK_ERROR_OUT_OF_POOL_MEMORY",
  [-1000072003]: "VK_ERROR_INVALID_EXTERNAL_HANDLE",
  [-1000161000]: "VK_ERROR_FRAGMENTATION",
  [-1000257000]: "VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS",
  [-1000011001]: "VK_ERROR_VALIDATION_FAILED_EXT",
  [-1000012000]: "VK_ERROR_INVALID_SHADER_NV",
  1000297000: "VK_PIPELINE_COMPILE_REQUIRED",
};

/** Flag bits, by the group they belong to. */
export const MemoryProperty = {
  deviceLocal: 1,
  hostVisible: 2,
  hostCoherent: 4,
  hostCached: 8,
} as const;
export const MemoryHeapDeviceLocal = 1;
export const QueueFlag = { graphics: 1, compute: 2, transfer: 4 } as const;
export const BufferUsage = {
  transferSrc: 0x1,
  transferDst: 0x2,
  storage: 0x20,
  indirect: 0x100,
  deviceAddress: 0x20000,
} as const;
export const PipelineStage = {
  top: 0x1,
  compute: 0x800,
  transfer: 0x1000,
  bottom: 0x2000,
  host: 0x4000,
} as const;
export const Access = {
  shaderRead: 0x20,
  shaderWrite: 0x40,
  transferRead: 0x800,
  transferWrite: 0x1000,
  hostRead: 0x2000,
  hostWrite: 0x4000,
} as const;
export const ShaderStageCompute = 0x20;
export const BindPointCompute = 1;
export const DescriptorStorageBuffer = 7;
