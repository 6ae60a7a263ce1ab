/** What operations tell about where their results lie, and that results do lie there. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { knownRange } from "../../../src/bayes/model/known-range.js";
import { concat, setDefaultDevice, stack, type Tensor, where } from "../../../src/tensor/index.js";
import { placeholderLike } from "../../../src/transforms/trace.js";
import { f64, numbersOf } from "../../support/tensors.js";

before(() => setDefaultDevice("cpu"));

const ALL = [-Infinity, Infinity];
const POSITIVE = [0, Infinity];
const UNIT = [0, 1];

const expected: readonly (readonly [title: string, of: (x: Tensor) => Tensor, range: readonly number[]])[] = [
  ["x", (x) => x, ALL],
  ["x + 1", (x) => x.add(1), ALL],
  ["x·y", (x) => x.mul(f64([1, 2, 3, 4])), ALL],
  ["exp(x)", (x) => x.exp(), POSITIVE],
  ["-exp(x)", (x) => x.exp().neg(), [-Infinity, 0]],
  ["exp(x) times data that are positive", (x) => f64([1, 2, 3, 4]).mul(x.exp()), POSITIVE],
  ["exp(x) times data that are not", (x) => f64([1, 2, -3, 4]).mul(x.exp()), ALL],
  ["exp(x) + 2", (x) => x.exp().add(2), [2, Infinity]],
  ["exp(x) - 2", (x) => x.exp().sub(2), [-2, Infinity]],
  ["1/(1 + exp(x))", (x) => x.exp().add(1).reciprocal(), UNIT],
  ["exp(x)/2", (x) => x.exp().div(2), POSITIVE],
  ["1/x", (x) => x.reciprocal(), ALL],
  ["sigmoid", (x) => x.sigmoid(), UNIT],
  ["1 - sigmoid", (x) => x.sigmoid().neg().add(1), UNIT],
  ["a product of shares", (x) => x.sigmoid().mul(x.neg().sigmoid()), UNIT],
  ["softmax", (x) => x.softmax(), UNIT],
  ["shares of a sum", (x) => x.exp().div(x.exp().sum()), POSITIVE],
  ["shares of its own sum", (x) => shareOf(x.exp()), UNIT],
  ["shares of a sum that may be 0", (x) => shareOf(x), ALL],
  ["shares of other rows' sums", (x) => square(x).div(square(x).sum({ axis: 1 })), POSITIVE],
  ["rows over sums of rows", (x) => overSums(square(x), 1), POSITIVE],
  ["columns over sums of columns", (x) => overSums(square(x), 0), UNIT],
  ["x²", (x) => x.square(), POSITIVE],
  ["x·x", (x) => x.mul(x), POSITIVE],
  ["x to the 4th", (x) => x.pow(4), POSITIVE],
  ["x to the 3rd", (x) => x.pow(3), ALL],
  ["√(x² + 1)", (x) => x.square().add(1).sqrt(), [1, Infinity]],
  ["log(1 + x²)", (x) => x.square().log1p(), POSITIVE],
  ["log x²", (x) => x.square().log(), ALL],
  ["(1 + tanh x)/2", (x) => x.tanh().add(1).mul(0.5), UNIT],
  ["softplus", (x) => x.softplus(), POSITIVE],
  ["clipped", (x) => x.clip(0.1, 0.9), [0.1, 0.9]],
  ["the larger of x and 0", (x) => x.maximum(0), POSITIVE],
  ["one of two", (x) => where(x.greater(0), x.exp(), 3), POSITIVE],
  ["one of two that differ", (x) => where(x.greater(0), x, 3), ALL],
  ["parts", (x) => x.exp().at("1:3").reshape(2, 1).broadcastTo([2, 3]), POSITIVE],
  ["stacked", (x) => stack([x.sigmoid(), x.exp()]), POSITIVE],
  ["concatenated", (x) => concat([x.sigmoid(), x]), ALL],
  ["a sum of shares", (x) => x.sigmoid().sum(), [0, 4]],
  ["a mean of shares", (x) => x.sigmoid().mean(), UNIT],
  ["a product of matrices", (x) => f64([[1, 2, 3, 4]]).matmul(x.exp()), POSITIVE],
  ["one with negative numbers", (x) => f64([[1, -2, 3, 4]]).matmul(x.exp()), ALL],
  ["a running sum", (x) => x.exp().cumsum(), POSITIVE],
];

const square = (x: Tensor): Tensor => x.exp().reshape(2, 2);
const overSums = (x: Tensor, axis: number): Tensor => x.div(x.sum({ axis }));

function shareOf(x: Tensor): Tensor {
  return x.div(x.sum({ axis: -1, keepDims: true }));
}

describe("where a computed value lies:", () => {
  const numbers = f64([-3, 0.25, 1, 2.5]);
  for (const [title, of, range] of expected) {
    test(title, () => {
      assert.deepEqual(
        knownRange(of(placeholderLike(numbers.node)).node, () => undefined).map((end) => end + 0),
        range,
      );
      for (const value of numbersOf(of(numbers))) assert.ok(value >= range[0]! && value <= range[1]!, `${value}`);
    });
  }

  test("a node that is declared, and what is made of it", () => {
    const x = placeholderLike(numbers.node);
    const declared = (node: Tensor["node"]) => (node === x.node ? ([0, 1] as const) : undefined);
    assert.deepEqual(knownRange(x.mul(2).node, declared), [0, 2]);
    assert.deepEqual(knownRange(x.log().node, declared), [-Infinity, 0]);
  });

  test("of a long chain of operations nothing is known, and nothing breaks", () => {
    const x = Array.from({ length: 20000 }).reduce<Tensor>((sum) => sum.mul(2), placeholderLike(numbers.node).exp());
    assert.deepEqual(
      knownRange(x.node, () => undefined),
      ALL,
    );
  });
});
