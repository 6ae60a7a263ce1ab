/** Convolutional LSTMs: against the formulas with the core's convolution, step by step; gradients against differences. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { grad, random, stack, type Tensor, tensor, tree, where } from "../../../src/index.js";
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

  test("masked steps are left out, each example by its own mask; what stands there, NaN too, reaches neither output nor slope", () => {
    const x = random.normal(random.key(1, { device }), [3, 4, 2, 5]);
    const steps = [[0, 1, 2, 3], [1, 3], []]; // biome-ignore format: a row
    const isSeen = steps.flatMap((seen) => [0, 1, 2, 3].map((t) => seen.includes(t)));
    const mask = tensor(isSeen, { shape: [3, 4], device });
    const model = convLstm(2, 3, { returnSequences: true, returnState: true });
    const { params } = model.init(random.key(0, { device }), x);
    const { output, state } = model.apply(params, { x, mask });
    for (const [example, seen] of steps.entries()) {
      const own = (t: number) => x.at(`${example}:${example + 1}`, t) as Tensor;
      const wanted = seen.length === 0 ? [] : stepByStep(params, stack(seen.map(own), { axis: 1 }) as Tensor);
      for (let t = 0; t < 4; t++) {
        const last = wanted[seen.filter((each) => each <= t).length - 1];
        assertNear(numbersOf(output.at(example, t)), last ? numbersOf(last) : Array(10).fill(0), 1e-5);
      }
      assertNear(numbersOf(state.hidden.at(example)), numbersOf(output.at(example, 3)), 0);
    }
    const seen = mask.reshape([3, 4, 1, 1]);
    const filled = (value: number) => where(seen, x, value).cast(x.dtype) as Tensor;
    const slopes = (given: Tensor) =>
      grad((p: VariableTree) => model.apply(p, { x: given, mask }).output.square().sum())(params);
    for (const value of [Number.NaN, 1e30]) {
      assert.deepEqual(numbersOf(model.apply(params, { x: filled(value), mask }).output), numbersOf(output));
      const found = tree.leaves(slopes(filled(value))).flatMap((each) => numbersOf(each));
      const wanted = tree.leaves(slopes(x)).flatMap((each) => numbersOf(each));
      assertNear(found, wanted, 1e-5);
    }
    const lengths = tensor([4, 2, 1], { dtype: "i32", device });
    const byLengths = tensor(
      [0, 1, 2].flatMap((i) => [0, 1, 2, 3].map((t) => t < [4, 2, 1][i]!)),
      { shape: [3, 4], device },
    );
    const reversed = convLstm(2, 3, { reverse: true });
    assertNear(
      numbersOf(reversed.apply(params, { x, lengths })),
      numbersOf(reversed.apply(params, { x, mask: byLengths })),
      0,
    );
    const alone = reversed.apply(params, x.at("1:2", ":2"));
    assertNear(numbersOf(reversed.apply(params, { x, lengths }).at(1)), numbersOf(alone), 1e-5);
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
