/** The engines behind open devices, for tests that look at their memory, streams and counters. */
import { HostDevice } from "../../src/engines/host/device.js";
import { VulkanDevice } from "../../src/engines/vulkan/device.js";
import { backendFor } from "../../src/tensor/index.js";

export function engineOf(device: string): HostDevice | VulkanDevice {
  const { engine } = backendFor(device);
  if (engine instanceof HostDevice || engine instanceof VulkanDevice) return engine;
  throw new Error(`${device} has an engine that tests do not know`);
}

export function vulkanEngineOf(device: string): VulkanDevice {
  const engine = engineOf(device);
  if (engine instanceof VulkanDevice) return engine;
  throw new Error(`${device} is no Vulkan device`);
}
