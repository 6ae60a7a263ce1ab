/**
 * Decides when garbage is collected for the sake of device memory. V8 sees a few hundred bytes where a tensor holds a
 * gigabyte, so it does not collect by itself. A collection stops the program for 5 to 20 ms, as long as a GPU needs to
 * write 20 GiB. So garbage may grow: to a share of the memory that is not known to be in use. Below that share, a
 * collection runs when it is cheap beside the work done since the last one. First a collection of new objects alone is tried,
 * which takes half a millisecond; it is enough for results that are dropped soon after they were made.
 *
 * Pure arithmetic; the devices supply the figures and run the collections.
 */
import { ArgumentError } from "../core/errors.js";

const MiB = 1024 * 1024;
const GiB = 1024 * MiB;

/** A collection is cheap when it takes at most this part of the time since the last one. */
const CHEAP = 1 / 20;
/** Milliseconds that a collection is taken to cost before one was measured. */
const FIRST_COST = 10;
/** The same of a collection of new objects alone. */
const FIRST_QUICK_COST = 0.5;
/** A collection is dear when it takes more than this part of the time since the one before. */
const DEAR = 1 / 10;
/** At most so many collections of everything go by before one of new objects is tried again. */
const PATIENCE = 8;
/**
 * The free memory of the device is queried again whenever this part of the budget has been handed out. NVIDIA's driver takes
 * 0.07 ms to answer, as long as a result of 256 MiB takes.
 */
const PARTS = 4;

/** The share of the free memory that garbage may fill, as `PUMICE_GARBAGE` or the option `garbage` says. */
export function garbageShare(
  byDefault: number,
  option?: number,
  wish: string | undefined = process.env.PUMICE_GARBAGE,
): number {
  if (option !== undefined) return checkedShare("garbage", option);
  return wish === undefined || wish === "" ? byDefault : checkedShare("PUMICE_GARBAGE", Number(wish), wish);
}

function checkedShare(name: string, share: number, given: unknown = share): number {
  if (share > 0 && share <= 1) return share;
  throw new ArgumentError(
    `${name}: ${String(given)} is not a share of the free memory; give a number above 0, up to 1.`,
  );
}

/**
 * The share where nobody states one. The memory of small cards, and memory that the processor uses too (integrated GPUs,
 * software drivers), is needed by other programs.
 */
export function defaultGarbageShare(heapBytes: number, isSharedWithCpu: boolean): number {
  if (isSharedWithCpu || heapBytes < 4 * GiB) return 1 / 8;
  return heapBytes < 16 * GiB ? 1 / 4 : 1 / 2;
}

/**
 * The share while collections are dear, where nobody states one. On an H200, 280 results of 256 MiB fill a half in 25 ms, and
 * a collection takes 7 to 18 ms: with a half, loops on such results ran at 0.67 to 0.78 of their speed, with 4/5 at 0.84 to 0.89.
 */
export function dearGarbageShare(heapBytes: number, isSharedWithCpu: boolean): number {
  const share = defaultGarbageShare(heapBytes, isSharedWithCpu);
  return share === 1 / 2 ? 4 / 5 : share;
}

/** The functions of a device that collections call. */
interface Collecting {
  usedBytes(): number;
  /** Collects new objects alone; returns how many buffers were freed. */
  collectRecent(): number;
  /** Collects everything; true when buffers were freed. It calls `noteCollection`. */
  collect(): boolean;
}

export class GarbageBudget {
  /** Collections so far. */
  collections = 0;
  /** Bytes that garbage may fill now. */
  allowance = 0;
  /**
   * Bytes of freed memory worth keeping for the next results: as many as garbage may ever fill. A program whose collections are dear
   * by turns would else give memory back and ask for it again, which takes longer than the collections.
   */
  reserve = 0;
  /** Garbage may always fill this much: collecting for less would never end. */
  readonly least: number;
  /** Less garbage than this is not worth a collection while the device has memory. */
  readonly worthwhile: number;
  /** Bytes in use after the last collection. */
  private survivors = 0;
  /** While fewer bytes than this are in use, nothing needs to be decided. */
  private checkpoint = 0;
  private cost = FIRST_COST;
  private quickCost = FIRST_QUICK_COST;
  /** Whether a collection of new objects alone, a quick one, is likely to bring enough. */
  private isQuickPromising = true;
  /** Such collections in a row that brought little, and collections of everything since the last of them. */
  private failures = 0;
  private since = 0;
  /** When the last collection of either kind ended, and the last one of everything. */
  private collectedAt: number;
  private fullAt: number;
  private isDear = false;
  /** Collections in a row that were not dear. */
  private cheapOnes = 0;

  /**
   * `obtainable`: the bytes that this process could hold in all, those that it holds included. `dearShare`: the share while
   * collections are dear.
   */
  constructor(
    private readonly share: number,
    heapBytes: number,
    private readonly obtainable: () => number,
    private readonly now: () => number = performance.now.bind(performance),
    private readonly dearShare = share,
  ) {
    this.least = Math.min(64 * MiB, heapBytes / 32);
    this.worthwhile = Math.min(256 * MiB, heapBytes / 8);
    this.collectedAt = now();
    this.fullAt = this.collectedAt;
  }

  /** Whether to collect before `bytes` are added to the `used` ones: garbage might exceed its budget. */
  isSpent(used: number, bytes: number): boolean {
    // One large result is no reason to collect where little else is in use.
    const coming = used + Math.min(bytes, this.allowance / 2);
    return coming > this.checkpoint && this.examine(coming);
  }

  /** Whether a collection is better than taking more memory from the device. */
  isWorthwhile(used: number): boolean {
    const suspects = used - this.survivors;
    if (suspects < Math.max(this.worthwhile, this.survivors / 2)) return false;
    return this.isCheap(this.isQuickPromising ? this.quickCost : this.cost);
  }

  private isCheap(cost: number): boolean {
    return CHEAP * (this.now() - this.collectedAt) >= cost;
  }

  /** Whether much was allocated since the last collection, in a program that is at rest. */
  isWorthARest(used: number): boolean {
    return used - this.survivors >= this.worthwhile;
  }

  /** Makes room by a collection of new objects, if that is likely to do, or by one of everything; true when something came back. */
  tidy(device: Collecting): boolean {
    const isCheap = this.isCheap(this.cost);
    if (this.isQuickPromising) {
      const [before, began] = [device.usedBytes(), this.now()];
      const released = device.collectRecent();
      const used = device.usedBytes();
      this.noteQuickCollection(before, used, this.now() - began);
      if (!this.examine(used) && (this.isQuickPromising || !isCheap)) return released > 0;
    }
    return device.collect();
  }

  /**
   * After a collection of new objects alone, with so many bytes in use before and now. When it brought less than a half of what
   * may be garbage, the next collection is one of everything.
   */
  private noteQuickCollection(before: number, used: number, milliseconds: number): void {
    this.collections++;
    this.quickCost = (this.quickCost + milliseconds) / 2;
    this.collectedAt = this.now();
    this.isQuickPromising = before - used >= (before - this.survivors) / 2;
    this.failures = this.isQuickPromising ? 0 : Math.min(this.failures + 1, PATIENCE);
    this.since = 0;
    this.survivors = Math.min(this.survivors, used);
  }

  /** After a collection of everything that took so long and left so much in use. */
  noteCollection(used: number, milliseconds: number): void {
    this.collections++;
    this.isQuickPromising = ++this.since >= this.failures;
    this.cost = (this.cost + milliseconds) / 2;
    const now = this.now();
    // Of the time in which the plain share is filled: with the larger one, collections that are dear would seem cheap.
    const filled = (now - this.fullAt) * (this.isDear ? this.share / this.dearShare : 1);
    // The first one is no measure: it follows whatever the program did before.
    const isDear = this.collections > 1 && milliseconds > DEAR * filled;
    // One alone may have followed a pause, or work that left no garbage.
    this.cheapOnes = isDear ? 0 : this.cheapOnes + 1;
    this.isDear = isDear || (this.isDear && this.cheapOnes < 2);
    this.collectedAt = now;
    this.fullAt = now;
    this.survivors = used;
    this.examine(used);
  }

  /** After V8 collected by itself. The bytes in use now may include new garbage, so they are an upper bound of the survivors. */
  noteSweep(used: number): void {
    if (used >= this.survivors) return;
    this.survivors = used;
    this.checkpoint = 0;
  }

  /** Asks how much memory there is, since other processes may have taken or returned some; true when the budget is spent. */
  examine(used: number): boolean {
    const share = this.isDear ? this.dearShare : this.share;
    const room = this.obtainable() - this.survivors;
    this.allowance = Math.max(this.least, share * room);
    this.reserve = Math.max(this.least, Math.max(this.share, this.dearShare) * room);
    const limit = this.survivors + this.allowance;
    this.checkpoint = Math.min(limit, used + this.allowance / PARTS);
    return used > limit;
  }
}
