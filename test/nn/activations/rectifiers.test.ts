/** relu and its kin. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { grad, type Tensor, tensor } from "../../../src/index.js";
import { activations, dense, sequential } from "../../../src/nn/index.js";
import { testAgainstTorch, testCurves } from "../../support/activation-cases.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

const { relu, relu6, leakyRelu, elu, celu, selu } = activations;
const elus =
  (alpha: number, inner = 1) =>
  (x: number) =>
    x > 0 ? x : alpha * Math.expm1(x / inner);

testCurves({
  relu: { f: relu, closed: (x) => Math.max(x, 0), corners: [[0, 0]] },
  relu6: { f: relu6, closed: (x) => Math.min(Math.max(x, 0), 6), corners: [[0, 0], [6, 0]] }, // biome-ignore format: pairs
  leakyRelu: { f: leakyRelu, closed: (x) => (x > 0 ? x : 0.01 * x), corners: [[0, 0.01]] },
  "leakyRelu 0.2": { f: (x) => leakyRelu(x, { slope: 0.2 }), closed: (x) => (x > 0 ? x : 0.2 * x) },
  elu: { f: elu, closed: elus(1), corners: [[0, 1]] },
  "elu 2": { f: (x) => elu(x, { alpha: 2 }), closed: elus(2), corners: [[0, 2]] },
  celu: { f: celu, closed: elus(1), corners: [[0, 1]] },
  "celu 0.5": { f: (x) => celu(x, { alpha: 0.5 }), closed: elus(0.5, 0.5), corners: [[0, 1]] },
  selu: { f: selu, closed: (x) => 1.0507009873554805 * elus(1.6732632423543772)(x) },
});

testAgainstTorch({
  relu,
  relu6,
  leakyRelu,
  "leakyRelu 0.2": (x) => leakyRelu(x, { slope: 0.2 }),
  elu,
  "elu 2": (x) => elu(x, { alpha: 2 }),
  celu,
  "celu 0.5": (x) => celu(x, { alpha: 0.5 }),
  selu,
});

describeOnTensorDevices("far from zero", () => {
  test("slopes stay finite where the exponential of the input overflows", () => {
    const x = tensor([-Infinity, -1e4, 1e4, Infinity]);
    for (const f of [elu, celu, selu]) {
      const slopes = numbersOf(grad((at: Tensor) => f(at).sum())(x));
      const unit = f === selu ? Math.fround(1.0507009873554805) : 1;
      assert.deepEqual(slopes, [0, 0, unit, unit], f.name);
    }
  });
});

test("an activation is a step of a model, which takes its name", () => {
  assert.deepEqual(Object.keys(sequential(dense(4), relu, dense(2), activations.gelu).parts), [
    "dense0",
    "relu0",
    "dense1",
    "gelu0",
  ]);
});

test("options that do not exist or make no sense are refused by name", () => {
  const x = tensor([1], { device: "cpu" });
  assert.throws(() => elu(x, { beta: 1 } as never), { name: "ArgumentError", message: /^elu: .*"beta"/ });
  assert.throws(() => celu(x, { alpha: 0 }), { name: "ArgumentError", message: /^celu: .*relu is its limit/ });
  assert.throws(() => relu([1] as never), { name: "ArgumentError", message: /^relu: the input is a tensor/ });
  assert.throws(() => selu(tensor([{ re: 1, im: 2 }], { device: "cpu" })), { name: "DTypeError", message: /^selu/ });
  assert.equal(elu(tensor([1, 2], { dtype: "i32", device: "cpu" })).dtype, "f32");
});
