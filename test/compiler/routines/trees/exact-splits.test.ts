/** Exact splits against a search over all places, for nodes that are sorted by insertion and nodes that are sorted by bytes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Tensor, tensor } from "../../../../src/index.js";
import { backendFor, exactSplits } from "../../../../src/tensor/index.js";
import { describeOnTensorDevices, numbersOf } from "../../../support/tensors.js";

const count = 700;
/** Whole numbers, so that sums are exact: feature 0 has many values, feature 1 few, feature 2 one. */
const columns = [
  Array.from({ length: count }, (_, i) => (i * 7919) % 1009),
  Array.from({ length: count }, (_, i) => (i * 31) % 5),
  Array.from({ length: count }, () => 4),
];
const targets = columns[0]!.map((a, i) => (a > 500 ? 8 : 0) + ((columns[1]![i]! * 3) % 7) + (i % 3));
const ranks = columns.map((column) => {
  const values = [...new Set(column)].sort((a, b) => a - b);
  return column.map((value) => values.indexOf(value));
});

/** The best place of a feature among rows: the sum of squares by weight, rows on the left, threshold. */
function bestOf(rows: readonly number[], feature: number, least: number): [number, number, number] {
  const sorted = [...rows].sort((a, b) => columns[feature]![a]! - columns[feature]![b]!);
  const sum = (list: readonly number[]) => list.reduce((total, row) => total + targets[row]!, 0);
  let best: [number, number, number] = [-1, 0, 0];
  for (let left = least; left <= sorted.length - least; left++) {
    const [below, above] = [columns[feature]![sorted[left - 1]!]!, columns[feature]![sorted[left]!]!];
    if (below === above) continue;
    const score = sum(sorted.slice(0, left)) ** 2 / left + sum(sorted.slice(left)) ** 2 / (sorted.length - left);
    if (score > best[0]) best = [score, left, (below + above) / 2];
  }
  return best;
}

describeOnTensorDevices("exact splits", (device) => {
  const dtype = backendFor(device, "test").hasDoubles ? "f64" : "f32";
  const i32 = (values: unknown) => tensor(values as number[], { dtype: "i32" }) as Tensor;
  const real = (values: unknown) => tensor(values as number[], { dtype }) as Tensor;
  const order = Array.from({ length: count }, (_, i) => (i * 11) % count);
  const places = [
    [0, 600, 0],
    [600, 30, 0],
    [630, 2, 0],
    [640, 0, 0],
  ];
  const totals = places.map(([first, own]) => {
    const rows = order.slice(first!, first! + own!);
    return [rows.length, 0, rows.reduce((sum, row) => sum + targets[row]!, 0)];
  });
  const rowsOf = () => ({
    ...{ values: tensor(columns) as Tensor, ranks: i32(ranks), order: i32(order), nodes: i32(places) },
    ...{ targets: real(targets.map((value) => [value])), weights: real([targets.map(() => 1)]) },
    spreads: real(targets.map(() => 0)),
  });

  test("the split of each node is the best of all places of its candidates", () => {
    const candidates = [
      [2, 1, 0],
      [0, 1, -1],
      [2, -1, -1],
      [0, 1, 2],
    ];
    const found = numbersOf(
      exactSplits(rowsOf(), i32(candidates), real(totals), null, { criterion: "squared", minSamplesLeaf: 3 }),
    );
    places.slice(0, 2).forEach(([first, own], node) => {
      const mine = order.slice(first!, first! + own!);
      const all = candidates[node]!.filter((feature) => feature === 0 || feature === 1).map((feature) => ({
        feature,
        best: bestOf(mine, feature, 3),
      }));
      const { feature, best } = all.reduce((a, b) => (b.best[0] > a.best[0] ? b : a));
      const [score, chosen, left, threshold, varies] = found.slice(5 * node, 5 * node + 5);
      assert.ok(Math.abs(score! - best[0]) < 1e-5 * best[0], `${score} and ${best[0]}`);
      assert.deepEqual([chosen, left, threshold, varies], [feature, best[1], best[2], 1]);
    });
    // Constant features do not vary; two rows are too few for leaves of three; no rows, no split.
    assert.deepEqual(found.slice(10, 15), [0, 0, 0, 0, 0]);
    assert.deepEqual(found.slice(15, 20), [0, 0, 0, 0, 0]);
  });

  test("random thresholds are at their share between the extremes", () => {
    const candidates = i32([[0], [1], [2], [0]]);
    const draws = tensor([[0.25], [0.999], [0.5], [0.5]]) as Tensor;
    const found = numbersOf(
      exactSplits(rowsOf(), candidates, real(totals), draws, { criterion: "squared", minSamplesLeaf: 1 }),
    );
    const mine = order.slice(0, 600).map((row) => columns[0]![row]!);
    const threshold = Math.min(...mine) + 0.25 * (Math.max(...mine) - Math.min(...mine));
    assert.ok(Math.abs(found[3]! - threshold) < 1e-3);
    assert.equal(found[2], mine.filter((value) => value <= threshold).length);
    assert.ok(Math.abs(found[8]! - 3.996) < 1e-4);
  });
});
