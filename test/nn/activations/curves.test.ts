/** The identity, exp, sigmoid, tanh and the cheap forms of both. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { grad, type Tensor, tensor } from "../../../src/index.js";
import { activations } from "../../../src/nn/index.js";
import { testAgainstTorch, testCurves } from "../../support/activation-cases.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

const softplus = (x: number) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
const clipped = (x: number, low: number, high: number) => Math.min(Math.max(x, low), high);

testCurves({
  linear: { f: activations.linear, closed: (x) => x },
  exp: { f: (x) => activations.exp(x.mul(0.5)), closed: (x) => Math.exp(x / 2) },
  sigmoid: { f: activations.sigmoid, closed: (x) => 1 / (1 + Math.exp(-x)) },
  logSigmoid: { f: activations.logSigmoid, closed: (x) => -softplus(-x), corners: [[0, 0.5]] },
  tanh: { f: activations.tanh, closed: Math.tanh },
  softplus: { f: activations.softplus, closed: softplus },
  softsign: { f: activations.softsign, closed: (x) => x / (1 + Math.abs(x)), corners: [[0, 1]] },
  hardSigmoid: {
    f: activations.hardSigmoid,
    closed: (x) => clipped(x / 6 + 0.5, 0, 1),
    corners: [[-3, 0], [3, 0]], // biome-ignore format: pairs
  },
  hardTanh: { f: activations.hardTanh, closed: (x) => clipped(x, -1, 1), corners: [[-1, 0], [1, 0]] }, // biome-ignore format: pairs
});

const { linear, exp, sigmoid, logSigmoid, tanh, hardSigmoid, hardTanh } = activations;
testAgainstTorch({
  linear,
  exp,
  sigmoid,
  logSigmoid,
  tanh,
  softplus: activations.softplus,
  softsign: activations.softsign,
  hardSigmoid,
  hardTanh,
});

describeOnTensorDevices("far from zero", () => {
  test("logSigmoid and softplus are finite at ±10⁴, with finite slopes", () => {
    const x = tensor([-1e4, -80, 80, 1e4]);
    assert.deepEqual(numbersOf(logSigmoid(x)), [-1e4, -80, -Math.fround(Math.exp(-80)), -0]);
    assert.deepEqual(numbersOf(activations.softplus(x)), [0, Math.fround(Math.exp(-80)), 80, 1e4]);
    const slopes = numbersOf(grad((at: Tensor) => logSigmoid(at).sum())(x));
    assert.deepEqual([slopes[0], slopes[1], slopes[3]], [1, 1, 0]);
  });
});

test("linear gives a handle of its own", async () => {
  const x = tensor([1, 2], { device: "cpu" });
  const y = linear(x);
  y.dispose();
  assert.deepEqual(await x.array(), [1, 2]);
});
