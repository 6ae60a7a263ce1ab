/** Names of extensions and layers, of the loader and of devices. instance.ts and physical-device.ts call this. */
import { type FunctionName, type FunctionTable, type GlobalFunction, VK_INCOMPLETE } from "./api.js";
import * as L from "./layouts.js";
import { addressOf } from "./native.js";
import { check } from "./results.js";
import type { Layout } from "./structs.js";

export function extensionNames(call: FunctionName, enumerate: (count: number, list: number) => number): string[] {
  return enumerateNames(L.VkExtensionProperties, "extensionName", call, enumerate);
}

export function layerNames(calls: FunctionTable<GlobalFunction>): string[] {
  return enumerateNames(L.VkLayerProperties, "layerName", "vkEnumerateInstanceLayerProperties", (count, list) =>
    calls.vkEnumerateInstanceLayerProperties(count, list),
  );
}

/** Vulkan enumerates in two calls, the count and then the list; both are repeated when the list grew in between. */
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
