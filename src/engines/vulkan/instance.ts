/**
 * A Vulkan instance: the connection to all drivers. It lists the physical devices as plain descriptions and opens none.
 * Instances are counted: whoever opened or retained one releases it, and the last release destroys it.
 */
import { DeviceError, UnsupportedError } from "../../core/errors.js";
import { debug } from "../debug.js";
import {
  type FunctionName,
  type FunctionTable,
  type GlobalFunction,
  globalSignatures,
  type Handle,
  type InstanceFunction,
  type Interposer,
  instanceSignatures,
  optionalFunctions,
  VK_INCOMPLETE,
  type VulkanFunction,
} from "./api.js";
import * as L from "./layouts.js";
import { type Loader, openLoader } from "./loader.js";
import { addressOf, bind, registerCallback } from "./native.js";
import { atLeast, type CooperativeMatrix, type DeviceLimits, deviceTypes, type PhysicalDevice } from "./plan.js";
import { check } from "./results.js";
import { Arena, type Layout } from "./structs.js";
import { layerMessage, reportValidation, type ValidationMode, validationMode } from "./validation.js";

interface InstanceOptions {
  readonly interpose?: Interposer;
  /** Khronos validation layer; defaults to `PUMICE_VALIDATE`. */
  readonly validate?: ValidationMode | undefined;
}

export interface FoundDevice {
  readonly handle: Handle;
  readonly description: PhysicalDevice;
}

const VALIDATION_LAYER = "VK_LAYER_KHRONOS_validation";
const version = (major: number, minor: number) => (major << 22) | (minor << 12);
const unpackVersion = (v: number): [number, number, number] => [v >>> 22, (v >>> 12) & 0x3ff, v & 0xfff];

export interface LoaderReport {
  /** The library that was opened. */
  readonly path: string;
  readonly version: readonly [number, number, number];
  readonly hasValidationLayer: boolean;
}

/** What the loader says of itself. No driver is asked for anything and nothing is created. */
export function inspectLoader(): LoaderReport {
  const loader = openLoader();
  const calls = bindTable(loader, 0, globalSignatures, (_name, call) => call) as FunctionTable<GlobalFunction>;
  return {
    path: loader.path,
    version: loaderVersion(calls),
    hasValidationLayer: layerNames(calls).includes(VALIDATION_LAYER),
  };
}

function loaderVersion(calls: FunctionTable<GlobalFunction>): [number, number, number] {
  const out = addressOf(4);
  check("vkEnumerateInstanceVersion", calls.vkEnumerateInstanceVersion(out.address));
  return unpackVersion(out.view.getUint32(0, true));
}

export class Instance {
  private uses = 1;
  private found: FoundDevice[] | undefined;

  private constructor(
    readonly handle: Handle,
    readonly calls: FunctionTable<InstanceFunction>,
    readonly interpose: Interposer,
    private readonly apiVersion: readonly [number, number, number],
    private readonly stopListening: () => void,
  ) {}

  static open(options: InstanceOptions = {}): Instance {
    const loader = openLoader();
    const interpose = options.interpose ?? ((_name, call) => call);
    const calls = bindTable(loader, 0, globalSignatures, interpose) as FunctionTable<GlobalFunction>;
    const arena = new Arena();
    const validate = validationMode({ PUMICE_VALIDATE: options.validate ?? process.env.PUMICE_VALIDATE });

    const offeredVersion = loaderVersion(calls);
    if (!atLeast(offeredVersion, [1, 2])) {
      throw new DeviceError(
        `The Vulkan loader (${loader.path}) is version ${offeredVersion.join(".")}; Pumice needs 1.2 or newer.`,
      );
    }
    const offered = extensionNames("vkEnumerateInstanceExtensionProperties", (count, list) =>
      calls.vkEnumerateInstanceExtensionProperties(0, count, list),
    );
    const extensions = offered.includes("VK_KHR_portability_enumeration") ? ["VK_KHR_portability_enumeration"] : [];
    const portability = extensions.length > 0;

    let next = 0;
    if (validate) {
      if (!layerNames(calls).includes(VALIDATION_LAYER)) {
        throw new UnsupportedError(
          `Validation was asked for, but ${VALIDATION_LAYER} is not installed (Debian: apt-get install vulkan-validationlayers).`,
        );
      }
      extensions.push("VK_EXT_debug_utils");
      // 0 GPU-assisted, 1 reserve a binding slot for it, 4 synchronisation
      const enables = validate === "sync" ? [4] : validate === "gpu" ? [0, 1] : [];
      if (enables.length) {
        next = arena.pack(L.VkValidationFeaturesEXT, {
          enabledValidationFeatureCount: enables.length,
          pEnabledValidationFeatures: arena.u32s(enables),
        });
      }
    }
    const layers = validate ? [VALIDATION_LAYER] : [];
    const application = arena.pack(L.VkApplicationInfo, {
      pApplicationName: arena.cString("pumice"),
      pEngineName: arena.cString("pumice"),
      apiVersion: atLeast(offeredVersion, [1, 3]) ? version(1, 3) : version(1, 2),
    });
    const info = arena.pack(
      L.VkInstanceCreateInfo,
      {
        flags: portability ? 1 : 0,
        pApplicationInfo: application,
        enabledLayerCount: layers.length,
        ppEnabledLayerNames: arena.cStrings(layers),
        enabledExtensionCount: extensions.length,
        ppEnabledExtensionNames: arena.cStrings(extensions),
      },
      next,
    );
    const out = arena.room(8);
    const result = calls.vkCreateInstance(info, 0, out);
    if (result === -9) {
      throw new DeviceError(
        "No Vulkan driver is installed: the loader found no driver manifest. `npx pumice doctor` says more.",
      );
    }
    check("vkCreateInstance", result);
    const handle = arena.handle(out);
    const { vkDestroyInstance, ...others } = instanceSignatures;
    const [destroy] = Object.values(bindTable(loader, handle, { vkDestroyInstance }, interpose));
    try {
      const table = {
        vkDestroyInstance: destroy,
        ...bindTable(loader, handle, others, interpose),
      } as FunctionTable<InstanceFunction>;
      const stopListening = validate ? listen(handle, table, arena) : () => {};
      return new Instance(handle, table, interpose, offeredVersion, stopListening);
    } catch (error) {
      destroy(handle, 0);
      throw error;
    }
  }

  retain(): this {
    this.uses++;
    return this;
  }

  release(): void {
    if (--this.uses > 0) return;
    this.stopListening();
    this.calls.vkDestroyInstance(this.handle, 0);
  }

  /** The physical devices, described. Read once. */
  devices(): readonly FoundDevice[] {
    if (this.found) return this.found;
    const arena = new Arena();
    const countAt = arena.room(4);
    let handles: Handle[] = [];
    for (;;) {
      check("vkEnumeratePhysicalDevices", this.calls.vkEnumeratePhysicalDevices(this.handle, countAt, 0));
      const count = arena.u32(countAt);
      const list = arena.room(8 * Math.max(1, count));
      const result = this.calls.vkEnumeratePhysicalDevices(this.handle, countAt, list);
      check("vkEnumeratePhysicalDevices", result);
      if (result === VK_INCOMPLETE) continue;
      handles = Array.from({ length: arena.u32(countAt) }, (_, i) => arena.handle(list + 8 * i));
      break;
    }
    this.found = handles.map((handle) => ({ handle, description: this.describe(handle) }));
    debug(1, () => `${this.found?.length} Vulkan devices: ${this.found?.map((d) => d.description.name).join(", ")}`);
    return this.found;
  }

  private describe(physical: Handle): PhysicalDevice {
    const arena = new Arena();
    const { calls } = this;
    const extensions = extensionNames("vkEnumerateDeviceExtensionProperties", (count, list) =>
      calls.vkEnumerateDeviceExtensionProperties(physical, 0, count, list),
    );
    const has = (name: string) => extensions.includes(name);

    // Version and limits first: later structs may only be chained where the version knows them.
    const basic = arena.pack(L.VkPhysicalDeviceProperties2, {});
    calls.vkGetPhysicalDeviceProperties2(physical, basic);
    const apiVersion = unpackVersion(arena.number(L.VkPhysicalDeviceProperties2, basic, "apiVersion"));
    const known = (since: readonly [number, number]) => atLeast(apiVersion, since) && atLeast(this.apiVersion, since);
    const modern = known([1, 2]);

    const p11 = modern ? arena.pack(L.VkPhysicalDeviceVulkan11Properties, {}) : 0;
    const p12 = modern ? arena.pack(L.VkPhysicalDeviceVulkan12Properties, {}, p11) : 0;
    const sized = known([1, 3]) || has("VK_EXT_subgroup_size_control");
    const pSize = sized ? arena.pack(L.VkPhysicalDeviceSubgroupSizeControlProperties, {}, p12) : p12;
    const pushes = has("VK_KHR_push_descriptor");
    const pPush = pushes ? arena.pack(L.VkPhysicalDevicePushDescriptorPropertiesKHR, {}, pSize) : pSize;
    const four = known([1, 3]) || has("VK_KHR_maintenance4");
    const pFour = four ? arena.pack(L.VkPhysicalDeviceMaintenance4Properties, {}, pPush) : pPush;
    const imports = has("VK_EXT_external_memory_host");
    const H = L.VkPhysicalDeviceExternalMemoryHostPropertiesEXT;
    const pHost = imports ? arena.pack(H, {}, pFour) : pFour;
    const P = L.VkPhysicalDeviceProperties2;
    const p = arena.pack(P, {}, pHost);
    calls.vkGetPhysicalDeviceProperties2(physical, p);

    const extras = L.extensionFeatures.filter(({ extension, since }) => has(extension) || (since && known(since)));
    let chain = 0;
    const blocks: [Layout, number][] = [];
    const link = (layout: Layout) => {
      chain = arena.pack(layout, {}, chain);
      blocks.push([layout, chain]);
    };
    for (const { layout } of extras) link(layout);
    if (modern) {
      link(L.VkPhysicalDeviceVulkan12Features);
      link(L.VkPhysicalDeviceVulkan11Features);
    }
    link(L.VkPhysicalDeviceFeatures2);
    calls.vkGetPhysicalDeviceFeatures2(physical, chain);
    const features: Record<string, boolean> = {};
    for (const [layout, at] of blocks) {
      for (const name of layout.fields.keys()) {
        if (name !== "sType" && name !== "pNext") features[name] = arena.get(layout, at, name) === 1;
      }
    }

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

    const Q = L.VkQueueFamilyProperties2;
    const countAt = arena.room(4);
    calls.vkGetPhysicalDeviceQueueFamilyProperties2(physical, countAt, 0);
    const familyCount = arena.u32(countAt);
    const families = arena.packArray(
      Q,
      Array.from({ length: familyCount }, () => ({})),
    );
    calls.vkGetPhysicalDeviceQueueFamilyProperties2(physical, countAt, families);
    const queueFamilies = Array.from({ length: familyCount }, (_, i) => ({
      flags: arena.number(Q, families + i * Q.size, "queueFlags"),
      count: arena.number(Q, families + i * Q.size, "queueCount"),
      timestampValidBits: arena.number(Q, families + i * Q.size, "timestampValidBits"),
    }));

    const V11 = L.VkPhysicalDeviceVulkan11Properties;
    const V12 = L.VkPhysicalDeviceVulkan12Properties;
    const S = L.VkPhysicalDeviceSubgroupSizeControlProperties;
    const size = modern ? arena.number(V11, p11, "subgroupSize") : 0;
    const triple = (name: string) => [0, 1, 2].map((i) => arena.number(P, p, name, i)) as [number, number, number];
    const limits: DeviceLimits = {
      maxPushConstantsSize: arena.number(P, p, "maxPushConstantsSize"),
      maxStorageBufferRange: arena.number(P, p, "maxStorageBufferRange"),
      maxMemoryAllocationCount: arena.number(P, p, "maxMemoryAllocationCount"),
      maxMemoryAllocationSize: modern ? arena.number(V11, p11, "maxMemoryAllocationSize") : 2 ** 30,
      maxBufferSize: four
        ? arena.number(L.VkPhysicalDeviceMaintenance4Properties, pFour, "maxBufferSize")
        : Number.MAX_SAFE_INTEGER,
      maxComputeSharedMemorySize: arena.number(P, p, "maxComputeSharedMemorySize"),
      maxComputeWorkGroupCount: triple("maxComputeWorkGroupCount"),
      maxComputeWorkGroupInvocations: arena.number(P, p, "maxComputeWorkGroupInvocations"),
      maxComputeWorkGroupSize: triple("maxComputeWorkGroupSize"),
      maxPerStageDescriptorStorageBuffers: arena.number(P, p, "maxPerStageDescriptorStorageBuffers"),
      minStorageBufferOffsetAlignment: arena.number(P, p, "minStorageBufferOffsetAlignment"),
      nonCoherentAtomSize: arena.number(P, p, "nonCoherentAtomSize"),
      timestampPeriod: arena.number(P, p, "timestampPeriod"),
      maxPushDescriptors: pushes
        ? arena.number(L.VkPhysicalDevicePushDescriptorPropertiesKHR, pPush, "maxPushDescriptors")
        : 0,
      minImportedHostPointerAlignment: imports ? arena.number(H, pHost, "minImportedHostPointerAlignment") : 0,
    };
    const floatControls: Record<string, boolean> = {};
    if (modern) {
      for (const name of V12.fields.keys()) {
        if (/Float(16|32|64)$/.test(name)) floatControls[name] = arena.get(V12, p12, name) === 1;
      }
    }
    const hex = (layout: Layout, at: number, name: string) => Buffer.from(arena.raw(layout, at, name)).toString("hex");
    return {
      name: arena.text(P, p, "deviceName"),
      type: deviceTypes[arena.number(P, p, "deviceType")] ?? "other",
      vendorId: arena.number(P, p, "vendorID"),
      deviceId: arena.number(P, p, "deviceID"),
      apiVersion,
      driverVersion: arena.number(P, p, "driverVersion"),
      driverName: modern ? arena.text(V12, p12, "driverName") : "",
      driverInfo: modern ? arena.text(V12, p12, "driverInfo") : "",
      deviceUUID: modern ? hex(V11, p11, "deviceUUID") : "",
      driverUUID: modern ? hex(V11, p11, "driverUUID") : "",
      pipelineCacheUUID: hex(P, p, "pipelineCacheUUID"),
      limits,
      subgroup: {
        size,
        min: sized ? arena.number(S, pSize, "minSubgroupSize") : size,
        max: sized ? arena.number(S, pSize, "maxSubgroupSize") : size,
        operations: modern ? arena.number(V11, p11, "subgroupSupportedOperations") : 0,
      },
      features,
      floatControls,
      extensions,
      memoryTypes,
      memoryHeaps,
      queueFamilies,
      cooperativeMatrices: features.cooperativeMatrix ? this.cooperativeMatrices(physical) : [],
    };
  }

  private cooperativeMatrices(physical: Handle): CooperativeMatrix[] {
    const query = this.calls.vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR;
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

  /** Bytes the driver says each heap still allows this process and those it uses now; null without the extension. */
  memoryBudget(physical: Handle): { budget: number[]; usage: number[] } | null {
    const arena = new Arena();
    const B = L.VkPhysicalDeviceMemoryBudgetPropertiesEXT;
    const budget = arena.pack(B, {});
    const at = arena.pack(L.VkPhysicalDeviceMemoryProperties2, {}, budget);
    this.calls.vkGetPhysicalDeviceMemoryProperties2(physical, at);
    const heaps = arena.number(L.VkPhysicalDeviceMemoryProperties2, at, "memoryHeapCount");
    const read = (name: string) => Array.from({ length: heaps }, (_, i) => arena.number(B, budget, name, i));
    return { budget: read("heapBudget"), usage: read("heapUsage") };
  }
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

/** Binds every function of a table; functions of absent extensions are left out. */
function bindTable(
  loader: Loader,
  instance: Handle,
  signatures: Readonly<Record<string, string>>,
  interpose: Interposer,
): Record<string, VulkanFunction> {
  const table: Record<string, VulkanFunction> = {};
  for (const [name, signature] of Object.entries(signatures)) {
    const address = loader.procAddress(instance, name);
    if (address) table[name] = interpose(name as FunctionName, bind(address, signature));
    else if (!optionalFunctions.has(name as FunctionName)) {
      throw new DeviceError(`The Vulkan loader (${loader.path}) has no ${name}; Pumice needs Vulkan 1.2.`);
    }
  }
  return table;
}

function extensionNames(call: FunctionName, enumerate: (count: number, list: number) => number): string[] {
  return enumerateNames(L.VkExtensionProperties, "extensionName", call, enumerate);
}

function layerNames(calls: FunctionTable<GlobalFunction>): string[] {
  return enumerateNames(L.VkLayerProperties, "layerName", "vkEnumerateInstanceLayerProperties", (count, list) =>
    calls.vkEnumerateInstanceLayerProperties(count, list),
  );
}

/** The count-then-fill dance of Vulkan's enumerations, repeated while the list grows under our feet. */
function enumerateNames(
  layout: Layout,
  member: string,
  call: FunctionName,
  enumerate: (count: number, list: number) => number,
): string[] {
  const count = addressOf(4);
  for (;;) {
    check(call, enumerate(count.address, 0));
    const capacity = count.view.getUint32(0, true);
    const list = addressOf(capacity * layout.size);
    const result = enumerate(count.address, list.address);
    check(call, result);
    if (result === VK_INCOMPLETE) continue;
    const field = layout.fields.get(member);
    return Array.from({ length: count.view.getUint32(0, true) }, (_, i) => {
      const start = i * layout.size + (field?.offset ?? 0);
      const end = list.u8.indexOf(0, start);
      return Buffer.from(list.u8.subarray(start, end)).toString("utf8");
    });
  }
}

/** Listens to the validation layer; every warning and error is reported once per distinct text. */
function listen(instance: Handle, calls: FunctionTable<InstanceFunction>, arena: Arena): () => void {
  const callback = registerCallback(
    (_severity, _types, data) => {
      reportValidation(layerMessage(data as number));
      return 0;
    },
    ["uint32_t", "uint32_t", "uint64_t", "uint64_t"],
  );
  const info = arena.pack(L.VkDebugUtilsMessengerCreateInfoEXT, {
    messageSeverity: 0x100 | 0x1000,
    messageType: 1 | 2 | 4,
    pfnUserCallback: callback.address,
  });
  const out = arena.room(8);
  const result = calls.vkCreateDebugUtilsMessengerEXT(instance, info, 0, out);
  if (result < 0) {
    callback.release();
    check("vkCreateDebugUtilsMessengerEXT", result);
  }
  const messenger = arena.handle(out);
  return () => {
    calls.vkDestroyDebugUtilsMessengerEXT(instance, messenger, 0);
    callback.release();
  };
}
