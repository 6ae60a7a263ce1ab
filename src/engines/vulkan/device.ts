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
import type { Lease, LeaseGroup } from "../leases.js";
import type { Profile } from "../profile.js";
import { isTurnDue, turn } from "../turns.js";
import type { DeviceFunction, FunctionName, FunctionTable, Handle } from "./driver/api.js";
import type { FoundDevice, Instance } from "./instance.js";
import { bindDeviceCall, bindDeviceCalls, createDevice, faultDescription, firstQueue } from "./logical-device.js";
import { DeviceBuffer } from "./memory/buffer.js";
import { CopyKernels, type EngineKernels } from "./memory/copy-kernels.js";
import { type ArgumentBlock, DeviceMemory, type MemoryDevice } from "./memory/device-memory.js";
import { alignedBytes, HostBuffer, HostImports } from "./memory/host-buffer.js";
import { HostCopies } from "./memory/host-copies.js";
import type { Allocation, Block } from "./memory/memory-pool.js";
import { Transfers } from "./memory/transfers.js";
import { DescriptorSets } from "./pipelines/descriptors.js";
import { type GivenModule, wordsOf } from "./pipelines/given-module.js";
import { Kernel } from "./pipelines/kernel.js";
import { LoadedPipeline } from "./pipelines/loaded-pipeline.js";
import { PipelineCacheFile } from "./pipelines/pipeline-cache.js";
import { type KernelOptions, type Pipeline, PipelineCompiler } from "./pipelines/pipeline-compiler.js";
import { type DevicePlan, isSoftware, type PhysicalDevice } from "./plan.js";
import { profiled } from "./submission/profiled.js";
import { VulkanProgram } from "./submission/recorded-program.js";
import { type CopyKernel, Stream, type StreamOwner } from "./submission/stream.js";

/** Counts and bytes of a device, from `device.stats()`. */
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

/** An open GPU: memory, kernels and a queue. `openDevice` opens it. */
export class VulkanDevice implements StreamOwner, MemoryDevice, Engine<DeviceBuffer, LoadedPipeline> {
  readonly calls: FunctionTable<DeviceFunction>;
  readonly handle: Handle;
  readonly queue: Handle;
  readonly stream: Stream;
  private readonly deviceMemory: DeviceMemory;
  private readonly copies: HostCopies;
  private readonly copyKernels: CopyKernels;
  private readonly descriptors: DescriptorSets;
  private readonly pipelines: PipelineCompiler;
  private readonly cache: PipelineCacheFile;
  private readonly imports = new HostImports();
  /** Release functions of objects other than buffers. Destroying the memory pools does not release these. */
  private readonly releases = new Set<() => void>();
  private readonly instance: Instance;
  private lostBy: DeviceLostError | null = null;
  private closing: Promise<void> | null = null;

  /** @internal Use `openDevice`. */
  constructor(
    instance: Instance,
    readonly found: FoundDevice,
    readonly plan: DevicePlan,
    cacheFolder: string | null,
    kernels: EngineKernels | null = null,
  ) {
    const undo: (() => void)[] = [];
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
    this.deviceMemory = new DeviceMemory(this);
    this.copies = new HostCopies(this.stream, new Transfers(this.stream, this.deviceMemory.pools), this.imports);
    this.copyKernels = new CopyKernels(kernels, this.pipelines, plan, found.description);
    debug(1, () => `opened ${this.name}: ${plan.features.length} features, extensions ${plan.extensions.join(" ")}`);
  }

  get name(): string {
    return this.found.description.name;
  }

  /** The driver's description of the device. */
  get properties(): PhysicalDevice {
    return this.found.description;
  }

  /** @internal A recording is a submission of its own; kernels one by one share submissions with others. */
  readonly replaysFaster = false;

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
    const host = new HostBuffer(bytes, () => end.lease && this.endLease(end.lease));
    end.lease = this.deviceMemory.leases.add(host, () => this.stream.whenDone(release));
    return host;
  }

  /** @internal Memory that the host writes and kernels read without a copy in between. */
  argumentBlock(byteLength: number): ArgumentBlock {
    this.assertUsable("argumentBlock");
    return this.deviceMemory.argumentBlock(byteLength);
  }

  /** @internal A buffer of a few bytes that kernels read as the host wrote them, without a copy in between. */
  lend(bytes: Uint8Array): DeviceBuffer {
    this.assertUsable("lend");
    const pool = this.deviceMemory.pools.arguments;
    const allocation = pool.allocate(Math.max(1, bytes.byteLength));
    (allocation.block.mapped as Uint8Array).set(bytes, allocation.offset);
    const buffer = new DeviceBuffer(this, bytes.byteLength, allocation, false);
    // The next user's write comes from the host, which barriers do not order: wait for the GPU.
    const release = () => this.stream.whenDone(() => pool.free(allocation));
    buffer.attach(this.deviceMemory.leases.add(buffer, release), null);
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
    const allocation = this.deviceMemory.allocate(byteLength);
    this.stream.forgetLoss(allocation);
    return this.holding(allocation, byteLength, isZeroed);
  }

  /** @internal A buffer that holds device memory. */
  holding(allocation: Allocation, byteLength: number, isZeroed = false): DeviceBuffer {
    const buffer = new DeviceBuffer(this, byteLength, allocation, isZeroed);
    this.deviceMemory.leases.tie(buffer, allocation, (allocation.whole ?? allocation).size);
    return buffer;
  }

  /** @internal Calls `release` once, when the owner is garbage or the device closes. */
  hold(owner: object, release: () => void): void {
    const once = () => {
      if (this.releases.delete(once)) release();
    };
    this.releases.add(once);
    this.deviceMemory.leases.add(owner, once);
  }

  /** @internal */
  endLease(lease: Lease): void {
    this.deviceMemory.leases.end(lease);
  }

  /** @internal */
  leaveGroup(group: LeaseGroup<Allocation>, place: number): void {
    this.deviceMemory.leases.leave(group, place);
  }

  /** @internal */
  uploadTo(to: Allocation, bytes: Uint8Array): void {
    this.copies.upload(to, bytes);
  }

  /** @internal */
  downloadFrom(from: Allocation, into: Uint8Array, isPrivate: boolean): Promise<void> {
    return this.copies.download(from, into, isPrivate);
  }

  /** @internal */
  downloadFromSync(from: Allocation, into: Uint8Array): void {
    this.copies.downloadSync(from, into);
  }

  /** @internal The kernel to copy with, or null for vkCmdCopyBuffer. */
  copyKernel(from: Block, to: Block, bytes: number): CopyKernel | null {
    return this.copyKernels.kernelFor(from, to, bytes);
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
    const { name, calls, handle, plan, stream, pipelines } = this;
    return profiled({ name, calls, handle, plan, stream, pipelines }, work);
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
    this.deviceMemory.trim();
  }

  /** Collects garbage and takes back the memory of buffers nobody can reach. True when there were any. */
  collect(): boolean {
    return this.deviceMemory.collect();
  }

  /** @internal */
  sweepKernels(): void {
    this.pipelines.sweep();
  }

  /** @internal */
  whenDone(action: () => void): void {
    this.stream.whenDone(action);
  }

  stats(): DeviceStats {
    return {
      buffers: this.deviceMemory.leases.size,
      usedBytes: this.deviceMemory.usedBytes,
      ...this.deviceMemory.reserved(),
      collections: this.deviceMemory.collections,
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
    return this.deviceMemory.remainingBytes();
  }

  /** @internal */
  heapBudgets() {
    return this.plan.memoryBudget ? this.instance.memoryBudget(this.found.handle) : null;
  }

  memoryReport(): string {
    if (this.closing) throw new DisposedError(`memoryReport: the device ${this.name} was closed.`);
    return this.deviceMemory.memoryReport();
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
    await this.copies.settle();
    this.calls.vkDeviceWaitIdle(this.handle);
    if (!this.lostBy) {
      try {
        this.stream.timeline.poll();
      } catch {
        // the semaphore is destroyed below all the same
      }
    }
    this.deviceMemory.endLeases();
    for (const release of [...this.releases]) release();
    await this.stream.destroy();
    this.stream.clock?.destroy();
    this.imports.releaseAll();
    this.pipelines.destroy();
    this.cache.destroy(this.isLost);
    this.descriptors.destroy();
    this.deviceMemory.destroy();
    this.calls.vkDestroyDevice(this.handle, 0);
    this.instance.release();
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
