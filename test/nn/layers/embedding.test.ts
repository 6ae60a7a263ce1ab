/** Embeddings: rows by position, gradients that add up, and tied outputs. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { grad, random, type Tensor, tensor } from "../../../src/index.js";
import { attend, block, embedding, type VariableTree } from "../../../src/nn/index.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

describeOnTensorDevices("embedding", (device) => {
  const weights = tensor(
    [
      [1, 2],
      [3, 4],
      [5, 6],
    ],
    { device },
  );
  const at = tensor(
    [
      [2, 0],
      [2, 1],
    ],
    { dtype: "i32", device },
  );

  test("gives the rows at integers; rows that are read twice get both gradients", async () => {
    const model = embedding(3, 2);
    assert.deepEqual(await model.apply({ weights }, at).array(), [
      [
        [5, 6],
        [1, 2],
      ],
      [
        [5, 6],
        [3, 4],
      ],
    ]);
    const slopes = grad((p: VariableTree) => model.apply(p, at).sum())({ weights });
    assert.deepEqual(await (slopes.weights as Tensor).array(), [
      [1, 1],
      [1, 1],
      [2, 2],
    ]);
    assert.deepEqual(model.apply({ weights }, at.at("0:0")).shape, [0, 2, 2]);
  });

  test("attend multiplies by all rows, in the dtype of the features", async () => {
    const tied = block({ tokens: embedding(3, 2) }, ({ tokens }, x: Tensor) => {
      const features = tokens(x);
      return attend(tokens.params, features);
    });
    const { params } = tied.init(random.key(0, { device }), { shape: [1, 4], dtype: "i32" });
    assert.deepEqual(Object.keys(params), ["tokens"]);
    assert.deepEqual(await tied.apply({ tokens: { weights } }, at.at(0)).array(), [
      [17, 39, 61],
      [5, 11, 17],
    ]);
    assert.equal(attend({ weights }, tensor([1, 1], { dtype: "bf16", device }) as Tensor).dtype, "bf16");
  });
});

test("wrong arguments are refused by name", () => {
  const key = random.key(0, { device: "cpu" });
  assert.throws(() => embedding(0, 2), { message: /embedding: the number of classes/ });
  assert.throws(() => embedding(2, 0), { message: /embedding: the number of features/ });
  assert.throws(() => embedding(3, 2).init(key, [1, 2]), {
    name: "DTypeError",
    message: /embedding takes integers, but the input is f32/,
  });
  assert.throws(() => attend({}, tensor([1], { device: "cpu" })), {
    message: /attend: takes the parameters of an embedding/,
  });
  const spread = numbersOf(embedding(500, 16).init(key, { shape: [1], dtype: "i32" }).params.weights as Tensor);
  const variance = spread.reduce((sum, v) => sum + v * v, 0) / spread.length;
  assert.ok(Math.abs(variance * 16 - 1) < 0.1, `${variance}`);
});

test("the remedy for inputs that are floats names their shape", () => {
  assert.throws(() => embedding(9, 2).init(random.key(0, { device: "cpu" }), [null, 4]), {
    name: "DTypeError",
    message: /init with \{ shape: \[null, 4\], dtype: "i32" \}/,
  });
});
