/** The product of matrices: its shape, its meaning by loops, its derivatives and its batches. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DTypeError, ShapeError } from "../../../src/core/errors.js";
import { makeNode } from "../../../src/graph/build.js";
import { inputsFirst, type Node } from "../../../src/graph/node.js";
import { accumulatorDType, dot, matrixProduct } from "../../../src/graph/primitives/dot.js";
import { g } from "../../../src/graph/vocabulary.js";
import { checkBatches, checkDerivatives, given, type Input, input, valuesOf } from "../../support/node-rules.js";
import { make, stored, storedAs } from "../../support/nodes.js";

function plainProduct(a: Input, b: Input): number[] {
  const [batch, m, k] = a.shape as [number, number, number];
  const n = b.shape[2]!;
  const at = (c: number, i: number, j: number) =>
    Array.from({ length: k }, (_, l) => a.values[(c * m + i) * k + l]! * b.values[(c * k + l) * n + j]!);
  const sum = (list: readonly number[]) => list.reduce((total, x) => total + x, 0);
  return Array.from({ length: batch * m * n }, (_, i) =>
    sum(at(Math.floor(i / (m * n)), Math.floor(i / n) % m, i % n)),
  );
}

test("shapes and dtypes have to fit", () => {
  const { shape, dtype } = make(dot, [storedAs("f16", 2, 3, 4), storedAs("f16", 2, 4, 5)]);
  assert.deepEqual([shape, dtype], [[2, 3, 5], "f16"]);
  const wrong = [
    [stored(2, 3, 4), stored(2, 3, 5)],
    [stored(2, 3, 4), stored(1, 4, 5)],
    [stored(3, 4), stored(4, 5)],
  ];
  for (const pair of wrong) assert.throws(() => make(dot, pair), ShapeError);
  assert.throws(() => make(dot, [stored(1, 2, 3), storedAs("f64", 1, 3, 2)]), DTypeError);
});

test("it is the sum of products, with an inner axis of one, of none, and of many", () => {
  for (const [batch, m, k, n] of [
    [2, 3, 4, 5],
    [1, 3, 1, 2],
    [2, 2, 0, 3],
    [1, 130, 3, 130],
  ] as const) {
    const [a, b] = [input([batch, m, k]), input([batch, k, n])];
    const [got] = valuesOf((x, y) => dot.expand(g, x, [x, y]), [a, b]);
    plainProduct(a, b).forEach((want, i) => {
      assert.ok(Math.abs(got![i]! - want) < 1e-12);
    });
  }
});

test("narrow floats are added up in f32, bools say whether any pair is true", () => {
  assert.deepEqual(
    ["f16", "bf16", "f32", "f64", "i8"].map((type) => accumulatorDType(type as "f16")),
    ["f32", "f32", "f32", "f64", "i8"],
  );
  // In f16 the sum would stop at 2048, where the spacing is 2.
  const ones = { shape: [1, 1, 4096], values: new Array<number>(4096).fill(1), dtype: "f16" } as const;
  const [sum] = valuesOf((x) => dot.expand(g, x, [x, g.transposed(x)]), [ones]);
  assert.deepEqual(sum, [4096]);
  const bools = (values: number[], ...shape: number[]) => ({ shape, values, dtype: "bool" }) as const;
  const [any] = valuesOf(
    (x, y) => dot.expand(g, x, [x, y]),
    [bools([1, 0, 0, 0], 1, 2, 2), bools([0, 1, 1, 1], 1, 2, 2)],
  );
  assert.deepEqual(any, [0, 1, 0, 0]);
});

test("derivatives by both factors", () => {
  checkDerivatives((a, b) => g.dot(a, b), [input([2, 3, 4]), input([2, 4, 2])]);
});

test("batches: tall, wide, and member by member", () => {
  for (const batch of [1, 2]) checkBatches((a, b) => g.dot(a, b), [input([batch, 3, 4]), input([batch, 4, 2])]);
});

// ---------------------------------------------------------------------------------------------- two matrices

const product = (a: Node, b: Node): Node => makeNode(matrixProduct, [a, b], {}, a.device);

test("the product of two matrices is dot of batches of one: shape, dtype, values", () => {
  const { shape, dtype } = make(matrixProduct, [storedAs("bf16", 3, 4), storedAs("bf16", 4, 5)]);
  assert.deepEqual([shape, dtype], [[3, 5], "bf16"]);
  for (const pair of [
    [stored(3, 4), stored(5, 4)],
    [stored(1, 3, 4), stored(1, 4, 5)],
    [stored(4), stored(4)],
  ]) {
    assert.throws(() => make(matrixProduct, pair), ShapeError);
  }
  assert.throws(() => make(matrixProduct, [stored(2, 3), storedAs("f64", 3, 2)]), DTypeError);
  for (const [m, k, n] of [
    [3, 4, 5],
    [1, 1, 1],
    [2, 0, 3],
    [0, 2, 2],
  ] as const) {
    const [a, b] = [input([m, k]), input([k, n])];
    const alone = ({ shape: own, values }: Input): Input => ({ shape: [1, ...own], values });
    const [got] = valuesOf(product, [a, b]);
    plainProduct(alone(a), alone(b)).forEach((want, i) => {
      assert.ok(Math.abs(got![i]! - want) < 1e-12);
    });
    assert.equal(got!.length, m * n);
  }
});

test("its derivatives by both factors, and batches of either", () => {
  checkDerivatives(product, [input([3, 4]), input([4, 2])]);
  checkBatches(product, [input([3, 4]), input([4, 2])]);
});

test("its derivatives and batches keep the precision that it was given", () => {
  const [a, b] = [given(input([3, 4])), given(input([4, 2]))];
  const node = make(matrixProduct, [a, b], { precision: "high" });
  const precisions = (nodes: readonly (Node | null)[]) =>
    inputsFirst(
      nodes.filter((each) => each !== null),
      ({ inputs }) => inputs,
    ).flatMap(({ primitive, params }) => (primitive === dot ? [params.precision] : []));
  assert.deepEqual(precisions(matrixProduct.vjp!(g, node, given(input([3, 2])))), ["high", "high"]);
  assert.deepEqual(precisions([matrixProduct.jvp!(g, node, [given(input([3, 4])), null])]), ["high"]);
  const batched = [
    { node: given(input([5, 3, 4])), isBatched: true },
    { node: b, isBatched: false },
  ];
  assert.deepEqual(precisions([matrixProduct.batch!(g, node, batched, 5)]), ["high"]);
  assert.deepEqual(precisions([matrixProduct.expand(g, node, [a, b]) as Node]), ["high"]);
});
