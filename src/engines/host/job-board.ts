/**
 * The protocol between the main thread and its workers, on a few words of shared memory. One job is open at a time. Every
 * participant claims chunks of it from a counter until none are left.
 *
 * The main thread takes part and never waits for a worker that has not joined: a worker that sleeps, starts up or died
 * does not help, and does no harm. Or it leaves an open job to the workers, and hears when the last of them leaves.
 * `state` makes that safe: one word holds "open", the number of workers inside, and a sequence number, so that joining and
 * closing cannot miss each other. Words that different threads write are on different cache lines.
 */
const WAKE = 0;
const STATE = 16;
const NEXT = 32;
const SLEEPING = 48;
const FAILED = 64;
const DEAD = 65;
const MAIL = 66;
const STOP = 67;
const KERNEL = 80;
const ARGS = 81;
const LENGTH = 82;
const CHUNK = 83;
const LIMIT = 84;
const WORKERS = 85;
const WORDS = 96;

// state: bit 0 open, bits 1 to 10 workers inside, the rest the job's number
const OPEN = 1;
const ONE_WORKER = 2;
const WORKER_MASK = 0x3ff << 1;
const NUMBER_SHIFT = 11;

export const MAX_WORKERS = 0x3fe;
/** A chunk number past all chunks. */
const NO_MORE = 0x3fffffff;

/** `Atomics.waitAsync`, which the type library of the language version we compile for does not have. */
const { waitAsync } = Atomics as unknown as {
  waitAsync(
    words: Int32Array,
    index: number,
    value: number,
  ): { readonly async: false; readonly value: string } | { readonly async: true; readonly value: Promise<string> };
};

interface Job {
  readonly kernel: number;
  readonly args: number;
  readonly length: number;
  readonly chunk: number;
  /** Most workers that may join. */
  readonly limit: number;
}

/** A job, the chunks of it that are done already, and whether sleeping workers, of so many, are woken for it. */
interface OpenJob extends Job {
  readonly done: number;
  readonly wakes: boolean;
  readonly workers: number;
}

export class JobBoard {
  private readonly words: Int32Array;
  /** The last job this thread took part in, by its number. */
  private seen = -1;

  constructor(readonly memory: SharedArrayBuffer = new SharedArrayBuffer(4 * WORDS)) {
    this.words = new Int32Array(memory);
  }

  // ---------------------------------------------------------------------------------------------- main thread

  open({ kernel, args, length, chunk, limit, done, wakes, workers }: OpenJob): void {
    const { words } = this;
    words[KERNEL] = kernel;
    words[ARGS] = args;
    words[LENGTH] = length;
    words[CHUNK] = chunk;
    words[LIMIT] = limit;
    words[WORKERS] = workers;
    words[FAILED] = 0;
    Atomics.store(words, NEXT, done);
    const number = (Atomics.load(words, STATE) >> NUMBER_SHIFT) + 1;
    Atomics.store(words, STATE, (number << NUMBER_SHIFT) | OPEN);
    this.wake(wakes ? limit : 0);
  }

  /** Workers that sleep. */
  get sleeping(): number {
    return Atomics.load(this.words, SLEEPING);
  }

  /** Workers that do not, of those there were for the last job. */
  get awake(): number {
    return Math.max(0, (this.words[WORKERS] as number) - this.sleeping);
  }

  /** Closes the job: no worker can join any more. */
  close(): void {
    Atomics.sub(this.words, STATE, OPEN);
  }

  get workersInside(): number {
    return (Atomics.load(this.words, STATE) & WORKER_MASK) / ONE_WORKER;
  }

  /** Sleeps until a worker leaves, or for that long. */
  waitForLeave(milliseconds: number): void {
    const state = Atomics.load(this.words, STATE);
    if (state & WORKER_MASK) Atomics.wait(this.words, STATE, state, milliseconds);
  }

  /** The same without blocking: a promise that resolves when the last worker leaves. Null if the state has changed meanwhile. */
  leaving(): Promise<unknown> | null {
    const { async: isPending, value } = waitAsync(this.words, STATE, Atomics.load(this.words, STATE));
    return isPending ? value : null;
  }

  /** Whether all chunks of the open job have been claimed. */
  isExhausted(chunks: number): boolean {
    return Atomics.load(this.words, NEXT) >= chunks;
  }

  /** Lets workers join the open job once more, unless one is inside. */
  reopen(): void {
    const { words } = this;
    const state = Atomics.load(words, STATE);
    if (state & WORKER_MASK) return;
    const again = (((state >> NUMBER_SHIFT) + 1) << NUMBER_SHIFT) | OPEN;
    if (Atomics.compareExchange(words, STATE, state, again) === state) this.wake(Infinity);
  }

  /** A worker failed in the job just closed. */
  get hasFailed(): boolean {
    return Atomics.load(this.words, FAILED) !== 0;
  }

  /** Workers that died during a job. */
  get dead(): number {
    return Atomics.load(this.words, DEAD);
  }

  /** Tells workers to read their messages: with the next job, or at once. */
  announceMail(isUrgent = false): void {
    Atomics.add(this.words, MAIL, 1);
    if (isUrgent) this.wake(Infinity);
  }

  stop(): void {
    Atomics.store(this.words, STOP, 1);
    this.wake(Infinity);
  }

  /**
   * Wakes workers until so many are awake. Those woken count as awake from here on: they take some time, and the next job must not wake
   * others in their place, who would take a core from them.
   */
  private wake(wanted: number): void {
    const { words } = this;
    Atomics.add(words, WAKE, 1);
    if (wanted === 0 || this.sleeping === 0) return;
    const missing = wanted - this.awake;
    if (missing > 0) Atomics.sub(words, SLEEPING, Atomics.notify(words, WAKE, missing));
  }

  // ---------------------------------------------------------------------------------------------- workers

  get mail(): number {
    return Atomics.load(this.words, MAIL);
  }

  get isStopped(): boolean {
    return Atomics.load(this.words, STOP) !== 0;
  }

  /** Changes with every job and every message. */
  get news(): number {
    return Atomics.load(this.words, WAKE);
  }

  /** Sleeps unless `news` has changed. */
  sleepSince(news: number): void {
    Atomics.add(this.words, SLEEPING, 1);
    // Whoever wakes it counts it as awake.
    if (Atomics.wait(this.words, WAKE, news) === "not-equal") Atomics.sub(this.words, SLEEPING, 1);
  }

  /** Takes part in the open job, unless there is none, it was seen before, or enough are inside. */
  join(): Job | null {
    const { words } = this;
    for (;;) {
      const state = Atomics.load(words, STATE);
      const number = state >> NUMBER_SHIFT;
      if (!(state & OPEN) || number === this.seen) return null;
      if (Atomics.compareExchange(words, STATE, state, state + ONE_WORKER) !== state) continue;
      this.seen = number;
      const limit = words[LIMIT] as number;
      if ((state & WORKER_MASK) / ONE_WORKER >= limit) {
        this.leave();
        return null;
      }
      return {
        kernel: words[KERNEL] as number,
        args: words[ARGS] as number,
        length: words[LENGTH] as number,
        chunk: words[CHUNK] as number,
        limit,
      };
    }
  }

  leave(): void {
    const state = Atomics.sub(this.words, STATE, ONE_WORKER) - ONE_WORKER;
    if (!(state & WORKER_MASK)) Atomics.notify(this.words, STATE);
  }

  /** Marks the job as failed, so that nobody goes on with it. */
  fail(): void {
    Atomics.store(this.words, FAILED, 1);
    this.abandon();
  }

  /** Reports a worker's death: the main thread may be waiting for it. */
  die(): void {
    Atomics.add(this.words, DEAD, 1);
    Atomics.notify(this.words, STATE);
  }

  // ---------------------------------------------------------------------------------------------- both

  /** Claims the next chunk and returns its number. */
  claim(): number {
    return Atomics.add(this.words, NEXT, 1);
  }

  /** Leaves nothing to claim. */
  abandon(): void {
    Atomics.store(this.words, NEXT, NO_MORE);
  }
}

/** Runs chunks of a job until none are left. */
export function work(board: JobBoard, run: RunFunction, args: number, length: number, chunk: number): void {
  const count = Math.ceil(length / chunk);
  for (let i = board.claim(); i < count; i = board.claim()) run(args, i * chunk, Math.min(length, (i + 1) * chunk));
}

/** The exported function of a kernel: computes the rows from `start` up to `end`. */
export type RunFunction = (args: number, start: number, end: number) => void;

/** Polls for a short time. Waking from sleep takes tens of microseconds. */
export function spin(isOver: () => boolean, microseconds: number, since = performance.now()): boolean {
  const until = since + microseconds / 1000;
  do {
    for (let i = 0; i < 32; i++) if (isOver()) return true;
  } while (performance.now() < until);
  return false;
}
