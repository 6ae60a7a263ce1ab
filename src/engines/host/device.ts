/**
 * The CPU as a device: WebAssembly kernels over shared memory, split over threads. It has the shape of a Vulkan device, so
 * the layers above need not know which one they drive. Work waits in a queue; only a tiny kernel runs at once if the queue is
 * empty. work-queue.ts says who does the work and when. It needs no driver and is always available.
 */
import { cpus } from "node:os";
import type { EncodedKernel, KernelInterface } from "../../core/encoded-kernel.js";
import { ArgumentError, DisposedError } from "../../core/errors.js";
import { asBytes, type ByteSource } from "../byte-source.js";
import { debug } from "../debug.js";
import type { Engine, RecordableProgram, RecordedProgram } from "../engine.js";
import { GarbageBudget, garbageShare } from "../garbage.js";
import { type Lease, type LeaseGroup, Leases } from "../leases.js";
import { type CompileSpan, Profile } from "../profile.js";
import { giveUp } from "../suballocator.js";
import { isTurnDue, turn } from "../turns.js";
import { HostAllocation } from "./allocation.js";
import { MAX_WORKERS } from "./job-board.js";
import { type HostKernel, HostKernelCompiler, type HostKernelOptions } from "./kernel.js";
import { LoadedHostKernel, Scratch } from "./loaded-kernel.js";
import { ARGUMENTS, type HostChunk, HostMemory, type HostMemoryOwner } from "./memory.js";
import { HostProgram } from "./recorded-program.js";
import { defaultThreads, sharedPool, type ThreadPool } from "./thread-pool.js";
import { WorkQueue } from "./work-queue.js";

/**
 * The share of the free memory, 4 GiB at most, that garbage may fill where nobody says otherwise. An eighth made element-wise
 * loops on results of 16 MiB collect so often that they took 1.4 times as long.
 */
const GARBAGE = 1 / 4;
/** The share while collections are dear: 64 results of 16 MiB fill a quarter in as many milliseconds, and a collection takes 16. */
const DEAR_GARBAGE = 1 / 2;

/**
 * Milliseconds that workers would have saved after which they are worth starting: that takes a worker some 30 ms of a core. A
 * program of small tensors ends before, and never starts one.
 */
const WORTH_WORKERS = 30;
/** Milliseconds that it takes to wake workers for a kernel and to wait for the last of them. */
const SHARING = 0.05;

interface HostDeviceOptions {
  /** Threads that share a kernel's rows, the calling one included. Default: PUMICE_THREADS, or all cores. */
  readonly threads?: number;
  /** The most memory to use, up to 4 GiB. */
  readonly maxBytes?: number;
  /** The share of free memory that undisposed garbage may fill. Default: PUMICE_GARBAGE, or a quarter; a half while collections are dear. */
  readonly garbage?: number;
}

interface HostDeviceStats {
  /** Buffers alive, and the bytes they hold. */
  readonly buffers: number;
  readonly usedBytes: number;
  /** Bytes the memory has grown to. */
  readonly reservedBytes: number;
  /** Garbage collections that were run to free memory. */
  readonly collections: number;
  readonly kernels: number;
  readonly dispatches: number;
  /** Dispatches that were split over threads. */
  readonly threadedDispatches: number;
  readonly threads: number;
  /** Worker threads running, for this and other devices. */
  readonly workers: number;
}

interface Timed {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

export class HostDevice implements HostMemoryOwner, Engine<HostAllocation, LoadedHostKernel> {
  readonly hasDoubles = true;
  /** @internal */
  readonly replaysFaster = true;
  /** Whether products may be fused with sums where WebAssembly can: `PUMICE_FMA=off` says no. */
  readonly mayFuse = process.env.PUMICE_FMA !== "off";
  readonly threads: number;
  readonly name: string;
  /** @internal */
  readonly memory: HostMemory;
  /** @internal */
  readonly pool: ThreadPool;
  /** @internal The argument block. */
  readonly words: Uint32Array;
  /** @internal */
  readonly counters = { dispatches: 0, threaded: 0 };
  /** @internal What ran when, while a profile is open. */
  clock: Timed[] | null = null;
  /** @internal */
  readonly garbage: GarbageBudget;
  private readonly leases = new Leases<HostChunk>(
    () => this.garbage.noteSweep(this.memory.usedBytes),
    (chunk) => giveUp(chunk, this.memory),
  );
  private readonly kernels: HostKernelCompiler;
  /** @internal */
  readonly scratch = new Scratch(this);
  /** @internal */
  readonly queue = new WorkQueue();
  /** Memory of `withBytes`. It is written in the order of the queue, so the next call can reuse it. */
  private readonly lent: HostAllocation[] = [];
  private isOver = false;
  /** Milliseconds of kernels that ran on this thread because there were no workers yet. */
  private alone = 0;

  /** @internal Use `openHostDevice`. */
  constructor(options: HostDeviceOptions = {}) {
    const { threads = defaultThreads(), maxBytes, garbage } = options;
    if (!(Number.isInteger(threads) && threads >= 1 && threads <= MAX_WORKERS + 1)) {
      throw new ArgumentError(`openHostDevice: ${threads} threads; from 1 to ${MAX_WORKERS + 1} will do.`);
    }
    if (maxBytes !== undefined) checkByteLength("openHostDevice, maxBytes", maxBytes);
    this.threads = threads;
    const [share, dearShare] = [GARBAGE, DEAR_GARBAGE].map((byDefault) => garbageShare(byDefault, garbage));
    this.memory = new HostMemory(this, maxBytes);
    const obtainable = () => this.memory.obtainableBytes;
    this.garbage = new GarbageBudget(share, this.memory.maxBytes, obtainable, undefined, dearShare);
    this.words = this.memory.words(ARGUMENTS.address, ARGUMENTS.bytes / 4);
    this.pool = sharedPool();
    this.kernels = new HostKernelCompiler(this);
    const model = cpus()[0]?.model.trim() || "CPU";
    this.name = `${model} (${threads} ${threads === 1 ? "thread" : "threads"})`;
    debug(1, () => `opened ${this.name}`);
  }

  /** @internal */
  get memoryBytes(): number {
    return this.memory.maxBytes;
  }

  /** @internal */
  get epoch(): number {
    return this.queue.last;
  }

  get isClosed(): boolean {
    return this.isOver;
  }

  /** A buffer of `byteLength` zero bytes. */
  alloc(byteLength: number): HostAllocation {
    return this.buffer(byteLength, true);
  }

  /** An uninitialised buffer, for callers that overwrite all of it. */
  allocUninitialized(byteLength: number): HostAllocation {
    return this.buffer(byteLength, false);
  }

  /** A buffer with these bytes in it. */
  upload(source: ByteSource): HostAllocation {
    const bytes = asBytes(source);
    const buffer = this.buffer(bytes.byteLength, false);
    buffer.write(bytes);
    return buffer;
  }

  /** @internal */
  withBytes<T>(contents: readonly Uint8Array[], work: (memory: readonly HostAllocation[]) => T): T {
    contents.forEach((bytes, i) => {
      if (!this.lent[i] || this.lent[i].byteLength < bytes.byteLength) {
        this.lent[i]?.dispose();
        this.lent[i] = this.allocUninitialized(bytes.byteLength);
      }
      this.lent[i].put(this.lent[i].address, bytes);
    });
    return work(this.lent);
  }

  /** @internal */
  load(encoded: EncodedKernel, kernel: KernelInterface): LoadedHostKernel {
    return new LoadedHostKernel(this, this.scratch, encoded, kernel);
  }

  /** @internal */
  dispatch(kernel: LoadedHostKernel, memory: readonly HostAllocation[], offsets: readonly number[]): void {
    const { queue } = this;
    const { isWritten } = kernel;
    const addresses = new Array<number>(memory.length);
    for (let i = 0; i < memory.length; i++) addresses[i] = memory[i].address + offsets[i];
    if (queue.hasLost) for (const each of memory.filter((_, i) => !isWritten[i])) each.assertNotLost();
    if (queue.submit(kernel, kernel.wordsFor(addresses))) return;
    for (let i = 0; i < memory.length; i++) memory[i].mark(isWritten[i]);
  }

  /** @internal The threads for a kernel that takes about so many milliseconds on one. */
  threadsFor(milliseconds: number): number {
    return this.pool.workers > 0 || this.alone + this.savedBySharing(milliseconds) >= WORTH_WORKERS ? this.threads : 1;
  }

  /** @internal A kernel that workers could have shared took so long on this thread. */
  noteAlone(milliseconds: number): void {
    this.alone += this.savedBySharing(milliseconds);
  }

  private savedBySharing(milliseconds: number): number {
    return Math.max(0, milliseconds * (1 - 1 / this.threads) - SHARING);
  }

  /** @internal */
  flagIn(memory: HostAllocation): Uint8Array {
    return memory.readSync();
  }

  /** @internal */
  flagNow(memory: HostAllocation): Uint8Array | null {
    return this.queue.isEmpty && !isTurnDue() ? memory.readSync() : null;
  }

  /** @internal */
  giveWay(): Promise<void> | null {
    if (this.queue.isEmpty) return isTurnDue() ? turn() : null;
    return this.queue.isLong ? this.queue.whenDone() : null;
  }

  /** @internal */
  record(program: RecordableProgram<HostAllocation, LoadedHostKernel>): RecordedProgram<HostAllocation> {
    return new HostProgram(this, program);
  }

  /** Compiles a WebAssembly module that keeps the contract in kernel.ts, or finds it compiled already. */
  kernel(wasm: ByteSource, options: HostKernelOptions = {}): HostKernel {
    this.assertUsable("kernel");
    return this.kernels.compile(asBytes(wasm), options);
  }

  /** Runs `work` and measures the time of its kernels. */
  async profile(work: () => unknown): Promise<Profile> {
    this.assertUsable("profile");
    if (this.clock) throw new ArgumentError("profile: a profile is being taken already.");
    const clock: Timed[] = [];
    const compiled: CompileSpan[] = [];
    // Work from before the profile is not measured.
    if (!this.queue.isEmpty) await this.queue.whenDone();
    const began = performance.now();
    this.clock = clock;
    this.kernels.watched = compiled;
    try {
      await work();
      await this.queue.whenDone();
    } finally {
      this.clock = null;
      this.kernels.watched = null;
    }
    const origin = clock[0]?.start ?? 0;
    const microseconds = (ms: number) => ms * 1000;
    return new Profile(
      clock.map(({ name, start, end }) => ({
        name,
        start: microseconds(start - origin),
        duration: microseconds(end - start),
      })),
      compiled,
      { on: "CPU", began, firstCommand: clock[0]?.start ?? null },
    );
  }

  /** Resolves when all that was asked for is done; rejects if it failed. */
  async finish(): Promise<void> {
    this.assertUsable("finish");
    if (!this.queue.isEmpty) await this.queue.whenDone();
  }

  /** The same, blocking. */
  finishSync(): void {
    this.assertUsable("finish");
    this.queue.finish();
  }

  /** @internal */
  tidy(): boolean {
    return this.garbage.tidy({
      usedBytes: () => this.memory.usedBytes,
      collectRecent: () => this.leases.collectRecent(),
      collect: () => this.collect(),
    });
  }

  /** Collects garbage and takes back the memory of buffers nobody can reach. True when there were any. */
  collect(): boolean {
    const began = performance.now();
    const swept = this.leases.collect();
    this.kernels.sweep();
    this.garbage.noteCollection(this.memory.usedBytes, performance.now() - began);
    return swept > 0;
  }

  /** WebAssembly memory does not shrink; this only frees the memory of dropped buffers. */
  trim(): void {
    if (!this.isOver) this.leases.sweep();
  }

  stats(): HostDeviceStats {
    return {
      buffers: this.leases.size,
      usedBytes: this.memory.usedBytes,
      reservedBytes: this.memory.reservedBytes,
      collections: this.garbage.collections,
      kernels: this.kernels.size,
      dispatches: this.counters.dispatches,
      threadedDispatches: this.counters.threaded,
      threads: this.threads,
      workers: this.pool.workers,
    };
  }

  /** Bytes that can still be allocated, if they are not too scattered. */
  availableBytes(): number {
    return this.memory.maxBytes - this.memory.usedBytes;
  }

  memoryReport(): string {
    const { buffers, usedBytes, reservedBytes } = this.stats();
    return (
      `${this.name}: ${usedBytes} bytes in ${buffers} buffers, ${reservedBytes} held, ` +
      `${this.availableBytes()} more available of ${this.memory.maxBytes}.`
    );
  }

  /** @internal */
  endLease(lease: Lease): void {
    this.leases.end(lease);
  }

  /** @internal */
  leaveGroup(group: LeaseGroup<HostChunk>, place: number): void {
    this.leases.leave(group, place);
  }

  assertUsable(operation = "use"): void {
    if (this.isOver) throw new DisposedError(`${operation}: the device ${this.name} was closed.`);
  }

  /** Frees everything made on the device, when what was asked for is done. Closing twice is harmless. */
  async close(): Promise<void> {
    if (this.isOver) return;
    this.isOver = true;
    // A failed kernel rejects the read of its result; closing ignores it.
    if (!this.queue.isEmpty) await this.queue.whenDone().catch(() => {});
    this.leases.close();
    this.kernels.close();
    this.memory.retire();
    debug(1, () => `closed ${this.name}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  private buffer(byteLength: number, isZeroed: boolean): HostAllocation {
    this.assertUsable("alloc");
    checkByteLength("alloc", byteLength);
    const { chunk, isZero } = this.memory.allocate(Math.max(1, byteLength));
    this.queue.forget(chunk);
    return this.holding(chunk, byteLength, isZeroed && !isZero && byteLength > 0);
  }

  /** @internal A buffer that holds a chunk. */
  holding(chunk: HostChunk, byteLength: number, isZeroPending = false): HostAllocation {
    const buffer = new HostAllocation(this, byteLength, chunk, isZeroPending);
    this.leases.tie(buffer, chunk, (chunk.whole ?? chunk).size);
    return buffer;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `HostDevice { ${this.name}${this.isOver ? ", closed" : ""} }`;
  }
}

function checkByteLength(operation: string, byteLength: number): void {
  if (Number.isSafeInteger(byteLength) && byteLength >= 0) return;
  throw new ArgumentError(`${operation}: ${byteLength} is not a number of bytes.`);
}

/** The CPU as a device. Each call makes one with memory of its own; all share the process's threads. */
export function openHostDevice(options: HostDeviceOptions = {}): HostDevice {
  return new HostDevice(options);
}
