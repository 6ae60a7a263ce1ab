/**
 * An open Vulkan device: creates the logical device by the plan, owns everything made on it, and destroys it all.
 *
 * It is also where a lost device is noticed: every driver call that returns a code passes through here, and the first
 * VK_ERROR_DEVICE_LOST poisons the device. From then on each use throws the same `DeviceLostError`, which names the
 * kernels that were running; closing still works, and a new device can be opened.
 */
import type { EncodedKernel, KernelInterface } from "../../core/encoded-kernel.js";
import { ArgumentError, DeviceLostError, DisposedError, UnsupportedError } from "../../core/errors.js";
import { asBytes, type ByteSource } from "../byte-source.js";
import { debug } from "../debug.js";
import type { Engine, RecordableProgram, RecordedProgram } from "../engine.js";
import { GarbageBudget } from "../garbage.js";
import { type Lease, Leases, SMALL_LEASE } from "../leases.js";
import { type CompileSpan, Profile } from "../profile.js";
import { Rest } from "../rest.js";
import { giveUp } from "../suballocator.js";
import { isTurnDue, turn } from "../turns.js";
import type { DeviceFunction, FunctionName, FunctionTable, Handle } from "./api.js";
import { DeviceBuffer } from "./buffer.js";
import { CommandClock } from "./command-clock.js";
import { DescriptorSets } from "./descriptors.js";
import { type GivenModule, wordsOf } from "./given-module.js";
import { alignedBytes, HostBuffer, HostImports } from "./host-buffer.js";
import type { FoundDevice, Instance } from "./instance.js";
import { Kernel } from "./kernel.js";
import { LoadedPipeline } from "./loaded-pipeline.js";
import { bindDeviceCall, bindDeviceCalls, createDevice, faultDescription, firstQueue } from "./logical-device.js";
import { type Allocation, type Block, type MemoryOwner, MemoryPool } from "./memory.js";
import { PipelineCacheFile } from "./pipeline-cache.js";
import { type KernelOptions, type Pipeline, PipelineCompiler } from "./pipelines.js";
import { type DevicePlan, isSoftware, type PhysicalDevice } from "./plan.js";
import { VulkanProgram } from "./recorded-program.js";
import { type CopyKernel, Stream, type StreamOwner } from "./stream.js";
import { PIECE, Transfers } from "./transfers.js";

export interface DeviceStats {
  /** Buffers alive, and the bytes of device memory they hold. */
  readonly buffers: number;
  readonly usedBytes: number;
  /** Bytes taken from the driver, staging included, and in how many blocks. */
  readonly reservedBytes: number;
  readonly blocks: number;
  /** Garbage collections that were run to free memory. */
  readonly collections: number;
  readonly pipelines: number;
  readonly dispatches: number;
  readonly barriers: number;
  readonly submissions: number;
  /** Bytes that went from the host to the device and back. */
  readonly uploadedBytes: number;
  readonly downloadedBytes: number;
}

/** Kernels that the engine itself dispatches. It cannot compile, so the caller that opens the device supplies them. */
export interface EngineKernels {
  /** Copies vectors of 16 bytes; push block: from, to, count, stride (threads along x). */
  copy(): Uint32Array;
}

const MiB = 1024 * 1024;
/** The most bytes of one dispatch of the copy kernel. */
const MAX_KERNEL_COPY = 16 * (2 ** 32 - 1);
/** Transfers up to this size go by kernel. */
const MAX_KERNEL_TRANSFER = 64 * 1024;

/** Memory for arguments: written by the host through `view`, read by kernels at `address`. */
export interface ArgumentBlock {
  readonly address: bigint;
  readonly view: DataView;
  free(): void;
}

/** An open GPU: memory, kernels and a queue. `openDevice` opens it. */
export class VulkanDevice implements MemoryOwner, StreamOwner, Engine<DeviceBuffer, LoadedPipeline> {
  readonly calls: FunctionTable<DeviceFunction>;
  readonly handle: Handle;
  readonly queue: Handle;
  readonly stream: Stream;
  private readonly leases = new Leases(() => this.garbage.noteSweep(this.pools.device.usedBytes));
  private readonly garbage: GarbageBudget;
  private readonly rest = new Rest((isQuiet) => this.lookAfterMemory(isQuiet));
  private readonly pools: Record<"device" | "upload" | "readback" | "arguments", MemoryPool>;
  private readonly transfers: Transfers;
  private readonly descriptors: DescriptorSets;
  private readonly pipelines: PipelineCompiler;
  private readonly cache: PipelineCacheFile;
  private readonly imports = new HostImports();
  /** Release functions of objects other than buffers. Destroying the memory pools does not release these. */
  private readonly releases = new Set<() => void>();
  private readonly pendingReads = new Set<Promise<unknown>>();
  private readonly instance: Instance;
  private copier: CopyKernel | null = null;
  private readonly isCopyingByKernel: boolean;
  private lostBy: DeviceLostError | null = null;
  private closing: Promise<void> | null = null;
  private isTakenDown = false;

  /** @internal Use `openDevice`. */
  constructor(
    instance: Instance,
    readonly found: FoundDevice,
    readonly plan: DevicePlan,
    cacheFolder: string | null,
    private readonly ownKernels: EngineKernels | null = null,
  ) {
    const undo: (() => void)[] = [() => this.leases.close()];
    try {
      this.instance = instance.retain();
      undo.push(() => instance.release());
      this.handle = createDevice(instance, found, plan);
      const destroyDevice = bindDeviceCall(instance, this.handle, "vkDestroyDevice");
      undo.push(() => destroyDevice?.(this.handle, 0));
      this.calls = bindDeviceCalls(instance, this.handle, this.name, (call) => this.lose(call));
      this.queue = firstQueue(this.calls, this.handle, plan.queueFamily);
      this.descriptors = new DescriptorSets(this.calls, this.handle, plan.pushDescriptors);
      undo.push(() => this.descriptors.destroy());
      this.cache = new PipelineCacheFile(this.calls, this.handle, found.description, cacheFolder);
      undo.push(() => this.cache.destroy(true));
      this.stream = new Stream(this, this.descriptors);
    } catch (error) {
      for (const step of undo.reverse()) step();
      throw error;
    }
    this.pipelines = new PipelineCompiler(
      this.calls,
      this.handle,
      found.description,
      plan,
      this.descriptors,
      this.cache,
      (action) => this.stream.whenDone(action),
    );
    const heapOf = (type: number) =>
      found.description.memoryHeaps[found.description.memoryTypes[type]?.heap ?? 0]?.size ?? 0;
    const pool = (name: string, memoryType: number, isMapped: boolean, blockBytes: number, garbage?: GarbageBudget) =>
      new MemoryPool(
        this,
        {
          name,
          memoryType,
          isMapped,
          unit: plan.alignment,
          blockBytes,
          heapBytes: heapOf(memoryType),
          maxBlockBytes: plan.limits.maxBufferSize,
        },
        garbage,
      );
    this.garbage = new GarbageBudget(plan.garbage, plan.deviceHeapBytes, () => this.obtainableBytes());
    const staging = Math.min(4 * PIECE, Math.max(4 * MiB, plan.blockBytes));
    this.pools = {
      device: pool("device", plan.memory.device, false, plan.blockBytes, this.garbage),
      upload: pool("upload", plan.memory.upload, true, staging),
      readback: pool("read-back", plan.memory.readback, true, staging),
      arguments: pool("arguments", plan.memory.arguments, true, MiB),
    };
    this.transfers = new Transfers(this.stream, this.pools);
    const wish = process.env.PUMICE_COPY;
    this.isCopyingByKernel = wish === "kernel" || (wish !== "command" && !isSoftware(found.description));
    debug(1, () => `opened ${this.name}: ${plan.features.length} features, extensions ${plan.extensions.join(" ")}`);
  }

  get name(): string {
    return this.found.description.name;
  }

  /** The driver's description of the device. */
  get properties(): PhysicalDevice {
    return this.found.description;
  }

  get hasDoubles(): boolean {
    return this.plan.features.includes("shaderFloat64");
  }

  get isSoftware(): boolean {
    return isSoftware(this.properties);
  }

  /** @internal */
  get memoryBytes(): number {
    return this.plan.deviceHeapBytes;
  }

  get queueFamily(): number {
    return this.plan.queueFamily;
  }

  get isClosed(): boolean {
    return this.closing !== null;
  }

  get isLost(): boolean {
    return this.lostBy !== null;
  }

  // ---------------------------------------------------------------------------------------------- buffers

  /** A buffer of `byteLength` zero bytes. */
  alloc(byteLength: number): DeviceBuffer {
    return this.buffer(byteLength, true);
  }

  /** A buffer with these bytes in it. */
  upload(source: ByteSource): DeviceBuffer {
    const bytes = asBytes(source);
    const buffer = this.buffer(bytes.byteLength, false);
    try {
      buffer.write(bytes);
    } catch (error) {
      buffer.dispose();
      throw error;
    }
    return buffer;
  }

  /** An uninitialised buffer, for callers that overwrite all of it. */
  allocUninitialized(byteLength: number): DeviceBuffer {
    return this.buffer(byteLength, false);
  }

  /**
   * Host memory that copies to and from this device go to directly: `buffer.write(host.bytes)`,
   * `await buffer.read(host.bytes)`. Throws `UnsupportedError` where the driver cannot import memory.
   */
  hostBuffer(byteLength: number): HostBuffer {
    this.assertUsable("hostBuffer");
    checkByteLength("hostBuffer", byteLength);
    const alignment = this.plan.limits.minImportedHostPointerAlignment;
    if (alignment === 0) {
      throw new UnsupportedError(`hostBuffer: ${this.name}'s driver has no VK_EXT_external_memory_host.`);
    }
    const { whole, bytes } = alignedBytes(byteLength, alignment);
    const release = this.imports.add(this.calls, this.handle, whole);
    const end: { lease?: Lease } = {};
    const host = new HostBuffer(bytes, () => end.lease && this.leases.end(end.lease));
    end.lease = this.leases.add(host, () => this.stream.whenDone(release));
    return host;
  }

  /**
   * @internal Memory that the host writes and kernels read without a copy in between. Before writing it again, the caller must
   * wait until the GPU has read it.
   */
  argumentBlock(byteLength: number): ArgumentBlock {
    this.assertUsable("argumentBlock");
    const allocation = this.pools.arguments.allocate(Math.max(1, byteLength));
    const { block, offset } = allocation;
    const mapped = block.mapped as Uint8Array;
    return {
      address: block.address + BigInt(offset),
      view: new DataView(mapped.buffer, mapped.byteOffset + offset, byteLength),
      free: () => this.stream.whenDone(() => this.pools.arguments.free(allocation)),
    };
  }

  /** @internal A buffer of a few bytes that kernels read as the host wrote them, without a copy in between. */
  lend(bytes: Uint8Array): DeviceBuffer {
    this.assertUsable("lend");
    const pool = this.pools.arguments;
    const allocation = pool.allocate(Math.max(1, bytes.byteLength));
    (allocation.block.mapped as Uint8Array).set(bytes, allocation.offset);
    const buffer = new DeviceBuffer(this, bytes.byteLength, allocation, false);
    // The next user's write comes from the host, which barriers do not order: wait for the GPU.
    buffer.attach(this.leases.add(buffer, () => this.stream.whenDone(() => pool.free(allocation))));
    return buffer;
  }

  /** @internal */
  withBytes<T>(contents: readonly Uint8Array[], work: (memory: readonly DeviceBuffer[]) => T): T {
    const lent: DeviceBuffer[] = [];
    try {
      for (const bytes of contents) lent.push(this.lend(bytes));
      return work(lent);
    } finally {
      for (const buffer of lent) buffer.dispose();
    }
  }

  private buffer(byteLength: number, isZeroed: boolean): DeviceBuffer {
    this.assertUsable("alloc");
    checkByteLength("alloc", byteLength);
    this.rest.note();
    const allocation = this.pools.device.allocate(Math.max(1, byteLength));
    this.stream.forgetLoss(allocation);
    return this.holding(allocation, byteLength, isZeroed);
  }

  /** @internal A buffer that holds device memory. */
  holding(allocation: Allocation, byteLength: number, isZeroed = false): DeviceBuffer {
    const buffer = new DeviceBuffer(this, byteLength, allocation, isZeroed);
    const pool = this.pools.device;
    buffer.attach(this.leases.add(buffer, () => giveUp(allocation, pool), allocation.size <= SMALL_LEASE));
    return buffer;
  }

  /** @internal Calls `release` once, when the owner is garbage or the device closes. */
  hold(owner: object, release: () => void): void {
    const once = () => {
      if (this.releases.delete(once)) release();
    };
    this.releases.add(once);
    this.leases.add(owner, once);
  }

  /** @internal */
  endLease(lease: Lease): void {
    this.leases.end(lease);
  }

  /** @internal */
  uploadTo(to: Allocation, bytes: Uint8Array): void {
    const direct = this.imports.allocationOf(bytes);
    if (direct) {
      // The caller may change its bytes as soon as this returns, so the copy must be done by then.
      this.stream.upload(null, direct, to, 0, bytes.byteLength);
      this.stream.flushAndWait();
    } else this.transfers.upload(bytes, to, 0);
  }

  /** @internal */
  downloadFrom(from: Allocation, into: Uint8Array, isPrivate: boolean): Promise<void> {
    const direct = this.imports.allocationOf(into);
    let read: Promise<void>;
    if (direct) {
      this.stream.download(from, 0, direct, 0, into.byteLength);
      read = this.stream.timeline.wait(this.stream.flush());
    } else read = this.transfers.download(from, 0, into, isPrivate);
    // A read that was asked for is finished before the device goes.
    const settled = read.then(
      () => {},
      () => {},
    );
    this.pendingReads.add(settled);
    void settled.then(() => this.pendingReads.delete(settled));
    return read;
  }

  /** @internal */
  downloadFromSync(from: Allocation, into: Uint8Array): void {
    const direct = this.imports.allocationOf(into);
    if (direct) {
      this.stream.download(from, 0, direct, 0, into.byteLength);
      this.stream.flushAndWait();
    } else this.transfers.downloadSync(from, 0, into);
  }

  /**
   * @internal The kernel to copy with, or null for vkCmdCopyBuffer. On a GPU a kernel is five times as fast as NVIDIA's
   * vkCmdCopyBuffer, and small transfers to and from the host are faster in the compute stage. Large transfers go to the
   * copy engines; software devices use the command, a memcpy. Allocations are padded, so whole vectors may be copied.
   */
  copyKernel(from: Block, to: Block, bytes: number): CopyKernel | null {
    if (!this.ownKernels || !this.isCopyingByKernel || bytes > MAX_KERNEL_COPY) return null;
    const isOnDevice = from.mapped === null && to.mapped === null;
    if (!isOnDevice && (bytes > MAX_KERNEL_TRANSFER || from.address === 0n || to.address === 0n)) return null;
    if (!this.copier) {
      const pipeline = this.pipelines.compile(this.ownKernels.copy(), { name: "copy" });
      const maxGroups = this.plan.limits.maxComputeWorkGroupCount[0];
      // It inherits from the pipeline and so keeps it alive; a copy would not.
      this.copier = Object.assign(Object.create(pipeline) as Pipeline, { threads: pipeline.localSize[0], maxGroups });
    }
    return this.copier;
  }

  // ---------------------------------------------------------------------------------------------- kernels

  /** @internal */
  load({ bytes, numbers }: EncodedKernel, kernel: KernelInterface): LoadedPipeline {
    // GPU drivers compile on threads of their own; a software driver has none to spare.
    const pipeline = this.pipeline(bytes, { name: kernel.name, ahead: !this.isSoftware });
    return new LoadedPipeline(this, pipeline, numbers, kernel);
  }

  /** @internal */
  dispatch(kernel: LoadedPipeline, memory: readonly DeviceBuffer[], offsets: readonly number[]): void {
    kernel.dispatch(memory, offsets);
  }

  /** @internal Polls the timeline, then blocks: a loop that may end decides on the host how to go on. */
  flagIn(memory: DeviceBuffer): Uint8Array {
    return memory.readSync();
  }

  /** @internal It has to be fetched. */
  flagNow(): null {
    return null;
  }

  /** @internal The GPU works by itself; only recording takes time here. */
  giveWay(): Promise<void> | null {
    return isTurnDue() ? turn() : null;
  }

  /** @internal */
  record(program: RecordableProgram<DeviceBuffer, LoadedPipeline>): RecordedProgram<DeviceBuffer> {
    return new VulkanProgram(this, program);
  }

  /**
   * Compiles SPIR-V (words, bytes or the path of a file), or finds it compiled already. The driver trusts the module: give it
   * code that you trust, or ask for `{ validate: true }`.
   */
  kernel(spirv: GivenModule, options: KernelOptions = {}): Kernel {
    return new Kernel(this, this.pipeline(spirv, options));
  }

  /** @internal The compiled form the stream dispatches. */
  pipeline(spirv: GivenModule, options: KernelOptions = {}): Pipeline {
    this.assertUsable("kernel");
    return this.pipelines.compile(wordsOf(spirv, options.validate === true, this.plan.spirv), options);
  }

  /** Runs `work` and measures the GPU time of its commands. */
  async profile(work: () => unknown): Promise<Profile> {
    this.assertUsable("profile");
    if (this.plan.timestampMask === 0n) throw new UnsupportedError(`profile: ${this.name} has no timestamps.`);
    if (this.stream.clock) throw new ArgumentError("profile: a profile is being taken already.");
    this.stream.flush();
    const clock = new CommandClock(this.calls, this.handle, 256, {
      nsPerTick: this.plan.limits.timestampPeriod,
      mask: this.plan.timestampMask,
    });
    const compiled: CompileSpan[] = [];
    const began = performance.now();
    this.stream.clock = clock;
    this.pipelines.watched = compiled;
    try {
      await work();
      await this.stream.timeline.wait(this.stream.flush());
      return new Profile(clock.events(), compiled, { on: "GPU", began, firstCommand: clock.firstCommand });
    } finally {
      this.stream.clock = null;
      this.pipelines.watched = null;
      try {
        this.stream.flush();
      } catch {
        // using the results reports the error
      }
      this.stream.whenDone(() => clock.destroy());
    }
  }

  /** Waits until everything recorded so far has run. */
  async finish(): Promise<void> {
    this.assertUsable("finish");
    await this.stream.timeline.wait(this.stream.flush());
  }

  finishSync(): void {
    this.assertUsable("finish");
    this.stream.flushAndWait();
  }

  // ---------------------------------------------------------------------------------------------- memory

  /** Gives memory the pool holds in reserve back to the driver. */
  trim(): void {
    // A lost device may still be at work on its memory; closing waits for it and gives back everything.
    if (this.isClosed || this.lostBy) return;
    this.drain();
    for (const pool of Object.values(this.pools)) pool.trim();
  }

  /** Collects garbage and takes back the memory of buffers nobody can reach. True when there were any. */
  collect(): boolean {
    const began = performance.now();
    const swept = this.leases.collect();
    this.pipelines.sweep();
    this.garbage.noteCollection(this.pools.device.usedBytes, performance.now() - began);
    this.returnIdle(this.garbage.allowance + this.plan.blockBytes);
    return swept > 0;
  }

  /** Returns memory of the pool beyond so many idle bytes to the driver. */
  private returnIdle(beyond: number): void {
    if (this.lostBy || this.pools.device.idleBytes <= beyond) return;
    this.stream.timeline.poll();
    this.pools.device.keepIdle(beyond);
  }

  /** Called once a second: returns memory for other processes; an idle program keeps little. True to be called again. */
  private lookAfterMemory(isQuiet: boolean): boolean {
    if (this.isClosed || this.lostBy) return false;
    const { garbage } = this;
    const { usedBytes } = this.pools.device;
    try {
      const isSpent = garbage.examine(usedBytes);
      if (isSpent || (isQuiet && garbage.isWorthARest(usedBytes))) this.collect();
      this.returnIdle(isQuiet ? garbage.worthwhile : garbage.allowance + this.plan.blockBytes);
    } catch {
      // A lost device: its next use throws.
    }
    return !isQuiet;
  }

  /** @internal */
  whenDone(action: () => void): void {
    this.stream.whenDone(action);
  }

  /** @internal Whether the driver's budget has no room for so many bytes while other processes hold at least as many. */
  isCrowdedOut(bytes: number): boolean {
    const memory = this.memoryBudget();
    if (!memory || memory.budget - memory.usage >= bytes) return false;
    return this.plan.deviceHeapBytes - memory.budget >= bytes;
  }

  /** @internal */
  drain(): void {
    if (!this.lostBy) this.stream.flushAndWait();
  }

  stats(): DeviceStats {
    const pools = Object.values(this.pools);
    return {
      buffers: this.leases.size,
      usedBytes: this.isTakenDown ? 0 : this.pools.device.usedBytes,
      reservedBytes: pools.reduce((sum, pool) => sum + pool.blockBytes, 0),
      blocks: pools.reduce((sum, pool) => sum + pool.blockCount, 0),
      collections: this.garbage.collections,
      pipelines: this.pipelines.size,
      dispatches: this.stream.counters.dispatches,
      barriers: this.stream.counters.barriers,
      submissions: this.stream.counters.submissions,
      uploadedBytes: this.stream.counters.uploadedBytes,
      downloadedBytes: this.stream.counters.downloadedBytes,
    };
  }

  /** Bytes still available: by the driver's budget if it has one, else the heap minus our own blocks. */
  availableBytes(): number {
    if (this.closing) throw new DisposedError(`availableBytes: the device ${this.name} was closed.`);
    return this.remainingBytes();
  }

  private remainingBytes(): number {
    const memory = this.memoryBudget();
    if (memory) return Math.max(0, memory.budget - memory.usage);
    return Math.max(0, this.plan.deviceHeapBytes - this.pools.device.blockBytes);
  }

  /** What this process may use of the tensors' heap and what it uses, in bytes; null where the driver does not say. */
  private memoryBudget(): { readonly budget: number; readonly usage: number } | null {
    const found = this.plan.memoryBudget ? this.instance.memoryBudget(this.found.handle) : null;
    const heap = this.properties.memoryTypes[this.plan.memory.device]?.heap ?? 0;
    return found && { budget: found.budget[heap] ?? 0, usage: found.usage[heap] ?? 0 };
  }

  /** Bytes that buffers could come to hold: those of the pool and those still available. */
  private obtainableBytes(): number {
    return this.isTakenDown ? 0 : this.pools.device.blockBytes + this.remainingBytes();
  }

  memoryReport(): string {
    const { buffers, usedBytes } = this.stats();
    return (
      `${this.name}: ${usedBytes} bytes in ${buffers} buffers, ${this.pools.device.blockBytes} held by the pool, ` +
      `${this.availableBytes()} more available of ${this.plan.deviceHeapBytes}.`
    );
  }

  // ---------------------------------------------------------------------------------------------- lifetime

  /** @internal Throws when the device is lost: reads asked for before closing are still recorded while it closes. */
  assertAlive(): void {
    if (this.lostBy) throw this.lostBy;
  }

  assertUsable(operation = "use"): void {
    if (this.lostBy) throw this.lostBy;
    if (this.closing) throw new DisposedError(`${operation}: the device ${this.name} was closed.`);
  }

  /** Finishes what runs, then destroys everything made on the device. Closing twice is harmless. */
  close(): Promise<void> {
    this.closing ??= this.takeDown();
    return this.closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  private async takeDown(): Promise<void> {
    // The flag must be seen before the first await: nothing may be recorded from here on.
    await null;
    try {
      await this.stream.timeline.wait(this.stream.flush());
    } catch {
      // recorded work that nobody can read any more, or a lost device
    }
    while (this.pendingReads.size > 0) await Promise.all(this.pendingReads);
    this.calls.vkDeviceWaitIdle(this.handle);
    if (!this.lostBy) {
      try {
        this.stream.timeline.poll();
      } catch {
        // the semaphore is destroyed below all the same
      }
    }
    this.rest.end();
    this.leases.close();
    for (const release of [...this.releases]) release();
    await this.stream.destroy();
    this.stream.clock?.destroy();
    this.imports.releaseAll();
    this.pipelines.destroy();
    this.cache.destroy(this.isLost);
    this.descriptors.destroy();
    for (const pool of Object.values(this.pools)) pool.destroy();
    this.calls.vkDestroyDevice(this.handle, 0);
    this.instance.release();
    this.isTakenDown = true;
    debug(1, () => `closed ${this.name}`);
  }

  private lose(call: FunctionName): DeviceLostError {
    if (this.lostBy) return this.lostBy;
    const running = this.stream ? this.stream.unfinishedWork() : "nothing";
    const fault = this.plan.deviceFault ? faultDescription(this.calls, this.handle) : "";
    this.lostBy = new DeviceLostError(
      `The device ${this.name} was lost (${call}) while running: ${running}.${fault} ` +
        "Its buffers are gone; close it and open the device again.",
    );
    debug(1, () => this.lostBy?.message ?? "");
    this.stream?.timeline.fail(this.lostBy);
    return this.lostBy;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    const state = this.lostBy ? ", lost" : this.isClosed ? ", closed" : "";
    return `VulkanDevice { ${this.name}, Vulkan ${this.properties.apiVersion.join(".")}, ${this.properties.driverName}${state} }`;
  }
}

function checkByteLength(operation: string, byteLength: number): void {
  if (!Number.isSafeInteger(byteLength) || byteLength < 0) {
    throw new ArgumentError(
      `${operation}: ${String(byteLength)} (${typeof byteLength}) is not a whole number of bytes.`,
    );
  }
}
