/** Events: their order, filters, and what handlers may do. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { random, setDefaultDevice, tree } from "../../../src/index.js";
import {
  dense,
  type Handlers,
  type ModelCarry,
  optimizers,
  sequential,
  type TrainingEvent,
  train,
} from "../../../src/nn/index.js";
import { numbersOf } from "../../support/tensors.js";

before(() => setDefaultDevice("cpu"));
const data = () => {
  const x = random.normal(random.key(1), [12, 2]);
  return { x, y: x.sum({ axis: 1, keepDims: true }) };
};
const run = (on: Handlers<ModelCarry>, more: object = {}) =>
  train(sequential(dense(1)), {
    data: data(),
    batchSize: 4,
    loss: "meanSquaredError",
    optimizer: optimizers.sgd(0.1),
    epochs: 2,
    on,
    ...more,
  });
const all = [
  "started",
  "epochStarted",
  "stepStarted",
  "step",
  "validation",
  "improved",
  "epoch",
  "halted",
  "completed",
] as const;

test("events come in their order", async () => {
  const heard: string[] = [];
  const note = ({ name, step, epoch, count }: TrainingEvent<ModelCarry>) =>
    void heard.push(`${name} ${step} ${epoch} ${count}`);
  await run(Object.fromEntries(all.map((name) => [name, note])), { validation: data(), keepBest: true });
  assert.deepEqual(heard, [
    "started 0 1 1",
    ...[1, 2].flatMap((epoch) => [
      `epochStarted ${3 * epoch - 3} ${epoch} ${epoch}`,
      ...[1, 2, 3].flatMap((i) => {
        const step = 3 * epoch - 3 + i;
        return [`stepStarted ${step - 1} ${epoch} ${step}`, `step ${step} ${epoch} ${step}`];
      }),
      `validation ${3 * epoch} ${epoch} ${epoch}`,
      `improved ${3 * epoch} ${epoch} ${epoch}`,
      `epoch ${3 * epoch} ${epoch} ${epoch}`,
    ]),
    "completed 6 3 1",
  ]);
});

test("filters choose the times", async () => {
  const heard = new Map<string, number[]>();
  const note =
    (name: string) =>
    ({ count }: { count: number }) =>
      void heard.set(name, [...(heard.get(name) ?? []), count]);
  await run({
    step: [
      note("each"),
      [note("always"), "always"],
      [note("once"), "once"],
      [note("every"), { every: 2 }],
      [note("between"), { after: 1, before: 5 }],
      [note("when"), { when: ({ step }) => step === 3 }],
      [note("both"), { every: 2, after: 3 }],
    ],
    epoch: [note("second"), { every: 2 }],
  });
  assert.deepEqual(Object.fromEntries(heard), {
    each: [1, 2, 3, 4, 5, 6],
    always: [1, 2, 3, 4, 5, 6],
    once: [1],
    every: [2, 4, 6],
    between: [2, 3, 4],
    when: [3],
    both: [4, 6],
    second: [2],
  });
});

describe("handlers may", () => {
  const weights = (carry: ModelCarry) => tree.leaves(carry.params).flatMap(numbersOf);

  test("end the run, and are awaited", async () => {
    let late = 0;
    const { step, ending } = await run({
      step: [(event) => event.halt(), { after: 3 }],
      halted: async () => {
        await new Promise((resolve) => setTimeout(resolve, 10));
        late++;
      },
    });
    assert.deepEqual([step, ending, late], [4, "halted", 1]);
  });

  test("keep what is trained at that moment, and put it back", async () => {
    const kept: ModelCarry[] = [];
    const trained = await run({
      step: [
        [({ carry }) => void kept.push(carry), { when: ({ step }) => step === 2 }],
        [(event) => event.replace(kept[0]!), { when: ({ step }) => step === 6 }],
      ],
    });
    assert.deepEqual(weights(trained.carry), weights(kept[0]!));
    assert.deepEqual(weights(trained.carry), weights((await run({}, { steps: 2 })).carry));
  });

  test("read the metrics of the moment", async () => {
    const seen: number[] = [];
    const { metrics } = await run({ step: async (event) => void seen.push((await event.read()).loss!) }, { epochs: 1 });
    assert.equal(seen.length, 3);
    assert.equal(seen[2], metrics.loss);
    assert.equal(new Set(seen).size, 3);
  });

  test("change the rate: a factor of 0 is no step at all, and one of 2 is twice the rate", async () => {
    const still = await run({ started: (event) => event.setRate(0) });
    assert.deepEqual(weights(still.carry), weights((await run({}, { steps: 0 })).carry));
    const faster = await run({ started: (event) => event.setRate(2) });
    assert.deepEqual(weights(faster.carry), weights((await run({}, { optimizer: optimizers.sgd(0.2) })).carry));
    assert.deepEqual(
      faster.history.map(({ rate }) => rate),
      [2, 2],
    );
  });

  test("fail, which fails the run", async () => {
    const failing = run({
      epoch: () => {
        throw new Error("no disk");
      },
    });
    await assert.rejects(async () => void (await failing), /no disk/);
  });
});

test("unknown events and filters are refused with what there is", () => {
  assert.throws(() => run({ epochEnd: () => {} } as never), /no event "epochEnd"; there are started, epochStarted/);
  assert.throws(() => run({ step: 5 } as never), /on\.step is a function, or \[function, \{ every: 100 \}\], not 5/);
  assert.throws(() => run({ step: [() => {}, { each: 5 }] } as never), /there is no option "each"/);
  assert.throws(() => run({ step: [() => {}, { every: 0 }] }), /every is a whole number from 1 on/);
  assert.throws(() => run({ step: [() => {}, "twice"] } as never), /"twice" is "always", "once" or an object/);
});
