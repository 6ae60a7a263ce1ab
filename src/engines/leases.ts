/**
 * Ties device memory to the JavaScript objects that stand for it. A lease holds its object weakly; when the object has
 * been collected, the next sweep returns the memory. Sweeps run after every major collection of V8 and when the device asks
 * for a collection (garbage.ts says when). Canaries tell of V8's own collections: one in a FinalizationRegistry, once the
 * event loop turns, and for loops that never let it turn a row of WeakRefs. Reading a WeakRef while V8 marks keeps its target
 * alive, so each of these is read once, when it is old; and for the same reason sweeps run after collections only.
 * Buffers that were dropped soon after they were made are found by less: recent-objects.ts says how.
 *
 * Collecting in the middle of synchronous code needs one trick: V8 keeps the target of every WeakRef made or read in
 * the current job alive until the job ends, so that a long loop without `await` would pin all its garbage. Running an
 * empty script in a context with its own microtask queue ends that period.
 */
import { setFlagsFromString } from "node:v8";
import { createContext, runInNewContext, Script } from "node:vm";
import { type LifeSign, RecentObjects } from "./recent-objects.js";

export interface Lease {
  /**
   * The object itself while the lease is young, then weakly: the object, or the sign that it refers to. Null when the lease has
   * ended, and while the object is watched as a recent one.
   */
  object: object | WeakRef<object> | null;
  isYoung: boolean;
  readonly release: (() => void) | null;
  index: number;
}

/**
 * Stands for a few tiny buffers that were made one after another. Each of them refers to it, so it is unreachable when all of
 * them are; then their memory is freed, or one by one as they are disposed of. V8's frequent collections of new objects keep
 * whatever a WeakRef points to: with one for every buffer they had to move them all, which took a fourth of a loop's time.
 */
export interface LeaseGroup<Part> {
  /** The memory of each buffer; null where it was freed. The lease has this array too, but not the group. */
  readonly parts: (Part | null)[];
  /** Parts that are not freed. */
  held: number;
  readonly lease: Lease;
}

/** A buffer: it refers to what it is given here, and ends that when it is disposed of. */
interface Leased<Part> {
  /** `sign`: it refers to this, too, and nothing else does. */
  attach(lease: Lease, sign: LifeSign<Lease> | null): void;
  joinLast(group: LeaseGroup<Part>): void;
}

/**
 * After this many new leases V8's keep-alive period is ended, so that ordinary collections can free objects, and a canary is
 * looked at. A lease and its tensor take about 1 KB of V8's heap.
 */
const LOOK_EVERY = 1024;
/**
 * The last so many leases of little memory hold their objects strongly. A WeakRef costs a tenth of a small operation, and most
 * small results are disposed of before they would need one. A power of two.
 */
const YOUNG = 64;
/** Bytes of a buffer that is little in this sense. */
const SMALL = 4096;
/** Bytes of a buffer that is tiny: it is held in a group. */
const TINY = 256;
/**
 * Buffers of a group. One that lives long keeps the memory of all: together they take no more than the JavaScript objects
 * of one or two tensors.
 */
const GROUP = 8;
/**
 * At most so many buffers that are not little are watched, those that were made last; then new objects are collected. A loop that
 * drops results of 16 KiB goes through 30 MB so, which stay in the caches, where it went through 300 and took 1.4 times as long.
 */
const RECENT = 1024;
/** V8 moves an object that survives the second collection to the old ones. */
const SURVIVALS = 1;
/** A canary is read after this many looks: by then V8 has marked the whole heap at least once since it was made. */
const CANARY_AGE = 128;

let emptyJob: (() => void) | undefined;
function forgetKeptObjects(): void {
  if (!emptyJob) {
    const context = createContext({}, { microtaskMode: "afterEvaluate" });
    const script = new Script("0");
    emptyJob = () => script.runInContext(context);
  }
  emptyJob();
}

type Collector = (options?: { readonly type: "minor" }) => void;

let exposed: Collector | undefined;
function collector(): Collector {
  if (!exposed) {
    const existing = (globalThis as { gc?: Collector }).gc;
    if (existing) exposed = existing;
    else {
      setFlagsFromString("--expose-gc");
      exposed = runInNewContext("gc") as Collector;
      setFlagsFromString("--no-expose-gc");
    }
  }
  return exposed;
}

const everyone = new Set<{ sweep(): number }>();
const canaries = new FinalizationRegistry(() => {
  for (const leases of everyone) leases.sweep();
  if (everyone.size > 0) armCanary();
});
function armCanary(): void {
  canaries.register({}, undefined);
}

/** `Part`: the memory of a tiny buffer. */
export class Leases<Part = never> {
  private readonly live: Lease[] = [];
  private readonly recent = new RecentObjects<Lease>();
  /** The group that takes the next tiny buffer. */
  private open: LeaseGroup<Part> | null = null;
  private groups = 0;
  private grouped = 0;
  private isClosed = false;
  private sinceLook = 0;
  private looks = 0;
  private readonly canaries: WeakRef<object>[] = [];
  /** In a ring: the next one takes the place of the oldest. */
  private readonly young: (Lease | null)[] = new Array(YOUNG).fill(null);
  private next = 0;

  /** `onSweep` is called after a sweep that released something; `free` frees the memory of a tiny buffer. */
  constructor(
    private readonly onSweep: () => void = () => {},
    private readonly free: (part: Part) => void = () => {},
  ) {
    if (everyone.size === 0) armCanary();
    everyone.add(this);
  }

  /** Objects that hold something. */
  get size(): number {
    return this.live.length - this.groups + this.grouped;
  }

  /**
   * Calls `release` once the object is unreachable. `release` must not refer to the object. `isSmall`: it may be a little later,
   * because there is not much to release.
   */
  add(object: object, release: () => void, isSmall = false): Lease {
    const lease = this.begin(isSmall ? object : new WeakRef(object), isSmall, release);
    if (isSmall) this.holdWhileYoung(lease);
    return lease;
  }

  private begin(object: Lease["object"], isYoung: boolean, release: () => void): Lease {
    const lease = { object, isYoung, release, index: this.live.length };
    this.live.push(lease);
    if (++this.sinceLook >= LOOK_EVERY) this.look();
    return lease;
  }

  /** Frees a buffer's memory once the buffer is unreachable. `keptBytes`: what stays allocated as long as the buffer lives. */
  tie(buffer: Leased<Part>, memory: Part, keptBytes: number): void {
    const { free } = this;
    if (keptBytes <= TINY) {
      buffer.joinLast(this.join(memory));
      return;
    }
    const release = () => free(memory);
    if (keptBytes <= SMALL) buffer.attach(this.add(buffer, release, true), null);
    else this.tieWatched(buffer, release);
  }

  private tieWatched(buffer: Leased<Part>, release: () => void): void {
    const lease = this.begin(null, false, release);
    const sign = this.recent.watch(lease);
    if (!sign) lease.object = new WeakRef(buffer);
    buffer.attach(lease, sign);
    if (this.recent.size >= RECENT) this.collectRecent(0);
  }

  /** The group for a tiny buffer, which must refer to it, and whose memory is its last part from now on. */
  private join(part: Part): LeaseGroup<Part> {
    const group = this.open && this.open.parts.length < GROUP ? this.open : this.newGroup();
    group.parts.push(part);
    group.held++;
    this.grouped++;
    if (++this.sinceLook >= LOOK_EVERY) this.look();
    return group;
  }

  /** Frees the memory of a tiny buffer early. */
  leave(group: LeaseGroup<Part>, place: number): void {
    const part = group.parts[place];
    if (part === null || this.isClosed) return;
    group.parts[place] = null;
    group.held--;
    this.grouped--;
    this.free(part);
    if (group.held === 0 && group !== this.open) this.end(group.lease);
  }

  /** Ends a lease early, releasing at once. */
  end(lease: Lease): void {
    if (this.drop(lease)) lease.release?.();
  }

  /** Releases the leases of collected objects; returns their number. */
  sweep(): number {
    let swept = this.releaseRecent(0);
    for (let i = this.live.length - 1; i >= 0; i--) {
      const lease = this.live[i] as Lease;
      if (lease.isYoung || lease.object === null || (lease.object as WeakRef<object>).deref() !== undefined) continue;
      this.end(lease);
      swept++;
    }
    // They are no longer young at the next collection.
    this.age();
    if (swept > 0) this.onSweep();
    return swept;
  }

  /**
   * Runs V8's collector of new objects now and releases the buffers that it found unreachable; returns their number. That is a
   * twentieth of the work of `collect`, and finds what was dropped soon after it was made.
   */
  collectRecent(survivals = SURVIVALS): number {
    if (this.recent.size === 0) return 0;
    collector()({ type: "minor" });
    const released = this.releaseRecent(survivals);
    if (released > 0) this.onSweep();
    return released;
  }

  /** Releases the watched buffers that are gone. Those that were seen so many times before are old from now on. */
  private releaseRecent(survivals: number): number {
    const gone = this.recent.takeGone(survivals, (sign) => {
      sign.subject.object = new WeakRef(sign);
    });
    for (const lease of gone) this.end(lease);
    return gone.length;
  }

  /** Runs V8's collector now, then sweeps. */
  collect(): number {
    this.age();
    forgetKeptObjects();
    collector()();
    const swept = this.sweep();
    forgetKeptObjects();
    return swept;
  }

  /** Ends every lease without releasing: the device takes its memory with it. */
  close(): void {
    everyone.delete(this);
    this.isClosed = true;
    this.open = null;
    this.groups = 0;
    this.grouped = 0;
    for (const lease of this.live) lease.index = -1;
    this.live.length = 0;
    this.young.fill(null);
    this.recent.clear();
  }

  private newGroup(): LeaseGroup<Part> {
    if (this.open) this.closeGroup(this.open);
    const parts: (Part | null)[] = [];
    const lease: Lease = { object: null, isYoung: true, release: () => this.freeAll(parts), index: this.live.length };
    const group = { parts, held: 0, lease };
    lease.object = group;
    this.live.push(lease);
    this.groups++;
    this.holdWhileYoung(lease);
    this.open = group;
    return group;
  }

  /** All of its buffers may have been disposed of while it was open. */
  private closeGroup(group: LeaseGroup<Part>): void {
    this.open = null;
    if (group.held === 0) this.end(group.lease);
  }

  private freeAll(parts: (Part | null)[]): void {
    this.groups--;
    for (let i = 0; i < parts.length; i++) {
      const part = parts[i];
      if (part === null) continue;
      parts[i] = null;
      this.grouped--;
      this.free(part);
    }
  }

  private holdWhileYoung(lease: Lease): void {
    const oldest = this.young[this.next];
    if (oldest) weaken(oldest);
    this.young[this.next] = lease;
    this.next = (this.next + 1) & (YOUNG - 1);
  }

  /** Holds all objects weakly. */
  private age(): void {
    if (this.open) this.closeGroup(this.open);
    for (const lease of this.young) if (lease) weaken(lease);
    this.young.fill(null);
  }

  /** Lets V8 free what the running job has dropped, and sweeps if V8 has collected since the last look. */
  private look(): void {
    this.sinceLook = 0;
    // One canary is added every second look; soon after a sweep, the canaries that are read are young.
    const isRead = ++this.looks % 2 === 0 || this.canaries.length >= CANARY_AGE;
    const oldest = isRead ? this.canaries.shift() : undefined;
    if (oldest && oldest.deref() === undefined) {
      this.canaries.length = 0;
      this.sweep();
    }
    this.canaries.push(new WeakRef({}));
    forgetKeptObjects();
  }

  private drop(lease: Lease): boolean {
    if (lease.index < 0) return false;
    const last = this.live.pop() as Lease;
    if (last !== lease) {
      this.live[lease.index] = last;
      last.index = lease.index;
    }
    if (lease.object === null) this.recent.forget(lease);
    lease.index = -1;
    lease.object = null;
    return true;
  }
}

/** Holds the object of a young lease weakly. */
function weaken(lease: Lease): void {
  if (lease.object && lease.isYoung) lease.object = new WeakRef(lease.object);
  lease.isYoung = false;
}
