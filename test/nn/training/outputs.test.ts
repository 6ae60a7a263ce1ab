/** Losses and metrics of batches whose last rows are copies, and of models with several outputs. */
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { random, setDefaultDevice, type Tensor, tensor } from "../../../src/index.js";
import {
  activations,
  type Batches,
  block,
  dense,
  type Example,
  evaluate,
  type Layer,
  loader,
  losses,
  type MetricChoice,
  metrics,
  optimizers,
  sequential,
  type TrainOptions,
  train,
  trainer,
} from "../../../src/nn/index.js";
import { describeOnTensorDevices, devicesWithDoubles } from "../../support/tensors.js";

before(() => setDefaultDevice("cpu"));

const near = (a: number | undefined, b: number, what = "", bound = 1e-5) =>
  assert.ok(Math.abs(a! - b) < bound, `${what} ${a} for ${b}`);

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

test("outputs in a list are named by their places", async () => {
  const listed = block({ head: dense(4), tail: dense(1) }, ({ head, tail }, input: Tensor) => [
    head(input),
    tail(input),
  ]);
  const variables = listed.init(random.key(6, { device: "cpu" }), x);
  const [kind, size] = listed.apply(variables.params, x) as [Tensor, Tensor];
  const found = await evaluate(listed, variables, {
    data: { x, y: [labels, values] },
    loss: { 0: ["categoricalCrossEntropy", { fromLogits: true }], 1: "huber" },
    metrics: { 0: ["accuracy"], 1: { error: "meanAbsoluteError" } },
  });
  near(found["0.accuracy"], Number(await metrics.accuracy(kind, labels).item()));
  near(found["1.error"], Number(await metrics.meanAbsoluteError(size, values).item()));
  near(found["loss.1"], Number(await losses.huber(size, values).item()));
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
  await refused(
    { metrics: { auxiliary: () => values.mean() } },
    /no metric can be called "auxiliary"; loss, auxiliary/,
  );
  await refused(
    { metrics: { kind: [["topKAccuracy", { k: 1 }], ["topKAccuracy", { k: 2 }]] } },
    /the option metrics has two called "kind\.topKAccuracy"; give names of your own/,
  ); // biome-ignore format: rows
  await refused({ lossWeights: { sort: 1 } }, /lossWeights has "sort", but the option loss has kind, deep\.size/);
  await refused({ lossWeights: { kind: "1" } }, /lossWeights has "kind" of "1"; it is a number for each output/);
  await refused({ lossWeights: 3 }, /lossWeights is a number for each output/);
});

describeOnTensorDevices("filled last batches", (device) => {
  const own = (shape: number[], seed: number) => random.normal(random.key(seed, { device }), shape).realize();
  /** The same data in batches of 4 of which the last is filled, or is not. */
  const both = (source: object): [Batches<Example<Tensor>>, Batches<Example<Tensor>>] =>
    [true, false].map((padLast) => loader(source as { x: Tensor }, { batchSize: 4, padLast })) as never;

  test("weights of tokens and the mask of rows count together, whether or not their extents are the same", async () => {
    const dtypes = devicesWithDoubles().includes(device) ? (["f32", "f64"] as const) : (["f32"] as const);
    for (const dtype of dtypes) {
      for (const tokens of [4, 5]) {
        const input = own([6, tokens, 3], 1).cast(dtype).realize() as Tensor;
        const weights = random.uniform(random.key(3, { device }), [6, tokens]).realize();
        const source = { x: input, y: own([6, tokens, 1], 2).cast(dtype).realize(), weights };
        const model = sequential(dense(1)).withDTypes({ parameters: dtype, compute: dtype, output: dtype });
        const variables = model.init(random.key(4, { device }), input);
        const settings = { loss: "meanSquaredError", metrics: ["meanAbsoluteError"] } as const;
        const what = `${tokens} tokens of ${dtype}`;
        const all = await evaluate(model, variables, { ...settings, data: source, batchSize: 6 });
        const [filled, plain] = both(source);
        const bound = dtype === "f64" ? 1e-13 : 1e-5;
        for (const data of [filled, plain]) {
          const found = await evaluate(model, variables, { ...settings, data });
          const options = { ...settings, data, optimizer: optimizers.sgd(0), variables, epochs: 1 };
          const { metrics: trained } = await train(model, options);
          for (const name of ["loss", "meanAbsoluteError"]) {
            near(found[name], all[name]!, `${what}: ${name}`, bound);
            near(trained[name], all[name]!, `${what} in training: ${name}`, bound);
          }
        }
      }
    }
  });

  test("every metric is that of batches that are not filled", async () => {
    const yes = own([11], 5).greater(0).cast("i32").realize();
    const scores = sequential(dense(1), (h: Tensor) => h.squeeze(-1).sigmoid());
    const input = own([11, 3], 6);
    const classes = random.randint(random.key(7, { device }), [11], 0, 3).realize();
    const average = { average: "macro" } as const;
    const cases: [Layer, Tensor, MetricChoice][] = [
      [
        scores,
        yes,
        [
          ...(["binaryAccuracy", "precision", "recall", "sensitivity", "specificity", "f1", "auc"] as const),
          ...(["truePositives", "trueNegatives", "falsePositives", "falseNegatives"] as const),
        ],
      ],
      [scores, own([11], 8), ["meanSquaredError", "meanAbsoluteError", "rootMeanSquaredError", "r2"]],
      [
        sequential(dense(3), activations.softmax),
        classes,
        ["accuracy", ["topKAccuracy", { k: 2 }], "perplexity", ["precision", average], ["recall", average], ["f1", average]],
      ], // biome-ignore format: rows
    ];
    const seen = new Set<string>();
    for (const [model, y, chosen] of cases) {
      const variables = model.init(random.key(9, { device }), input);
      const [filled, plain] = await Promise.all(
        both({ x: input, y }).map((data) => evaluate(model, variables, { data, metrics: chosen })),
      );
      for (const [name, value] of Object.entries(plain!)) {
        seen.add(name);
        if (Number.isNaN(value)) assert.ok(Number.isNaN(filled![name]), name);
        else near(filled![name], value, name);
      }
    }
    const known = Object.keys(metrics).filter(
      (name) => !["startMean", "runningMean", "confusionMatrix"].includes(name),
    );
    assert.deepEqual([...seen].sort(), known.sort());
  });

  test("weights of narrow floats are added up in f32", async () => {
    // In bf16 the sums of both batches are 256 and 256, in f16 they are infinite.
    const input = tensor([[1], [1], [0], [0]], { device });
    const y = tensor([[0], [0], [0], [0]], { device });
    const model = sequential({ line: dense(1, { useBias: false }) });
    const variables = { params: { line: { weights: tensor([[1]], { device }) } }, state: {} };
    for (const [dtype, big, small] of [
      ["bf16", 256, 0.5],
      ["f16", 60000, 49984],
    ] as const) {
      const weights = tensor([big, small, big, big], { device }).cast(dtype).realize() as Tensor;
      const data = { x: input, y, weights };
      const found = await evaluate(model, variables, { data, batchSize: 2, loss: "meanSquaredError" });
      near(found.loss, (big + small) / (3 * big + small), dtype);
    }
  });

  test("a batch whose weights are all 0 counts in no mean", async () => {
    const model = sequential(dense(1));
    const input = own([6, 3], 10);
    const y = own([6, 1], 11);
    const variables = model.init(random.key(12, { device }), input);
    const weights = tensor([1, 2, 1, 0.5, 0, 0], { device });
    const found = await evaluate(model, variables, { data: { x: input, y, weights }, batchSize: 4, loss: "huber" });
    const all = await evaluate(model, variables, { data: { x: input, y, weights }, batchSize: 6, loss: "huber" });
    near(found.loss, all.loss!);
  });

  test("a step of one's own counts its batches by the rows that are no copies", async () => {
    const values = tensor([[1], [2], [3], [10]], { device });
    const mean = trainer({
      init: () => ({ zero: tensor(0, { device }) }),
      step: (carry: { zero: Tensor }, { x: rows, mask }: { x: Tensor; mask: Tensor }) => {
        const real = mask.cast("f32").expandDims(-1);
        return [carry, { loss: rows.mul(real).sum().div(real.sum()) as Tensor }];
      },
    });
    const data = loader({ x: values }, { batchSize: 3, padLast: true }) as never;
    near((await train(mean, { data, epochs: 1 })).metrics.loss, 4);
  });
});
