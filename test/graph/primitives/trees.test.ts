/** The primitives of trees: shapes of their results, and misuse. Their values are tested with their kernels, compiler/routines/trees. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { makePlaceholder } from "../../../src/graph/function.js";
import {
  bestSplits,
  CUT_FACTS,
  nodeHistogram,
  nodesOfRows,
  partedRows,
  partTotals,
  rootRows,
  routeRows,
  SPLIT_FACTS,
  sortedSplits,
  standingOf,
  TOTALS_BEFORE,
  treeLeaves,
} from "../../../src/graph/primitives/trees.js";
import { backendFor } from "../../../src/tensor/index.js";

const leaf = (shape: number[], dtype: "u32" | "i32" | "f32" | "f64") =>
  makePlaceholder({ shape, dtype, device: backendFor("cpu") });

test("histograms have a bin for every code of every feature, and channels for what is summed", () => {
  const inputs = [leaf([2, 10], "u32"), leaf([18], "i32"), leaf([4], "i32"), leaf([2], "f32"), leaf([10], "f32")];
  const params = { slots: 3, dtype: "f64", hasHessians: false };
  assert.deepEqual(nodeHistogram.infer(inputs, params), { shape: [3, 8, 2, 256], dtype: "f64" });
  assert.deepEqual(nodeHistogram.infer(inputs, { ...params, hasHessians: true }).shape, [3, 8, 3, 256]);
  assert.throws(() => nodeHistogram.infer([leaf([2, 9], "u32"), ...inputs.slice(1)], params), /codes of \[2,9\]/);
});

test("splits are one row to a slot, rows stand where there is room for nodes, leaves are by sample and tree", () => {
  assert.deepEqual(bestSplits.infer([leaf([3, 8, 2, 256], "f64")], {}).shape, [3, SPLIT_FACTS]);
  const codes = leaf([2, 10], "u32");
  const [root, size] = [rootRows.infer([codes], {}), standingOf(10, 8).size];
  assert.deepEqual(root, { shape: [standingOf(10, 1).size], dtype: "i32" });
  const rows = leaf([...root.shape], "i32");
  assert.deepEqual(routeRows.infer([codes, rows, leaf([8], "i32")], {}), { shape: [size], dtype: "i32" });
  assert.deepEqual(nodesOfRows.infer([rows], { rows: 10 }), { shape: [10], dtype: "i32" });
  const trees = [leaf([5, 7], "i32"), leaf([5, 7], "f32")];
  assert.deepEqual(treeLeaves.infer([leaf([10, 2], "f32"), ...trees], {}).shape, [10, 5]);
  assert.throws(() => treeLeaves.infer([leaf([10, 2], "f64"), ...trees], {}), /samples of f64, thresholds of f32/);
});

test("exact splits are one row to a node, rows keep their number, and each node has totals of two parts", () => {
  const [ranks, values, order] = [leaf([3, 10], "i32"), leaf([3, 10], "f32"), leaf([20], "i32")];
  const [nodes, candidates] = [leaf([4, 3], "i32"), leaf([4, 2], "i32")];
  const [targets, weights, totals] = [leaf([10, 1], "f64"), leaf([2, 10], "f64"), leaf([4, 3], "f64")];
  const inputs = [ranks, values, order, nodes, candidates, targets, weights, totals];
  assert.deepEqual(sortedSplits.infer(inputs, {}), { shape: [4, CUT_FACTS], dtype: "f64" });
  assert.throws(() => sortedSplits.infer([leaf([3, 9], "i32"), ...inputs.slice(1)], {}), /ranks of \[3,9\]/);
  const splits = leaf([4, CUT_FACTS], "f64");
  assert.deepEqual(partedRows.infer([values, order, nodes, splits], {}), { shape: [20], dtype: "i32" });
  const sums = partTotals.infer([order, nodes, splits, targets, weights, leaf([10], "f64")], { channels: 3 });
  assert.deepEqual(sums, { shape: [8, TOTALS_BEFORE + 3], dtype: "f64" });
});
