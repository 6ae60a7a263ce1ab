/** Recurrent layers joined: numbers against PyTorch by sequence-cases.json; merging, states, masks and errors here. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { concat, grad, random, type Tensor, tensor, tree } from "../../../src/index.js";
import {
  bidirectional,
  convLstm,
  type Directions,
  dense,
  gru,
  type LstmState,
  lstm,
  rematerialize,
  rnn,
  stacked,
  summary,
  type VariableTree,
} from "../../../src/nn/index.js";
import { describeLayerCases } from "../../support/layer-cases.js";
import { numbersOf } from "../../support/tensors.js";

describeLayerCases("bidirectional", "stacked");

const key = random.key(0, { device: "cpu" });
const x = random.normal(key, [2, 4, 3]);
const same = (a: Tensor, b: Tensor): void => {
  assert.deepEqual([...a.shape], [...b.shape]);
  numbersOf(b).forEach((value, i) => {
    assert.ok(Math.abs(numbersOf(a)[i]! - value) < 1e-6, `${numbersOf(a)[i]} for ${value} at ${i}`);
  });
};

test("both directions are merged as told", () => {
  const { params } = bidirectional(gru(5)).init(key, x);
  assert.deepEqual(Object.keys(params), ["forward", "backward"]);
  const forward = gru(5).apply(params.forward as VariableTree, x);
  const backward = gru(5, { reverse: true }).apply(params.backward as VariableTree, x);
  same(bidirectional(gru(5)).apply(params, x), concat([forward, backward], { axis: -1 }));
  same(bidirectional(gru(5), { merge: "sum" }).apply(params, x), forward.add(backward));
  same(bidirectional(gru(5), { merge: "mul" }).apply(params, x), forward.mul(backward));
  same(bidirectional(gru(5), { merge: "average" }).apply(params, x), forward.add(backward).mul(0.5));
  const [a, b] = bidirectional(gru(5), { merge: "none" }).apply(params, x);
  same(a, forward);
  same(b, backward);
});

test("states of both directions go out and in", () => {
  const model = bidirectional(lstm(2, { returnSequences: true, returnState: true }));
  const { params } = model.init(key, x);
  const { output, state } = model.apply(params, x);
  assert.deepEqual(
    [output.shape, state.forward.cell.shape, state.backward.hidden.shape],
    [
      [2, 4, 4],
      [2, 2],
      [2, 2],
    ],
  );
  same(state.backward.hidden, output.at(":", 0, "2:"));
  const again = model.apply(params, { x, initialState: state });
  const alone = lstm(2, { returnSequences: true }).apply(params.forward as VariableTree, {
    x,
    initialState: state.forward,
  });
  same(again.output.at("...", ":2"), alone);
});

test("a stack hands sequences, masks and states on; the last layer says what comes out", () => {
  const model = stacked<{ output: Tensor; state: LstmState[] }>([lstm(3), lstm(2, { returnState: true })]);
  const { params } = model.init(key, x);
  const mask = tensor([true, true, false, true, false, true, true, true], { shape: [2, 4], device: "cpu" });
  const { output, state } = model.apply(params, { x, mask });
  const first = lstm(3, { returnSequences: true, returnState: true }).apply(params.lstm0 as VariableTree, { x, mask });
  const last = lstm(2, { returnState: true }).apply(params.lstm1 as VariableTree, { x: first.output, mask });
  same(output, last.output);
  same(state[0]!.cell, first.state.cell);
  same(state[1]!.cell, last.state.cell);
  const again = model.apply(params, { x, initialState: state });
  assert.notDeepEqual(numbersOf(again.output), numbersOf(output));
  assert.throws(() => model.apply(params, { x, initialState: [state[0]] }), {
    message: /a state for each of the 2 layers/,
  });
});

test("dropout between the layers of a stack drops while training only", () => {
  const model = stacked([rnn(16), rnn(16, { returnSequences: true })], { dropout: 0.5 });
  const { params } = model.init(key, x);
  same(model.apply(params, x), stacked([rnn(16), rnn(16, { returnSequences: true })]).apply(params, x));
  const trained = model.apply(params, x, { training: true, key });
  assert.notDeepEqual(numbersOf(trained), numbersOf(model.apply(params, x)));
});

test("a stack in both directions is two stacks, and a stack of both directions hands both outputs on", () => {
  const whole = bidirectional(stacked([gru(2), gru(2)]));
  const { params } = whole.init(key, x);
  const backward = stacked([gru(2, { reverse: true }), gru(2, { reverse: true })]);
  same((whole.apply(params, x) as Tensor).at(":", "2:"), backward.apply(params.backward as VariableTree, x));
  const deep = stacked([bidirectional(gru(2)), bidirectional(gru(3))]);
  assert.deepEqual(deep.apply(deep.init(key, x).params, x).shape, [2, 6]);
  assert.equal(summary(deep, [2, 4, 3]).parameters, 2 * (3 * 6 + 2 * 6 + 6 + 2) + 2 * (4 * 9 + 3 * 9 + 9 + 3));
});

test("names, freezing and dtypes of a layer hold in both directions; channels are merged where they are", () => {
  const frozen = bidirectional(lstm(2).frozen().withDTypes({ compute: "bf16" }));
  assert.equal(frozen.apply(frozen.init(key, x).params, x).dtype, "bf16");
  assert.ok(
    summary(frozen, [1, 2, 3])
      .rows.filter(({ kind }) => kind === "lstm")
      .every(({ isFrozen }) => isFrozen),
  );
  const images = random.normal(key, [1, 2, 3, 4, 4]);
  const conv = bidirectional(convLstm(2, 3, { returnSequences: true }));
  assert.deepEqual(conv.apply(conv.init(key, images).params, images).shape, [1, 2, 4, 4, 4]);
  const last = bidirectional(convLstm(5, 3));
  assert.deepEqual(last.apply(last.init(key, images).params, images).shape, [1, 10, 4, 4]);
});

test("layers that are computed again for the gradient stay so in both directions, and give the same gradients", () => {
  const [plain, again] = [lstm(3), rematerialize(lstm(3))].map((layer) => bidirectional(stacked([layer, layer])));
  const { params } = plain!.init(key, x);
  const slopesOf = (model: typeof plain) =>
    grad((p: VariableTree) => (model!.apply(p, x) as Tensor).square().sum())(params);
  const [a, b] = [plain, again].map((model) => tree.leaves(slopesOf(model)));
  a!.forEach((leaf, i) => {
    same(b![i]!, leaf);
  });
});

test("parts can be replaced, and wrong ones are refused", () => {
  const model = bidirectional(lstm(2));
  const other = model.replace("backward", lstm(2, { reverse: true, useBias: false }) as never);
  const { params } = other.init(key, x);
  assert.deepEqual(Object.keys(params.backward!), ["weights", "recurrent"]);
  assert.throws(() => bidirectional(dense(2) as never), {
    message: /bidirectional: takes recurrent layers.* not the layer dense/,
  });
  assert.throws(() => stacked([]), { message: /stacked: takes a list of recurrent layers/ });
  assert.throws(() => bidirectional(lstm(2), { merge: "max" as "sum" }), {
    message: /bidirectional: the option merge is "max"/,
  });
  const wrong: Directions<LstmState> = { forward: {}, backward: {} } as never;
  assert.throws(() => model.apply(model.init(key, x).params, { x, initialState: wrong }), {
    message: /lstm.*the state's hidden is undefined/s,
  });
});
