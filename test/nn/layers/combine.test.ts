/** Layers of several inputs or outputs, and the choice of one of two layers. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { grad, jit, random, type Tensor, tensor } from "../../../src/index.js";
import {
  add,
  batchNorm,
  concatenate,
  cond,
  dense,
  dropout,
  multiply,
  sequential,
  split,
  subtract,
  type VariableTree,
} from "../../../src/nn/index.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

const row = (...values: number[]) => tensor([values], { device: "cpu" });

test("several inputs are added, subtracted, multiplied, joined; one is split", async () => {
  const inputs = [row(1, 2), row(3, 4), row(5, 6)];
  assert.deepEqual(await add().apply({}, inputs).array(), [[9, 12]]);
  assert.deepEqual(await subtract().apply({}, inputs).array(), [[-7, -8]]);
  assert.deepEqual(await multiply().apply({}, inputs).array(), [[15, 48]]);
  assert.deepEqual(await concatenate().apply({}, inputs).array(), [[1, 2, 3, 4, 5, 6]]);
  assert.deepEqual(concatenate({ axis: 0 }).apply({}, inputs).shape, [3, 2]);
  const parts = split(2).apply({}, row(1, 2, 3, 4));
  assert.deepEqual(await Promise.all(parts.map((part) => part.array())), [[[1, 2]], [[3, 4]]]);
  assert.deepEqual(
    split({ sizes: [1, 3] })
      .apply({}, row(1, 2, 3, 4))
      .map((part) => part.shape),
    [
      [1, 1],
      [1, 3],
    ],
  );
  const whole = sequential<Tensor, Tensor>(split(2, { axis: 0 }), add());
  assert.deepEqual(await whole.apply({}, tensor([[1], [2]], { device: "cpu" })).array(), [[3]]);
});

test("wrong inputs and options are refused by name", () => {
  assert.throws(() => add().apply({}, row(1) as never), { message: /add: takes a list of tensors/ });
  assert.throws(() => multiply().apply({}, []), { message: /multiply: takes a list of tensors/ });
  assert.throws(() => concatenate({ dim: 1 } as never), { message: /concatenate: there is no option "dim"/ });
  assert.throws(() => split("2" as never), { message: /split: parts are a number, positions or/ });
  assert.throws(() => cond(true as never, dense(1), dense(1)), { message: /cond: the predicate is a function/ });
});

describeOnTensorDevices("cond", (device) => {
  const key = random.key(0, { device });
  const up = tensor(
    [
      [1, 2],
      [3, 5],
    ],
    { device },
  );
  const isPositive = (x: Tensor) => x.mean().greater(0) as Tensor;
  const model = cond(isPositive, dense(3), dense(3));
  const { params } = model.init(key, up);

  test("runs one of two layers, and gradients go to that one", () => {
    assert.deepEqual(Object.keys(params).sort(), ["whenFalse", "whenTrue"]);
    const run = jit((p: typeof params, x: Tensor) => model.apply(p, x));
    for (const [x, taken, other] of [
      [up, "whenTrue", "whenFalse"],
      [up.neg() as Tensor, "whenFalse", "whenTrue"],
    ] as const) {
      const wanted = numbersOf(dense(3).apply(params[taken] as VariableTree, x));
      assert.deepEqual(numbersOf(run(params, x)), wanted);
      const slopes = grad((p: typeof params) => model.apply(p, x).sum())(params);
      const of = (name: string) => numbersOf((slopes[name] as VariableTree).weights as Tensor);
      assert.ok(of(taken).some((value) => value !== 0) && of(other).every((value) => value === 0));
    }
  });

  test("keeps the state that the taken layer set, and draws inside", () => {
    const stateful = cond(
      isPositive,
      sequential(batchNorm(), dropout(0.5)),
      sequential(batchNorm(), (x: Tensor) => x),
    );
    const made = stateful.init(key, up);
    const [, next] = stateful.applyWithState(made.params, up, { state: made.state, training: true, key });
    const mean = (name: string) => numbersOf(((next[name] as VariableTree).batchNorm0 as VariableTree).mean as Tensor);
    assert.ok(
      mean("whenTrue").every((value, i) => Math.abs(value - [0.2, 0.35][i]!) < 1e-6),
      `${mean("whenTrue")}`,
    );
    assert.deepEqual(mean("whenFalse"), [0, 0]);
    assert.equal(stateful.applyWithState(made.params, up, { state: made.state })[1].whenTrue, made.state.whenTrue);
  });
});
