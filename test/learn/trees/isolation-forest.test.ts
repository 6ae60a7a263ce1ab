/** Isolation forests by options, against scikit-learn's over seeds (make-isolation-cases.py), sample by sample. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { isolationForest } from "../../../src/learn/index.js";
import { forestCases } from "../../support/forest-cases.js";
import { numbersOf } from "../../support/tensors.js";

type Scores = Readonly<Record<"mean" | "sd", readonly number[]>>;
const cases: Readonly<Record<"maxFeatures" | "bootstrap", Scores>> = JSON.parse(
  readFileSync(resolve("test/learn/trees/isolation-cases.json"), "utf8"),
);
const samples = forestCases().isolation.x.map((row) => [...row]);
const cpu = { device: "cpu" };
const mean = (list: readonly number[]): number => list.reduce((a, b) => a + b, 0) / list.length;

for (const [name, options] of [
  ["maxFeatures", { maxFeatures: 0.7 }],
  ["bootstrap", { bootstrap: true }],
] as const) {
  test(`${name}: scores are scikit-learn's within the error of so many seeds`, async () => {
    const want = cases[name];
    const seeds = [1, 2, 3, 4, 5, 6, 7, 8];
    const scores: number[][] = [];
    for (const seed of seeds) {
      const model = await isolationForest({ maxSamples: 128, seed, ...options }).fit(samples, undefined, cpu);
      scores.push(numbersOf(model.scoreSamples(samples)));
    }
    const z = want.mean.map((value, i) => {
      const error = want.sd[i]! * Math.sqrt(1 / seeds.length + 1 / 20);
      return (mean(scores.map((each) => each[i]!)) - value) / error;
    });
    const furthest = Math.max(...z.map(Math.abs));
    assert.ok(furthest < 5.5, `the largest z is ${furthest}`);
    const square = mean(z.map((each) => each * each));
    assert.ok(square > 0.4 && square < 2, `the mean square of z is ${square}`);
  });
}

test("a tree asks its own features alone; rows drawn twice stand once", async () => {
  const forest = isolationForest({ nEstimators: 12, maxFeatures: 2, bootstrap: true, maxSamples: 64 });
  const { trees } = (await forest.fit(samples, undefined, cpu)).learned;
  const nodes = trees.left.shape[1]!;
  const [feature, left, count] = [numbersOf(trees.feature), numbersOf(trees.left), numbersOf(trees.count)];
  const asked = Array.from({ length: 12 }, (_, tree) => {
    const places = Array.from({ length: nodes }, (_, node) => tree * nodes + node).filter((at) => left[at]! >= 0);
    return [...new Set(places.map((at) => feature[at]!))].sort();
  });
  assert.ok(asked.every(({ length }) => length === 2));
  assert.ok(new Set(asked.map(String)).size > 1);
  const roots = Array.from({ length: 12 }, (_, tree) => count[tree * nodes]!);
  // Of 200 rows, 64 that are drawn are 200 · (1 - (1 - 1/200)^64) = 54.8 different ones.
  assert.ok(roots.every((rows) => rows < 64) && Math.abs(mean(roots) - 54.8) < 3, `${roots}`);
  assert.throws(() => isolationForest({ maxFeatures: 0 }), /maxFeatures is 0; it is a whole number from 1 on, a share/);
  assert.throws(() => isolationForest({ maxFeatures: "sqrt" as never }), /maxFeatures is "sqrt"/);
});
