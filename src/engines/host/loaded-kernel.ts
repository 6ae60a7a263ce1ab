/**
 * A kernel of the compiler on the CPU. Its numbers: the count of its loop (rows, or groups of rows), the rows worth a thread,
 * the bytes each thread needs for the kernel's arrays, and how many times its work is worth a thread. It remembers how long it takes, which decides where it runs.
 */
import type { EncodedKernel, KernelInterface } from "../../core/encoded-kernel.js";
import type { LoadedKernel } from "../engine.js";
import type { HostAllocation } from "./allocation.js";
import type { Background } from "./background.js";
import { ALONE, CrewChoice } from "./crew.js";
import type { HostDevice } from "./device.js";
import type { HostKernel } from "./kernel.js";

/** Kernels that take longer run in the background when someone awaits them. */
const QUICK_MILLISECONDS = 2;
/** The time of as many rows as are worth a thread, in milliseconds. */
const GRAIN_MILLISECONDS = 0.02;
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
  private readonly choice: CrewChoice;

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
    this.choice = new CrewChoice(device, this.estimate);
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
    const crew = this.choice.next();
    const began = this.choice.begin();
    this.kernel.runAt(words, length, grain, crew);
    this.note(began, this.choice.isLeftAlone(crew));
  }

  /** Runs it without blocking for long: in place if that is quick. Returns what goes on in the background, if anything. */
  start(words: readonly number[]): Background | null {
    const [length, grain] = this.numbers;
    if (this.isTiny) {
      this.run(words);
      return null;
    }
    this.clearSlots(words);
    const { everyone } = this.choice;
    const isQuick = (this.expected ?? this.estimate / everyone.threads) <= QUICK_MILLISECONDS;
    const crew = isQuick ? this.choice.next() : everyone;
    const began = this.choice.begin();
    const background = this.kernel.startAt(words, length, grain, crew, isQuick);
    const isAlone = this.choice.isLeftAlone(crew);
    if (background) void background.over.then(() => this.note(began, isAlone));
    else this.note(began, isAlone);
    return background;
  }

  private note(began: number, isAlone: boolean): void {
    const ended = performance.now();
    if (isAlone) this.choice.noteRunAlone(began, ended);
    this.expected = Math.max(ended - began, FORGETTING * (this.expected ?? 0));
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
