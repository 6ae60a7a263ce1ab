/** Norms: numbers against PyTorch by layer-cases.json; statistics in f32, state, edges and errors here. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { grad, random, type Tensor, tensor } from "../../../src/index.js";
import { batchNorm, groupNorm, instanceNorm, layerNorm, rmsNorm } from "../../../src/nn/index.js";
import { describeLayerCases } from "../../support/layer-cases.js";
import { numbersOf } from "../../support/tensors.js";

describeLayerCases("batchNorm", "layerNorm", "groupNorm", "instanceNorm", "rmsNorm");

const key = random.key(0, { device: "cpu" });

test("running statistics go from the state to the state, and are used when not training", () => {
  const model = batchNorm({ momentum: 0.75 });
  const { params, state } = model.init(key, [null, 2]);
  const x = tensor(
    [
      [1, 10],
      [3, 30],
    ],
    { device: "cpu" },
  );
  const [, next] = model.applyWithState(params, x, { state, training: true });
  assert.deepEqual(numbersOf(next.mean as Tensor), [0.5, 5]);
  assert.deepEqual(numbersOf(next.variance as Tensor), [0.75 + 0.25 * 2, 0.75 + 0.25 * 200]);
  const [y, same] = model.applyWithState(params, x, { state: next });
  assert.equal(same.mean, next.mean);
  assert.ok(Math.abs(numbersOf(y)[0]! - 0.5 / Math.sqrt(1.25 + 1e-5)) < 1e-6);
  assert.throws(() => model.apply(params, x), { message: /batchNorm: no state "mean"/ });
});

test("an empty batch changes no statistics; a batch of one element has variance 0", () => {
  const model = batchNorm();
  const { params, state } = model.init(key, [null, 2]);
  const none = tensor([], { shape: [0, 2], device: "cpu" });
  const [y, same] = model.applyWithState(params, none, { state, training: true });
  assert.deepEqual(
    [y.shape, numbersOf(same.variance as Tensor)],
    [
      [0, 2],
      [1, 1],
    ],
  );
  const [one, next] = model.applyWithState(params, tensor([[5, 7]], { device: "cpu" }), { state, training: true });
  assert.deepEqual(numbersOf(one), [0, 0]);
  assert.ok(numbersOf(next.variance as Tensor).every((v) => Math.abs(v - 0.9) < 1e-6));
});

test("statistics of narrow floats are f32: thousands of equal numbers have their mean", () => {
  const many = tensor(new Array(4096).fill(1.5), { shape: [4096, 1], dtype: "bf16", device: "cpu" });
  const model = batchNorm({ momentum: 0 }).withDTypes({ parameters: "bf16" });
  const { params, state } = model.init(key, many);
  assert.equal(state.mean!.dtype, "f32");
  const [y, next] = model.applyWithState(params, many, { state, training: true });
  assert.deepEqual([y.dtype, numbersOf(next.mean as Tensor), Math.max(...numbersOf(y))], ["bf16", [1.5], 0]);
  assert.equal(
    layerNorm().withDTypes({ compute: "bf16" }).apply(layerNorm().init(key, many).params, many).dtype,
    "bf16",
  );
});

test("gradients through batch norm, and gradients of those, are the ones derived step by step", () => {
  const model = batchNorm();
  const x = random.normal(key, [4, 3, 2], { dtype: "f64" }).mul(2).add(5).realize();
  const { params, state } = model.withDTypes({ parameters: "f64" }).init(key, { shape: [4, 3, 2], dtype: "f64" });
  const layer = (x: Tensor) => model.apply(params, x, { state, training: true });
  const steps = (x: Tensor) => {
    const centred = x.sub(x.mean({ axis: [0, 2], keepDims: true }));
    return centred.div(
      centred
        .square()
        .mean({ axis: [0, 2], keepDims: true })
        .add(1e-5)
        .sqrt(),
    );
  };
  const slope = (f: (x: Tensor) => Tensor) => grad((x: Tensor) => f(x).pow(3).sum());
  const bend = (f: (x: Tensor) => Tensor) => grad((x: Tensor) => slope(f)(x).mul(x).sin().sum());
  for (const of of [slope, bend]) {
    const [seen, right] = [layer, steps].map((f) => numbersOf(of(f)(x)));
    seen!.forEach((value, i) => {
      assert.ok(Math.abs(value - right![i]!) < 1e-9 * (1 + Math.abs(right![i]!)), `${value} and ${right![i]}`);
    });
  }
});

test("options switch factors and summands off, and wrong ones are refused by name", () => {
  assert.deepEqual(Object.keys(layerNorm({ useScale: false }).init(key, [1, 4]).params), ["biases"]);
  assert.deepEqual(Object.keys(groupNorm(2, { useBias: false }).init(key, [1, 4]).params), ["scale"]);
  assert.deepEqual(Object.keys(instanceNorm({ useBias: false, useScale: false }).init(key, [1, 4, 2]).params), []);
  assert.throws(() => groupNorm(3).init(key, [1, 4, 2]), { message: /groupNorm: the input has 4 channels/ });
  assert.throws(() => batchNorm({ momentum: 2 }), {
    message: /batchNorm: the option momentum is a number from 0 to 1/,
  });
  assert.throws(() => layerNorm({ eps: -1 }), { message: /layerNorm: the option eps/ });
  assert.throws(() => rmsNorm({ epsilon: 1 } as never), { message: /rmsNorm: there is no option "epsilon"/ });
  assert.throws(() => rmsNorm().init(key, { shape: [1, 2], dtype: "i32" }), {
    message: /rmsNorm takes floating-point numbers/,
  });
  assert.throws(() => instanceNorm().init(key, [1, 2]), { message: /instanceNorm takes \[batch, channels, …\]/ });
});
