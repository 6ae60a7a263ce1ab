/** Convolutional LSTMs: against the formulas with the core's convolution, step by step; gradients against differences. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { random, type Tensor, tensor } from "../../../src/index.js";
import { convLstm, summary, type VariableTree } from "../../../src/nn/index.js";
import { assertNear, assertSlopes } from "../../support/parameter-slopes.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

const key = random.key(0, { device: "cpu" });

/** The formulas for channels first and padding "same". */
function stepByStep(params: VariableTree, x: Tensor): Tensor[] {
  const { weights, recurrent, biases } = params as Record<"weights" | "recurrent" | "biases", Tensor>;
  const filters = recurrent.shape[1]!;
  const outputs: Tensor[] = [];
  let [h, c]: (Tensor | null)[] = [null, null];
  for (let t = 0; t < x.shape[1]!; t++) {
    const b = biases.reshape([-1, ...x.shape.slice(3).map(() => 1)]);
    let sums = (x.at(":", t) as Tensor).conv(weights, { padding: "same" }).add(b);
    if (h) sums = sums.add(h.conv(recurrent, { padding: "same" }));
    const gate = (i: number) => sums.at(":", `${i * filters}:${(i + 1) * filters}`);
    const fresh = gate(0).sigmoid().mul(gate(2).tanh());
    c = c ? gate(1).sigmoid().mul(c).add(fresh) : fresh;
    h = gate(3).sigmoid().mul(c.tanh());
    outputs.push(h);
  }
  return outputs;
}

describeOnTensorDevices("convLstm", (device) => {
  for (const spatial of [[5], [4, 3], [2, 3, 2]]) {
    test(`of ${spatial.length} spatial axes is its formulas`, () => {
      const x = random.normal(random.key(1, { device }), [2, 3, 2, ...spatial]);
      const model = convLstm(2, 3, { returnSequences: true, returnState: true });
      const { params } = model.init(random.key(0, { device }), x);
      const { output, state } = model.apply(params, x);
      const wanted = stepByStep(params, x);
      assertNear(
        numbersOf(output.moveAxis(1, 0)),
        wanted.flatMap((each) => numbersOf(each)),
        1e-5,
      );
      assertNear(numbersOf(state.hidden), numbersOf(wanted.at(-1)!), 1e-5);
    });
  }

  test("channels last, strides and masks", () => {
    const x = random.normal(random.key(1, { device }), [2, 3, 2, 5, 4]);
    const model = convLstm(3, [3, 2], { stride: 2, padding: 1 });
    const { params } = model.init(random.key(0, { device }), x);
    const y = model.apply(params, x);
    assert.deepEqual(y.shape, [2, 3, 3, 3]);
    const last = convLstm(3, [3, 2], { stride: 2, padding: 1, channels: "last" });
    assertNear(numbersOf(last.apply(params, x.moveAxis(2, -1)).moveAxis(-1, 1)), numbersOf(y), 1e-5);
    const mask = tensor([true, true, false, true, true, false], { shape: [2, 3], device });
    const short = model.apply(params, x.at(":", ":2"));
    assertNear(numbersOf(model.apply(params, { x, mask })), numbersOf(short), 1e-5);
  });
});

test("gradients are those of differences in f64", () => {
  const model = convLstm(2, 3).withDTypes({ parameters: "f64" });
  const x = random.normal(key, [1, 3, 1, 4], { dtype: "f64" });
  const { params } = model.init(key, x);
  assertSlopes((p) => model.apply(p, x).square().sum(), params);
});

test("summaries count both convolutions, and wrong arguments are refused", () => {
  const table = summary(convLstm(2, 3), [1, 3, 1, 4, 4]);
  assert.equal(table.multiplyAdds, 3 * 16 * 8 * 9 * (1 + 2));
  assert.throws(() => convLstm(0, 3), { message: /convLstm: the number of filters/ });
  assert.throws(() => convLstm(2, 0), { message: /convLstm: the size of the kernel/ });
  assert.throws(() => convLstm(2, 3).init(key, [1, 3, 4]), {
    message: /convLstm takes \[batch, time, channels, …spatial\]/,
  });
});
