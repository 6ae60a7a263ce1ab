/**
 * Decides which copies a kernel does. On a GPU a kernel is five times as fast as NVIDIA's vkCmdCopyBuffer, and small transfers to
 * and from the host are faster in the compute stage. Large transfers go to the copy engines; software devices use the
 * command, a memcpy. Allocations are padded, so whole vectors may be copied.
 */

import type { Pipeline, PipelineCompiler } from "../pipelines/pipeline-compiler.js";
import { type DevicePlan, isSoftware, type PhysicalDevice } from "../plan.js";
import type { CopyKernel } from "../submission/stream.js";
import type { Block } from "./memory-pool.js";

/** Kernels that the engine itself dispatches. It cannot compile, so the caller that opens the device supplies them. */
export interface EngineKernels {
  /** Copies vectors of 16 bytes; push block: from, to, count, stride (threads along x). */
  copy(): Uint32Array;
}

/** The most bytes of one dispatch of the copy kernel. */
const MAX_KERNEL_COPY = 16 * (2 ** 32 - 1);
/** Transfers up to this size go by kernel. */
const MAX_KERNEL_TRANSFER = 64 * 1024;

export class CopyKernels {
  private copier: CopyKernel | null = null;
  private readonly isUsed: boolean;

  constructor(
    private readonly kernels: EngineKernels | null,
    private readonly pipelines: PipelineCompiler,
    private readonly plan: DevicePlan,
    properties: PhysicalDevice,
  ) {
    const wish = process.env.PUMICE_COPY;
    this.isUsed = wish === "kernel" || (wish !== "command" && !isSoftware(properties));
  }

  /** The kernel to copy with, or null for vkCmdCopyBuffer. */
  kernelFor(from: Block, to: Block, bytes: number): CopyKernel | null {
    if (!this.kernels || !this.isUsed || bytes > MAX_KERNEL_COPY) return null;
    const isOnDevice = from.mapped === null && to.mapped === null;
    if (!isOnDevice && (bytes > MAX_KERNEL_TRANSFER || from.address === 0n || to.address === 0n)) return null;
    if (!this.copier) {
      const pipeline = this.pipelines.compile(this.kernels.copy(), { name: "copy" });
      const maxGroups = this.plan.limits.maxComputeWorkGroupCount[0];
      // It inherits from the pipeline and so keeps it alive; a copy would not.
      this.copier = Object.assign(Object.create(pipeline) as Pipeline, { threads: pipeline.localSize[0], maxGroups });
    }
    return this.copier;
  }
}
