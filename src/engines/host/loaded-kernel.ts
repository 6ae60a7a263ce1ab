/**
 * A kernel of the compiler on the CPU. Its numbers: the count of its loop (rows, or groups of rows), the rows worth a thread,
 * the bytes each thread needs for the kernel's arrays, and how many times its work is worth a thread. It remembers how long it takes, which decides where it runs.
 */
import type { EncodedKernel, KernelInterface } from "../../core/encoded-kernel.js";
import type { LoadedKernel } from "../engine.js";
import type { HostAllocation } from "./allocation.js";
import type { Background } from "./background.js";
import type { HostDevice } from "./device.js";
import type { HostKernel } from "./kernel.js";
import { ALONE, type Crew } from "./thread-pool.js";

/** Kernels that take longer run in the background when someone awaits them. */
const QUICK_MILLISECONDS = 2;
/** The time of as many rows as are worth a thread, in milliseconds. */
const GRAIN_MILLISECONDS = 0.02;
/** Work of so many milliseconds on one thread is worth threads that are awake, and sleeping ones: waking one takes 0.07 ms. */
const [WORTH_SHARING, WORTH_WAKING] = [0.03, 0.15];
/** Work that is longer, by estimate or as it turned out, is not tried on one thread. */
const LONGEST_TRIAL = 1;
/** The share of a long time that is kept from run to run: kernels that search take long now and then. */
const FORGETTING = 0.7;

export class LoadedHostKernel implements LoadedKernel {
  readonly numbers: readonly number[];
  readonly isWritten: readonly boolean[];
  /** It takes some microseconds, and is not worth a look at the clock. */
  readonly isTiny: boolean;
  /** The compiler's estimate of its time on one thread, in milliseconds. */
  readonly estimate: number;
  private readonly kernel: HostKernel;
  /** Its time as it was measured; null until it has run. */
  private expected: number | null = null;
  /** The same on one thread. */
  private alone: number | null = null;
  private runs = 0;
  /** The number of the next run that is measured on one thread. */
  private nextTrial = 1;

  constructor(
    private readonly device: HostDevice,
    private readonly scratch: Scratch,
    { bytes, numbers }: EncodedKernel,
    { name, buffers }: KernelInterface,
  ) {
    this.kernel = device.kernel(bytes, { name });
    this.numbers = numbers;
    this.isWritten = buffers.map(({ isWritten }) => isWritten);
    // A kernel that does not say how much work it is may take any time.
    const [length, grain, slotBytes, work = Number.POSITIVE_INFINITY] = numbers;
    if (slotBytes > 0) scratch.reserve(this.slots * slotBytes);
    this.isTiny = grain > 1 && length < 2 * grain;
    this.estimate = work * GRAIN_MILLISECONDS;
  }

  /** The words of its argument block for buffers at these addresses. `scratch`: memory for its arrays. */
  wordsFor(addresses: readonly number[], scratch = this.scratch.address): readonly number[] {
    return this.numbers[2] === 0 ? addresses : [...addresses, scratch, this.slots];
  }

  /** Runs it to the end. */
  run(words: readonly number[]): void {
    const [length, grain] = this.numbers;
    this.clearSlots(words);
    if (this.isTiny) {
      this.kernel.runAt(words, length, grain, ALONE);
      return;
    }
    const crew = this.crew();
    const began = performance.now();
    this.kernel.runAt(words, length, grain, crew);
    this.note(performance.now() - began, crew);
  }

  /** Runs it without blocking for long: in place if that is quick. Returns what goes on in the background, if anything. */
  start(words: readonly number[]): Background | null {
    const [length, grain] = this.numbers;
    if (this.isTiny) {
      this.run(words);
      return null;
    }
    this.clearSlots(words);
    const crew = this.crew();
    const isQuick = (this.expected ?? this.estimate / crew.threads) <= QUICK_MILLISECONDS;
    const began = performance.now();
    const background = this.kernel.startAt(words, length, grain, crew, isQuick);
    const note = () => this.note(performance.now() - began, crew);
    if (background) void background.over.then(note);
    else note();
    return background;
  }

  /**
   * The threads of the next run: as many as there are for long work, those that are awake for short work, and this one for what is
   * shorter than the sharing. Estimates are off by a factor of several; so work that may be short is measured on one thread, at first
   * and again and again, ever more seldom.
   */
  private crew(): Crew {
    const { device, estimate } = this;
    const all = device.threadsFor(estimate);
    this.runs++;
    if (all === 1 || estimate > LONGEST_TRIAL) return { threads: all, wakes: true };
    if (this.runs === this.nextTrial) {
      this.nextTrial *= 2;
      this.alone = null;
      return ALONE;
    }
    const time = this.alone ?? estimate;
    if (time >= WORTH_WAKING) return { threads: all, wakes: true };
    return time < WORTH_SHARING ? ALONE : { threads: Math.min(all, 1 + device.pool.awake), wakes: false };
  }

  private note(milliseconds: number, { threads }: Crew): void {
    if (threads === 1) {
      this.device.noteAlone(milliseconds);
      this.alone = Math.max(milliseconds, FORGETTING * (this.alone ?? 0));
      if (this.alone > LONGEST_TRIAL) this.nextTrial = Number.POSITIVE_INFINITY;
    }
    this.expected = Math.max(milliseconds, FORGETTING * (this.expected ?? 0));
  }

  /** One for each worker, and one for this thread, should it help them. */
  private get slots(): number {
    return this.device.threads + 1;
  }

  /** The first word of each slot marks it as in use; a thread whose kernel failed did not clear it. */
  private clearSlots(words: readonly number[]): void {
    const slotBytes = this.numbers[2];
    if (slotBytes === 0) return;
    const address = words[words.length - 2];
    for (let i = 0; i < this.slots; i++) this.device.memory.words(address + i * slotBytes, 1)[0] = 0;
  }
}

/** Memory for the arrays of the kernel that is running: one runs at a time. It holds those of every kernel that is loaded. */
export class Scratch {
  private allocation: HostAllocation | null = null;

  constructor(private readonly device: HostDevice) {}

  /** Its address in the order of dispatches: a kernel dispatched now may run when another is in use. */
  get address(): number {
    return this.allocation?.address ?? 0;
  }

  reserve(byteLength: number): void {
    if (this.allocation && this.allocation.byteLength >= byteLength) return;
    this.allocation?.dispose();
    this.allocation = null;
    this.allocation = this.device.allocUninitialized(byteLength);
  }
}
