/**
 * The threads that a kernel runs on. Waking a thread costs as much as a short kernel, and the compiler's estimates of a kernel's time are
 * off by a factor of several: so the calling thread begins by itself what may be short, and calls the others where it turns out to be long.
 * Every kernel of the compiler has a `CrewChoice` of its own (loaded-kernel.ts); what it knows of the device is a few numbers.
 */

/** The threads of a job, the calling one included, and whether those that sleep are woken for it. */
export interface Crew {
  readonly threads: number;
  readonly wakes: boolean;
  /** Given where this thread begins by itself: whether the others are called, now that such a share of the rows is done. */
  readonly calls?: (share: number) => boolean;
}

/** This thread by itself. */
export const ALONE: Crew = { threads: 1, wakes: false };

/** Work of so many milliseconds on one thread is worth threads that are awake, and waking those that sleep. */
const [WORTH_SHARING, WORTH_WAKING] = [0.015, 0.15];
/** Work that is longer by estimate is never begun by one thread. */
const LONGEST_TRIAL = 1;
/** Trials of work that is shared become so many times rarer, each time that it is worth sharing. */
const RARER = 4;

/** What a choice depends on: a device and its workers. */
interface Staff {
  readonly threads: number;
  /** The threads for work of so many milliseconds on one: 1 until there has been enough of it to start workers. */
  threadsFor(milliseconds: number): number;
  noteAlone(milliseconds: number): void;
  readonly pool: {
    /** Workers that do not sleep. */
    readonly awake: number;
    readonly missed: MissedSavings;
  };
}

export class CrewChoice {
  /** The time on one thread, as it was when that was measured last. */
  private alone: number | null = null;
  private began = 0;
  /** This thread has begun the run under way by itself, and has called nobody. */
  private isAlone = false;
  /** Runs that threads share until this thread begins one by itself, to see how long it takes; and how many they were last time. */
  private untilTrial = 0;
  private pause = 1;
  /** This thread, which calls the others where the work turns out to be long. */
  private readonly alert: Crew;

  /** `estimate`: milliseconds on one thread. */
  constructor(
    private readonly staff: Staff,
    private readonly estimate: number,
  ) {
    this.alert = { threads: staff.threads, wakes: true, calls: (share) => this.isLongAfter(share) };
  }

  /** The threads for work that is as long as the estimate says. */
  get everyone(): Crew {
    return { threads: this.staff.threadsFor(this.estimate), wakes: true };
  }

  /** The threads of the next run. */
  next(): Crew {
    const { everyone } = this;
    if (this.staff.threads === 1 || (everyone.threads > 1 && this.estimate > LONGEST_TRIAL)) return everyone;
    const sharing = this.sharing();
    if (!sharing || this.untilTrial === 0) return this.alert;
    this.untilTrial--;
    return sharing;
  }

  /** The threads that are worth having, by the time on one: all, or those that are awake. Null for this one by itself. */
  private sharing(): Crew | null {
    const { staff, alone } = this;
    if (alone === null || alone < WORTH_SHARING) return null;
    const { awake, missed } = staff.pool;
    const threads = staff.threadsFor(alone);
    if (threads === 1) return null;
    if (alone >= WORTH_WAKING) return { threads, wakes: true };
    if (awake > 0) return { threads: Math.min(threads, 1 + awake), wakes: false };
    return missed.areWorthWaking(performance.now()) ? { threads, wakes: true } : null;
  }

  /** A run begins. Returns when that was. */
  begin(now = performance.now()): number {
    this.began = now;
    this.isAlone = false;
    return now;
  }

  /** Whether what is left of a run that this thread has begun is worth other threads. */
  private isLongAfter(share: number): boolean {
    const took = performance.now() - this.began;
    const left = took / share - took;
    this.isAlone = left < WORTH_WAKING || this.staff.threadsFor(left) === 1;
    if (!this.isAlone) this.noteAlone(took / share);
    return !this.isAlone;
  }

  /** Whether the run that was just begun with a crew is left to this thread, or was. */
  isLeftAlone({ threads }: Crew): boolean {
    return this.isAlone || threads === 1;
  }

  /** This thread did all of a run. */
  noteRunAlone(began: number, ended: number): void {
    const { staff } = this;
    const took = ended - began;
    this.noteAlone(took);
    staff.noteAlone(took);
    staff.pool.missed.note(began, ended, took < WORTH_SHARING ? 0 : took * (1 - 1 / staff.threads));
  }

  private noteAlone(milliseconds: number): void {
    this.alone = milliseconds;
    if (milliseconds < WORTH_SHARING) this.pause = 1;
    else if (this.untilTrial === 0) this.pause *= RARER;
    else return;
    this.untilTrial = this.pause;
  }
}

/** Processor time that it takes to wake workers, in milliseconds. */
const WAKING = 0.07;

/**
 * What workers that slept would have saved of short work, one piece of it closely after the other: had they been woken at its
 * beginning, they would have been awake ever since. When that is more than their waking costs, they are woken.
 */
export class MissedSavings {
  private sum = 0;
  private until = 0;

  /** `pause`: milliseconds without work after which workers go to sleep. */
  constructor(private readonly pause: number) {}

  /** One thread did work; others would have saved so many milliseconds. */
  note(began: number, ended: number, saved: number): void {
    this.sum = saved + (this.hasGoneOnUntil(began) ? this.sum : 0);
    this.until = ended;
  }

  areWorthWaking(now: number): boolean {
    return this.sum >= WAKING && this.hasGoneOnUntil(now);
  }

  /** Workers are woken. */
  clear(): void {
    this.sum = 0;
  }

  private hasGoneOnUntil(now: number): boolean {
    return now - this.until < this.pause;
  }
}
