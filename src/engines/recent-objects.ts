/**
 * Tells which of the objects that were made lately are gone, without a collection of the whole heap. V8 collects new objects in
 * half a millisecond, where all of them take 10 to 20, but such a collection keeps what a WeakRef points to. It does take
 * unreachable members out of a WeakSet, and Node's `inspect` lists what is left there: it calls a method of each member. So each
 * object refers to a sign of its own in a WeakSet. A sign that is no longer listed is gone, and its object with it.
 *
 * Nothing is watched where `inspect` lists no members (Bun, Deno).
 */
import { inspect } from "node:util";

/** The object refers to its sign, and nothing else does. */
export class LifeSign<T> {
  /** Times that it was listed. */
  survived = 0;

  constructor(readonly subject: T) {}

  [inspect.custom](): string {
    listed.push(this);
    return "";
  }
}

let listed: LifeSign<unknown>[] = [];

/** The members of a set of signs. Every option that could shorten the list is stated: a program may have set defaults. */
function membersOf<T>(signs: WeakSet<LifeSign<T>>): LifeSign<T>[] {
  listed = [];
  inspect(signs, {
    showHidden: true,
    customInspect: true,
    showProxy: false,
    depth: 0,
    maxArrayLength: Number.POSITIVE_INFINITY,
    maxStringLength: Number.POSITIVE_INFINITY,
    breakLength: Number.POSITIVE_INFINITY,
    compact: true,
    sorted: false,
    colors: false,
  });
  const members = listed as LifeSign<T>[];
  listed = [];
  return members;
}

let isListing: boolean | undefined;
/** Whether members of a WeakSet are listed here. */
function canList(): boolean {
  if (isListing === undefined) {
    const signs = Array.from({ length: 200 }, () => new LifeSign(null));
    isListing = membersOf(new WeakSet(signs)).length === signs.length;
  }
  return isListing;
}

/** A subject stands for the object and must not refer to it. */
export class RecentObjects<T> {
  private readonly subjects = new Set<T>();
  private signs = new WeakSet<LifeSign<T>>();
  /** It is always alive: a list without it is not to be believed. */
  private readonly witness = new LifeSign<T | null>(null) as LifeSign<T>;

  get size(): number {
    return this.subjects.size;
  }

  /** The sign for an object, which must refer to it from now on; null where objects cannot be watched. */
  watch(subject: T): LifeSign<T> | null {
    if (!canList()) return null;
    const sign = new LifeSign(subject);
    this.subjects.add(subject);
    this.signs.add(sign);
    return sign;
  }

  /** Watches an object no longer. */
  forget(subject: T): void {
    this.subjects.delete(subject);
  }

  clear(): void {
    this.subjects.clear();
  }

  /**
   * The subjects whose objects V8 has found unreachable, which are forgotten. Of the others, those that were listed so many times
   * before are handed to `leave` and forgotten, too: V8 counts them among the old objects.
   */
  takeGone(survivals: number, leave: (sign: LifeSign<T>) => void): T[] {
    if (this.subjects.size === 0) return [];
    this.signs.add(this.witness);
    const members = membersOf(this.signs);
    if (!members.includes(this.witness)) return [];
    const alive = new WeakSet<LifeSign<T>>();
    const staying = new Set<T>();
    for (const sign of members) {
      if (!this.subjects.delete(sign.subject)) continue;
      if (sign.survived++ >= survivals) leave(sign);
      else {
        alive.add(sign);
        staying.add(sign.subject);
      }
    }
    const gone = [...this.subjects];
    this.subjects.clear();
    for (const subject of staying) this.subjects.add(subject);
    this.signs = alive;
    return gone;
  }
}
