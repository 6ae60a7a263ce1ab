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

describeOnTensorDevices("means that leave labels out or weight classes", (device) => {
  const model = sequential(dense(3));
  const x = random.normal(random.key(5, { device }), [24, 4]).realize();
  // Whole batches of 4 have no label that counts.
  const y = tensor([0, 1, 9, 9, 9, 9, 9, 9, 2, 0, 0, 1, 1, 9, 1, 0, 0, 0, 2, 2, 1, 1, 0, 9], { dtype: "i32", device });
  const options = { fromLogits: true, ignoreIndex: 9, classWeights: [1, 10, 3] };
  const own = (p: Tensor, t: Tensor, more: object) => losses.categoricalCrossEntropy(p, t, { ...options, ...more });
  const variables = model.init(random.key(3, { device }), x);
  const weights = random.uniform(random.key(6, { device }), [24]).realize();

  for (const [what, data] of [
    ["", { x, y }],
    [", with weights of examples", { x, y, weights }],
  ] as const) {
    test(`are those of one batch, whatever the size of batches${what}`, async () => {
      const output = model.apply(variables.params, x);
      const wanted = Number(await own(output, y, "weights" in data ? { weights } : {}).item());
      for (const batchSize of [4, 7, 24]) {
        for (const loss of [["categoricalCrossEntropy", options], own] as const) {
          const found = await evaluate(model, variables, { data, batchSize, loss, metrics: { own } });
          assert.ok(Math.abs(found.loss! - wanted) < 1e-6, `${batchSize}: ${found.loss}, not ${wanted}`);
          assert.ok(Math.abs(found.own! - wanted) < 1e-6, `${batchSize}: ${found.own}, not ${wanted}`);
        }
      }
    });
  }

  test("count in no perplexity where no label counts", async () => {
    const found = await evaluate(model, variables, {
      data: { x: x.at("4:12"), y: y.at("4:12") },
      batchSize: 4,
      metrics: [["perplexity", { fromLogits: true, ignoreIndex: 9 }]],
    });
    const rest = metrics.perplexity(model.apply(variables.params, x.at("8:12")), y.at("8:12"), { fromLogits: true });
    assert.ok(Math.abs(found.perplexity! - Number(await rest.item())) < 1e-5, `${found.perplexity}`);
  });

  test("are NaN where no label of any batch counts", async () => {
    const loss = ["categoricalCrossEntropy", options] as const;
    const found = await evaluate(model, variables, { data: { x: x.at("4:8"), y: y.at("4:8") }, batchSize: 2, loss });
    assert.equal(found.loss, Number.NaN);
  });

  test("of several outputs have means of their own; the sum goes on without an output in which nothing counts", async () => {
    const heads = block({ a: dense(3), b: dense(3) }, ({ a, b }, input: Tensor) => ({ a: a(input), b: b(input) }));
    const own = heads.init(random.key(3, { device }), x);
    const loss = { a: ["categoricalCrossEntropy", options], b: "meanSquaredError" } as const;
    const at = (cut: ":" | "4:8") => ({ x: x.at(cut), y: { a: y.at(cut), b: x.at(cut, ":3") as Tensor } });
    const [whole, parts] = [
      await evaluate(heads, own, { data: at(":"), batchSize: 24, loss }),
      await evaluate(heads, own, { data: at(":"), batchSize: 4, loss }),
    ];
    assert.ok(Math.abs(whole["loss.a"]! - parts["loss.a"]!) < 1e-6);
    assert.ok(Math.abs(whole["loss.b"]! - parts["loss.b"]!) < 1e-6);
    const empty = await evaluate(heads, own, { data: at("4:8"), loss });
    assert.deepEqual([empty["loss.a"], empty.loss], [Number.NaN, empty["loss.b"]]);
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
