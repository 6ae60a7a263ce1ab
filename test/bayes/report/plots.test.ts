/** The pieces of the report: what they compute is right, whatever they draw. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { chainGroups, shownRange } from "../../../src/bayes/report/chain-groups.js";
import { estimateDensity } from "../../../src/bayes/report/density-estimate.js";
import { energyDifferences } from "../../../src/bayes/report/plots/energy.js";
import { rankCounts } from "../../../src/bayes/report/plots/ranks.js";
import { extremes } from "../../../src/bayes/report/plots/trace.js";
import { chainsOf, independent, normals } from "../chains.js";

const sum = (values: ArrayLike<number>) => Array.from(values).reduce((total, value) => total + value, 0);

describe("a density estimate", () => {
  const next = normals(1);
  const values = Float64Array.from({ length: 20_000 }, next);

  test("of normal numbers is the normal density", () => {
    const { x, density } = estimateDensity(values, [-4, 4]);
    x.forEach((at, i) => {
      const exact = Math.exp((-at * at) / 2) / Math.sqrt(2 * Math.PI);
      assert.ok(Math.abs(density[i]! - exact) < 0.02, `at ${at}: ${density[i]}, not ${exact}`);
    });
  });

  test("has the area of the share it shows", () => {
    for (const [low, high, share] of [
      [-5, 5, 1],
      [-1, 1, 0.6827],
    ] as const) {
      const { x, density } = estimateDensity(values, [low, high]);
      assert.ok(Math.abs(sum(density) * (x[1]! - x[0]!) - share) < 0.02);
    }
  });

  test("of positive numbers does not leak below 0, nor sag there", () => {
    const exponential = values.map((value) => -Math.log((1 + Math.tanh(0.8 * value)) / 2));
    const { x, density } = estimateDensity(exponential, [-1, 5]);
    const below = x.findIndex((at) => at >= 0) - 1;
    assert.ok(density.slice(0, below).every((value) => value === 0));
    assert.ok(density[below + 2]! > 0.7 * Math.max(...density));
  });

  test("of too little is flat", () => {
    assert.ok(estimateDensity(Float64Array.of(1), [0, 2]).density.every((value) => value === 0));
    assert.ok(estimateDensity(new Float64Array(0), [0, 0]).density.every((value) => value === 0));
  });
});

describe("chains", () => {
  test("up to eight stand by themselves, more in eight groups that hold each once", () => {
    assert.deepEqual(
      chainGroups(independent(3, 2, 1)).map(({ label }) => label),
      ["chain 0", "chain 1", "chain 2"],
    );
    const groups = chainGroups(independent(13, 5, 1));
    assert.equal(groups.length, 8);
    assert.equal(sum(groups.map(({ chains }) => chains.chains)), 13);
    assert.equal(groups[7]!.label, "chains 11 to 12");
    assert.deepEqual(
      Float64Array.from(groups.flatMap(({ chains }) => [...chains.values])),
      independent(13, 5, 1).values,
    );
  });

  test("are drawn by the extremes of each stretch when they are long", () => {
    const { values } = independent(1, 50_000, 2);
    const points = extremes(values);
    assert.ok(points.length <= 440);
    assert.equal(
      Math.max(...points.map(([, value]) => value)),
      values.reduce((a, b) => Math.max(a, b)),
    );
    assert.equal(
      Math.min(...points.map(([, value]) => value)),
      values.reduce((a, b) => Math.min(a, b)),
    );
    assert.ok(points.every(([i, value], k) => values[i] === value && (k === 0 || i >= points[k - 1]![0])));
    assert.equal(extremes(values.subarray(0, 100)).length, 100);
  });

  test("have ranks that are counted once, and left out where there are none", () => {
    const x = chainsOf([
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
      [11, 12, 13, 14, 15, 16, 17, 18, 19, 20],
    ]);
    const [low, high] = rankCounts(x, [0, 1]);
    assert.deepEqual([...low!], [...Array(10).fill(1), ...Array(10).fill(0)]);
    assert.deepEqual([...high!], [...Array(10).fill(0), ...Array(10).fill(1)]);
    const holed = { ...x, values: x.values.map((value) => (value === 3 ? Number.NaN : value)) };
    assert.equal(sum(rankCounts(holed, [0, 1]).map(sum)), 19);
  });

  test("have energies less their means, and steps within each chain only", () => {
    const { visited, steps } = energyDifferences(
      chainsOf([
        [1, 3, 5],
        [10, 10, 16],
      ]),
    );
    assert.deepEqual([...visited], [-2, 0, 2, -2, -2, 4]);
    assert.deepEqual([...steps], [2, 2, 0, 6]);
  });
});

test("a range leaves out a few far draws, and nothing of what is whole", () => {
  const next = normals(3);
  const values = Float64Array.from({ length: 5000 }, (_, i) => (i === 7 ? 1e6 : next()));
  const [low, high] = shownRange(values);
  assert.ok(low < -2.5 && low > -10 && high > 2.5 && high < 10);
  assert.deepEqual(shownRange(Float64Array.of(3, 1, 2, Number.NaN)), [1, 3]);
  assert.deepEqual(shownRange(Float64Array.of(Number.NaN)), [0, 1]);
});
