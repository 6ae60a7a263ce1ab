/** The layer of two inputs: numbers against PyTorch by layer-cases.json, shapes and errors here. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { random, tensor } from "../../../src/index.js";
import { bilinear, summary } from "../../../src/nn/index.js";
import { describeLayerCases } from "../../support/layer-cases.js";

describeLayerCases("bilinear");

const key = random.key(0, { device: "cpu" });

test("takes any leading axes, which agree", () => {
  const model = bilinear(3, { useBias: false });
  const { params } = model.init(key, [
    [2, 4, 5],
    [2, 4, 6],
  ]);
  assert.deepEqual(params.weights!.shape as readonly number[], [3, 5, 6]);
  const of = (...shape: number[]) =>
    tensor(new Array(shape.reduce((a, b) => a * b, 1)).fill(1), { shape, device: "cpu" });
  assert.deepEqual(model.apply(params, [of(0, 5), of(0, 6)]).shape, [0, 3]);
  assert.throws(() => model.apply(params, [of(1, 5), of(2, 6)]), {
    name: "ShapeError",
    message: /inputs of \[1, 5\] and \[2, 6\]/,
  });
  assert.throws(() => model.apply(params, of(1, 5) as never), { message: /bilinear: takes two tensors in a list/ });
  assert.equal(
    summary(model as never, [
      [2, 5],
      [2, 6],
    ]).multiplyAdds,
    2 * 3 * 6 * 6,
  );
  assert.throws(() => bilinear(0), { message: /bilinear: the number of units/ });
  assert.throws(() => bilinear(1, { bias: false } as never), { message: /bilinear: there is no option "bias"/ });
});
