/** The figures behind every table: order statistics of samples, and how samples are taken. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Busyness, paceFor, repeat, sample } from "../../bench/harness.js";
import { median, quantile, summarise } from "../../bench/statistics.js";

test("the median is the middle sample, or the mean of the two middle ones, in any order", () => {
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1, 3, 2]), 2.5);
  assert.equal(median([7]), 7);
});

test("quantiles interpolate as NumPy's do", () => {
  // numpy.quantile([1, 2, 4, 8, 16], [0, 0.1, 0.25, 0.9, 1])
  const samples = [16, 1, 8, 2, 4];
  const expected = [1, 1.4, 2, 12.8, 16];
  [0, 0.1, 0.25, 0.9, 1].forEach((q, i) => {
    assert.ok(Math.abs(quantile(samples, q) - expected[i]!) < 1e-12);
  });
});

test("numbers are sorted as numbers, and the samples stay as they were", () => {
  const samples = [10, 9, 100];
  assert.equal(median(samples), 10);
  assert.deepEqual(samples, [10, 9, 100]);
});

test("one wild sample moves neither the median nor the spread's lower end", () => {
  const calm = summarise([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
  const wild = summarise([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1000]);
  assert.deepEqual([wild.median, wild.p10, wild.p90], [calm.median, calm.p10, calm.p90]);
  assert.equal(wild.max, 1000);
  assert.equal(wild.count, 11);
});

test("no samples, and samples that are not numbers, are refused", () => {
  assert.throws(() => median([]), RangeError);
  assert.throws(() => summarise([1, Number.NaN]), /NaN among the samples/);
  assert.throws(() => summarise([Number.POSITIVE_INFINITY]), RangeError);
});

/** A clock that each measurement advances by a tenth of a second. */
function fakeClock() {
  const clock = { ms: 0, calls: 0 };
  const once = () => {
    clock.calls++;
    clock.ms += 100;
    return clock.calls;
  };
  return { clock, once, now: () => clock.ms };
}

test("warm-up lasts a time, its samples do not count, and sampling ends with the budget", async () => {
  const { clock, once, now } = fakeClock();
  const samples = await sample({ warmUp: 1.5, budget: 2, minimum: 3 }, once, now);
  assert.equal(samples.length, 20);
  assert.equal(samples[0], 16, "fifteen calls warmed up");
  assert.equal(clock.calls, 35);
});

test("the minimum number of samples is taken even when the budget is spent", async () => {
  const { once, now } = fakeClock();
  assert.deepEqual(await sample({ warmUp: 0, budget: 0, minimum: 4 }, once, now), [2, 3, 4, 5]);
});

test("of samples that take longer than a second three are enough; the warm-up tells", async () => {
  const samplesOf = async (milliseconds: number) => {
    let clock = 0;
    const once = () => {
      clock += milliseconds;
      return milliseconds;
    };
    return (await sample({ warmUp: 0, budget: 0, minimum: 7 }, once, () => clock)).length;
  };
  assert.equal(await samplesOf(999), 7);
  assert.equal(await samplesOf(1001), 3);
});

test("a fixed number of repetitions follows one that does not count", async () => {
  const { once } = fakeClock();
  assert.deepEqual(await repeat(3, once), [2, 3, 4]);
});

test("a GPU is warmed up for at least a second and a half, unless in a hurry", () => {
  assert.ok(paceFor("gpu", false).warmUp >= 1.5);
  assert.ok(paceFor("gpu", true).warmUp < 1);
  assert.ok(paceFor("software", false).warmUp < 1);
  assert.equal(paceFor("cpu", false, 0.7).budget, 0.7);
});

test("a GPU that was busy a moment ago warms up for less, one that was idle in full", () => {
  const pace = paceFor("gpu", false);
  const busyness = new Busyness();
  assert.equal(busyness.paceAt(pace, 0).warmUp, pace.warmUp);
  busyness.note(5000);
  assert.equal(busyness.paceAt(pace, 5500).warmUp, pace.warmUpWhenBusy);
  assert.ok(pace.warmUpWhenBusy < pace.warmUp);
  assert.equal(busyness.paceAt(pace, 7000).warmUp, pace.warmUp);
});
