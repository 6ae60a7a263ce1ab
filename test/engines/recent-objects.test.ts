/** Recent objects: which of them V8's collections of new objects have found unreachable. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type LifeSign, RecentObjects } from "../../src/engines/recent-objects.js";

setFlagsFromString("--expose-gc");
const collectNew = () => (runInNewContext("gc") as (options: object) => void)({ type: "minor" });

interface Thing {
  readonly sign: LifeSign<number> | null;
}

const leave = () => {};

/** Things of these numbers; those that `isKept` says are returned. */
function things(recent: RecentObjects<number>, count: number, isKept: (i: number) => boolean): Thing[] {
  const kept: Thing[] = [];
  for (let i = 0; i < count; i++) {
    const thing: Thing = { sign: recent.watch(i) };
    if (isKept(i)) kept.push(thing);
  }
  return kept;
}

const sorted = (numbers: readonly number[]) => [...numbers].sort((a, b) => a - b);
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);

test("those that nobody holds are gone after a collection of new objects, and the others are not", () => {
  const recent = new RecentObjects<number>();
  const kept = things(recent, 500, (i) => i % 7 === 0);
  assert.deepEqual(recent.takeGone(9, leave), [], "nothing was collected");
  assert.equal(recent.size, 500);
  collectNew();
  const gone = recent.takeGone(9, leave);
  assert.deepEqual(sorted(gone), upTo(500).filter((i) => i % 7 !== 0)); // biome-ignore format: one line
  assert.equal(recent.size, kept.length);
});

test("those that were listed so many times are left to others", () => {
  const recent = new RecentObjects<number>();
  const kept = things(recent, 10, () => true);
  const left: number[] = [];
  for (const expected of [0, 0, 10]) {
    assert.deepEqual(
      recent.takeGone(2, ({ subject }) => left.push(subject)),
      [],
    );
    assert.equal(left.length, expected);
    assert.equal(recent.size, 10 - expected);
  }
  assert.deepEqual(sorted(left), upTo(10));
  assert.equal(kept.length, 10);
});

test("those that are forgotten are never gone", () => {
  const recent = new RecentObjects<number>();
  things(recent, 10, () => false);
  recent.forget(3);
  collectNew();
  assert.deepEqual(sorted(recent.takeGone(9, leave)), upTo(10).filter((i) => i !== 3)); // biome-ignore format: one line
  things(recent, 10, () => false);
  recent.clear();
  collectNew();
  assert.deepEqual(recent.takeGone(9, leave), []);
});

test("a program's own defaults for `inspect` hide nobody", () => {
  const before = { ...inspect.defaultOptions };
  inspect.defaultOptions = { maxArrayLength: 1, depth: 0, showHidden: false, customInspect: false, sorted: true };
  try {
    const recent = new RecentObjects<number>();
    const kept = things(recent, 300, () => true);
    collectNew();
    assert.deepEqual(recent.takeGone(9, leave), []);
    assert.equal(recent.size, kept.length);
  } finally {
    inspect.defaultOptions = before;
  }
});
