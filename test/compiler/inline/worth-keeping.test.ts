/** What functions of a thread keep: the operations of a kernel grow with its model, without jumps, and shared work is done once. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { planVectors } from "../../../src/compiler/emit/wasm/vector-plan.js";
import { inline } from "../../../src/compiler/inline/inline.js";
import { arrayPlace, dataPlace, Scratch } from "../../../src/compiler/inline/place.js";
import { innerLists, type Kernel, type Loop, type Statement } from "../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../src/compiler/ir/kernel-builder.js";
import { GraphFunction, makePlaceholder } from "../../../src/graph/function.js";
import type { Node } from "../../../src/graph/node.js";
import { g } from "../../../src/graph/vocabulary.js";
import { nowhere } from "../../support/nodes.js";

/** Instructions of a row, all rounds of loops counted; two vectors of f64 hold what four rounds compute. */
function operationsOf(kernel: Kernel): number {
  const { loops } = planVectors(kernel);
  const rounds = (loop: Loop) => (loops.has(loop) ? 2 * Math.floor(loop.extent / 4) + (loop.extent % 4) : loop.extent);
  const count = (statements: readonly Statement[]): number =>
    statements.reduce((sum, statement) => {
      const inside = count(innerLists(statement).flat());
      return sum + (statement.kind === "loop" ? rounds(statement) * (1 + inside) : 1 + inside);
    }, 0);
  // Kernels of chains have branches, and so has this one by its gated store.
  return count(kernel.body);
}

/** A kernel of one row, of functions of data and of a vector that the kernel writes. */
function kernelOf(
  data: readonly (readonly number[])[],
  dim: number,
  f: (...nodes: Node[]) => Node[],
  isCached = true,
): Kernel {
  const nodes = [...data, [dim]].map((shape) => makePlaceholder({ shape, dtype: "f64", device: nowhere }));
  const fn = new GraphFunction(nodes, f(...nodes));
  const k = new KernelBuilder("inlined", 1);
  const places = [...data.map(() => dataPlace(k, "f64")), arrayPlace(k, "f64", dim)];
  const results = fn.results.map(({ shape }) => arrayPlace(k, "f64", Math.max(1, ...shape)));
  inline({ k, settings: { division: "native" }, scratch: new Scratch(k, isCached) }, fn, places, results);
  const isNever = k.compare("lt", k.row, k.constant("i32", 0));
  k.store(k.buffer("f64", true), k.row, k.constant("f64", 0), true, isNever);
  return k.finish();
}

const OBSERVATIONS = 200;

/** The squared errors of a regression after a function of the predictions, and the gradient. */
function regression(predictors: number, link: (x: Node) => Node, isCached = true): Kernel {
  const data = [[OBSERVATIONS, predictors], [OBSERVATIONS]];
  const f = (x?: Node, y?: Node, b?: Node) => {
    const predicted = g.sum(g.mul(x!, g.unreduce(b!, [OBSERVATIONS, predictors], [0])), [1]);
    const residual = g.sub(link(predicted), y!);
    const spread = g.unreduce(residual, [OBSERVATIONS, predictors], [1]);
    return [g.sum(g.square(residual), [0]), g.sum(g.mul(spread, x!), [0])];
  };
  return kernelOf(data, predictors, f, isCached);
}

test("the operations of a regression grow with its predictors from 8 to 128, without a jump", () => {
  for (const link of [(x: Node) => x, (x: Node) => g.exp(x)]) {
    let before: { readonly predictors: number; readonly operations: number } | null = null;
    for (const predictors of [8, 9, 12, 16, 17, 23, 31, 32, 33, 34, 47, 48, 62, 63, 64, 65, 66, 90, 127, 128]) {
      const operations = operationsOf(regression(predictors, link));
      if (before) {
        const growth = operations / before.operations;
        const expected = predictors / before.predictors;
        assert.ok(growth < 1.5 * expected, `${before.predictors} to ${predictors} predictors: ${growth} times as many`);
      }
      before = { predictors, operations };
    }
    // An operation of the forward and one of the backward product, with their loads and indices.
    assert.ok(before!.operations < 14 * OBSERVATIONS * 128 + 200 * OBSERVATIONS, `${before!.operations} operations`);
  }
});

test("on a GPU, what the sums of a row need in the one loop that makes them all is not kept", () => {
  const kernel = regression(8, (x) => g.exp(x), false);
  // The vector and the two results.
  assert.equal(kernel.arrays.length, 3);
});

test("exponentials that many elements share are computed once each", () => {
  const dim = 100;
  // Each of 70 results is a sum over all exponentials.
  const kernel = kernelOf([[70, dim]], dim, (x, u) => [g.sum(g.mul(x!, g.unreduce(g.exp(u!), [70, dim], [0])), [1])]);
  assert.ok(operationsOf(kernel) < 12 * 70 * dim, `${operationsOf(kernel)} operations`);
});

test("a result of padded parts computes of each part its own elements alone", () => {
  const [first, second] = [100, 300];
  const padded = (x: Node, low: number, high: number) => g.pad(x, [low], [high]);
  const kernel = kernelOf([[first], [second]], 1, (a, b) => [
    g.add(padded(g.exp(a!), 0, second), padded(g.exp(b!), first, 0)),
  ]);
  const alone = operationsOf(kernelOf([[first]], 1, (a) => [g.exp(a!)]));
  assert.ok(operationsOf(kernel) < (1.2 * alone * (first + second)) / first, `${operationsOf(kernel)} operations`);
});

test("a value that is used once, or that is cheap, is not kept", () => {
  assert.equal(kernelOf([[100]], 1, (x) => [g.exp(x!)]).arrays.length, 2);
  const twice = kernelOf([[100]], 1, (x) => [g.sum(g.add(x!, 1), [0]), g.add(x!, 1)]);
  assert.equal(twice.arrays.length, 3);
});
