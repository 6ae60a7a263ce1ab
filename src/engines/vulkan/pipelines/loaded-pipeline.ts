/**
 * A kernel of the compiler on a Vulkan device. Its numbers: workgroups along each axis, and 1 if it has too many buffers for the
 * push block, which then holds the address of a table of addresses.
 */
import type { KernelInterface } from "../../../core/encoded-kernel.js";
import type { LoadedKernel } from "../../engine.js";
import type { VulkanDevice } from "../device.js";
import type { DeviceBuffer } from "../memory/buffer.js";
import { type Allocation, putAddress } from "../memory/memory-pool.js";
import type { Pipeline } from "./pipeline-compiler.js";

export class LoadedPipeline implements LoadedKernel {
  /** Reused lists of the buffers of a dispatch: new lists for each would be slow. */
  private readonly reads: Allocation[] = [];
  private readonly writes: Allocation[] = [];

  constructor(
    private readonly device: VulkanDevice,
    readonly pipeline: Pipeline,
    readonly numbers: readonly number[],
    private readonly kernel: KernelInterface,
  ) {}

  get groups(): readonly [number, number, number] {
    const [x, y, z] = this.numbers;
    return [x, y, z];
  }

  /** Whether its buffers' addresses are in a table. */
  get isTabled(): boolean {
    return this.numbers[3] === 1;
  }

  dispatch(memory: readonly DeviceBuffer[], offsets: readonly number[]): void {
    const { device, kernel, reads, writes, numbers } = this;
    const { stream } = device;
    const { view } = stream.push;
    const table = this.isTabled ? new DataView(new ArrayBuffer(8 * memory.length)) : null;
    let readCount = 0;
    let writeCount = 0;
    for (let i = 0; i < memory.length; i++) {
      const allocation = memory[i].contents(kernel.name);
      putAddress(table ?? view, 8 * i, allocation, offsets[i]);
      if (kernel.buffers[i].isWritten) writes[writeCount++] = allocation;
      else reads[readCount++] = allocation;
    }
    const uploaded = table && device.upload(table);
    if (uploaded) {
      const allocation = uploaded.contents(kernel.name);
      putAddress(view, 0, allocation);
      reads[readCount] = allocation;
    }
    stream.dispatch(this.pipeline, reads, writes, numbers[0], numbers[1], numbers[2]);
    uploaded?.dispose();
  }
}
