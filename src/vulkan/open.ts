/** Opens a device and supplies the kernels that the engine itself runs. */

import type { VulkanDevice } from "../engines/vulkan/device.js";
import { type OpenOptions, openEngine } from "../engines/vulkan/open.js";
import { copyKernel } from "../spirv/copy-kernel.js";

/** The best real GPU, or the device asked for. */
export async function openDevice(options: OpenOptions = {}): Promise<VulkanDevice> {
  return openEngine(options, { copy: copyKernel });
}
