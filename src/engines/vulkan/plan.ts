/**
 * Plans a logical device: a pure function from the driver's description to a plan, so that a 2012 laptop GPU, lavapipe and a
 * data-centre card are all tested without any of them.
 */
import { dearGarbageShare, defaultGarbageShare, garbageShare } from "../garbage.js";
import { MemoryHeapDeviceLocal, MemoryProperty, QueueFlag } from "./driver/api.js";

export type DeviceType = "other" | "integrated" | "discrete" | "virtual" | "cpu";
export const deviceTypes: readonly DeviceType[] = ["other", "integrated", "discrete", "virtual", "cpu"];

export interface CooperativeMatrix {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly a: string;
  readonly b: string;
  readonly c: string;
  readonly result: string;
  readonly scope: string;
}

/** The driver's description of a physical device. Plain data: `pumice info --json` prints it, tests write it by hand. */
export interface PhysicalDevice {
  readonly name: string;
  readonly type: DeviceType;
  readonly vendorId: number;
  readonly deviceId: number;
  readonly apiVersion: readonly [number, number, number];
  readonly driverVersion: number;
  readonly driverName: string;
  readonly driverInfo: string;
  readonly deviceUUID: string;
  readonly driverUUID: string;
  readonly pipelineCacheUUID: string;
  readonly limits: Readonly<DeviceLimits>;
  readonly subgroup: { readonly size: number; readonly min: number; readonly max: number; readonly operations: number };
  readonly features: Readonly<Record<string, boolean>>;
  readonly floatControls: Readonly<Record<string, boolean>>;
  readonly extensions: readonly string[];
  readonly memoryTypes: readonly { readonly flags: number; readonly heap: number }[];
  readonly memoryHeaps: readonly { readonly size: number; readonly flags: number }[];
  readonly queueFamilies: readonly {
    readonly flags: number;
    readonly count: number;
    readonly timestampValidBits: number;
  }[];
  readonly cooperativeMatrices: readonly CooperativeMatrix[];
}

export interface DeviceLimits {
  maxPushConstantsSize: number;
  maxStorageBufferRange: number;
  maxMemoryAllocationCount: number;
  maxMemoryAllocationSize: number;
  maxBufferSize: number;
  maxComputeSharedMemorySize: number;
  maxComputeWorkGroupCount: readonly [number, number, number];
  maxComputeWorkGroupInvocations: number;
  maxComputeWorkGroupSize: readonly [number, number, number];
  maxPerStageDescriptorStorageBuffers: number;
  minStorageBufferOffsetAlignment: number;
  nonCoherentAtomSize: number;
  timestampPeriod: number;
  maxPushDescriptors: number;
  /** 0 where host memory cannot be imported. */
  minImportedHostPointerAlignment: number;
}

/** The extensions, features and memory types to create the device with; the runtime relies on them. */
export interface DevicePlan {
  readonly extensions: readonly string[];
  /** Names of the features to switch on. */
  readonly features: readonly string[];
  readonly queueFamily: number;
  readonly timestampMask: bigint;
  /** Index of the memory type for tensors, for uploads, for read-back, and for arguments that kernels read directly. */
  readonly memory: {
    readonly device: number;
    readonly upload: number;
    readonly readback: number;
    readonly arguments: number;
  };
  readonly deviceHeapBytes: number;
  /** Alignment of every allocation: covers storage-buffer offsets and vector loads. */
  readonly alignment: number;
  readonly blockBytes: number;
  /** The share of free memory that garbage may fill. */
  readonly garbage: number;
  /** The same while collections take long beside the work. */
  readonly dearGarbage: number;
  readonly pushDescriptors: number;
  readonly subgroupSizeControl: boolean;
  readonly memoryBudget: boolean;
  readonly deviceFault: boolean;
  /** Highest SPIR-V version the device takes, as [major, minor]. */
  readonly spirv: readonly [number, number];
  readonly limits: Readonly<DeviceLimits>;
}

type PlanResult = { readonly ok: true; readonly plan: DevicePlan } | { readonly ok: false; readonly why: string };

const required = ["timelineSemaphore", "bufferDeviceAddress", "scalarBlockLayout"] as const;

/** Switched on wherever the device has them; a kernel that needs one and does not find it gets `UnsupportedError`. */
const wanted = [
  "shaderFloat64",
  "shaderInt64",
  "shaderInt16",
  "shaderFloat16",
  "shaderInt8",
  "storageBuffer16BitAccess",
  "uniformAndStorageBuffer16BitAccess",
  "storagePushConstant16",
  "storageBuffer8BitAccess",
  "uniformAndStorageBuffer8BitAccess",
  "storagePushConstant8",
  "shaderBufferInt64Atomics",
  "shaderSharedInt64Atomics",
  "shaderSubgroupExtendedTypes",
  "variablePointersStorageBuffer",
  "variablePointers",
  "vulkanMemoryModel",
  "vulkanMemoryModelDeviceScope",
  "subgroupSizeControl",
  "computeFullSubgroups",
  "maintenance4",
  "shaderBufferFloat32Atomics",
  "shaderBufferFloat32AtomicAdd",
  "shaderSharedFloat32Atomics",
  "shaderSharedFloat32AtomicAdd",
  "shaderBufferFloat64Atomics",
  "shaderBufferFloat64AtomicAdd",
  "shaderSharedFloat64Atomics",
  "shaderSharedFloat64AtomicAdd",
  "pipelineExecutableInfo",
  "deviceFault",
  "cooperativeMatrix",
  "shaderBFloat16Type",
  "shaderBFloat16DotProduct",
  "shaderBFloat16CooperativeMatrix",
] as const;

/** Extensions to enable when present; those promoted to a core version are left out from that version on. */
const wantedExtensions: readonly { name: string; coreSince?: readonly [number, number] }[] = [
  { name: "VK_KHR_push_descriptor" },
  { name: "VK_EXT_memory_budget" },
  { name: "VK_EXT_external_memory_host" },
  { name: "VK_EXT_subgroup_size_control", coreSince: [1, 3] },
  { name: "VK_KHR_maintenance4", coreSince: [1, 3] },
  { name: "VK_EXT_shader_atomic_float" },
  { name: "VK_KHR_pipeline_executable_properties" },
  { name: "VK_EXT_device_fault" },
  { name: "VK_KHR_cooperative_matrix" },
  { name: "VK_KHR_shader_bfloat16" },
  // Vulkan asks that this be enabled wherever it is offered (MoltenVK).
  { name: "VK_KHR_portability_subset" },
];

const MiB = 1024 * 1024;

export function atLeast(version: readonly number[], wantedVersion: readonly [number, number]): boolean {
  const [major = 0, minor = 0] = version;
  return major > wantedVersion[0] || (major === wantedVersion[0] && minor >= wantedVersion[1]);
}

/** The parts of a device that Pumice would use (queue, memory types, features), or why it cannot use it. */
export function planDevice(device: PhysicalDevice, env: NodeJS.ProcessEnv = {}): PlanResult {
  const version = device.apiVersion.join(".");
  if (!atLeast(device.apiVersion, [1, 2])) {
    return { ok: false, why: `its driver offers Vulkan ${version}; Pumice needs 1.2: update the driver` };
  }
  const missing = required.filter((name) => !device.features[name]);
  if (missing.length) return { ok: false, why: `its driver lacks ${missing.join(", ")}: update the driver` };

  const queueFamily = chooseQueueFamily(device);
  if (queueFamily < 0) return { ok: false, why: "it has no compute queue" };

  const { deviceLocal, hostVisible, hostCoherent, hostCached } = MemoryProperty;
  const memory = {
    device: chooseMemory(device, deviceLocal, hostVisible),
    upload: chooseMemory(device, hostVisible | hostCoherent, deviceLocal | hostCached),
    readback: chooseMemory(device, hostVisible | hostCoherent | hostCached, deviceLocal, hostVisible | hostCoherent),
    arguments: chooseMemory(device, hostVisible | hostCoherent | deviceLocal, hostCached, hostVisible | hostCoherent),
  };
  if (Math.min(memory.device, memory.upload, memory.readback) < 0) {
    return { ok: false, why: "it reports no usable memory types: the driver is broken" };
  }

  const extensions = wantedExtensions
    .filter(
      ({ name, coreSince }) =>
        device.extensions.includes(name) && !(coreSince && atLeast(device.apiVersion, coreSince)),
    )
    .map(({ name }) => name);
  const offered = new Set(device.extensions);
  const features = [...required, ...wanted].filter((name) => device.features[name]);
  const heap = device.memoryHeaps[device.memoryTypes[memory.device]?.heap ?? 0];
  const deviceHeapBytes = heap?.size ?? 0;
  const bits = device.queueFamilies[queueFamily]?.timestampValidBits ?? 0;
  // GPU-assisted validation (1.3.239) takes pushed descriptors for uninitialised ones.
  const isPushingOff = env.PUMICE_PUSH_DESCRIPTORS === "0" || env.PUMICE_VALIDATE === "gpu";
  const pushDescriptors = offered.has("VK_KHR_push_descriptor") && !isPushingOff ? device.limits.maxPushDescriptors : 0;

  const memoryFacts = [deviceHeapBytes, sharesMemory(device)] as const;
  return {
    ok: true,
    plan: {
      extensions,
      features,
      queueFamily,
      timestampMask: bits === 0 ? 0n : (1n << BigInt(bits)) - 1n,
      memory,
      deviceHeapBytes,
      alignment: Math.max(256, device.limits.minStorageBufferOffsetAlignment),
      blockBytes: Math.min(256 * MiB, Math.max(4 * MiB, 2 ** Math.floor(Math.log2(Math.max(1, deviceHeapBytes / 64))))),
      garbage: garbageShare(defaultGarbageShare(...memoryFacts), undefined, env.PUMICE_GARBAGE),
      dearGarbage: garbageShare(dearGarbageShare(...memoryFacts), undefined, env.PUMICE_GARBAGE),
      pushDescriptors,
      subgroupSizeControl: device.features.subgroupSizeControl === true,
      memoryBudget: offered.has("VK_EXT_memory_budget"),
      deviceFault: device.features.deviceFault === true,
      spirv: atLeast(device.apiVersion, [1, 3]) ? [1, 6] : [1, 5],
      limits: device.limits,
    },
  };
}

/** The compute queue family to use: one that also does graphics if there is one, else the first. */
function chooseQueueFamily(device: PhysicalDevice): number {
  const compute = device.queueFamilies
    .map((family, index) => ({ ...family, index }))
    .filter(({ flags, count }) => flags & QueueFlag.compute && count > 0);
  const universal = compute.find(({ flags }) => flags & QueueFlag.graphics);
  return (universal ?? compute[0])?.index ?? -1;
}

/**
 * First memory type that has all of `must` and none of `avoid`, then one that has all of `must`, then one that has
 * `fallback`. Drivers list the better types first. Types on tiny device heaps (a 256 MiB BAR) come last by `avoid`.
 */
function chooseMemory(device: PhysicalDevice, must: number, avoid: number, fallback = must): number {
  const types = device.memoryTypes;
  const usable = (flags: number) => (flags & ~0x0f) === 0; // no lazily allocated, protected or vendor-coherent kinds
  const largestFirst = (accept: (flags: number) => boolean) => {
    let best = -1;
    types.forEach((type, index) => {
      if (!usable(type.flags) || !accept(type.flags)) return;
      const size = device.memoryHeaps[type.heap]?.size ?? 0;
      const bestSize = best < 0 ? -1 : (device.memoryHeaps[types[best]?.heap ?? 0]?.size ?? 0);
      if (size > bestSize) best = index;
    });
    return best;
  };
  for (const accept of [
    (flags: number) => (flags & must) === must && (flags & avoid) === 0,
    (flags: number) => (flags & must) === must,
    (flags: number) => (flags & fallback) === fallback,
  ]) {
    const index = largestFirst(accept);
    if (index >= 0) return index;
  }
  return -1;
}

/** Preference among devices: real GPUs by kind, then by memory. Software rendering never wins against a GPU. */
export function rankDevice(device: PhysicalDevice): number {
  const kind: Record<DeviceType, number> = { discrete: 4, virtual: 3, integrated: 2, other: 1, cpu: 0 };
  const memory = Math.max(
    0,
    ...device.memoryHeaps.filter((heap) => heap.flags & MemoryHeapDeviceLocal).map((heap) => heap.size),
  );
  return kind[device.type] * 2 ** 50 + memory;
}

/** Whether its memory is the processor's. */
const sharesMemory = ({ type }: PhysicalDevice): boolean => type !== "discrete" && type !== "virtual";

export const isSoftware = (device: PhysicalDevice): boolean => device.type === "cpu";
