/** Training against loops written by hand, to the last bit, and against solutions in closed form. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { inspect } from "node:util";
import { ArgumentError } from "../../../src/core/errors.js";
import {
  concat,
  jit,
  linalg,
  random,
  setDefaultDevice,
  type Tensor,
  tensor,
  tree,
  valueAndGrad,
} from "../../../src/index.js";
import {
  activations,
  type Batches,
  batchNorm,
  block,
  dense,
  dropout,
  initializers,
  layer,
  loader,
  lora,
  losses,
  optimizers,
  parameterAt,
  schedules,
  sequential,
  train,
  type VariableTree,
} from "../../../src/nn/index.js";
import { flattenTensors, leafPaths } from "../../../src/transforms/trees.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

interface XY {
  readonly x: Tensor;
  readonly y: Tensor;
}

/** Batches that are always the same. */
const fixed = <B>(batches: readonly B[]): Batches<B> => ({
  batchesPerEpoch: batches.length,
  async *epoch(_, from = 0) {
    yield* batches.slice(from);
  },
});

const noise = (device: string, seed: number, ...shape: number[]): Tensor =>
  random.normal(random.key(seed, { device }), shape).realize();

const bits = (value: unknown): number[][] => tree.leaves(value).map(numbersOf);

describeOnTensorDevices("training is the loop that one would write by hand", (device) => {
  test("to the last bit: dropout, batch norm, adam with a schedule, clipping", async () => {
    const model = sequential(dense(5), batchNorm(), activations.relu, dropout(0.3), dense(2));
    const optimizer = optimizers.chain(optimizers.clipByGlobalNorm(1), optimizers.adam(schedules.cosine(0.1, 20)));
    const batches = [0, 1, 2].map((i): XY => ({ x: noise(device, i, 4, 3), y: noise(device, 10 + i, 4, 2) }));
    const trained = await train(model, {
      data: fixed(batches),
      loss: "meanSquaredError",
      optimizer,
      epochs: 3,
      seed: 5,
    });

    const [initKey, stepKey] = random.split(random.key(5, { device }), 3) as [random.Key, random.Key, random.Key];
    let { params, state } = model.init(initKey, batches[0]!.x);
    let optimizerState = optimizer.init(params);
    const step = jit((p: VariableTree, s: VariableTree, o: typeof optimizerState, { x, y }: XY, key: random.Key) => {
      const loss = (q: VariableTree): [Tensor, VariableTree] => {
        const [output, next] = model.applyWithState(q, x, { training: true, key, state: s });
        return [losses.meanSquaredError(output, y), next];
      };
      const [[value, next], gradients] = valueAndGrad(loss, { aux: true })(p);
      const [updates, after] = optimizer.update(gradients, o, p);
      return { params: optimizers.applyUpdates(p, updates), state: next, optimizerState: after, value };
    });
    let mean = 0;
    for (let i = 0; i < 9; i++) {
      const made = step(params, state, optimizerState, batches[i % 3]!, random.foldIn(stepKey, i));
      ({ params, state, optimizerState } = made);
      mean += i >= 6 ? Number(await made.value.item()) / 3 : 0;
    }
    assert.deepEqual(bits(trained.params), bits(params));
    assert.deepEqual(bits(trained.state), bits(state));
    // Beside the rate's factor.
    assert.deepEqual(bits(trained.optimizerState.inner), bits(optimizerState));
    assert.ok(Math.abs(trained.metrics.loss! - mean) < 1e-6 * mean);
    assert.deepEqual([trained.step, trained.epochs, trained.ending, trained.history.length], [9, 3, "completed", 3]);
  });

  test("linear regression comes to the least squares, in a run that is watched", async () => {
    const x = noise(device, 1, 40, 3);
    const y = x
      .matmul(tensor([[1], [-2], [0.5]], { device }))
      .add(0.25)
      .add(noise(device, 2, 40, 1).mul(0.1))
      .realize();
    const run = train(sequential({ line: dense(1) }), {
      data: { x, y },
      batchSize: 40,
      loss: losses.meanSquaredError,
      optimizer: optimizers.sgd(0.3),
      metrics: ["r2"],
      epochs: 120,
    });
    let last = 0;
    for await (const { step, steps } of run) {
      assert.equal(steps, 120);
      assert.ok(step >= last);
      last = step;
    }
    const { params, metrics } = await run;
    const { weights, biases } = params.line as unknown as { weights: Tensor; biases: Tensor };
    const [design, targets] = [numbersOf(x), numbersOf(y)].map((values) =>
      tensor(values, { dtype: "f64", device: "cpu" }),
    );
    const ones = tensor(new Array(40).fill(1), { dtype: "f64", device: "cpu" }).reshape(40, 1);
    const a = concat([design!.reshape(40, 3), ones], { axis: 1 });
    const solution = numbersOf(linalg.lstsq(a, targets!.reshape(40, 1)).x as Tensor);
    [...numbersOf(weights), ...numbersOf(biases)].forEach((value, i) => {
      assert.ok(Math.abs(value - solution[i]!) < 1e-4, `${value} for ${solution[i]}`);
    });
    assert.ok(metrics.r2! > 0.98);
    assert.equal(last, 120);
  });
});

describe("runs", () => {
  const x = noise("cpu", 3, 24, 2);
  const data = { x, y: x.sum({ axis: 1, keepDims: true }).realize() };
  const options = {
    data,
    batchSize: 8,
    loss: "meanSquaredError",
    optimizer: optimizers.adam(0.01),
    epochs: 2,
  } as const;
  const model = sequential(dense(4), activations.tanh, dense(1));

  test("show where they are, and what came of them", async () => {
    const run = train(model, options);
    assert.match(inspect(run), /TrainingRun \(begins when/);
    const trained = await run;
    assert.match(inspect(run), /ended/);
    assert.match(inspect(trained), /^Trained \(2 epochs, 6 steps, completed\)\nepoch +step +loss +s\n/);
    assert.match(inspect(trained), /params: dense0, dense1/);
  });

  test("a signal ends them with what there is, also one that was given before", async () => {
    const early = await train(model, { ...options, signal: AbortSignal.abort() });
    assert.deepEqual([early.step, early.ending], [0, "aborted"]);
    const controller = new AbortController();
    const run = train(model, { ...options, epochs: 1e6, signal: controller.signal });
    setTimeout(() => controller.abort(), 100);
    const { ending, step } = await run;
    assert.equal(ending, "aborted");
    assert.ok(step < 3e6);
  });

  test("the event loop goes on meanwhile", async () => {
    let [longest, last, isOver] = [0, performance.now(), false];
    const watch = async () => {
      while (!isOver) {
        await setImmediate();
        const now = performance.now();
        longest = Math.max(longest, now - last);
        last = now;
      }
    };
    const watching = watch();
    const on = {
      // The first steps are compiled.
      step: [
        () => {
          longest = 0;
          last = performance.now();
        },
        { before: 20 },
      ],
    } as const;
    const { step } = await train(model, { ...options, epochs: 1e6, signal: AbortSignal.timeout(2500), on });
    isOver = true;
    await watching;
    assert.ok(step > 100);
    // A piece of steps is about 60 ms; the machine has much else to do.
    assert.ok(longest < 400, `${longest} ms`);
  });

  test("goals end them: a value that is reached, or a function that says so", async () => {
    const reached = await train(model, { ...options, epochs: 500, until: { loss: 0.5 } });
    assert.equal(reached.ending, "until");
    assert.ok(reached.metrics.loss! <= 0.5);
    const asked = await train(model, { ...options, epochs: 500, until: ({ loss }) => loss! < 1e9 });
    assert.equal(asked.epochs, 1);
  });

  test("variables that were given are where it begins, and stay the user's", async () => {
    const variables = model.init(random.key(9, { device: "cpu" }), x);
    const first = bits(variables.params);
    const trained = await train(model, { ...options, variables, epochs: 1 });
    assert.deepEqual(bits(variables.params), first);
    assert.notDeepEqual(bits(trained.params), first);
    const further = await train(model, { ...options, variables: trained, steps: 0 });
    assert.deepEqual(bits(further.params), bits(trained.params));
    // Two trainings with the optimiser's state are one; with another optimiser's there is none.
    const { optimizerState } = trained;
    const still = await train(model, { ...options, variables: trained, optimizerState, steps: 0 });
    assert.deepEqual(bits(still.optimizerState), bits(optimizerState));
    const other = train(model, { ...options, optimizer: optimizers.sgd(0.1), variables: trained, optimizerState });
    await assert.rejects(
      async () => void (await other),
      /optimizerState is of another optimiser or model, or other layers were frozen: it has inner/,
    );
  });

  test("several inputs and outputs are trees, with a loss for each output", async () => {
    const pair = block({ a: dense(1), b: dense(1) }, ({ a, b }, { left, right }: { left: Tensor; right: Tensor }) => ({
      sum: a(left).add(b(right)),
      only: a(left),
    }));
    const whole = { x: { left: x, right: x.neg() }, y: { sum: data.y, only: data.y } };
    const trained = await train(pair, {
      data: whole as never,
      batchSize: 12,
      loss: { sum: "meanSquaredError", only: ["huber", { delta: 2 }] },
      optimizer: optimizers.sgd(0.05),
      epochs: 1,
    });
    const { loss, "loss.sum": sum, "loss.only": only } = trained.metrics;
    assert.ok(Math.abs(loss! - sum! - only!) < 1e-6 * loss!);
  });

  test("weights of examples count in the loss and in means", async () => {
    const on = (values: number[] | number[][]) => tensor(values, { device: "cpu" });
    const batches = [
      { x: on([[1], [50]]), y: on([[1], [0]]), weights: on([1, 0]) },
      { x: on([[60], [2]]), y: on([[0], [4]]), weights: on([0, 3]) },
    ];
    const line = sequential({ line: dense(1, { useBias: false }) });
    const variables = { params: { line: { weights: tensor([[1]], { device: "cpu" }) } }, state: {} };
    const { metrics } = await train(line, {
      data: fixed(batches),
      variables,
      loss: "meanSquaredError",
      optimizer: optimizers.sgd(0),
      epochs: 1,
    });
    // Errors 0 and 2 with weights 1 and 3.
    assert.ok(Math.abs(metrics.loss! - 3) < 1e-6, `${metrics.loss}`);
  });

  test("a batch whose weights are all 0 has no gradient, does not count in means and does not end the run", async () => {
    const on = (values: number[] | number[][]) => tensor(values, { device: "cpu" });
    const full = { x: on([[1], [2]]), y: on([[3], [6]]), weights: on([1, 1]) };
    const empty = { x: on([[5], [Number.MAX_SAFE_INTEGER]]), y: on([[1], [0]]), weights: on([0, 0]) };
    const line = sequential({ line: dense(1, { useBias: false }) });
    const variables = { params: { line: { weights: tensor([[1]], { device: "cpu" }) } }, state: {} };
    const trained = await train(line, {
      data: fixed([full, empty]),
      variables,
      loss: "meanSquaredError",
      optimizer: optimizers.sgd(0.1),
      epochs: 1,
    });
    assert.deepEqual([trained.step, trained.metrics.loss], [2, 10]);
    // One step of -0.1 · 2·mean(x·(x - 3x)) = 1 from 1.
    assert.ok(Math.abs(numbersOf(parameterAt(trained.params, "line.weights"))[0]! - 2) < 1e-6);
  });

  test("a batch whose labels are all ignored has no gradient, does not count in means and does not end the run", async () => {
    const batch = (labels: number[], seed: number) => ({
      x: noise("cpu", seed, labels.length, 3),
      y: tensor(labels, { dtype: "i32", device: "cpu" }),
    });
    const [full, empty, short] = [batch([0, 1, 1, 0], 1), batch([9, 9, 9, 9], 2), batch([1, 9, 9, 9], 3)];
    const model = sequential({ line: dense(2) });
    const variables = model.init(random.key(0, { device: "cpu" }), full.x);
    const loss = ["categoricalCrossEntropy", { fromLogits: true, ignoreIndex: 9 }] as const;
    const run = (batches: readonly XY[], rate: number) =>
      train(model, {
        data: fixed(batches),
        variables,
        loss,
        optimizer: optimizers.sgd(rate),
        epochs: 1,
        validation: fixed(batches),
      });
    const [all, without] = [await run([full, empty, short], 0.1), await run([full, short], 0.1)];
    assert.deepEqual([all.step, all.metrics], [3, without.metrics]);
    assert.deepEqual(bits(all.params), bits(without.params));
    // Without movement, the mean is that of the five labels.
    const still = await run([full, empty, short], 0);
    const [x, y] = [concat([full.x, short.x.at(":1")]), concat([full.y, short.y.at(":1")])];
    const logits = model.apply(variables.params, x);
    const wanted = Number(await losses.categoricalCrossEntropy(logits, y, { fromLogits: true }).item());
    for (const name of ["loss", "validation.loss"]) {
      assert.ok(Math.abs(still.metrics[name]! - wanted) < 1e-6, `${name}: ${still.metrics[name]}, not ${wanted}`);
    }
  });

  test("losses of layers are trained with the loss, and reported by themselves", async () => {
    const pulled = layer("pulled", {}, (scope, input: Tensor) => {
      const factor = scope.parameter("factor", [], initializers.ones);
      scope.setLoss("size", factor.square());
      return input.mul(factor);
    });
    const none = tensor([[0]], { device: "cpu" });
    const { params, metrics } = await train(sequential({ pulled }), {
      data: fixed([0, 1, 2].map(() => ({ x: none, y: none }))),
      loss: "meanSquaredError",
      optimizer: optimizers.sgd(0.1),
      epochs: 1,
    });
    // The loss of the data is 0: each step takes a fifth of the factor away.
    const sizes = [1, 0.64, 0.4096];
    const mean = sizes.reduce((sum, value) => sum + value, 0) / 3;
    assert.ok(Math.abs(numbersOf((params.pulled as VariableTree).factor as Tensor)[0]! - 0.512) < 1e-6);
    assert.ok(Math.abs(metrics.auxiliary! - mean) < 1e-6 && Math.abs(metrics.loss! - mean) < 1e-6);
  });

  test("data that can be read once only are read once", async () => {
    const all = Array.from({ length: 6 }, (_, i) => ({ x: [i], y: [2 * i] }));
    const once = (function* () {
      yield* all;
    })();
    const stream = loader(once, { batchSize: 2, device: "cpu" }) as never;
    const { step } = await train(sequential(dense(1)), {
      data: stream,
      loss: "meanSquaredError",
      optimizer: optimizers.sgd(0.01),
      epochs: 1,
    });
    assert.equal(step, 3);
    let closed = 0;
    const watched: Batches<XY> = {
      batchesPerEpoch: null,
      async *epoch() {
        try {
          for (;;) yield data;
        } finally {
          closed++;
        }
      },
    };
    const endless = { ...options, batchSize: undefined, data: watched, epochs: undefined };
    await train(model, { ...endless, steps: 0 } as never);
    await train(model, { ...endless, steps: 3 } as never);
    assert.equal(closed, 2);
  });

  test("copies in a filled last batch do not count", async () => {
    const line = sequential({ line: dense(1, { useBias: false }) });
    const variables = { params: { line: { weights: tensor([[1]], { device: "cpu" }) } }, state: {} };
    const [px, py] = [
      [[1], [2], [3]],
      [[1], [2], [6]],
    ];
    const settings = { variables, loss: "meanSquaredError", optimizer: optimizers.sgd(0), epochs: 1 } as const;
    const filled = loader({ x: px, y: py }, { batchSize: 2, padLast: true, device: "cpu" });
    const { metrics } = await train(line, { ...settings, data: filled as never });
    assert.ok(Math.abs(metrics.loss! - 3) < 1e-6, `${metrics.loss}`);
    // Arrays, and lists of examples, are data as well.
    setDefaultDevice("cpu");
    for (const whole of [{ x: px, y: py }, px!.map((x, i) => ({ x, y: py![i] }))]) {
      const found = await train(line, { ...settings, data: whole as never, batchSize: 2 });
      assert.ok(Math.abs(found.metrics.loss! - 3) < 1e-6, `${found.metrics.loss}`);
    }
  });
});

test("frozen parameters stay, whatever the optimiser does besides following gradients; so does the base of a LoRA", async () => {
  const x = random.normal(random.key(1, { device: "cpu" }), [8, 3]).realize();
  const y = x.sum({ axis: 1, keepDims: true }).realize();
  const { adamw, lion, chain, addNoise, addDecayedWeights, sgd, lookahead } = optimizers;
  const model = sequential({ a: dense(4).frozen(), b: lora(dense(4), { rank: 2 }), head: dense(1) });
  const variables = model.init(random.key(0, { device: "cpu" }), [null, 3]);
  type Shown = { a: { weights: Tensor }; b: { base: { weights: Tensor }; up: Tensor }; head: { weights: Tensor } };
  const before = variables.params as unknown as Shown;
  for (const optimizer of [
    adamw(0.1, { weightDecay: 0.1 }),
    lion(0.1, { weightDecay: 0.1 }),
    chain(addDecayedWeights(0.1), sgd(0.1)),
    chain(addNoise(random.key(2, { device: "cpu" })), sgd(0.1)),
    lookahead(adamw(0.1, { weightDecay: 0.1 }), { every: 2 }),
  ]) {
    const trained = await train(model, {
      data: { x, y },
      batchSize: 8,
      loss: "meanSquaredError",
      optimizer,
      epochs: 3,
      variables,
    });
    const after = trained.params as unknown as Shown;
    assert.deepEqual(await after.a.weights.array(), await before.a.weights.array());
    assert.deepEqual(await after.b.base.weights.array(), await before.b.base.weights.array());
    assert.notDeepEqual(await after.head.weights.array(), await before.head.weights.array());
  }
});

test("optimisers do not see frozen parameters: no state is kept for them, and their averages are themselves", async () => {
  const x = random.normal(random.key(1, { device: "cpu" }), [8, 3]).realize();
  const y = x.sum({ axis: 1, keepDims: true }).realize();
  const { adamw, averagedWeights, chain, emaOfWeights, lookahead } = optimizers;
  const model = sequential({ a: dense(4).frozen(), b: lora(dense(4), { rank: 2 }), head: dense(1) });
  const variables = model.init(random.key(0, { device: "cpu" }), [null, 3]);
  // The mask names all parameters, those that are frozen too.
  const decayed = adamw(0.1, { weightDecay: 0.1, mask: { a: true, b: true, head: { weights: true, biases: false } } });
  const optimizer = chain(lookahead(decayed, { every: 2 }), emaOfWeights({ decay: 0.5 }));
  const options = { data: { x, y }, batchSize: 8, loss: "meanSquaredError", optimizer, variables } as const;
  const trained = await train(model, { ...options, epochs: 3 });
  const paths = leafPaths(flattenTensors(trained.optimizerState, "test").structure);
  assert.deepEqual(
    paths.filter((path) => /\ba\.|base\./.test(path)),
    [],
  );
  assert.ok(paths.some((path) => path.endsWith("b.up")));
  const averages = averagedWeights(trained.optimizerState, trained.params);
  assert.deepEqual(tree.leaves(averages).length, tree.leaves(trained.params).length);
  for (const path of ["a.weights", "b.base.weights"]) {
    assert.deepEqual(
      await parameterAt(averages, path).array(),
      await parameterAt(variables.params, path).array(),
      path,
    );
  }
  assert.equal(model.apply(averages, x).shape[0], 8);
  const { optimizerState } = trained;
  await assert.rejects(
    async () => void (await train(model.replace("a", dense(4)), { ...options, optimizerState, epochs: 1 })),
    /another optimiser or model, or other layers were frozen: it lacks \S*a\.biases/,
  );
  await assert.rejects(
    async () => void (await train(model.frozen().replace("b", dense(4).frozen()), { ...options, epochs: 1 })),
    ArgumentError,
  );
});
