/** Metrics and predictions of a model over many batches. */
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { random, setDefaultDevice, type Tensor, tensor } from "../../../src/index.js";
import {
  batchNorm,
  block,
  dense,
  dropout,
  evaluate,
  losses,
  metrics,
  predict,
  sequential,
} from "../../../src/nn/index.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

before(() => setDefaultDevice("cpu"));

describeOnTensorDevices("evaluate and predict", (device) => {
  const model = sequential(dense(6), batchNorm(), dropout(0.5), dense(3));
  const x = random.normal(random.key(1, { device }), [23, 4]).realize();
  const y = random.randint(random.key(2, { device }), [23], 0, 3).realize();
  const variables = model.init(random.key(3, { device }), x);

  test("predictions in batches are those of the whole", () => {
    const all = numbersOf(model.apply(variables.params, x, { state: variables.state }));
    for (const batchSize of [1, 5, 23, 100]) {
      const found = predict(model, variables, x, { batchSize });
      assert.deepEqual(found.shape, [23, 3]);
      numbersOf(found).forEach((value, i) => {
        assert.ok(Math.abs(value - all[i]!) < 1e-6);
      });
    }
  });

  test("metrics are means over examples, whatever the size of batches", async () => {
    const output = model.apply(variables.params, x, { state: variables.state });
    const wanted = {
      loss: Number(await losses.categoricalCrossEntropy(output, y, { fromLogits: true }).item()),
      accuracy: Number(await metrics.accuracy(output, y).item()),
    };
    for (const batchSize of [5, 23]) {
      const found = await evaluate(model, variables, {
        data: { x, y },
        batchSize,
        loss: ["categoricalCrossEntropy", { fromLogits: true }],
        metrics: ["accuracy"],
      });
      assert.ok(Math.abs(found.loss! - wanted.loss) < 1e-6);
      assert.ok(Math.abs(found.accuracy! - wanted.accuracy) < 1e-6);
    }
  });
});

test("several inputs and outputs are cut and put together as trees", () => {
  const pair = block({ a: dense(2) }, ({ a }, { left, right }: { left: Tensor; right: Tensor }) => ({
    sum: a(left).add(right),
    right,
  }));
  const input = { left: random.normal(random.key(1), [7, 3]), right: random.normal(random.key(2), [7, 2]) };
  const variables = pair.init(random.key(3), input);
  const { sum, right } = predict(pair, variables, input, { batchSize: 3 });
  assert.deepEqual(numbersOf(right), numbersOf(input.right));
  const whole = numbersOf(pair.apply(variables.params, input).sum);
  numbersOf(sum).forEach((value, i) => {
    assert.ok(Math.abs(value - whole[i]!) < 1e-6);
  });
});

test("misuse says what is missing", async () => {
  const model = sequential(dense(1));
  const x = tensor([[1], [2]]);
  const variables = model.init(random.key(0), x);
  await assert.rejects(evaluate(model, variables, { data: { x, y: x } }), /nothing to compute; give \{ loss \}/);
  await assert.rejects(
    evaluate(model, {} as never, { data: { x }, loss: "huber" }),
    /takes \{ params, state \} second/,
  );
  await assert.rejects(
    evaluate(model, variables, { data: { x, y: tensor([1]) }, loss: "huber" }),
    /tensors of \[2, 1\] and \[1\]; all have one first extent/,
  );
  assert.throws(() => predict(model, variables, tensor(1) as never), /first axis of all inputs counts the examples/);
  assert.throws(() => predict(model, variables, x, { batchSize: 0 }), /batchSize is a whole number from 1 on/);
});
