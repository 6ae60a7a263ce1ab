/** Reductions over axes: shapes, values, derivatives with ties and zeros, batches. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DTypeError } from "../../../src/core/errors.js";
import { max, min, product, reducePrimitives, sum } from "../../../src/graph/primitives/reduce.js";
import { g } from "../../../src/graph/vocabulary.js";
import { checkBatches, checkDerivatives, given, input, numbers, valuesOf } from "../../support/node-rules.js";
import { make, storedAs } from "../../support/nodes.js";

const over =
  (primitive: typeof sum, ...axes: number[]) =>
  (x: Parameters<typeof g.neg>[0]) =>
    g.move(primitive, [x], { axes });

test("the axes that are reduced are gone, and the dtype stays", () => {
  for (const primitive of Object.values(reducePrimitives)) {
    const dtype = primitive.name === "all" || primitive.name === "any" ? "bool" : "u8";
    const node = make(primitive, [storedAs(dtype, 2, 3, 4)], { axes: [0, 2] });
    assert.deepEqual([node.shape, node.dtype], [[3], dtype], primitive.name);
  }
});

test("a dtype that a reduction does not take is refused, with a remedy", () => {
  assert.throws(
    () => make(max, [storedAs("c64", 3)], { axes: [0] }),
    (error: Error) => error instanceof DTypeError && /real\(\), imag\(\) or abs\(\)/.test(error.message),
  );
});

test("values over one axis and over several, and of no elements", () => {
  const x = input([2, 3], [3, 1, 2, -4, 0.5, 6]);
  const of = (primitive: typeof sum, ...axes: number[]) => valuesOf(over(primitive, ...axes), [x])[0];
  assert.deepEqual(of(sum, 1), [6, 2.5]);
  assert.deepEqual(of(product, 0), [-12, 0.5, 12]);
  assert.deepEqual(of(max, 0, 1), [6]);
  assert.deepEqual(of(min, 1), [1, -4]);
  const none = input([2, 0], []);
  assert.deepEqual(valuesOf(over(sum, 1), [none])[0], [0, 0]);
  assert.deepEqual(valuesOf(over(product, 1), [none])[0], [1, 1]);
});

test("derivatives, and of products with one zero and with several", () => {
  for (const primitive of [sum, product, max, min]) {
    for (const axes of [[0], [1], [0, 2]]) checkDerivatives(over(primitive, ...axes), [input([2, 3, 4])]);
  }
  checkDerivatives(over(product, 1), [input([3, 3], [1, 2, 3, 0, 5, 6, 0, 0, 7])]);
});

test("equal extremes share the cotangent in equal parts", () => {
  const x = given(input([2, 3], [5, 1, 5, 2, 2, 2]));
  const [ct] = g.pullBack([over(max, 1)(x)], [given(input([2], [6, 9]))], [x]);
  assert.deepEqual(numbers(ct!), [3, 0, 3, 3, 3, 3]);
});

test("all and any have no derivative, and a batch shifts the axes", () => {
  assert.equal(reducePrimitives.all.vjp, undefined);
  assert.equal(reducePrimitives.any.jvp, undefined);
  checkBatches(over(sum, 0), [input([2, 3])]);
  checkBatches(over(max, 1), [input([2, 3])]);
});
