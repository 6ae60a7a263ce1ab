/**
 * Asks the driver about a physical device and returns plain data, from which plan.ts decides. The instance calls it once per
 * device. Properties and features come in chains of structs; a struct may only be chained where the device's version or an
 * extension knows it.
 */
import type { FunctionTable, Handle, InstanceFunction } from "./driver/api.js";
import { extensionNames } from "./driver/enumeration.js";
import * as L from "./driver/layouts.js";
import { check } from "./driver/results.js";
import { Arena, type Layout } from "./driver/structs.js";
import { atLeast, type CooperativeMatrix, type DeviceLimits, deviceTypes, type PhysicalDevice } from "./plan.js";

type Version = readonly [number, number, number];
type Calls = FunctionTable<InstanceFunction>;

export const unpackVersion = (v: number): [number, number, number] => [v >>> 22, (v >>> 12) & 0x3ff, v & 0xfff];

const P = L.VkPhysicalDeviceProperties2;
const V11 = L.VkPhysicalDeviceVulkan11Properties;
const V12 = L.VkPhysicalDeviceVulkan12Properties;

export function describeDevice(calls: Calls, physical: Handle, instanceVersion: Version): PhysicalDevice {
  const extensions = extensionNames("vkEnumerateDeviceExtensionProperties", (count, list) =>
    calls.vkEnumerateDeviceExtensionProperties(physical, 0, count, list),
  );
  const read = readProperties(calls, physical, extensions, instanceVersion);
  const { arena, at, apiVersion } = read;
  const features = readFeatures(calls, physical, extensions, read.isKnown);
  const hex = (layout: Layout, from: number, name: string) =>
    Buffer.from(arena.raw(layout, from, name)).toString("hex");
  return {
    name: arena.text(P, at.basic, "deviceName"),
    type: deviceTypes[arena.number(P, at.basic, "deviceType")] ?? "other",
    vendorId: arena.number(P, at.basic, "vendorID"),
    deviceId: arena.number(P, at.basic, "deviceID"),
    apiVersion,
    driverVersion: arena.number(P, at.basic, "driverVersion"),
    driverName: at.v12 ? arena.text(V12, at.v12, "driverName") : "",
    driverInfo: at.v12 ? arena.text(V12, at.v12, "driverInfo") : "",
    deviceUUID: at.v11 ? hex(V11, at.v11, "deviceUUID") : "",
    driverUUID: at.v11 ? hex(V11, at.v11, "driverUUID") : "",
    pipelineCacheUUID: hex(P, at.basic, "pipelineCacheUUID"),
    limits: limitsOf(read),
    subgroup: subgroupOf(read),
    features,
    floatControls: floatControlsOf(read),
    extensions,
    ...readMemory(calls, physical),
    queueFamilies: readQueueFamilies(calls, physical),
    cooperativeMatrices: features.cooperativeMatrix ? readCooperativeMatrices(calls, physical) : [],
  };
}

/** Property structs as the driver filled them. `at` holds their addresses; 0 for those the device does not know. */
interface Properties {
  readonly arena: Arena;
  readonly apiVersion: [number, number, number];
  /** Whether both device and loader know a version of Vulkan. */
  readonly isKnown: (since: readonly [number, number]) => boolean;
  readonly at: {
    readonly basic: number;
    readonly v11: number;
    readonly v12: number;
    readonly subgroupSize: number;
    readonly pushDescriptor: number;
    readonly maintenance4: number;
    readonly hostMemory: number;
  };
}

function readProperties(
  calls: Calls,
  physical: Handle,
  extensions: readonly string[],
  instanceVersion: Version,
): Properties {
  const arena = new Arena();
  // Version and limits first: they decide which structs may be chained.
  const first = arena.pack(P, {});
  calls.vkGetPhysicalDeviceProperties2(physical, first);
  const apiVersion = unpackVersion(arena.number(P, first, "apiVersion"));
  const isKnown = (since: readonly [number, number]) => atLeast(apiVersion, since) && atLeast(instanceVersion, since);
  let chain = 0;
  const link = (layout: Layout, hasIt: boolean): number => {
    if (!hasIt) return 0;
    chain = arena.pack(layout, {}, chain);
    return chain;
  };
  const isModern = isKnown([1, 2]);
  const isNewer = isKnown([1, 3]);
  const has = (name: string) => extensions.includes(name);
  const extras = {
    v11: link(V11, isModern),
    v12: link(V12, isModern),
    subgroupSize: link(L.VkPhysicalDeviceSubgroupSizeControlProperties, isNewer || has("VK_EXT_subgroup_size_control")),
    pushDescriptor: link(L.VkPhysicalDevicePushDescriptorPropertiesKHR, has("VK_KHR_push_descriptor")),
    maintenance4: link(L.VkPhysicalDeviceMaintenance4Properties, isNewer || has("VK_KHR_maintenance4")),
    hostMemory: link(L.VkPhysicalDeviceExternalMemoryHostPropertiesEXT, has("VK_EXT_external_memory_host")),
  };
  const basic = arena.pack(P, {}, chain);
  calls.vkGetPhysicalDeviceProperties2(physical, basic);
  return { arena, apiVersion, isKnown, at: { basic, ...extras } };
}

function limitsOf({ arena, at }: Properties): DeviceLimits {
  const basic = (name: string) => arena.number(P, at.basic, name);
  const triple = (name: string) => [0, 1, 2].map((i) => arena.number(P, at.basic, name, i)) as [number, number, number];
  /** A limit of a struct, or the default where the device does not know the struct. */
  const extra = (layout: Layout, from: number, name: string, otherwise: number) =>
    from ? arena.number(layout, from, name) : otherwise;
  return {
    maxPushConstantsSize: basic("maxPushConstantsSize"),
    maxStorageBufferRange: basic("maxStorageBufferRange"),
    maxMemoryAllocationCount: basic("maxMemoryAllocationCount"),
    maxMemoryAllocationSize: extra(V11, at.v11, "maxMemoryAllocationSize", 2 ** 30),
    maxBufferSize: extra(
      L.VkPhysicalDeviceMaintenance4Properties,
      at.maintenance4,
      "maxBufferSize",
      Number.MAX_SAFE_INTEGER,
    ),
    maxComputeSharedMemorySize: basic("maxComputeSharedMemorySize"),
    maxComputeWorkGroupCount: triple("maxComputeWorkGroupCount"),
    maxComputeWorkGroupInvocations: basic("maxComputeWorkGroupInvocations"),
    maxComputeWorkGroupSize: triple("maxComputeWorkGroupSize"),
    maxPerStageDescriptorStorageBuffers: basic("maxPerStageDescriptorStorageBuffers"),
    minStorageBufferOffsetAlignment: basic("minStorageBufferOffsetAlignment"),
    nonCoherentAtomSize: basic("nonCoherentAtomSize"),
    timestampPeriod: basic("timestampPeriod"),
    maxPushDescriptors: extra(
      L.VkPhysicalDevicePushDescriptorPropertiesKHR,
      at.pushDescriptor,
      "maxPushDescriptors",
      0,
    ),
    minImportedHostPointerAlignment: extra(
      L.VkPhysicalDeviceExternalMemoryHostPropertiesEXT,
      at.hostMemory,
      "minImportedHostPointerAlignment",
      0,
    ),
  };
}

function subgroupOf({ arena, at }: Properties): PhysicalDevice["subgroup"] {
  const S = L.VkPhysicalDeviceSubgroupSizeControlProperties;
  const size = at.v11 ? arena.number(V11, at.v11, "subgroupSize") : 0;
  return {
    size,
    min: at.subgroupSize ? arena.number(S, at.subgroupSize, "minSubgroupSize") : size,
    max: at.subgroupSize ? arena.number(S, at.subgroupSize, "maxSubgroupSize") : size,
    operations: at.v11 ? arena.number(V11, at.v11, "subgroupSupportedOperations") : 0,
  };
}

/** VkShaderFloatControlsIndependence: whether widths may treat denormals each in its own way. */
const [ONLY_32_BITS, ALL_WIDTHS] = [0, 1];

/**
 * The float behaviours a shader may ask for, as shaderSignedZeroInfNanPreserveFloat32; and for which width it may say what
 * becomes of denormals and leave the others alone (ownDenormsFloat32, ownDenormsFloat64).
 */
function floatControlsOf({ arena, at }: Properties): Record<string, boolean> {
  if (!at.v12) return {};
  const names = [...V12.fields.keys()].filter((name) => /Float(16|32|64)$/.test(name));
  const independence = arena.number(V12, at.v12, "denormBehaviorIndependence");
  return {
    ...Object.fromEntries(names.map((name) => [name, arena.get(V12, at.v12, name) === 1])),
    ownDenormsFloat32: independence === ONLY_32_BITS || independence === ALL_WIDTHS,
    ownDenormsFloat64: independence === ALL_WIDTHS,
  };
}

function readFeatures(
  calls: Calls,
  physical: Handle,
  extensions: readonly string[],
  isKnown: Properties["isKnown"],
): Record<string, boolean> {
  const arena = new Arena();
  const extras = L.extensionFeatures.filter(
    ({ extension, since }) => extensions.includes(extension) || (since && isKnown(since)),
  );
  const versions = isKnown([1, 2]) ? [L.VkPhysicalDeviceVulkan12Features, L.VkPhysicalDeviceVulkan11Features] : [];
  const layouts: Layout[] = [...extras.map(({ layout }) => layout), ...versions, L.VkPhysicalDeviceFeatures2];
  let chain = 0;
  const blocks = layouts.map((layout): [Layout, number] => {
    chain = arena.pack(layout, {}, chain);
    return [layout, chain];
  });
  calls.vkGetPhysicalDeviceFeatures2(physical, chain);
  const features: Record<string, boolean> = {};
  for (const [layout, at] of blocks) {
    for (const name of layout.fields.keys()) {
      if (name !== "sType" && name !== "pNext") features[name] = arena.get(layout, at, name) === 1;
    }
  }
  return features;
}

function readMemory(calls: Calls, physical: Handle): Pick<PhysicalDevice, "memoryTypes" | "memoryHeaps"> {
  const arena = new Arena();
  const M = L.VkPhysicalDeviceMemoryProperties2;
  const m = arena.pack(M, {});
  calls.vkGetPhysicalDeviceMemoryProperties2(physical, m);
  const memoryTypes = Array.from({ length: arena.number(M, m, "memoryTypeCount") }, (_, i) => ({
    flags: arena.number(M, m, "memoryTypes", 2 * i),
    heap: arena.number(M, m, "memoryTypes", 2 * i + 1),
  }));
  const memoryHeaps = Array.from({ length: arena.number(M, m, "memoryHeapCount") }, (_, i) => ({
    size: arena.number(M, m, "memoryHeaps", 2 * i),
    flags: Number(BigInt.asUintN(32, BigInt(arena.get(M, m, "memoryHeaps", 2 * i + 1)))),
  }));
  return { memoryTypes, memoryHeaps };
}

function readQueueFamilies(calls: Calls, physical: Handle): PhysicalDevice["queueFamilies"] {
  const arena = new Arena();
  const Q = L.VkQueueFamilyProperties2;
  const countAt = arena.room(4);
  calls.vkGetPhysicalDeviceQueueFamilyProperties2(physical, countAt, 0);
  const count = arena.u32(countAt);
  const families = arena.packArray(
    Q,
    Array.from({ length: count }, () => ({})),
  );
  calls.vkGetPhysicalDeviceQueueFamilyProperties2(physical, countAt, families);
  return Array.from({ length: count }, (_, i) => ({
    flags: arena.number(Q, families + i * Q.size, "queueFlags"),
    count: arena.number(Q, families + i * Q.size, "queueCount"),
    timestampValidBits: arena.number(Q, families + i * Q.size, "timestampValidBits"),
  }));
}

const componentTypes: Record<number, string> = {
  0: "f16",
  1: "f32",
  2: "f64",
  3: "i8",
  4: "i16",
  5: "i32",
  6: "i64",
  7: "u8",
  8: "u16",
  9: "u32",
  10: "u64",
  1000141000: "bf16",
  1000491002: "f8e4m3",
  1000491003: "f8e5m2",
};

function readCooperativeMatrices(calls: Calls, physical: Handle): CooperativeMatrix[] {
  const query = calls.vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR;
  if (!query) return [];
  const C = L.VkCooperativeMatrixPropertiesKHR;
  const arena = new Arena(256 * 1024);
  const countAt = arena.room(4);
  check("vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR", query(physical, countAt, 0));
  const count = arena.u32(countAt);
  const list = arena.packArray(
    C,
    Array.from({ length: count }, () => ({})),
  );
  check("vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR", query(physical, countAt, list));
  const scopes: Record<number, string> = { 1: "device", 2: "workgroup", 3: "subgroup", 5: "queue family" };
  return Array.from({ length: Math.min(count, arena.u32(countAt)) }, (_, i) => {
    const at = list + i * C.size;
    const number = (name: string) => arena.number(C, at, name);
    const kind = (name: string) => componentTypes[number(name)] ?? `component ${number(name)}`;
    return {
      m: number("MSize"),
      n: number("NSize"),
      k: number("KSize"),
      a: kind("AType"),
      b: kind("BType"),
      c: kind("CType"),
      result: kind("ResultType"),
      scope: scopes[number("scope")] ?? "?",
    };
  });
}
