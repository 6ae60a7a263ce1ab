/**
 * A Vulkan instance: the connection to all drivers. It lists the physical devices as plain descriptions and opens none.
 * Instances are counted: each open or retain needs one release, and the last release destroys the instance.
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
} from "./driver/api.js";
import { extensionNames, layerNames } from "./driver/enumeration.js";
import * as L from "./driver/layouts.js";
import { type Loader, openLoader } from "./driver/loader.js";
import { addressOf, bind, registerCallback } from "./driver/native.js";
import { check } from "./driver/results.js";
import { Arena } from "./driver/structs.js";
import { layerMessage, reportValidation, type ValidationMode, validationMode } from "./driver/validation.js";
import { describeDevice, unpackVersion } from "./physical-device.js";
import { atLeast, type PhysicalDevice } from "./plan.js";

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
/** VK_ERROR_INCOMPATIBLE_DRIVER */
const INCOMPATIBLE_DRIVER = -9;

/** The Vulkan loader of this machine, from `inspectLoader()`. */
export interface LoaderReport {
  /** The library that was opened. */
  readonly path: string;
  readonly version: readonly [number, number, number];
  readonly hasValidationLayer: boolean;
}

/** The loader's path and version. It asks no driver and creates nothing. */
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
    const offeredVersion = checkedVersion(loader, calls);
    const handle = createInstance(calls, arena, offeredVersion, validate);
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
    this.found = handles.map((handle) => ({
      handle,
      description: describeDevice(this.calls, handle, this.apiVersion),
    }));
    debug(1, () => `${this.found?.length} Vulkan devices: ${this.found?.map((d) => d.description.name).join(", ")}`);
    return this.found;
  }

  /** For each heap the bytes this process may use and those it uses now; null without the extension. */
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

function checkedVersion(loader: Loader, calls: FunctionTable<GlobalFunction>): [number, number, number] {
  const offered = loaderVersion(calls);
  if (atLeast(offered, [1, 2])) return offered;
  throw new DeviceError(
    `The Vulkan loader (${loader.path}) is version ${offered.join(".")}; Pumice needs 1.2 or newer.`,
  );
}

function createInstance(
  calls: FunctionTable<GlobalFunction>,
  arena: Arena,
  offeredVersion: readonly [number, number, number],
  validate: ValidationMode | undefined,
): Handle {
  const offered = extensionNames("vkEnumerateInstanceExtensionProperties", (count, list) =>
    calls.vkEnumerateInstanceExtensionProperties(0, count, list),
  );
  // Without it, the loader hides drivers that implement Vulkan only in part, such as MoltenVK.
  const isPortable = offered.includes("VK_KHR_portability_enumeration");
  const extensions = [
    ...(isPortable ? ["VK_KHR_portability_enumeration"] : []),
    ...(validate ? ["VK_EXT_debug_utils"] : []),
  ];
  const features = validate ? validationFeatures(calls, arena, validate) : 0;
  const layers = validate ? [VALIDATION_LAYER] : [];
  const application = arena.pack(L.VkApplicationInfo, {
    pApplicationName: arena.cString("pumice"),
    pEngineName: arena.cString("pumice"),
    apiVersion: atLeast(offeredVersion, [1, 3]) ? version(1, 3) : version(1, 2),
  });
  const info = arena.pack(
    L.VkInstanceCreateInfo,
    {
      flags: isPortable ? 1 : 0,
      pApplicationInfo: application,
      enabledLayerCount: layers.length,
      ppEnabledLayerNames: arena.cStrings(layers),
      enabledExtensionCount: extensions.length,
      ppEnabledExtensionNames: arena.cStrings(extensions),
    },
    features,
  );
  const out = arena.room(8);
  const result = calls.vkCreateInstance(info, 0, out);
  if (result === INCOMPATIBLE_DRIVER) {
    throw new DeviceError(
      "No Vulkan driver is installed: the loader found no driver manifest. `npx pumice doctor` says more.",
    );
  }
  check("vkCreateInstance", result);
  return arena.handle(out);
}

/** The struct that enables a validation mode's checks, or 0 where the layer's defaults suffice. */
function validationFeatures(calls: FunctionTable<GlobalFunction>, arena: Arena, mode: ValidationMode): number {
  if (!layerNames(calls).includes(VALIDATION_LAYER)) {
    throw new UnsupportedError(
      `Validation was asked for, but ${VALIDATION_LAYER} is not installed (Debian: apt-get install vulkan-validationlayers).`,
    );
  }
  // 0 GPU-assisted, 1 reserve a binding slot for it, 4 synchronisation
  const enables = mode === "sync" ? [4] : mode === "gpu" ? [0, 1] : [];
  if (enables.length === 0) return 0;
  return arena.pack(L.VkValidationFeaturesEXT, {
    enabledValidationFeatureCount: enables.length,
    pEnabledValidationFeatures: arena.u32s(enables),
  });
}

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
