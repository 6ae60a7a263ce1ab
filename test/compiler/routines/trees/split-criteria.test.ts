/** Scores of splits: each criterion takes the place where its impurity is least, with few channels and with many. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Tensor, tensor } from "../../../../src/index.js";
import { backendFor, exactSplits } from "../../../../src/tensor/index.js";
import { describeOnTensorDevices, numbersOf } from "../../../support/tensors.js";

const count = 30;
const values = Array.from({ length: count }, (_, i) => i);
const weights = values.map((i) => 1 + (i % 3));

/** Weights by class of the rows from `from` to `to`. */
const byClass = (labels: readonly number[], classes: number, from: number, to: number): number[] =>
  Array.from({ length: classes }, (_, c) =>
    values.slice(from, to).reduce((sum, i) => sum + (labels[i] === c ? weights[i]! : 0), 0),
  );
const total = (list: readonly number[]): number => list.reduce((a, b) => a + b, 0);

const impurities: Record<string, (sums: readonly number[]) => number> = {
  gini: (sums) => total(sums) - total(sums.map((sum) => sum * sum)) / total(sums),
  entropy: (sums) => -total(sums.map((sum) => (sum > 0 ? sum * Math.log(sum / total(sums)) : 0))),
};

describeOnTensorDevices("criteria of splits", (device) => {
  const dtype = backendFor(device, "test").hasDoubles ? "f64" : "f32";
  const i32 = (list: unknown) => tensor(list as number[], { dtype: "i32" }) as Tensor;
  const real = (list: unknown) => tensor(list as number[], { dtype }) as Tensor;
  const split = (criterion: string, targets: readonly number[], totals: readonly number[], leastWeight = 0) => {
    const rows = {
      ...{ values: tensor([values]) as Tensor, ranks: i32([values]), order: i32(values), nodes: i32([[0, count, 0]]) },
      ...{ targets: real(targets.map((value) => [value])), weights: real([weights]), spreads: real(weights) },
    };
    const sums = real([[total(weights), leastWeight, ...totals]]);
    const limits = { criterion, minSamplesLeaf: 1, hasLeastWeight: leastWeight > 0 };
    return numbersOf(exactSplits(rows, i32([[0]]), sums, null, limits));
  };
  const least = (costs: readonly number[]): number => costs.indexOf(Math.min(...costs)) + 1;

  for (const criterion of ["gini", "entropy"]) {
    for (const classes of [2, 3, 6]) {
      test(`${criterion} of ${classes} classes`, () => {
        const labels = values.map((i) => (i < 11 ? i % 2 : (i * i) % classes));
        const costs = values.slice(1).map((left) => {
          const parts = [byClass(labels, classes, 0, left), byClass(labels, classes, left, count)];
          return total(parts.map((part) => impurities[criterion]!(part)));
        });
        assert.equal(split(criterion, labels, byClass(labels, classes, 0, count))[2], least(costs));
      });
    }
  }

  test("poisson takes the least deviance, and no part whose targets are all zero", () => {
    const counts = values.map((i) => (i < 4 ? 0 : i < 13 ? 1 + (i % 2) : 4 + (i % 3)));
    const sums = values.map((i) => counts[i]! * weights[i]!);
    const deviance = (from: number, to: number): number => {
      const [sum, weight] = [total(sums.slice(from, to)), total(weights.slice(from, to))];
      return sum > 0 ? -sum * Math.log(sum / weight) : Number.POSITIVE_INFINITY;
    };
    const costs = values.slice(1).map((left) => deviance(0, left) + deviance(left, count));
    const [score, , left] = split("poisson", counts, [total(sums)]);
    assert.equal(left, least(costs));
    assert.ok(Math.abs(-score! - Math.min(...costs)) < 1e-3);
  });

  test("friedman takes the largest difference of means by weights, among parts that are heavy enough", () => {
    const targets = values.map((i) => (i < 3 ? 40 : i < 17 ? i % 4 : 5 + (i % 3)));
    const sums = values.map((i) => targets[i]! * weights[i]!);
    const score = (left: number): number => {
      const [a, b] = [total(weights.slice(0, left)), total(weights.slice(left))];
      return a * b * (total(sums.slice(0, left)) / a - total(sums.slice(left)) / b) ** 2;
    };
    const scores = values.slice(1).map(score);
    assert.equal(split("friedman", targets, [total(sums)])[2], scores.indexOf(Math.max(...scores)) + 1);
    // The first four rows are too light.
    const heavy = scores.map((each, i) => (total(weights.slice(0, i + 1)) >= 9 ? each : 0));
    const [found, , left] = split("friedman", targets, [total(sums)], 9);
    assert.equal(left, heavy.indexOf(Math.max(...heavy)) + 1);
    assert.ok(Math.abs(found! / Math.max(...heavy) - 1) < 1e-5);
    assert.notEqual(left, scores.indexOf(Math.max(...scores)) + 1);
  });
});
