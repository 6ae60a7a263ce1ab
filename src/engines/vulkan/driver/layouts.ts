/**
 * The layouts of Vulkan structs, transcribed from the registry, one per struct the runtime packs or reads. Feature structs
 * list only names, every member being a VkBool32; `planDevice` and `pumice info` use the same names.
 */
import { type Layout, layout } from "./structs.js";

export const VkApplicationInfo = layout(
  0,
  "pApplicationName:u64 applicationVersion:u32 pEngineName:u64 engineVersion:u32 apiVersion:u32",
);
export const VkInstanceCreateInfo = layout(
  1,
  `
    flags:u32 pApplicationInfo:u64 enabledLayerCount:u32 ppEnabledLayerNames:u64 enabledExtensionCount:u32
    ppEnabledExtensionNames:u64
  `,
);
export const VkLayerProperties = layout(
  undefined,
  "layerName:u8[256] specVersion:u32 implementationVersion:u32 description:u8[256]",
);
export const VkExtensionProperties = layout(undefined, "extensionName:u8[256] specVersion:u32");
export const VkValidationFeaturesEXT = layout(
  1000247000,
  `
    enabledValidationFeatureCount:u32 pEnabledValidationFeatures:u64 disabledValidationFeatureCount:u32
    pDisabledValidationFeatures:u64
  `,
);
export const VkDebugUtilsMessengerCreateInfoEXT = layout(
  1000128004,
  "flags:u32 messageSeverity:u32 messageType:u32 pfnUserCallback:u64 pUserData:u64",
);
export const VkDebugUtilsMessengerCallbackDataEXT = layout(
  1000128003,
  `
    flags:u32 pMessageIdName:u64 messageIdNumber:i32 pMessage:u64 queueLabelCount:u32 pQueueLabels:u64
    cmdBufLabelCount:u32 pCmdBufLabels:u64 objectCount:u32 pObjects:u64
  `,
);

/** VkPhysicalDeviceProperties with its VkPhysicalDeviceLimits laid out flat. */
export const VkPhysicalDeviceProperties2 = layout(
  1000059001,
  `
    | apiVersion:u32 driverVersion:u32 vendorID:u32 deviceID:u32 deviceType:u32 deviceName:u8[256]
    pipelineCacheUUID:u8[16] | maxImageDimension1D:u32 maxImageDimension2D:u32 maxImageDimension3D:u32
    maxImageDimensionCube:u32 maxImageArrayLayers:u32 maxTexelBufferElements:u32 maxUniformBufferRange:u32
    maxStorageBufferRange:u32 maxPushConstantsSize:u32 maxMemoryAllocationCount:u32 maxSamplerAllocationCount:u32
    bufferImageGranularity:u64 sparseAddressSpaceSize:u64 maxBoundDescriptorSets:u32
    maxPerStageDescriptorSamplers:u32 maxPerStageDescriptorUniformBuffers:u32
    maxPerStageDescriptorStorageBuffers:u32 maxPerStageDescriptorSampledImages:u32
    maxPerStageDescriptorStorageImages:u32 maxPerStageDescriptorInputAttachments:u32 maxPerStageResources:u32
    maxDescriptorSetSamplers:u32 maxDescriptorSetUniformBuffers:u32 maxDescriptorSetUniformBuffersDynamic:u32
    maxDescriptorSetStorageBuffers:u32 maxDescriptorSetStorageBuffersDynamic:u32 maxDescriptorSetSampledImages:u32
    maxDescriptorSetStorageImages:u32 maxDescriptorSetInputAttachments:u32 maxVertexInputAttributes:u32
    maxVertexInputBindings:u32 maxVertexInputAttributeOffset:u32 maxVertexInputBindingStride:u32
    maxVertexOutputComponents:u32 maxTessellationGenerationLevel:u32 maxTessellationPatchSize:u32
    maxTessellationControlPerVertexInputComponents:u32 maxTessellationControlPerVertexOutputComponents:u32
    maxTessellationControlPerPatchOutputComponents:u32 maxTessellationControlTotalOutputComponents:u32
    maxTessellationEvaluationInputComponents:u32 maxTessellationEvaluationOutputComponents:u32
    maxGeometryShaderInvocations:u32 maxGeometryInputComponents:u32 maxGeometryOutputComponents:u32
    maxGeometryOutputVertices:u32 maxGeometryTotalOutputComponents:u32 maxFragmentInputComponents:u32
    maxFragmentOutputAttachments:u32 maxFragmentDualSrcAttachments:u32 maxFragmentCombinedOutputResources:u32
    maxComputeSharedMemorySize:u32 maxComputeWorkGroupCount:u32[3] maxComputeWorkGroupInvocations:u32
    maxComputeWorkGroupSize:u32[3] subPixelPrecisionBits:u32 subTexelPrecisionBits:u32 mipmapPrecisionBits:u32
    maxDrawIndexedIndexValue:u32 maxDrawIndirectCount:u32 maxSamplerLodBias:f32 maxSamplerAnisotropy:f32
    maxViewports:u32 maxViewportDimensions:u32[2] viewportBoundsRange:f32[2] viewportSubPixelBits:u32
    minMemoryMapAlignment:u64 minTexelBufferOffsetAlignment:u64 minUniformBufferOffsetAlignment:u64
    minStorageBufferOffsetAlignment:u64 minTexelOffset:i32 maxTexelOffset:u32 minTexelGatherOffset:i32
    maxTexelGatherOffset:u32 minInterpolationOffset:f32 maxInterpolationOffset:f32
    subPixelInterpolationOffsetBits:u32 maxFramebufferWidth:u32 maxFramebufferHeight:u32 maxFramebufferLayers:u32
    framebufferColorSampleCounts:u32 framebufferDepthSampleCounts:u32 framebufferStencilSampleCounts:u32
    framebufferNoAttachmentsSampleCounts:u32 maxColorAttachments:u32 sampledImageColorSampleCounts:u32
    sampledImageIntegerSampleCounts:u32 sampledImageDepthSampleCounts:u32 sampledImageStencilSampleCounts:u32
    storageImageSampleCounts:u32 maxSampleMaskWords:u32 timestampComputeAndGraphics:u32 timestampPeriod:f32
    maxClipDistances:u32 maxCullDistances:u32 maxCombinedClipAndCullDistances:u32 discreteQueuePriorities:u32
    pointSizeRange:f32[2] lineWidthRange:f32[2] pointSizeGranularity:f32 lineWidthGranularity:f32 strictLines:u32
    standardSampleLocations:u32 optimalBufferCopyOffsetAlignment:u64 optimalBufferCopyRowPitchAlignment:u64
    nonCoherentAtomSize:u64 | residencyStandard2DBlockShape:u32 residencyStandard2DMultisampleBlockShape:u32
    residencyStandard3DBlockShape:u32 residencyAlignedMipSize:u32 residencyNonResidentStrict:u32 |
  `,
);
export const VkPhysicalDeviceVulkan11Properties = layout(
  50,
  `
    deviceUUID:u8[16] driverUUID:u8[16] deviceLUID:u8[8] deviceNodeMask:u32 deviceLUIDValid:u32 subgroupSize:u32
    subgroupSupportedStages:u32 subgroupSupportedOperations:u32 subgroupQuadOperationsInAllStages:u32
    pointClippingBehavior:u32 maxMultiviewViewCount:u32 maxMultiviewInstanceIndex:u32 protectedNoFault:u32
    maxPerSetDescriptors:u32 maxMemoryAllocationSize:u64
  `,
);
export const VkPhysicalDeviceVulkan12Properties = layout(
  52,
  `
    driverID:u32 driverName:u8[256] driverInfo:u8[256] major:u8 minor:u8 subminor:u8 patch:u8
    denormBehaviorIndependence:u32 roundingModeIndependence:u32 shaderSignedZeroInfNanPreserveFloat16:u32
    shaderSignedZeroInfNanPreserveFloat32:u32 shaderSignedZeroInfNanPreserveFloat64:u32
    shaderDenormPreserveFloat16:u32 shaderDenormPreserveFloat32:u32 shaderDenormPreserveFloat64:u32
    shaderDenormFlushToZeroFloat16:u32 shaderDenormFlushToZeroFloat32:u32 shaderDenormFlushToZeroFloat64:u32
    shaderRoundingModeRTEFloat16:u32 shaderRoundingModeRTEFloat32:u32 shaderRoundingModeRTEFloat64:u32
    shaderRoundingModeRTZFloat16:u32 shaderRoundingModeRTZFloat32:u32 shaderRoundingModeRTZFloat64:u32
    maxUpdateAfterBindDescriptorsInAllPools:u32 shaderUniformBufferArrayNonUniformIndexingNative:u32
    shaderSampledImageArrayNonUniformIndexingNative:u32 shaderStorageBufferArrayNonUniformIndexingNative:u32
    shaderStorageImageArrayNonUniformIndexingNative:u32 shaderInputAttachmentArrayNonUniformIndexingNative:u32
    robustBufferAccessUpdateAfterBind:u32 quadDivergentImplicitLod:u32
    maxPerStageDescriptorUpdateAfterBindSamplers:u32 maxPerStageDescriptorUpdateAfterBindUniformBuffers:u32
    maxPerStageDescriptorUpdateAfterBindStorageBuffers:u32 maxPerStageDescriptorUpdateAfterBindSampledImages:u32
    maxPerStageDescriptorUpdateAfterBindStorageImages:u32 maxPerStageDescriptorUpdateAfterBindInputAttachments:u32
    maxPerStageUpdateAfterBindResources:u32 maxDescriptorSetUpdateAfterBindSamplers:u32
    maxDescriptorSetUpdateAfterBindUniformBuffers:u32 maxDescriptorSetUpdateAfterBindUniformBuffersDynamic:u32
    maxDescriptorSetUpdateAfterBindStorageBuffers:u32 maxDescriptorSetUpdateAfterBindStorageBuffersDynamic:u32
    maxDescriptorSetUpdateAfterBindSampledImages:u32 maxDescriptorSetUpdateAfterBindStorageImages:u32
    maxDescriptorSetUpdateAfterBindInputAttachments:u32 supportedDepthResolveModes:u32
    supportedStencilResolveModes:u32 independentResolveNone:u32 independentResolve:u32
    filterMinmaxSingleComponentFormats:u32 filterMinmaxImageComponentMapping:u32
    maxTimelineSemaphoreValueDifference:u64 framebufferIntegerColorSampleCounts:u32
  `,
);
export const VkPhysicalDeviceSubgroupSizeControlProperties = layout(
  1000225000,
  "minSubgroupSize:u32 maxSubgroupSize:u32 maxComputeWorkgroupSubgroups:u32 requiredSubgroupSizeStages:u32",
);
export const VkPhysicalDevicePushDescriptorPropertiesKHR = layout(1000080000, "maxPushDescriptors:u32");
export const VkPhysicalDeviceMaintenance4Properties = layout(1000413001, "maxBufferSize:u64");
export const VkCooperativeMatrixPropertiesKHR = layout(
  1000506001,
  "MSize:u32 NSize:u32 KSize:u32 AType:u32 BType:u32 CType:u32 ResultType:u32 saturatingAccumulation:u32 scope:u32",
);
/** Memory types are (propertyFlags, heapIndex) pairs; heaps are (size, flags) pairs of 64-bit words. */
export const VkPhysicalDeviceMemoryProperties2 = layout(
  1000059006,
  "| memoryTypeCount:u32 memoryTypes:u32[64] memoryHeapCount:u32 memoryHeaps:u64[32]",
);
export const VkPhysicalDeviceMemoryBudgetPropertiesEXT = layout(1000237000, "heapBudget:u64[16] heapUsage:u64[16]");
export const VkQueueFamilyProperties2 = layout(
  1000059005,
  "queueFlags:u32 queueCount:u32 timestampValidBits:u32 width:u32 height:u32 depth:u32",
);

const features = (sType: number, names: string): Layout =>
  layout(
    sType,
    names
      .trim()
      .split(/\s+/)
      .map((name) => `${name}:u32`)
      .join(" "),
  );

export const VkPhysicalDeviceFeatures2 = features(
  1000059000,
  `
    robustBufferAccess fullDrawIndexUint32 imageCubeArray independentBlend geometryShader tessellationShader
    sampleRateShading dualSrcBlend logicOp multiDrawIndirect drawIndirectFirstInstance depthClamp depthBiasClamp
    fillModeNonSolid depthBounds wideLines largePoints alphaToOne multiViewport samplerAnisotropy
    textureCompressionETC2 textureCompressionASTC_LDR textureCompressionBC occlusionQueryPrecise
    pipelineStatisticsQuery vertexPipelineStoresAndAtomics fragmentStoresAndAtomics
    shaderTessellationAndGeometryPointSize shaderImageGatherExtended shaderStorageImageExtendedFormats
    shaderStorageImageMultisample shaderStorageImageReadWithoutFormat shaderStorageImageWriteWithoutFormat
    shaderUniformBufferArrayDynamicIndexing shaderSampledImageArrayDynamicIndexing
    shaderStorageBufferArrayDynamicIndexing shaderStorageImageArrayDynamicIndexing shaderClipDistance
    shaderCullDistance shaderFloat64 shaderInt64 shaderInt16 shaderResourceResidency shaderResourceMinLod
    sparseBinding sparseResidencyBuffer sparseResidencyImage2D sparseResidencyImage3D sparseResidency2Samples
    sparseResidency4Samples sparseResidency8Samples sparseResidency16Samples sparseResidencyAliased
    variableMultisampleRate inheritedQueries
  `,
);
export const VkPhysicalDeviceVulkan11Features = features(
  49,
  `
    storageBuffer16BitAccess uniformAndStorageBuffer16BitAccess storagePushConstant16 storageInputOutput16 multiview
    multiviewGeometryShader multiviewTessellationShader variablePointersStorageBuffer variablePointers
    protectedMemory samplerYcbcrConversion shaderDrawParameters
  `,
);
export const VkPhysicalDeviceVulkan12Features = features(
  51,
  `
    samplerMirrorClampToEdge drawIndirectCount storageBuffer8BitAccess uniformAndStorageBuffer8BitAccess
    storagePushConstant8 shaderBufferInt64Atomics shaderSharedInt64Atomics shaderFloat16 shaderInt8
    descriptorIndexing shaderInputAttachmentArrayDynamicIndexing shaderUniformTexelBufferArrayDynamicIndexing
    shaderStorageTexelBufferArrayDynamicIndexing shaderUniformBufferArrayNonUniformIndexing
    shaderSampledImageArrayNonUniformIndexing shaderStorageBufferArrayNonUniformIndexing
    shaderStorageImageArrayNonUniformIndexing shaderInputAttachmentArrayNonUniformIndexing
    shaderUniformTexelBufferArrayNonUniformIndexing shaderStorageTexelBufferArrayNonUniformIndexing
    descriptorBindingUniformBufferUpdateAfterBind descriptorBindingSampledImageUpdateAfterBind
    descriptorBindingStorageImageUpdateAfterBind descriptorBindingStorageBufferUpdateAfterBind
    descriptorBindingUniformTexelBufferUpdateAfterBind descriptorBindingStorageTexelBufferUpdateAfterBind
    descriptorBindingUpdateUnusedWhilePending descriptorBindingPartiallyBound
    descriptorBindingVariableDescriptorCount runtimeDescriptorArray samplerFilterMinmax scalarBlockLayout
    imagelessFramebuffer uniformBufferStandardLayout shaderSubgroupExtendedTypes separateDepthStencilLayouts
    hostQueryReset timelineSemaphore bufferDeviceAddress bufferDeviceAddressCaptureReplay
    bufferDeviceAddressMultiDevice vulkanMemoryModel vulkanMemoryModelDeviceScope
    vulkanMemoryModelAvailabilityVisibilityChains shaderOutputViewportIndex shaderOutputLayer
    subgroupBroadcastDynamicId
  `,
);

/** Features of extensions (or of versions past 1.2): queried when the extension or version is there. */
export const extensionFeatures: readonly {
  extension: string;
  since?: readonly [number, number];
  layout: Layout;
}[] = [
  {
    extension: "VK_EXT_subgroup_size_control",
    since: [1, 3],
    layout: features(1000225002, "subgroupSizeControl computeFullSubgroups"),
  },
  {
    extension: "VK_KHR_maintenance4",
    since: [1, 3],
    layout: features(1000413000, "maintenance4"),
  },
  {
    extension: "VK_EXT_shader_atomic_float",
    layout: features(
      1000260000,
      `
    shaderBufferFloat32Atomics shaderBufferFloat32AtomicAdd shaderBufferFloat64Atomics shaderBufferFloat64AtomicAdd
    shaderSharedFloat32Atomics shaderSharedFloat32AtomicAdd shaderSharedFloat64Atomics shaderSharedFloat64AtomicAdd
    shaderImageFloat32Atomics shaderImageFloat32AtomicAdd sparseImageFloat32Atomics sparseImageFloat32AtomicAdd
  `,
    ),
  },
  {
    extension: "VK_KHR_pipeline_executable_properties",
    layout: features(1000269000, "pipelineExecutableInfo"),
  },
  {
    extension: "VK_EXT_device_fault",
    layout: features(1000341000, "deviceFault deviceFaultVendorBinary"),
  },
  {
    extension: "VK_KHR_cooperative_matrix",
    layout: features(1000506000, "cooperativeMatrix cooperativeMatrixRobustBufferAccess"),
  },
  {
    extension: "VK_KHR_shader_bfloat16",
    layout: features(1000141000, "shaderBFloat16Type shaderBFloat16DotProduct shaderBFloat16CooperativeMatrix"),
  },
];

export const VkDeviceQueueCreateInfo = layout(2, "flags:u32 queueFamilyIndex:u32 queueCount:u32 pQueuePriorities:u64");
export const VkDeviceCreateInfo = layout(
  3,
  `
    flags:u32 queueCreateInfoCount:u32 pQueueCreateInfos:u64 enabledLayerCount:u32 ppEnabledLayerNames:u64
    enabledExtensionCount:u32 ppEnabledExtensionNames:u64 pEnabledFeatures:u64
  `,
);
export const VkMemoryAllocateFlagsInfo = layout(1000060000, "flags:u32 deviceMask:u32");
export const VkMemoryDedicatedAllocateInfo = layout(1000127001, "image:u64 buffer:u64");
export const VkMemoryAllocateInfo = layout(5, "allocationSize:u64 memoryTypeIndex:u32");
export const VkMemoryRequirements = layout(undefined, "size:u64 alignment:u64 memoryTypeBits:u32");
export const VkBufferCreateInfo = layout(
  12,
  "flags:u32 size:u64 usage:u32 sharingMode:u32 queueFamilyIndexCount:u32 pQueueFamilyIndices:u64",
);
export const VkBufferDeviceAddressInfo = layout(1000244001, "buffer:u64");
export const VkSemaphoreTypeCreateInfo = layout(1000207002, "semaphoreType:u32 initialValue:u64");
export const VkSemaphoreCreateInfo = layout(9, "flags:u32");
export const VkSemaphoreWaitInfo = layout(1000207004, "flags:u32 semaphoreCount:u32 pSemaphores:u64 pValues:u64");
export const VkCommandPoolCreateInfo = layout(39, "flags:u32 queueFamilyIndex:u32");
export const VkCommandBufferAllocateInfo = layout(40, "commandPool:u64 level:u32 commandBufferCount:u32");
export const VkCommandBufferBeginInfo = layout(42, "flags:u32 pInheritanceInfo:u64");
export const VkCommandBufferInheritanceInfo = layout(
  41,
  "renderPass:u64 subpass:u32 framebuffer:u64 occlusionQueryEnable:u32 queryFlags:u32 pipelineStatistics:u32",
);
export const VkTimelineSemaphoreSubmitInfo = layout(
  1000207003,
  "waitSemaphoreValueCount:u32 pWaitSemaphoreValues:u64 signalSemaphoreValueCount:u32 pSignalSemaphoreValues:u64",
);
export const VkSubmitInfo = layout(
  4,
  `
    waitSemaphoreCount:u32 pWaitSemaphores:u64 pWaitDstStageMask:u64 commandBufferCount:u32 pCommandBuffers:u64
    signalSemaphoreCount:u32 pSignalSemaphores:u64
  `,
);
export const VkShaderModuleCreateInfo = layout(16, "flags:u32 codeSize:u64 pCode:u64");
export const VkDescriptorSetLayoutBinding = layout(
  undefined,
  "binding:u32 descriptorType:u32 descriptorCount:u32 stageFlags:u32 pImmutableSamplers:u64",
);
export const VkDescriptorSetLayoutCreateInfo = layout(32, "flags:u32 bindingCount:u32 pBindings:u64");
export const VkPushConstantRange = layout(undefined, "stageFlags:u32 offset:u32 size:u32");
export const VkPipelineLayoutCreateInfo = layout(
  30,
  "flags:u32 setLayoutCount:u32 pSetLayouts:u64 pushConstantRangeCount:u32 pPushConstantRanges:u64",
);
export const VkSpecializationMapEntry = layout(undefined, "constantID:u32 offset:u32 size:u64");
export const VkSpecializationInfo = layout(undefined, "mapEntryCount:u32 pMapEntries:u64 dataSize:u64 pData:u64");
export const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo = layout(1000225001, "requiredSubgroupSize:u32");
/** The shader stage is a nested struct with its own sType and pNext. */
export const VkComputePipelineCreateInfo = layout(
  29,
  `flags:u32 | stageSType:u32 stageNext:u64 stageFlags:u32 stage:u32 module:u64 pName:u64 pSpecializationInfo:u64
    layout:u64 basePipelineHandle:u64 basePipelineIndex:i32`,
);
export const VkPipelineInfoKHR = layout(1000269001, "pipeline:u64");
export const VkPipelineExecutablePropertiesKHR = layout(
  1000269002,
  "stages:u32 name:u8[256] description:u8[256] subgroupSize:u32",
);
export const VkPipelineExecutableInfoKHR = layout(1000269003, "pipeline:u64 executableIndex:u32");
export const VkPipelineExecutableStatisticKHR = layout(
  1000269004,
  "name:u8[256] description:u8[256] format:u32 value:u64",
);
export const VkPipelineCacheCreateInfo = layout(17, "flags:u32 initialDataSize:u64 pInitialData:u64");
export const VkDescriptorPoolSize = layout(undefined, "type:u32 descriptorCount:u32");
export const VkDescriptorPoolCreateInfo = layout(33, "flags:u32 maxSets:u32 poolSizeCount:u32 pPoolSizes:u64");
export const VkDescriptorSetAllocateInfo = layout(34, "descriptorPool:u64 descriptorSetCount:u32 pSetLayouts:u64");
export const VkDescriptorBufferInfo = layout(undefined, "buffer:u64 offset:u64 range:u64");
export const VkWriteDescriptorSet = layout(
  35,
  `
    dstSet:u64 dstBinding:u32 dstArrayElement:u32 descriptorCount:u32 descriptorType:u32 pImageInfo:u64
    pBufferInfo:u64 pTexelBufferView:u64
  `,
);
export const VkQueryPoolCreateInfo = layout(11, "flags:u32 queryType:u32 queryCount:u32 pipelineStatistics:u32");
export const VkMemoryBarrier = layout(46, "srcAccessMask:u32 dstAccessMask:u32");
export const VkBufferCopy = layout(undefined, "srcOffset:u64 dstOffset:u64 size:u64");
export const VkDeviceFaultCountsEXT = layout(
  1000341001,
  "addressInfoCount:u32 vendorInfoCount:u32 vendorBinarySize:u64",
);
export const VkDeviceFaultInfoEXT = layout(
  1000341002,
  "description:u8[256] pAddressInfos:u64 pVendorInfos:u64 pVendorBinaryData:u64",
);

export const VkExternalMemoryBufferCreateInfo = layout(1000072000, "handleTypes:u32");
export const VkImportMemoryHostPointerInfoEXT = layout(1000178000, "handleType:u32 pHostPointer:u64");
export const VkMemoryHostPointerPropertiesEXT = layout(1000178001, "memoryTypeBits:u32");
export const VkPhysicalDeviceExternalMemoryHostPropertiesEXT = layout(
  1000178002,
  "minImportedHostPointerAlignment:u64",
);
