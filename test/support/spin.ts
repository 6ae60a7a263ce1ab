/**
 * A kernel that keeps a device busy for a while and changes nothing, for tests of waiting. It works in many short
 * threads: llvmpipe ends every loop once a thread has gone round 65,535 times in all (LP_MAX_TGSI_LOOP_ITERATIONS).
 */
import type { DeviceBuffer, Kernel, VulkanDevice } from "../../src/vulkan/index.js";
import { glsl } from "./glsl.js";

const source = `#version 460
  layout(binding=0) buffer A { uint a[]; };
  void main() {
    uint x = gl_GlobalInvocationID.x + 1;
    for (uint i = 0; i < 50000; i++) { x ^= x << 13; x ^= x >> 17; x ^= x << 5; }
    if (x == 0) a[0] = 12345; // never: xorshift has no way to zero
  }`;

export const spinKernel = (device: VulkanDevice): Kernel => device.kernel(glsl(source), { name: "spin" });

/** How many workgroups of it take at least so long on this device. */
export function groupsFor(device: VulkanDevice, milliseconds: number): number {
  const kernel = spinKernel(device);
  const buffer: DeviceBuffer = device.alloc(4);
  let groups = 1;
  const took = () => {
    const start = performance.now();
    kernel.run({ buffers: [buffer], groups: [groups] });
    device.finishSync();
    return performance.now() - start;
  };
  took();
  while (Math.min(took(), took(), took()) < milliseconds && groups < 32768) groups *= 2;
  buffer.dispose();
  return groups;
}
