/**
 * Ties device memory to the JavaScript objects that stand for it. A lease holds its object weakly; when the object has
 * been collected, the next sweep returns the memory. Sweeps run after every major collection of V8 and when the device asks
 * for a collection (garbage.ts says when). Canaries tell of V8's own collections: one in a FinalizationRegistry, once the
 * event loop turns, and for loops that never let it turn a row of WeakRefs. Reading a WeakRef while V8 marks keeps its target
 * alive, so each of these is read once, when it is old; and for the same reason sweeps run after collections only.
 *
 * Collecting in the middle of synchronous code needs one trick: V8 keeps the target of every WeakRef made or read in
 * the current job alive until the job ends, so that a long loop without `await` would pin all its garbage. Running an
 * empty script in a context with its own microtask queue ends that period.
 */
import { setFlagsFromString } from "node:v8";
import { createContext, runInNewContext, Script } from "node:vm";

export interface Lease {
  /** The object itself while the lease is young, then weakly; null when it has ended. */
  object: object | WeakRef<object> | null;
  isYoung: boolean;
  readonly release: (() => void) | null;
  index: number;
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
export const SMALL_LEASE = 4096;
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

let collector: (() => void) | undefined;
function collectGarbage(): void {
  if (!collector) {
    const existing = (globalThis as { gc?: () => void }).gc;
    if (existing) collector = existing;
    else {
      setFlagsFromString("--expose-gc");
      collector = runInNewContext("gc") as () => void;
      setFlagsFromString("--no-expose-gc");
    }
  }
  forgetKeptObjects();
  collector();
}

const everyone = new Set<Leases>();
const canaries = new FinalizationRegistry(() => {
  for (const leases of everyone) leases.sweep();
  if (everyone.size > 0) armCanary();
});
function armCanary(): void {
  canaries.register({}, undefined);
}

export class Leases {
  private readonly live: Lease[] = [];
  private sinceLook = 0;
  private looks = 0;
  private readonly canaries: WeakRef<object>[] = [];
  /** In a ring: the next one takes the place of the oldest. */
  private readonly young: (Lease | null)[] = new Array(YOUNG).fill(null);
  private next = 0;

  /** `onSweep` is called after a sweep that released something. */
  constructor(private readonly onSweep: () => void = () => {}) {
    if (everyone.size === 0) armCanary();
    everyone.add(this);
  }

  get size(): number {
    return this.live.length;
  }

  /**
   * Calls `release` once the object is unreachable. `release` must not refer to the object. `isSmall`: it may be a little later,
   * because there is not much to release.
   */
  add(object: object, release: () => void, isSmall = false): Lease {
    const lease = {
      object: isSmall ? object : new WeakRef(object),
      isYoung: isSmall,
      release,
      index: this.live.length,
    };
    this.live.push(lease);
    if (isSmall) {
      const oldest = this.young[this.next];
      if (oldest) weaken(oldest);
      this.young[this.next] = lease;
      this.next = (this.next + 1) & (YOUNG - 1);
    }
    if (++this.sinceLook >= LOOK_EVERY) this.look();
    return lease;
  }

  /** Ends a lease early, releasing at once. */
  end(lease: Lease): void {
    if (this.drop(lease)) lease.release?.();
  }

  /** Releases the leases of collected objects; returns their number. */
  sweep(): number {
    let swept = 0;
    for (let i = this.live.length - 1; i >= 0; i--) {
      const lease = this.live[i] as Lease;
      if (lease.isYoung || (lease.object as WeakRef<object>).deref() !== undefined) continue;
      this.end(lease);
      swept++;
    }
    // They are no longer young at the next collection.
    this.age();
    if (swept > 0) this.onSweep();
    return swept;
  }

  /** Runs V8's collector now, then sweeps. */
  collect(): number {
    this.age();
    collectGarbage();
    const swept = this.sweep();
    forgetKeptObjects();
    return swept;
  }

  /** Ends every lease without releasing: the device takes its memory with it. */
  close(): void {
    everyone.delete(this);
    for (const lease of this.live) lease.index = -1;
    this.live.length = 0;
    this.young.fill(null);
  }

  /** Holds all objects weakly. */
  private age(): void {
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
