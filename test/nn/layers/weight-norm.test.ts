/** Weight and spectral norms around layers: numbers against PyTorch by layer-cases.json; what they keep of the layer here. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { grad, linalg, random, type Tensor, tensor, tree } from "../../../src/index.js";
import {
  conv,
  dense,
  initializers,
  separableConv,
  sequential,
  spectralNorm,
  type VariableTree,
  weightNorm,
} from "../../../src/nn/index.js";
import { describeLayerCases } from "../../support/layer-cases.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

describeLayerCases("weightNorm", "spectralNorm");

const key = random.key(3, { device: "cpu" });
const x = random.normal(key, [4, 5]);
const near = (a: Tensor, b: Tensor) =>
  numbersOf(a).forEach((value, i) => {
    assert.ok(Math.abs(value - numbersOf(b)[i]!) < 1e-5, `${value}`);
  });

test("weightNorm begins as the layer alone, and its lengths are trained apart", () => {
  const model = weightNorm(dense(3));
  const { params } = model.init(key, x);
  const own = params.layer as VariableTree;
  near(model.apply(params, x), dense(3).apply(own, x));
  const twice = { ...params, scale: (params.scale as Tensor).mul(2) };
  near(model.apply(twice, x), model.apply(params, x).mul(2));
  const slopes = grad((p: typeof params) => model.apply(p, x).square().sum())(params);
  const along = ((slopes.layer as VariableTree).weights as Tensor).mul(own.weights as Tensor).sum({ axis: 0 });
  assert.ok(
    numbersOf(along).every((value) => Math.abs(value) < 1e-4),
    "weights change in direction only",
  );
  const still = weightNorm(dense(3)).frozen();
  const none = grad((p: typeof params) => still.apply(p, x).square().sum())(params);
  assert.ok(numbersOf(none.scale as Tensor).every((value) => value === 0));
});

test("spectralNorm divides by the largest singular value", () => {
  for (const [layer, input] of [
    [dense(3, { useBias: false }), x],
    [conv(4, 2, { useBias: false }), x.reshape(1, 5, 4)],
  ] as const) {
    const model = spectralNorm(layer, { iterations: 60 });
    const { params, state } = model.init(key, input);
    const [y, next] = model.applyWithState(params, input, { state, training: true });
    const weights = (params.layer as VariableTree).weights as Tensor;
    const { s } = linalg.svd(weights.rank === 2 ? weights : weights.reshape(4, 10));
    near(y, layer.apply(params.layer as VariableTree, input).div(numbersOf(s)[0]!));
    near(model.apply(params, input, { state: next }), y);
    assert.notEqual(next.left, state.left);
    assert.equal(model.applyWithState(params, input, { state })[1].left, state.left);
  }
});

describeOnTensorDevices("norms of weights that are all 0", (device) => {
  const input = random.normal(random.key(1, { device }), [4, 5]);
  const own = random.key(0, { device });

  test("weightNorm keeps them 0, and trains the others", () => {
    const model = weightNorm(dense(3, { weights: initializers.zeros }));
    const { params } = model.init(own, input);
    assert.deepEqual(numbersOf(params.scale as Tensor), [0, 0, 0]);
    assert.ok(numbersOf(model.apply(params, input)).every((value) => value === 0));
    const weights = ((params.layer as VariableTree).weights as Tensor).set(":", 1, 2);
    const mixed = { layer: { ...(params.layer as VariableTree), weights }, scale: tensor([1, 3, 1], { device }) };
    const wanted = input.sum({ axis: 1 }).mul(3 / Math.sqrt(5));
    near(model.apply(mixed, input).at(":", 1) as Tensor, wanted);
    assert.ok(numbersOf(model.apply(mixed, input).at(":", 0) as Tensor).every((value) => value === 0));
    const slopes = grad((p: typeof mixed) => model.apply(p, input).sub(1).square().sum())(mixed);
    assert.ok(tree.leaves(slopes).flatMap(numbersOf).every(Number.isFinite));
    assert.notEqual(numbersOf(slopes.scale)[1], 0);
  });

  test("spectralNorm keeps them 0, and divides them once they have moved", () => {
    const model = spectralNorm(dense(3, { weights: initializers.zeros, useBias: false }), { iterations: 60 });
    const { params, state } = model.init(own, input);
    const [output, after] = model.applyWithState(params, input, { state, training: true });
    assert.ok(numbersOf(output).every((value) => value === 0));
    const slopes = grad((p: typeof params) => model.apply(p, input, { state }).sub(1).square().sum())(params);
    const weights = (slopes.layer as VariableTree).weights as Tensor;
    assert.ok(numbersOf(weights).every((value) => Number.isFinite(value) && value !== 0));
    const [moved] = model.applyWithState({ layer: { weights } }, input, { state: after, training: true });
    near(moved, input.matmul(weights).div(numbersOf(linalg.svd(weights).s)[0]!) as Tensor);
  });
});

test("the inner layer is a part, which can be replaced and named", () => {
  const model = sequential(weightNorm(dense(3)));
  assert.equal(model.at("weightNorm0.layer").kind, "dense");
  const other = model.replace("weightNorm0.layer", dense(7));
  assert.deepEqual(other.apply(other.init(key, x).params, x).shape, [4, 7]);
  const named = weightNorm(separableConv(4, 2), { parameter: "pointwise" });
  assert.deepEqual((named.init(key, [1, 3, 5]).params.scale as Tensor).shape, [4]);
  assert.throws(() => weightNorm(sequential(dense(3))).init(key, x), {
    message: /weightNorm: the layer sequential has no parameter "weights"/,
  });
  assert.throws(() => spectralNorm((() => 1) as never), { message: /spectralNorm: takes a layer/ });
  assert.throws(() => spectralNorm(dense(3), { iterations: -1 }), {
    message: /spectralNorm: the number of iterations/,
  });
  assert.throws(() => weightNorm(dense(3), { dim: 0 } as never), { message: /weightNorm: there is no option "dim"/ });
});
