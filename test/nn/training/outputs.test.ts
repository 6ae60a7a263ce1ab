/** Losses and metrics of batches whose last rows are copies, and of models with several outputs. */
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { random, setDefaultDevice, type Tensor } from "../../../src/index.js";
import {
  block,
  dense,
  evaluate,
  loader,
  losses,
  metrics,
  optimizers,
  sequential,
  type TrainOptions,
  train,
} from "../../../src/nn/index.js";

before(() => setDefaultDevice("cpu"));

const near = (a: number | undefined, b: number, what = "") =>
  assert.ok(Math.abs(a! - b) < 1e-5, `${what} ${a} for ${b}`);

const x = random.normal(random.key(1, { device: "cpu" }), [11, 3]).realize();
const labels = random.randint(random.key(2, { device: "cpu" }), [11], 0, 4).realize();
const values = random.normal(random.key(3, { device: "cpu" }), [11, 1]).realize();

test("copies that fill a last batch count in no metric, of training, validation and evaluation", async () => {
  const model = sequential(dense(4));
  const variables = model.init(random.key(4, { device: "cpu" }), x);
  const output = model.apply(variables.params, x);
  const own = (p: Tensor, y: Tensor, { weights }: { weights?: Tensor }) =>
    losses.categoricalCrossEntropy(p, y, { fromLogits: true, ...(weights && { weights }) }).mul(2) as Tensor;
  const shared = {
    loss: ["categoricalCrossEntropy", { fromLogits: true }],
    metrics: { accuracy: "accuracy", own },
  } as const;
  const filled = () => loader({ x, y: labels }, { batchSize: 4, padLast: true });
  const wanted = {
    accuracy: Number(await metrics.accuracy(output, labels).item()),
    loss: Number(await losses.categoricalCrossEntropy(output, labels, { fromLogits: true }).item()),
  };
  const found = await evaluate(model, variables, { ...shared, data: filled() as never });
  const trained = await train(model, {
    ...shared,
    data: filled() as never,
    validation: filled() as never,
    optimizer: optimizers.sgd(0),
    variables,
    epochs: 1,
  });
  for (const [name, value] of [
    ["accuracy", wanted.accuracy],
    ["loss", wanted.loss],
    ["own", 2 * wanted.loss],
  ] as const) {
    near(found[name], value, name);
    near(trained.metrics[name], value, name);
    near(trained.metrics[`validation.${name}`], value, name);
  }
});

const two = block({ body: dense(6), head: dense(4), tail: dense(1) }, ({ body, head, tail }, input: Tensor) => {
  const h = body(input).tanh();
  return { kind: head(h), deep: { size: tail(h) } };
});
const data = { x, y: { kind: labels, deep: { size: values } } };
const twoLosses = {
  kind: ["categoricalCrossEntropy", { fromLogits: true }],
  deep: { size: "meanSquaredError" },
} as const;

test("metrics by output are reported by its name, and can be followed", async () => {
  const options: TrainOptions<Tensor> = {
    data,
    validation: data,
    batchSize: 4,
    loss: twoLosses,
    metrics: {
      kind: ["accuracy", ["topKAccuracy", { k: 2 }]],
      deep: { size: { error: "meanAbsoluteError" } },
      both: (p: { kind: Tensor; deep: { size: Tensor } }) => p.kind.mean().add(p.deep.size.mean()) as Tensor,
    },
    optimizer: optimizers.sgd(0),
    epochs: 1,
    keepBest: { monitor: "validation.kind.accuracy" },
  };
  const trained = await train(two, options);
  const { kind, deep } = two.apply(trained.params, x);
  near(trained.metrics["kind.accuracy"], Number(await metrics.accuracy(kind, labels).item()));
  near(trained.metrics["kind.topKAccuracy"], Number(await metrics.topKAccuracy(kind, labels, { k: 2 }).item()));
  near(trained.metrics["deep.size.error"], Number(await metrics.meanAbsoluteError(deep.size, values).item()));
  near(trained.best!.value, trained.metrics["validation.kind.accuracy"]!);
  assert.deepEqual(Object.keys(trained.metrics).slice(0, 7).sort(), [
    "both",
    "deep.size.error",
    "kind.accuracy",
    "kind.topKAccuracy",
    "loss",
    "loss.deep.size",
    "loss.kind",
  ]);
});

test("losses of outputs count by their weights, and are reported without", async () => {
  const variables = two.init(random.key(5, { device: "cpu" }), x);
  const lossWeights = { deep: { size: 0.25 } };
  const found = await evaluate(two, variables, { data, loss: twoLosses, lossWeights });
  const { kind, deep } = two.apply(variables.params, x);
  const [first, second] = [
    Number(await losses.categoricalCrossEntropy(kind, labels, { fromLogits: true }).item()),
    Number(await losses.meanSquaredError(deep.size, values).item()),
  ];
  near(found["loss.kind"], first);
  near(found["loss.deep.size"], second);
  near(found.loss, first + 0.25 * second);
  const trained = await train(two, {
    data,
    batchSize: 11,
    loss: twoLosses,
    lossWeights,
    variables,
    optimizer: optimizers.sgd(0.1),
    epochs: 2,
  });
  // The loss of the second step is that of parameters which followed the weighted loss.
  const slower = await train(two, { data, batchSize: 11, loss: twoLosses, variables, optimizer: optimizers.sgd(0.1), epochs: 2 }); // biome-ignore format: a row
  assert.ok(trained.metrics["loss.deep.size"]! > slower.metrics["loss.deep.size"]!);
});

test("metrics and weights of outputs that are not there are refused by name", async () => {
  const options = { data, loss: twoLosses, optimizer: optimizers.sgd(0.1), epochs: 1 };
  const refused = (more: object, message: RegExp) =>
    assert.rejects(async () => void (await train(two, { ...options, ...more } as never)), {
      name: "ArgumentError",
      message,
    });
  await refused(
    { metrics: { sort: ["accuracy"] } },
    /the option metrics has "sort", but the predictions have no such part/,
  );
  await refused(
    { metrics: ["accuracy"] },
    /the metric accuracy takes the tensor of one output; the model gives kind, deep\. Give metrics by output, as \{ kind: \["accuracy"\] \}/,
  );
  await refused({ metrics: { kind: { loss: "accuracy" } } }, /no metric can be called "loss"/);
  await refused({ lossWeights: { sort: 1 } }, /lossWeights has "sort", but the option loss has kind, deep\.size/);
  await refused({ lossWeights: { kind: "1" } }, /lossWeights has "kind" of "1"; it is a number for each output/);
  await refused({ lossWeights: 3 }, /lossWeights is a number for each output/);
});
