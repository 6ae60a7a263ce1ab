/** The policy for garbage: by figures alone, on a clock and a device that are made up. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ArgumentError } from "../../src/core/errors.js";
import { dearGarbageShare, defaultGarbageShare, GarbageBudget, garbageShare } from "../../src/engines/garbage.js";

const MiB = 1024 * 1024;
const GiB = 1024 * MiB;

/**
 * A program that drops each of its results, on a device of so many bytes; a result takes so many milliseconds. Of every result
 * this part has become old: collections of new objects do not find it.
 */
function run(options: {
  heap: number;
  share: number;
  dearShare?: number;
  result: number;
  ms: number;
  results: number;
  collectMs?: number;
  quickMs?: number;
  old?: number;
  live?: number;
  isDisposing?: boolean;
  others?: (step: number) => number;
}) {
  const { heap, share, result, ms, results, live = 0, isDisposing = false, others = () => 0 } = options;
  const { collectMs = 6, quickMs = 0.5, old = 1 } = options;
  let [time, step, kept, recent, full, quick] = [0, 0, live, 0, 0, 0];
  let most = 0;
  const held = () => heap - others(step);
  const budget = new GarbageBudget(share, heap, held, () => time, options.dearShare);
  const collect = () => {
    full++;
    [kept, recent] = [live, 0];
    time += collectMs;
    budget.noteCollection(live, collectMs);
    return true;
  };
  const collectRecent = () => {
    quick++;
    time += quickMs;
    const released = Math.ceil(recent / result);
    recent = 0;
    return released;
  };
  const tidy = () => budget.tidy({ usedBytes: () => kept + recent, collectRecent, collect });
  collect();
  let [reserved, work] = [live, 0];
  for ([full, quick] = [0, 0]; step < results; step++) {
    if (budget.isSpent(kept + recent, result)) tidy();
    if (kept + recent + result > reserved && budget.isWorthwhile(kept + recent)) tidy();
    reserved = Math.max(reserved, kept + recent + result);
    // A dropped result becomes garbage when the next one is made.
    most = Math.max(most, kept + recent - live);
    time += ms;
    work += ms;
    if (isDisposing) continue;
    kept += old * result;
    recent += (1 - old) * result;
  }
  return { collections: full + quick, full, quick, most, ratio: work / (work + full * collectMs + quick * quickMs) };
}

describe("a program that drops its results", () => {
  test("collects once per budget, and not for every large result", () => {
    // A gradient of 256 MiB in 0.26 ms on a GPU of 140 GiB.
    const loop = { heap: 140 * GiB, share: 0.5, result: 256 * MiB, ms: 0.26, results: 2800 };
    const { full, quick, most, ratio } = run(loop);
    assert.ok(full >= 1 && full <= 10 && quick <= 10, `${full} collections for 2800 results, ${quick} of new objects`);
    assert.ok(most <= 70 * GiB, `${most / GiB} GiB of garbage`);
    assert.ok(ratio >= 0.85, `${ratio}`);
  });

  test("keeps its garbage below the share, whatever the share, the size and what else is alive", () => {
    for (const heap of [512 * MiB, 2 * GiB, 24 * GiB, 140 * GiB]) {
      for (const share of [0.05, 0.25, 1]) {
        for (const live of [0, 0.5 * heap]) {
          for (const [part, old] of [1000, 100, 10].flatMap((part) =>
            [0, 0.1, 0.6, 1].map((old) => [part, old] as const),
          )) {
            const result = Math.floor((share * heap) / part);
            const { most } = run({ heap, share, result, ms: 0.01, results: 5 * part, live, old });
            const bound = Math.max(share * (heap - live), Math.min(64 * MiB, heap / 32));
            assert.ok(most <= bound, `${heap / GiB} GiB, ${share}, ${old}: ${most / MiB} MiB of ${bound / MiB}`);
          }
        }
      }
    }
  });

  test("holds little garbage where a collection is cheap beside the work", () => {
    const { full, most, ratio } = run({ heap: 140 * GiB, share: 0.5, result: 256 * MiB, ms: 200, results: 100 });
    assert.ok(most <= 512 * MiB, `${most / MiB} MiB`);
    assert.ok(full <= 100 && ratio >= 0.95, `${ratio}`);
  });

  test("needs no more than collections of new objects where those find it, and hardly notices them", () => {
    for (const ms of [0.09, 0.26, 1, 10]) {
      const { full, quick, most, ratio } = run({
        heap: 140 * GiB,
        share: 0.5,
        result: 256 * MiB,
        ms,
        results: 4000,
        old: 0,
      });
      assert.ok(full === 0 && quick > 0, `${full} collections, ${quick} of new objects`);
      assert.ok(ratio >= 0.94, `${ms} ms a result: ${ratio}`);
      assert.ok(most <= 40 * GiB, `${most / GiB} GiB`);
    }
  });

  test("is looked for in vain among new objects seldom, where it is old", () => {
    const { full, quick, ratio } = run({
      heap: 4 * GiB,
      share: 0.25,
      result: 16 * MiB,
      ms: 1,
      results: 6400,
      quickMs: 2,
    });
    assert.ok(full >= 50 && quick <= full / 4, `${quick} collections of new objects beside ${full}`);
    assert.ok(ratio >= 0.85, `${ratio}`);
  });

  test("lets garbage grow further while collections are dear beside the work, and no further where they are not", () => {
    const loop = { heap: 140 * GiB, share: 0.5, dearShare: 4 / 5, result: 256 * MiB, results: 4000, collectMs: 7 };
    const dear = run({ ...loop, ms: 0.09 });
    assert.ok(dear.most > 100 * GiB && dear.most <= (140 * GiB * 4) / 5, `${dear.most / GiB} GiB`);
    const without = run({ ...loop, dearShare: 0.5, ms: 0.09 });
    assert.ok(without.most <= 70 * GiB);
    assert.ok(dear.ratio > without.ratio + 0.03, `${dear.ratio} and ${without.ratio}`);
    // 280 results of 0.5 ms take 140 ms: seven more are a twentieth.
    assert.ok(run({ ...loop, ms: 0.5 }).most <= 70 * GiB);
  });

  test("keeps to the larger share where collections are dear with the plain one alone", () => {
    // 64 results of the CPU engine take 64 ms, and a collection 12: 16 % of the time. With twice the garbage it is 9 %.
    const loop = { heap: 4 * GiB, share: 0.25, dearShare: 0.5, result: 16 * MiB, ms: 1, collectMs: 12 };
    const { full } = run({ ...loop, results: 4096 });
    assert.ok(full <= 4096 / 128 + 2, `${full} collections`);
  });

  test("keeps the larger share, and memory for it, beyond one collection that followed other work", () => {
    let time = 0;
    const budget = new GarbageBudget(0.5, 140 * GiB, () => 140 * GiB, () => time, 4 / 5); // biome-ignore format: one line
    const collected = (after: number) => {
      time += after;
      budget.noteCollection(0, 10);
      return { allowance: budget.allowance / GiB, reserve: budget.reserve / GiB };
    };
    for (let i = 0; i < 3; i++) collected(25);
    assert.deepEqual(collected(25), { allowance: 112, reserve: 112 });
    assert.deepEqual(collected(2000), { allowance: 112, reserve: 112 });
    assert.deepEqual(collected(25), { allowance: 112, reserve: 112 });
    collected(2000);
    assert.deepEqual(collected(2000), { allowance: 70, reserve: 112 });
  });

  test("makes room when other processes take memory", () => {
    const others = (step: number) => (step < 500 ? 0 : 100 * GiB);
    const alone = run({ heap: 140 * GiB, share: 0.5, result: GiB, ms: 0.1, results: 500, others });
    assert.ok(alone.most > 60 * GiB);
    const crowded = run({ heap: 140 * GiB, share: 0.5, result: GiB, ms: 0.1, results: 1000, others: () => 100 * GiB });
    assert.ok(crowded.most <= 20 * GiB, `${crowded.most / GiB} GiB`);
  });
});

describe("a program that disposes of its results", () => {
  test("never collects, however large they are", () => {
    for (const result of [MiB, GiB, 100 * GiB]) {
      const { collections } = run({ heap: 140 * GiB, share: 0.25, result, ms: 1, results: 500, isDisposing: true });
      assert.equal(collections, 0, `results of ${result / MiB} MiB`);
    }
  });

  test("collects once, and not at every step, where a step needs more than the budget", () => {
    const heap = 140 * GiB;
    const budget = new GarbageBudget(0.25, heap, () => heap);
    let collections = 0;
    for (let step = 0; step < 100; step++) {
      for (let used = 0; used < 60 * GiB; used += GiB) {
        if (!budget.isSpent(used, GiB)) continue;
        collections++;
        budget.noteCollection(used, 5);
      }
    }
    assert.ok(collections <= 2, `${collections}`);
  });
});

test("a program whose live memory grows collects a few times on the way, and not all day", () => {
  const heap = 140 * GiB;
  let time = 0;
  const budget = new GarbageBudget(
    0.5,
    heap,
    () => heap,
    () => time,
  );
  let collections = 0;
  for (let used = 0; used < 139 * GiB; used += 16 * MiB) {
    if (budget.isSpent(used, 16 * MiB) || budget.isWorthwhile(used)) {
      collections++;
      budget.noteCollection(used, 5);
    }
    time += 50;
  }
  assert.ok(collections <= 25, `${collections}`);
});

test("V8's own collections lower the count of survivors and never raise it", () => {
  const heap = 16 * GiB;
  const budget = new GarbageBudget(0.25, heap, () => heap);
  budget.noteCollection(8 * GiB, 5);
  assert.ok(!budget.isSpent(9.9 * GiB, MiB));
  budget.noteSweep(9 * GiB);
  assert.ok(budget.isSpent(10.1 * GiB, MiB), "8 GiB survived, and a quarter of the other 8 may be garbage");
  budget.noteSweep(GiB);
  assert.ok(budget.isSpent(5 * GiB, MiB), "now 1 GiB survived, and a quarter of 15 may be garbage");
});

test("the share is a setting, and smaller by default where memory is small or shared", () => {
  assert.equal(defaultGarbageShare(140 * GiB, false), 1 / 2);
  assert.equal(defaultGarbageShare(8 * GiB, false), 1 / 4);
  assert.equal(defaultGarbageShare(2 * GiB, false), 1 / 8);
  assert.equal(defaultGarbageShare(64 * GiB, true), 1 / 8);
  assert.equal(dearGarbageShare(140 * GiB, false), 4 / 5);
  assert.equal(dearGarbageShare(8 * GiB, false), 1 / 4);
  assert.equal(dearGarbageShare(64 * GiB, true), 1 / 8);
  assert.equal(garbageShare(0.5, undefined, undefined), 0.5);
  assert.equal(garbageShare(0.5, undefined, ""), 0.5);
  assert.equal(garbageShare(0.5, undefined, "0.1"), 0.1);
  assert.equal(garbageShare(0.5, 0.2, "0.1"), 0.2);
  for (const wish of ["much", "0", "-1", "1.5"]) {
    assert.throws(
      () => garbageShare(0.5, undefined, wish),
      (error) => error instanceof ArgumentError && error.message.includes(`PUMICE_GARBAGE: ${wish} is not a share`),
    );
  }
  assert.throws(() => garbageShare(0.5, 0), ArgumentError);
  assert.throws(() => garbageShare(0.5, Number.NaN), ArgumentError);
});
