/** Opens a device and hands it the kernels the engine runs on its own account. */

import type { VulkanDevice } from "../engines/vulkan/device.js";
import { type OpenOptions, openEngine } from "../engines/vulkan/open.js";
import { copyKernel } from "../spirv/copy-kernel.js";

/** The best real GPU, or the device asked for. */
export async function openDevice(options: OpenOptions = {}): Promise<VulkanDevice> {
  return openEngine(options, { copy: copyKernel });
}
