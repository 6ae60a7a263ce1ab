/** Splits by absolute errors against a search that sorts each part, and totals of parts by their medians. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Tensor, tensor } from "../../../../src/index.js";
import { backendFor, exactSplits, totalsByPart } from "../../../../src/tensor/index.js";
import { describeOnTensorDevices, numbersOf } from "../../../support/tensors.js";

type Pair = readonly [value: number, weight: number];

/** The weighted median of targets, of an even weight the middle of two, and the absolute distances to it. */
function around(part: readonly Pair[]): readonly [number, number] {
  const sorted = [...part].sort(([a], [b]) => a - b);
  const half = sorted.reduce((sum, [, weight]) => sum + weight, 0) / 2;
  let [running, at] = [0, 0];
  for (; running + sorted[at]![1] < half; at++) running += sorted[at]![1];
  const isMet = running + sorted[at]![1] === half;
  const median = isMet ? (sorted[at]![0] + sorted[at + 1]![0]) / 2 : sorted[at]![0];
  return [median, part.reduce((sum, [value, weight]) => sum + weight * Math.abs(value - median), 0)];
}

describeOnTensorDevices("splits by absolute errors", (device) => {
  const dtype = backendFor(device, "test").hasDoubles ? "f64" : "f32";
  const i32 = (list: unknown) => tensor(list as number[], { dtype: "i32" }) as Tensor;
  const real = (list: unknown) => tensor(list as number[], { dtype }) as Tensor;
  const count = 90;
  const values = Array.from({ length: count }, (_, i) => (i * 37) % count);
  const targets = values.map((value) => (value < 31 ? (value * 13) % 17 : 40 + ((value * 7) % 29)));
  const weights = values.map((_, i) => 1 + (i % 4));
  // Two nodes: the first 20 rows by target (sorted by insertion), and the others (by bytes).
  const order = values.map((_, i) => i).sort((a, b) => targets[a]! - targets[b]!);
  const nodes = [
    [0, 20, 0],
    [20, 70, 0],
  ];
  const rows = () => ({
    ...{ values: tensor([values]) as Tensor, ranks: i32([values]), order: i32(order), nodes: i32(nodes) },
    ...{ targets: real(targets.map((value) => [value])), weights: real([weights]), spreads: real(targets) },
  });
  const own = nodes.map(([first, size]) => order.slice(first, first! + size!));
  const pairsOf = (list: readonly number[]): Pair[] => list.map((row) => [targets[row]!, weights[row]!]);
  const totals = () =>
    real(own.map((list) => [list.reduce((sum, row) => sum + weights[row]!, 0), 0, around(pairsOf(list))[0]]));

  test("the split with the least distances to both medians is found", () => {
    const limits = { criterion: "absolute", minSamplesLeaf: 3 };
    const found = numbersOf(exactSplits(rows(), i32([[0], [0]]), totals(), null, limits));
    own.forEach((list, node) => {
      const sorted = [...list].sort((a, b) => values[a]! - values[b]!);
      const costs = sorted.map((_, left) =>
        left < 3 || left > list.length - 3
          ? Number.POSITIVE_INFINITY
          : around(pairsOf(sorted.slice(0, left)))[1] + around(pairsOf(sorted.slice(left)))[1],
      );
      const least = Math.min(...costs);
      const [score, , left] = found.slice(5 * node, 5 * node + 3);
      assert.ok(Math.abs(-score! - least) <= 1e-5 * least, `${score} and ${least}`);
      assert.ok(costs[left!]! <= least * (1 + 1e-6));
    });
  });

  test("a drawn threshold is scored the same way", () => {
    const limits = { criterion: "absolute", minSamplesLeaf: 1 };
    const draws = tensor([[0.4], [0.6]]) as Tensor;
    const found = numbersOf(exactSplits(rows(), i32([[0], [0]]), totals(), draws, limits));
    own.forEach((list, node) => {
      const [score, , left, threshold] = found.slice(5 * node, 5 * node + 4);
      const parts = [true, false].map((isLeft) => list.filter((row) => values[row]! <= threshold! === isLeft));
      assert.equal(parts[0]!.length, left);
      const cost = parts.reduce((sum, part) => sum + around(pairsOf(part))[1], 0);
      assert.ok(Math.abs(-score! - cost) <= 1e-5 * cost, `${score} and ${cost}`);
    });
  });

  test("totals of parts are weights, distances to medians, and medians; an even weight takes the middle of two", () => {
    const even = { ...rows(), weights: real([weights.map(() => 2)]) };
    for (const [given, weightOf] of [
      [rows(), weights],
      [even, weights.map(() => 2)],
    ] as const) {
      const whole = real(nodes.map(() => [0, 0, 0, 0, 0]));
      const params = { channels: 1, isByClass: false, isByMedian: true };
      const found = numbersOf(totalsByPart(given, whole, params));
      own.forEach((list, node) => {
        const [median, distance] = around(list.map((row) => [targets[row]!, weightOf[row]!]));
        const total = list.reduce((sum, row) => sum + weightOf[row]!, 0);
        assert.deepEqual(found.slice(6 * node, 6 * node + 3), [total, distance, median]);
        assert.deepEqual(found.slice(6 * node + 3, 6 * node + 6), [0, 0, 0]);
      });
    }
  });
});
