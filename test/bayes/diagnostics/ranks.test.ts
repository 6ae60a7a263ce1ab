/** Sorting, ranks and normal scores, against plain sorts and counts. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { radixOrder } from "../../../src/bayes/diagnostics/radix-sort.js";
import { foldSorted, normalScores, scoreMoments } from "../../../src/bayes/diagnostics/ranks.js";
import { sortWithOrder } from "../../../src/bayes/diagnostics/sort.js";
import { erf } from "../../support/goodness-of-fit.js";
import { randomFrom } from "../../support/random.js";
import { normals } from "../chains.js";

const random = randomFrom(7);
const next = normals(7);
const from = (length: number, value: () => number) => Float64Array.from({ length }, value);

const samples: Record<string, Float64Array> = {
  nothing: new Float64Array(0),
  "one number": Float64Array.of(3),
  "normal numbers": from(5000, next),
  "numbers that differ in their last bits": from(3000, () => 1e9 + random.below(5000) * 2 ** -20),
  "many ties": from(3000, () => random.below(7) - 3),
  "all equal": new Float64Array(1000).fill(0.1),
  extremes: Float64Array.of(0, -0, 1e-320, -1e-320, Infinity, -Infinity, 1e308, -1e308, 5e-324, -0, 0),
  "numbers far from zero": from(3000, () => 1e6 + next()),
  "floats of 32 bits": from(5000, () => Math.fround(next())),
  "a spike among the rest": from(5000, () => (random.below(2) ? 1e-9 * next() : 5 + next())),
  "a first number far away": from(3000, next).map((value, i) => (i ? value : 1e30)),
  "long tails": from(5000, () => next() / next()),
  "rising numbers": from(3000, () => 0).map((_, i) => i / 7),
  "falling numbers": from(3000, () => 0).map((_, i) => -i / 7),
  infinities: from(3000, () => (random.below(3) - 1) * Infinity).map((value) => value || 0),
  "all magnitudes": from(3000, () => next() * 10 ** (random.below(600) - 300)),
};

for (const [name, x] of Object.entries(samples)) {
  test(`${name}: sorted with the positions they came from, ties in order`, () => {
    const sorted = sortWithOrder(x);
    assert.deepEqual([...sorted.order], byComparison(x));
    assert.deepEqual([...radixOrder(x)], byComparison(x));
    assert.deepEqual(
      [...sorted.values],
      [...sorted.order].map((i) => x[i]),
    );
  });
}

/** Infinity minus itself is NaN, so a difference does not compare extremes. */
function byComparison(x: Float64Array): number[] {
  return [...x.keys()].sort((a, b) => (x[a]! < x[b]! ? -1 : x[a]! > x[b]! ? 1 : a - b));
}

describe("normal scores", () => {
  test("have the probability (rank - 3/8) / (n + 1/4), ties the mean of their ranks", () => {
    const x = Float64Array.of(5, 1, 3, 3, 9, -2, 3);
    const ranks = [6, 2, 4, 4, 7, 1, 4];
    normalScores(sortWithOrder(x)).forEach((z, i) => {
      const probability = (1 + erf(z / Math.SQRT2)) / 2;
      assert.ok(Math.abs(probability - (ranks[i]! - 0.375) / 7.25) < 1e-14);
    });
  });

  test("have the moments of the chains they make", () => {
    for (const name of ["normal numbers", "many ties"]) {
      const sorted = sortWithOrder(samples[name]!);
      const draws = 50;
      const scores = normalScores(sorted);
      const chains = scores.length / draws;
      const { means, within } = scoreMoments(sorted, { chains, draws });
      let variances = 0;
      for (let c = 0; c < chains; c++) {
        let [sum, squares] = [0, 0];
        for (let i = 0; i < draws; i++) sum += scores[c * draws + i]!;
        for (let i = 0; i < draws; i++) squares += (scores[c * draws + i]! - sum / draws) ** 2;
        assert.ok(Math.abs(means[c]! - sum / draws) < 1e-14);
        variances += squares / (draws - 1);
      }
      assert.ok(Math.abs(within - variances / chains) < 1e-13);
    }
  });

  test("of chains that never move have no variance", () => {
    const sorted = sortWithOrder(from(600, () => 0).map((_, i) => Math.floor(i / 100)));
    const { within } = scoreMoments(sorted, { chains: 6, draws: 100 });
    assert.ok(within >= 0 && within < 1e-14);
  });

  test("depend on the order only", () => {
    const x = samples["normal numbers"]!;
    assert.deepEqual(normalScores(sortWithOrder(x.map(Math.exp))), normalScores(sortWithOrder(x)));
  });

  test("of another number of values are not those of the last one", () => {
    const of3 = normalScores(sortWithOrder(Float64Array.of(1, 2, 3)));
    normalScores(sortWithOrder(Float64Array.of(1, 2, 3, 4)));
    assert.deepEqual(normalScores(sortWithOrder(Float64Array.of(1, 2, 3))), of3);
    assert.equal(of3[1], 0);
  });
});

test("folding sorts the distances from a centre", () => {
  for (const name of ["normal numbers", "many ties", "one number", "all equal"]) {
    const x = samples[name]!;
    for (const centre of [0, 0.3, -100, 100]) {
      const folded = foldSorted(sortWithOrder(x), centre);
      assert.deepEqual(folded.values, x.map((value) => Math.abs(value - centre)).sort());
      assert.deepEqual(
        [...folded.values],
        [...folded.order].map((position) => Math.abs(x[position]! - centre)),
      );
      assert.equal(new Set(folded.order).size, x.length);
    }
  }
});
