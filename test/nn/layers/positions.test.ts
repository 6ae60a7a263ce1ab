/** Layers of positions: against the formula and the table; with a cache they count on (attention-cache.test.ts). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { grad, random, type Tensor, zeros } from "../../../src/index.js";
import { learnedPositions, sinusoidalPositions, type VariableTree } from "../../../src/nn/index.js";
import { assertNear } from "../../support/parameter-slopes.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

const key = random.key(0, { device: "cpu" });

describeOnTensorDevices("positions", (device) => {
  for (const features of [6, 5, 1]) {
    test(`waves over ${features} features are their formula`, () => {
      const wanted = Array.from({ length: 4 * features }, (_, i) => {
        const [position, feature] = [Math.floor(i / features), i % features];
        const angle = position / 100 ** ((2 * Math.floor(feature / 2)) / features);
        return feature % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
      });
      const y = sinusoidalPositions({ base: 100 }).apply({}, zeros([2, 4, features], { device }));
      assertNear(numbersOf(y), [...wanted, ...wanted], 1e-6);
    });
  }

  test("learned ones add the first rows of the table, which get the gradients", () => {
    const model = learnedPositions(4);
    const x = random.normal(random.key(1, { device }), [2, 3, 2]);
    const { params } = model.init(random.key(0, { device }), x);
    assertNear(numbersOf(model.apply(params, x)), numbersOf(x.add((params.weights as Tensor).at(":3"))), 1e-6);
    const slopes = grad((p: VariableTree) => model.apply(p, x).sum())(params);
    assert.deepEqual(numbersOf(slopes.weights as Tensor), [2, 2, 2, 2, 2, 2, 0, 0]);
  });
});

test("dtypes stay, and wrong arguments are refused by name", () => {
  const x = random.normal(key, [1, 3, 2]).cast("bf16") as Tensor;
  assert.equal(sinusoidalPositions().apply({}, x).dtype, "bf16");
  const model = learnedPositions(2).withDTypes({ compute: "bf16" });
  assert.throws(() => model.init(key, x), {
    name: "ShapeError",
    message: /learnedPositions: 3 tokens, but there are 2 positions/,
  });
  assert.throws(() => learnedPositions(0), { message: /learnedPositions: the number of positions/ });
  assert.throws(() => sinusoidalPositions({ base: -1 }), { message: /sinusoidalPositions: the base/ });
  assert.throws(() => sinusoidalPositions().apply({}, x.at(0, 0)), { message: /takes \[batch, tokens, features\]/ });
});
