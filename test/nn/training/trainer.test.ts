/** Training by functions of the user's own: two networks against each other, and misuse. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { jit, random, setDefaultDevice, type Tensor, tensor, tree, valueAndGrad } from "../../../src/index.js";
import {
  activations,
  dense,
  losses,
  optimizers,
  sequential,
  train,
  trainer,
  type VariableTree,
} from "../../../src/nn/index.js";
import { numbersOf } from "../../support/tensors.js";

before(() => setDefaultDevice("cpu"));
const bits = (value: unknown): number[] => tree.leaves(value).flatMap(numbersOf);

test("two networks with an optimiser each play against each other, as in a loop by hand", async () => {
  const generator = sequential(dense(4), activations.tanh, dense(1));
  const critic = sequential(dense(4), activations.tanh, dense(1));
  const [slow, fast] = [optimizers.adam(1e-2), optimizers.adam(2e-2)];
  const truth = (z: Tensor, isTrue: number) => losses.binaryCrossEntropy(z, z.mul(0).add(isTrue), { fromLogits: true });
  interface Carry {
    readonly made: VariableTree;
    readonly judge: VariableTree;
    readonly madeState: optimizers.OptimizerState;
    readonly judgeState: optimizers.OptimizerState;
  }
  const init = (key: random.Key): Carry => {
    const [a, b] = random.split(key) as [random.Key, random.Key];
    const made = generator.init(a, [null, 2]).params;
    const judge = critic.init(b, [null, 1]).params;
    return { made, judge, madeState: slow.init(made), judgeState: fast.init(judge) };
  };
  const step = (carry: Carry, { real }: { real: Tensor }, key: random.Key) => {
    const noise = random.normal(key, [8, 2]);
    const judged = (judge: VariableTree) =>
      truth(critic.apply(judge, real), 1).add(
        truth(critic.apply(judge, generator.apply(carry.made, noise)), 0),
      ) as Tensor;
    const [criticLoss, judgeGradient] = valueAndGrad(judged)(carry.judge);
    const [judgeUpdates, judgeState] = fast.update(judgeGradient, carry.judgeState, carry.judge);
    const judge = optimizers.applyUpdates(carry.judge, judgeUpdates);
    const fooled = (made: VariableTree) => truth(critic.apply(judge, generator.apply(made, noise)), 1);
    const [loss, madeGradient] = valueAndGrad(fooled)(carry.made);
    const [madeUpdates, madeState] = slow.update(madeGradient, carry.madeState, carry.made);
    const made = optimizers.applyUpdates(carry.made, madeUpdates);
    return [
      { made, judge, madeState, judgeState },
      { loss, criticLoss },
    ] as const;
  };
  const batches = [1, 2, 3].map((seed) => ({ real: random.normal(random.key(seed), [8, 1]).add(3).realize() }));
  const data = {
    batchesPerEpoch: 3,
    epoch: async function* (_: number, from = 0) {
      yield* batches.slice(from);
    },
  };
  const result = await train(trainer({ init, step }), { data, epochs: 2, seed: 1 });
  assert.deepEqual(Object.keys(result.metrics), ["loss", "criticLoss"]);
  const [initKey, stepKey] = random.split(random.key(1), 3) as [random.Key, random.Key, random.Key];
  let carry = init(initKey);
  const compiled = jit((c: Carry, b: { real: Tensor }, k: random.Key) => step(c, b, k)[0]);
  for (let i = 0; i < 6; i++) carry = compiled(carry, batches[i % 3]!, random.foldIn(stepKey, i)) as Carry;
  assert.deepEqual(bits(result.carry), bits(carry));
});

describe("a trainer that does not fit", () => {
  const data = {
    batchesPerEpoch: 1,
    epoch: async function* () {
      yield { x: tensor([1, 2]) };
    },
  };
  const init = () => ({ w: tensor([1, 2]) });
  type Carry = ReturnType<typeof init>;
  const loss = (c: Carry) => c.w.sum() as Tensor;
  const failing = (step: unknown, more: object = {}) =>
    assert.rejects.bind(
      null,
      async () => void (await train({ init, step } as never, { data, epochs: 1, ...more } as never)),
    );

  test("is told what its step should give", async () => {
    await failing((c: Carry) => [c, { mean: loss(c) }])(/gives \{ loss \} among its metrics/);
    await failing((c: Carry) => [c, { loss: c.w }])(/the metric loss is a scalar, not a tensor of shape \[2\]/);
    await failing((c: Carry) => [{ v: c.w }, { loss: loss(c) }])(/a carry of another form: v; it got w/);
    await failing((c: Carry) => [{ w: c.w.sum() }, { loss: loss(c) }])(
      /makes w of the carry f32 \[\]; it was f32 \[2\]/,
    );
    await failing((c: Carry) => [c, { loss: loss(c) }], { validation: data })(/needs evaluate\(carry, batch\)/);
    const on = { started: (event: { setRate(n: number): void }) => event.setRate(0.5) };
    await failing((c: Carry) => [c, { loss: loss(c) }], { on })(/no rate to change; give it withRate/);
  });

  test("is refused before anything runs", () => {
    assert.throws(() => trainer({ init } as never), /trainer: step is a function, not undefined/);
    assert.throws(() => train({ init: 1, step: 2 } as never, {} as never), /train: init is a function, not 1/);
    assert.throws(() => train(5 as never, {} as never), /as \{ init, step \}, not 5/);
  });
});
