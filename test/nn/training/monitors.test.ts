/** What follows a metric: early stopping, the best parameters, rates on plateaus, goals. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { setDefaultDevice, type Tensor, tensor } from "../../../src/index.js";
import { dense, type optimizers, sequential, train } from "../../../src/nn/index.js";
import { isReached, judged, NO_STANDING } from "../../../src/nn/training/monitors.js";
import { numbersOf } from "../../support/tensors.js";

before(() => setDefaultDevice("cpu"));

test("a value is better by its mode and the threshold, and NaN never is", () => {
  const over = (values: readonly number[], mode: "min" | "max", threshold = 0) =>
    values.reduce((standing, value) => judged(standing, value, mode, threshold), NO_STANDING);
  assert.deepEqual(over([3, 2, 2.5, 2.2], "min"), { best: 2, bad: 2 });
  assert.deepEqual(over([3, 2, 2.5, 4], "max"), { best: 4, bad: 0 });
  assert.deepEqual(over([3, 2.9, 2.8], "min", 0.5), { best: 3, bad: 2 });
  assert.deepEqual(over([Number.NaN, Number.NaN], "min"), { best: null, bad: 2 });
  assert.deepEqual(over([5, Number.NaN, 6], "min"), { best: 5, bad: 2 });
});

test("goals are reached from the right side", () => {
  assert.equal(isReached({ loss: 1 }, { loss: 0.5 }), true);
  assert.equal(isReached({ "validation.accuracy": 0.9, loss: 1 }, { "validation.accuracy": 0.95, loss: 2 }), false);
  assert.throws(() => isReached({ los: 1 }, { loss: 0.5 }), /no metric "los"; there are loss/);
});

describe("a weight that grows by one each epoch, of which 3 would be best", () => {
  // One step an epoch, from 0 on: the metric of epoch n is that of the weight n - 1 before the step, and of n in a validation.
  const growing = {
    init: () => ({}),
    update: (g: unknown, s: unknown) => [ones(g), s],
  } as never as optimizers.Optimizer;
  const [x, y] = [tensor([[1]], { device: "cpu" }), tensor([[3]], { device: "cpu" })];
  const variables = () => ({ params: { line: { weights: tensor([[0]], { device: "cpu" }) } }, state: {} });
  const run = (more: object) =>
    train(sequential({ line: dense(1, { useBias: false }) }), {
      data: { x, y },
      validation: { x, y },
      variables: variables(),
      loss: "meanSquaredError",
      optimizer: growing,
      epochs: 12,
      ...more,
    });
  const weightOf = ({ params }: { readonly params: object }) =>
    numbersOf((params as { line: { weights: Tensor } }).line.weights)[0];

  test("stops when it no longer gets better", async () => {
    const { epochs, ending, history } = await run({ earlyStop: { patience: 3 } });
    assert.deepEqual([epochs, ending], [6, "earlyStop"]);
    assert.deepEqual(
      history.map(({ metrics }) => metrics["validation.loss"]),
      [4, 1, 0, 1, 4, 9],
    );
    assert.equal((await run({ earlyStop: { patience: 3, monitor: "loss" } })).epochs, 7);
  });

  test("gives the best in the end", async () => {
    const trained = await run({ keepBest: true, epochs: 7 });
    assert.equal(weightOf(trained), 3);
    assert.deepEqual(trained.best, { value: 0, epoch: 3, step: 3 });
    assert.equal(weightOf(await run({ epochs: 7 })), 7);
    assert.equal(weightOf(await run({ keepBest: { mode: "max" }, epochs: 7 })), 7);
  });

  test("takes smaller steps on a plateau", async () => {
    const trained = await run({ reduceOnPlateau: { patience: 0, factor: 0.5 }, epochs: 6 });
    // Worse from epoch 4 on, and each time half the step: 4, 4.5, 4.75.
    assert.equal(weightOf(trained), 4.75);
    assert.deepEqual(
      trained.history.map(({ rate }) => rate),
      [1, 1, 1, 1, 0.5, 0.25],
    );
  });

  test("is judged every so many steps where that was asked for", async () => {
    const { history } = await run({ validateEvery: 4 });
    assert.deepEqual(
      history.map(({ step }) => step),
      [4, 8, 12],
    );
  });
});

/** Ones in the form of a tree of gradients. */
function ones(gradients: unknown): unknown {
  if (typeof gradients !== "object" || gradients === null || "dtype" in gradients) {
    return (gradients as Tensor).mul(0).add(1);
  }
  return Object.fromEntries(Object.entries(gradients).map(([name, each]) => [name, ones(each)]));
}
