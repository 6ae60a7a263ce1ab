/**
 * The stream records commands ahead of the GPU and submits them in batches on one queue, in program order.
 *
 * Hazards: the stream counts epochs; a barrier ends one. Memory carries the epoch of its last recorded read and write, so
 * one comparison per buffer tells whether a command conflicts with one since the last barrier, and only then a barrier is
 * recorded. Batches: a batch is submitted when submission-pace.ts finds it due, when someone waits, or at the next turn of
 * the event loop. Each signals the next value of the timeline, and is reused when the timeline has passed it (batches.ts). A
 * batch that cannot be submitted is lost with its commands, and its epochs are remembered as lost (lost-epochs.ts).
 */
import { debug, debugLevel } from "../../debug.js";
import {
  Access,
  BindPointCompute,
  type DeviceFunction,
  type FunctionTable,
  type Handle,
  PipelineStage,
  ShaderStageCompute,
} from "../driver/api.js";
import * as L from "../driver/layouts.js";
import { addressOf, type Bytes } from "../driver/native.js";
import { isOutOfMemory, resultError } from "../driver/results.js";
import { Arena, putU64 } from "../driver/structs.js";
import { throwOnValidation } from "../driver/validation.js";
import type { Allocation, Block, MemoryPool } from "../memory/memory-pool.js";
import type { BoundBuffer, DescriptorSets } from "../pipelines/descriptors.js";
import { type Batch, Batches } from "./batches.js";
import type { CommandClock } from "./command-clock.js";
import { LostEpochs } from "./lost-epochs.js";
import type { Recording } from "./recording.js";
import { SubmissionPace } from "./submission-pace.js";
import { Timeline } from "./timeline.js";

/** The parts of a compiled kernel that the stream uses. */
export interface Dispatchable {
  readonly name: string;
  readonly pipeline: Handle;
  readonly layout: Handle;
  readonly pushBytes: number;
}

export interface StreamOwner {
  readonly calls: FunctionTable<DeviceFunction>;
  readonly handle: Handle;
  readonly queue: Handle;
  readonly queueFamily: number;
  readonly isSoftware: boolean;
  /** Throws when the device is lost. */
  assertAlive(): void;
  collect(): boolean;
  /** The kernel to copy with, or null when the driver's copy command is to be used. */
  copyKernel(from: Block, to: Block, bytes: number): CopyKernel | null;
}

/** Copies 16-byte vectors; push block: from, to, count, stride (threads along x). */
export interface CopyKernel extends Dispatchable {
  readonly threads: number;
  readonly maxGroups: number;
}

/** The offset of copy arguments in the scratch memory, behind the caller's push constants. */
const COPY_SCRATCH = 2048;

const STAGES = PipelineStage.compute | PipelineStage.transfer;
const READS = Access.shaderRead | Access.transferRead;
const WRITES = Access.shaderWrite | Access.transferWrite;

export class Stream {
  /** Grows by one with every barrier; memory whose epochs are older is safe to touch. */
  epoch = 1;
  readonly timeline: Timeline;
  /** Counts for tests, benchmarks and `device.stats()`. */
  readonly counters = {
    dispatches: 0,
    copies: 0,
    fills: 0,
    barriers: 0,
    submissions: 0,
    replays: 0,
    uploadedBytes: 0,
    downloadedBytes: 0,
  };
  clock: CommandClock | null = null;

  private readonly calls: FunctionTable<DeviceFunction>;
  private batch: Batch | null = null;
  private boundPipeline: Handle = 0;
  private readonly pace = new SubmissionPace();
  private submittedValue = 0;
  private readonly batches: Batches;
  private isFlushScheduled = false;
  private readonly lost = new LostEpochs();

  private readonly scratch: Bytes = addressOf(4096);
  private readonly fixed = new Arena(4096);
  private readonly memoryBarrier: number;
  private readonly hostBarrier: number;
  private readonly beginInfo: number;
  private readonly submitInfo: number;
  private readonly submitValue: number;
  private readonly submitCommands: number;

  constructor(
    private readonly owner: StreamOwner,
    readonly descriptors: DescriptorSets,
  ) {
    this.calls = owner.calls;
    this.batches = new Batches(owner, (commands) => descriptors.recycle(commands));
    this.timeline = new Timeline(owner.calls, owner.handle, owner.isSoftware ? "software" : "hardware", () =>
      this.batches.retire(this.timeline.completed),
    );
    const { fixed } = this;
    this.memoryBarrier = fixed.pack(L.VkMemoryBarrier, { srcAccessMask: WRITES, dstAccessMask: READS | WRITES });
    this.hostBarrier = fixed.pack(L.VkMemoryBarrier, {
      srcAccessMask: WRITES,
      dstAccessMask: Access.hostRead,
    });
    this.beginInfo = fixed.pack(L.VkCommandBufferBeginInfo, { flags: 1 });
    this.submitValue = fixed.u64s([0]);
    this.submitCommands = fixed.u64s([0]);
    const values = fixed.pack(L.VkTimelineSemaphoreSubmitInfo, {
      signalSemaphoreValueCount: 1,
      pSignalSemaphoreValues: this.submitValue,
    });
    this.submitInfo = fixed.pack(
      L.VkSubmitInfo,
      {
        commandBufferCount: 1,
        pCommandBuffers: this.submitCommands,
        signalSemaphoreCount: 1,
        pSignalSemaphores: fixed.u64s([this.timeline.semaphore]),
      },
      values,
    );
  }

  /** Scratch for push constants: write here, then dispatch. */
  get push(): Bytes {
    return this.scratch;
  }

  /** The timeline value that everything recorded so far will have reached once submitted. */
  get recordedValue(): number {
    return this.batch ? this.submittedValue + 1 : this.submittedValue;
  }

  // ---------------------------------------------------------------------------------------------- commands

  /**
   * Records a dispatch of a kernel that finds its buffers by address, or in the descriptors given. Push constants are
   * the first `kernel.pushBytes` bytes of `push`.
   */
  dispatch(
    kernel: Dispatchable,
    reads: readonly Allocation[],
    writes: readonly Allocation[],
    x: number,
    y: number,
    z: number,
    bound: readonly BoundBuffer[] | null = null,
  ): void {
    const commands = this.open(kernel.name);
    // A kernel may also read a buffer that it writes.
    this.lost.check(writes);
    this.order(commands, reads, writes);
    this.clock?.before(commands, kernel.name);
    const { calls } = this;
    this.bindPipeline(commands, kernel);
    if (bound !== null) this.descriptors.bind(commands, kernel.layout, bound);
    if (kernel.pushBytes > 0) {
      calls.vkCmdPushConstants(commands, kernel.layout, ShaderStageCompute, 0, kernel.pushBytes, this.scratch.address);
    }
    calls.vkCmdDispatch(commands, x, y, z);
    this.counters.dispatches++;
    this.clock?.after(commands);
    this.recorded();
  }

  /** Runs a recording. `reads` and `writes` list all memory that it touches. */
  replay(recording: Recording, reads: readonly Allocation[], writes: readonly Allocation[]): void {
    const commands = this.open(recording.name);
    this.lost.check(writes);
    this.order(commands, reads, writes);
    this.clock?.before(commands, recording.name);
    putU64(this.scratch.view, COPY_SCRATCH, recording.commands);
    this.calls.vkCmdExecuteCommands(commands, 1, this.scratch.address + COPY_SCRATCH);
    // The recording bound its own pipelines.
    this.boundPipeline = 0;
    this.counters.dispatches += recording.length;
    this.counters.barriers += recording.barriers;
    this.counters.replays++;
    this.clock?.after(commands);
    (this.batch as Batch).length += recording.length - 1;
    this.recorded();
  }

  /** Copies between two allocations of device memory. */
  copy(from: Allocation, fromOffset: number, to: Allocation, toOffset: number, bytes: number): void {
    const commands = this.open("copy");
    this.order(commands, [from], [to]);
    this.recordCopy(commands, "copy", from, fromOffset, to, toOffset, bytes);
    this.recorded();
  }

  /**
   * Copies staging memory the host has filled; the staging goes back to its pool when the copy is done, or at once when
   * nothing could be recorded.
   */
  upload(pool: MemoryPool | null, from: Allocation, to: Allocation, toOffset: number, bytes: number): void {
    let commands: Handle;
    try {
      commands = this.open("upload");
    } catch (error) {
      pool?.free(from);
      throw error;
    }
    if (pool) (this.batch as Batch).borrowed.push({ pool, allocation: from });
    this.order(commands, [], [to]);
    this.recordCopy(commands, "upload", from, 0, to, toOffset, bytes);
    this.counters.uploadedBytes += bytes;
    this.recorded();
  }

  /** Copies to staging memory the host will read once the returned timeline value is reached. */
  download(from: Allocation, fromOffset: number, to: Allocation, toOffset: number, bytes: number): void {
    const commands = this.open("download");
    this.order(commands, [from], []);
    this.recordCopy(commands, "download", from, fromOffset, to, toOffset, bytes);
    this.counters.downloadedBytes += bytes;
    this.calls.vkCmdPipelineBarrier(commands, STAGES, PipelineStage.host, 0, 1, this.hostBarrier, 0, 0, 0, 0);
    this.recorded();
  }

  fill(to: Allocation, bytes: number, word = 0): void {
    const commands = this.open("fill");
    this.order(commands, [], [to]);
    this.clock?.before(commands, "fill");
    this.calls.vkCmdFillBuffer(commands, to.block.buffer, to.offset, Math.ceil(bytes / 4) * 4, word);
    this.counters.fills++;
    this.clock?.after(commands);
    this.recorded();
  }

  /** Runs the action when the GPU has finished everything recorded so far. */
  whenDone(action: () => void): void {
    if (this.batch) this.batch.onDone.push(action);
    else {
      const last = this.batches.inFlight[this.batches.inFlight.length - 1];
      if (last) last.onDone.push(action);
      else action();
    }
  }

  // ---------------------------------------------------------------------------------------------- waiting

  /** Submits all recorded commands. Returns the timeline value they reach. */
  flush(): number {
    this.pace.reset();
    if (this.batch) this.submit(this.batch);
    return this.submittedValue;
  }

  flushAndWait(): void {
    this.timeline.waitSync(this.flush());
  }

  // ---------------------------------------------------------------------------------------------- recording

  /** Makes sure a command buffer is recording. */
  private open(name: string): Handle {
    const batch = this.batch ?? this.beginBatch();
    batch.names.push(name);
    if (debugLevel >= 3) debug(3, () => `record ${name}`);
    return batch.commands;
  }

  /** Records a barrier, which ends the epoch, if the command conflicts with one of this epoch; then notes its accesses. */
  private order(commands: Handle, reads: readonly Allocation[], writes: readonly Allocation[]): void {
    const { epoch } = this;
    let hasConflict = false;
    for (let i = 0; i < reads.length; i++) if ((reads[i] as Allocation).writeEpoch === epoch) hasConflict = true;
    for (let i = 0; i < writes.length; i++) {
      const allocation = writes[i] as Allocation;
      if (allocation.writeEpoch === epoch || allocation.readEpoch === epoch) hasConflict = true;
    }
    this.lost.check(reads);
    if (hasConflict) this.barrier(commands);
    const now = this.epoch;
    let bytes = 0;
    for (let i = 0; i < reads.length; i++) {
      const allocation = reads[i] as Allocation;
      allocation.readEpoch = now;
      bytes += allocation.size;
    }
    for (let i = 0; i < writes.length; i++) {
      const allocation = writes[i] as Allocation;
      allocation.writeEpoch = now;
      bytes += allocation.size;
    }
    (this.batch as Batch).bytes += bytes;
  }

  private barrier(commands: Handle): void {
    this.calls.vkCmdPipelineBarrier(commands, STAGES, STAGES, 0, 1, this.memoryBarrier, 0, 0, 0, 0);
    this.counters.barriers++;
    this.epoch++;
  }

  /** One copy, by the copy kernel where there is one, else by the driver's command. */
  private recordCopy(
    commands: Handle,
    name: string,
    from: Allocation,
    fromOffset: number,
    to: Allocation,
    toOffset: number,
    bytes: number,
  ): void {
    this.clock?.before(commands, name);
    const { calls } = this;
    const { view, address } = this.scratch;
    const at = COPY_SCRATCH;
    // The kernel copies whole vectors; if they start aligned, they end inside the padded allocation.
    const isAligned = (from.offset + fromOffset) % 16 === 0 && (to.offset + toOffset) % 16 === 0;
    const kernel = isAligned ? this.owner.copyKernel(from.block, to.block, bytes) : null;
    if (kernel) {
      const vectors = Math.ceil(bytes / 16);
      const rows = Math.ceil(vectors / kernel.threads / kernel.maxGroups);
      const columns = Math.ceil(vectors / kernel.threads / rows);
      view.setBigUint64(at, from.block.address + BigInt(from.offset + fromOffset), true);
      view.setBigUint64(at + 8, to.block.address + BigInt(to.offset + toOffset), true);
      view.setUint32(at + 16, vectors, true);
      view.setUint32(at + 20, columns * kernel.threads, true);
      this.bindPipeline(commands, kernel);
      calls.vkCmdPushConstants(commands, kernel.layout, ShaderStageCompute, 0, kernel.pushBytes, address + at);
      calls.vkCmdDispatch(commands, columns, rows, 1);
    } else {
      putU64(view, at, from.offset + fromOffset);
      putU64(view, at + 8, to.offset + toOffset);
      putU64(view, at + 16, bytes);
      calls.vkCmdCopyBuffer(commands, from.block.buffer, to.block.buffer, 1, address + at);
    }
    this.counters.copies++;
    this.clock?.after(commands);
  }

  private bindPipeline(commands: Handle, kernel: Dispatchable): void {
    if (this.boundPipeline === kernel.pipeline) return;
    this.calls.vkCmdBindPipeline(commands, BindPointCompute, kernel.pipeline);
    this.boundPipeline = kernel.pipeline;
  }

  private recorded(): void {
    const batch = this.batch as Batch;
    batch.length++;
    if (this.pace.isDue(batch.length, batch.bytes, this.unfinished)) this.submit(batch);
  }

  /** Batches that the GPU has not finished. */
  private readonly unfinished = (): number => {
    if (this.batches.inFlight.length > 0) this.timeline.poll();
    return this.batches.inFlight.length;
  };

  /** For reallocated memory: its old contents do not matter. */
  forgetLoss(allocation: Allocation): void {
    this.lost.forget(allocation);
  }

  // ---------------------------------------------------------------------------------------------- batches

  private beginBatch(): Batch {
    this.owner.assertAlive();
    throwOnValidation();
    const isGpuIdle = this.batches.inFlight.length === 0 || this.timeline.poll() >= this.submittedValue;
    this.pace.begin(isGpuIdle);
    const batch = this.batches.take((value) => this.timeline.waitSync(value));
    const result = this.calls.vkBeginCommandBuffer(batch.commands, this.beginInfo);
    if (result < 0) {
      this.batches.putBack(batch);
      throw resultError("vkBeginCommandBuffer", result);
    }
    batch.length = 0;
    batch.bytes = 0;
    this.batch = batch;
    this.boundPipeline = 0;
    // A batch begins with a barrier and thus a new epoch: epochs of different batches never mix.
    this.barrier(batch.commands);
    batch.firstEpoch = this.epoch;
    if (!this.isFlushScheduled) {
      this.isFlushScheduled = true;
      setImmediate(this.flushSoon);
    }
    this.clock?.begin(batch.commands);
    return batch;
  }

  /** Submits at the next turn of the event loop, even if nobody waits. */
  private readonly flushSoon = (): void => {
    this.isFlushScheduled = false;
    if (!this.batch) return;
    try {
      this.flush();
    } catch {
      // Remembered as lost work (or a lost device): using the results throws.
    }
  };

  private submit(batch: Batch): void {
    this.batch = null;
    this.clock?.end(batch.commands);
    batch.value = this.submittedValue + 1;
    // Listed before the call: if the device is lost in it, the batch counts as unfinished work.
    this.batches.inFlight.push(batch);
    let call: "vkEndCommandBuffer" | "vkQueueSubmit" = "vkEndCommandBuffer";
    let result = this.calls.vkEndCommandBuffer(batch.commands);
    if (result >= 0) {
      call = "vkQueueSubmit";
      this.fixed.setU64(this.submitValue, batch.value);
      this.fixed.setU64(this.submitCommands, batch.commands);
      result = this.calls.vkQueueSubmit(this.owner.queue, 1, this.submitInfo, 0);
      // A failed submission changes nothing, so it can be repeated after memory was freed.
      if (isOutOfMemory(result) && this.owner.collect()) {
        result = this.calls.vkQueueSubmit(this.owner.queue, 1, this.submitInfo, 0);
      }
    }
    if (result < 0) {
      this.batches.inFlight.pop();
      const why = resultError(call, result);
      this.lost.add(batch.firstEpoch, this.epoch, why);
      this.epoch++;
      this.clock?.discard(batch.commands);
      // These actions also wait for earlier batches, which may still be running.
      const waiting = batch.onDone.splice(0);
      this.batches.recycle(batch);
      for (const action of waiting) this.whenDone(action);
      throw why;
    }
    this.submittedValue++;
    this.counters.submissions++;
    if (debugLevel >= 2) debug(2, () => `submit ${batch.length} commands as ${batch.value}`);
  }

  /** Names of submitted commands that have not finished, for the error of a lost device. */
  unfinishedWork(): string {
    return this.batches.unfinishedWork(this.timeline.completed);
  }

  /** Destroys everything. The GPU must be idle or lost. */
  async destroy(): Promise<void> {
    this.batches.destroy(this.batch);
    this.batch = null;
    await this.timeline.destroy();
  }
}
