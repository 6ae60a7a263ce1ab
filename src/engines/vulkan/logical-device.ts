/** The VkDevice: creates it by the plan, binds its functions, gets its queue, and reads the driver's report of a lost device. */
import { UnsupportedError } from "../../core/errors.js";
import {
  type DeviceFunction,
  deviceSignatures,
  type FunctionName,
  type FunctionTable,
  type Handle,
  optionalFunctions,
  type VulkanFunction,
} from "./driver/api.js";
import * as L from "./driver/layouts.js";
import { bind } from "./driver/native.js";
import { check, DEVICE_LOST } from "./driver/results.js";
import { Arena, type Layout } from "./driver/structs.js";
import type { FoundDevice, Instance } from "./instance.js";
import type { DevicePlan } from "./plan.js";

export function createDevice(instance: Instance, found: FoundDevice, plan: DevicePlan): Handle {
  const arena = new Arena();
  const enabled = new Set(plan.features);
  const enables = (layout: Layout) => [...layout.fields.keys()].some((name) => enabled.has(name));
  const chained = [
    // A struct without enabled features is left out: an older loader may not know it.
    ...L.extensionFeatures.map(({ layout }) => layout).filter(enables),
    L.VkPhysicalDeviceVulkan12Features,
    L.VkPhysicalDeviceVulkan11Features,
    L.VkPhysicalDeviceFeatures2,
  ];
  let next = 0;
  for (const layout of chained) {
    const on = [...layout.fields.keys()].filter((name) => enabled.has(name)).map((name) => [name, true] as const);
    next = arena.pack(layout, Object.fromEntries(on), next);
  }
  const priority = arena.room(4);
  arena.setU32(priority, 0x3f800000); // 1.0
  const queue = arena.pack(L.VkDeviceQueueCreateInfo, {
    queueFamilyIndex: plan.queueFamily,
    queueCount: 1,
    pQueuePriorities: priority,
  });
  const info = arena.pack(
    L.VkDeviceCreateInfo,
    {
      queueCreateInfoCount: 1,
      pQueueCreateInfos: queue,
      enabledExtensionCount: plan.extensions.length,
      ppEnabledExtensionNames: arena.cStrings(plan.extensions),
    },
    next,
  );
  const out = arena.room(8);
  check("vkCreateDevice", instance.calls.vkCreateDevice(found.handle, info, 0, out), found.description.name);
  return arena.handle(out);
}

/** Binds the device's functions. When a call returns VK_ERROR_DEVICE_LOST, it throws the error that `lose` makes. */
export function bindDeviceCalls(
  instance: Instance,
  device: Handle,
  driverOf: string,
  lose: (call: FunctionName) => Error,
): FunctionTable<DeviceFunction> {
  const table: Partial<FunctionTable<DeviceFunction>> = {};
  for (const name of Object.keys(deviceSignatures) as DeviceFunction[]) {
    const call = bindDeviceCall(instance, device, name);
    if (call) table[name] = deviceSignatures[name].startsWith("i32") ? watched(name, call, lose) : call;
    else if (!optionalFunctions.has(name)) throw new UnsupportedError(`${driverOf}'s driver has no ${name}.`);
  }
  return table as FunctionTable<DeviceFunction>;
}

export function bindDeviceCall(instance: Instance, device: Handle, name: DeviceFunction): VulkanFunction | null {
  const arena = new Arena(256);
  const address = instance.calls.vkGetDeviceProcAddr(device, arena.cString(name));
  return address ? instance.interpose(name, bind(address, deviceSignatures[name])) : null;
}

function watched(name: FunctionName, call: VulkanFunction, lose: (call: FunctionName) => Error): VulkanFunction {
  // Fault queries and the waits of closing are made on a lost device and must not throw.
  if (name === "vkGetDeviceFaultInfoEXT" || name === "vkDeviceWaitIdle") return call;
  const watch: VulkanFunction = (...args) => {
    const result = call(...args);
    if (result === DEVICE_LOST) throw lose(name);
    return result;
  };
  const later = call.async;
  if (later) {
    watch.async = async (...args) => {
      const result = await later(...args);
      if (result === DEVICE_LOST) throw lose(name);
      return result;
    };
  }
  return watch;
}

export function firstQueue(calls: FunctionTable<DeviceFunction>, device: Handle, queueFamily: number): Handle {
  const arena = new Arena(256);
  const out = arena.room(8);
  calls.vkGetDeviceQueue(device, queueFamily, 0, out);
  return arena.handle(out);
}

/** The driver's description of the fault that lost a device, as a sentence; empty where there is none. */
export function faultDescription(calls: FunctionTable<DeviceFunction>, device: Handle): string {
  const query = calls.vkGetDeviceFaultInfoEXT;
  if (!query) return "";
  const arena = new Arena(2048);
  const counts = arena.pack(L.VkDeviceFaultCountsEXT, {});
  const info = arena.pack(L.VkDeviceFaultInfoEXT, {});
  if (query(device, counts, 0) < 0) return "";
  // Only the description is wanted: no room is offered for addresses or vendor data.
  const none = arena.pack(L.VkDeviceFaultCountsEXT, {});
  if (query(device, none, info) < 0) return "";
  const text = arena.text(L.VkDeviceFaultInfoEXT, info, "description");
  return text ? ` The driver says: ${text}.` : "";
}
