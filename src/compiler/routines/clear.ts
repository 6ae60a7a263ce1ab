/** Fills buffers of words with zeros, before a kernel whose workgroups count or publish there. */
import type { Kernel } from "../ir/ir.js";
import { KernelBuilder } from "../ir/kernel-builder.js";

/** `sizes`: words of each buffer, of u32. */
export function clearKernel(name: string, sizes: readonly number[]): Kernel {
  const most = Math.max(...sizes);
  const k = new KernelBuilder(`${name}[${most}]`, most);
  for (const size of sizes) {
    const to = k.buffer("u32", true);
    const gate = size < most ? k.compare("lt", k.row, k.constant("i32", size)) : null;
    k.store(to, k.row, k.constant("u32", 0), true, gate);
  }
  return k.finish();
}
