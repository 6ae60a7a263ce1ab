/**
 * The work of a host device in the order it was asked for: kernels, and what the main thread does to memory that kernels
 * before use. Memory is given out and freed in the order of the program; its bytes are touched in the order of the queue.
 *
 * Two things empty the queue. `drain` runs everything in place, with the workers' help, for callers that block. The pump
 * serves those that await: it runs kernels of a millisecond or two in place, leaves longer ones to the workers, and turns the
 * event loop every few milliseconds.
 *
 * Each entry has a number, its epoch; chunks of memory keep the last epochs that read and wrote them.
 */
import { isTurnDue, turn } from "../turns.js";
import type { Background } from "./background.js";
import type { LoadedHostKernel } from "./loaded-kernel.js";
import type { HostChunk } from "./memory.js";

/** A kernel and the words of its argument block. */
interface Call {
  readonly kernel: LoadedHostKernel;
  readonly words: readonly number[];
}

/** Work that is done piece by piece. A piece is a kernel to run, or null if asking for the piece has done it. */
type Pieces = Iterator<Call | null>;

type Entry =
  | (Call & { readonly kind: "call" })
  | { readonly kind: "task"; run(): void; fail?(why: Error): void }
  | { readonly kind: "pieces"; readonly pieces: Pieces; fail?(why: Error): void };

/** Work that failed, and the work queued behind it: the memory that these should have written is undefined. */
interface Lost {
  readonly first: number;
  readonly last: number;
  readonly why: Error;
}

/** The most entries and bytes that may wait. A program that never waits for results blocks here until they are done. */
const MAX_ENTRIES = 16384;
const MANY_ENTRIES = 256;
const MAX_BYTES = 64 * 1024 * 1024;
/** Entries that have run and are still in the list. */
const MAX_BEHIND = 1024;
/** Estimated time of tiny kernels that run in place between two looks at the clock. */
const IN_PLACE_MILLISECONDS = 1;

function runInPlace({ kernel, words }: Call): null {
  kernel.run(words);
  return null;
}

export class WorkQueue {
  private readonly entries: Entry[] = [];
  private head = 0;
  private bytes = 0;
  /** The last epoch that was given out, and the last that is over. */
  private issued = 0;
  private done = 0;
  private background: Background | null = null;
  /** The kernel under way is the last of its entry. */
  private isLastPiece = false;
  private isPumping = false;
  private isScheduled = false;
  private inPlace = 0;
  private drainedAt = 0;
  private readonly lost: Lost[] = [];

  get isEmpty(): boolean {
    return this.done === this.issued;
  }

  /** So much is waiting that callers which can wait should wait. */
  get isLong(): boolean {
    return this.issued - this.done > MANY_ENTRIES;
  }

  /** Some work has failed. */
  get hasLost(): boolean {
    return this.lost.length > 0;
  }

  /** The epoch of the last entry. */
  get last(): number {
    return this.issued;
  }

  // ------------------------------------------------------------------------------------------------ asking for work

  /** Runs a kernel: at once if it is tiny and nothing is waiting, else in its turn. True when it has run. */
  submit(kernel: LoadedHostKernel, words: readonly number[]): boolean {
    if (kernel.isTiny && this.done === this.issued && this.mayRunInPlace(kernel)) {
      kernel.run(words);
      return true;
    }
    this.append({ kind: "call", kernel, words });
    return false;
  }

  /** Many tiny kernels take long, too. The clock is looked at when they should have taken a while. */
  private mayRunInPlace({ estimate }: LoadedHostKernel): boolean {
    this.inPlace += estimate;
    if (this.inPlace < IN_PLACE_MILLISECONDS) return true;
    this.inPlace = 0;
    return !isTurnDue(this.drainedAt);
  }

  /** Does something to memory in its turn. `bytes`: those that it keeps until then. */
  later(run: () => void, bytes = 0): void {
    this.append({ kind: "task", run });
    this.bytes += bytes;
    if (this.bytes > MAX_BYTES) this.drain();
  }

  /** Works through pieces in their turn. */
  inPieces(pieces: Pieces): void {
    this.append({ kind: "pieces", pieces });
  }

  /** Resolves when the pieces, or else all that was asked for before, are done; the event loop turns meanwhile. */
  whenDone(pieces?: Pieces): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = reject;
      if (!pieces) this.append({ kind: "task", run: resolve, fail });
      else this.append({ kind: "pieces", pieces: telling(pieces, resolve, reject), fail });
      void this.pump();
    });
  }

  private append(entry: Entry): void {
    this.entries.push(entry);
    this.issued++;
    if (this.entries.length - this.head > MAX_ENTRIES) this.drain();
    else if (!this.isScheduled && !this.isPumping) {
      this.isScheduled = true;
      setImmediate(() => {
        this.isScheduled = false;
        void this.pump();
      });
    }
  }

  // ------------------------------------------------------------------------------------------------ memory

  /** Whether the main thread may read a chunk, or write it, without waiting for its turn. */
  isReadable({ writeEpoch }: HostChunk): boolean {
    return writeEpoch <= this.done;
  }

  isWritable({ readEpoch, writeEpoch }: HostChunk): boolean {
    return readEpoch <= this.done && writeEpoch <= this.done;
  }

  /** For memory that is given out again: how its old contents came about does not matter. */
  forget(chunk: HostChunk): void {
    if (chunk.writeEpoch <= this.done) chunk.writeEpoch = 0;
  }

  /** Throws if the work that was to write a chunk failed. */
  assertNotLost({ writeEpoch }: HostChunk): void {
    if (this.lost.length === 0) return;
    const found = this.lost.find(({ first, last }) => writeEpoch >= first && writeEpoch <= last);
    if (found) throw found.why;
  }

  // ------------------------------------------------------------------------------------------------ doing it

  /** Blocks until the work up to an epoch is done. */
  drain(epoch = this.issued): void {
    if (this.done >= epoch) return;
    while (this.done < epoch) {
      try {
        if (this.background) {
          if (!this.background.isOver) this.background.finish();
          this.conclude();
        } else this.runNext(runInPlace);
      } catch (error) {
        this.fail(error as Error);
      }
    }
    this.drainedAt = performance.now();
  }

  /** Blocks until everything is done; throws if some of it failed. */
  finish(): void {
    const failures = this.lost.length;
    this.drain();
    this.drainedAt = performance.now();
    if (this.lost.length > failures) throw this.lost[failures].why;
  }

  /** Works until the queue is empty, and gives way to others on the way. Failures are kept for who reads the results. */
  private async pump(): Promise<void> {
    if (this.isPumping) return;
    this.isPumping = true;
    while (!this.isEmpty) {
      try {
        if (this.background) {
          await this.background.over;
          this.conclude();
        } else this.runNext(({ kernel, words }) => kernel.start(words));
      } catch (error) {
        this.fail(error as Error);
      }
      // Also when the queue is empty: whoever awaits one short piece of work after the other must give way, too.
      if (isTurnDue()) await turn();
    }
    this.isPumping = false;
  }

  /** Does the next piece of work. `run` may leave a kernel to the background. */
  private runNext(run: (call: Call) => Background | null): void {
    const call = this.nextCall();
    if (!call) return;
    this.background = run(call);
    if (!this.background && this.isLastPiece) this.endEntry();
  }

  /** The next kernel; null where the next piece of work was none, and is done. */
  private nextCall(): Call | null {
    const entry = this.entries[this.head];
    if (entry.kind === "call") {
      this.isLastPiece = true;
      return entry;
    }
    this.isLastPiece = false;
    if (entry.kind === "task") entry.run();
    else {
      const next = entry.pieces.next();
      if (!next.done) return next.value;
    }
    this.endEntry();
    return null;
  }

  /** Takes note of a kernel that ran in the background; a caller that blocks may have done so already. */
  private conclude(): void {
    const { background } = this;
    if (!background?.isOver) return;
    this.background = null;
    if (background.failure) throw background.failure;
    if (this.isLastPiece) this.endEntry();
  }

  private endEntry(): void {
    this.head++;
    this.done++;
    if (this.head === this.entries.length) {
      this.entries.length = 0;
      this.head = 0;
      this.bytes = 0;
    } else if (this.head > MAX_BEHIND) {
      this.entries.splice(0, this.head);
      this.head = 0;
    }
  }

  /** Gives up all that is queued: it may need what the failed work was to write. */
  private fail(why: Error): void {
    const given = this.entries.splice(0).slice(this.head);
    this.lost.push({ first: this.done + 1, last: this.issued, why });
    this.head = 0;
    this.bytes = 0;
    this.background = null;
    this.done = this.issued;
    for (const entry of given) if (entry.kind !== "call") entry.fail?.(why);
  }
}

/** The pieces for someone who waits for them. Their failure is nobody else's. */
function* telling(pieces: Pieces, resolve: () => void, reject: (why: unknown) => void): Generator<Call | null> {
  try {
    for (let next = pieces.next(); !next.done; next = pieces.next()) yield next.value;
    resolve();
  } catch (error) {
    reject(error);
  }
}
