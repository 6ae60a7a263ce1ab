import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { grad, jit, type Tensor, tensor } from "../../../src/index.js";
import { optimizers, schedules } from "../../../src/nn/index.js";
import { describeOnTensorDevices } from "../../support/tensors.js";
import {
  assertPlain,
  assertTracks,
  keptOf,
  loss,
  type Params,
  type PlainLeaf,
  paramsOn,
  plainTrack,
  track,
} from "./trajectories.js";

const { adam, adamw, adamax, nadam, radam, applyUpdates } = optimizers;

/** Adam, written out; `rate` is of a step from 0 on. */
const adamRule =
  (rate: (step: number) => number, decay: number, [one, two] = [0.9, 0.999]) =>
  (leaf: PlainLeaf, count: number): void => {
    const [mean, square] = [keptOf(leaf, "mean"), keptOf(leaf, "square")];
    const now = rate(count - 1);
    leaf.g.forEach((g, i) => {
      mean[i] = one * mean[i]! + (1 - one) * g;
      square[i] = two * square[i]! + (1 - two) * g * g;
      const direction = mean[i]! / (1 - one ** count) / (Math.sqrt(square[i]! / (1 - two ** count)) + 1e-8);
      leaf.p[i]! -= now * (direction + (leaf.name === "b" ? 0 : decay * leaf.p[i]!));
    });
  };

describeOnTensorDevices("Adam", (device) => {
  test("adamw by a schedule, with weight decay where the mask says, follows the written-out rule", () =>
    assertPlain(
      adamw(schedules.linear(0.04, 0.01, 8), { weightDecay: 0.1, mask: { w: true, b: false, x: true } }),
      adamRule((step) => 0.04 - 0.03 * Math.min(1, step / 8), 0.1),
      device,
    ));

  test("a rate that is an argument of the step makes one program", async () => {
    const rates = [0.04, 0.02, 0.01];
    let params = paramsOn(device, "f32");
    let state = adam().init(params);
    const step = jit((p: Params<Tensor>, s: typeof state, rate: Tensor): [typeof p, typeof s] => {
      const [updates, next] = adam(rate).update(grad(loss)(p), s, p);
      return [applyUpdates(p, updates), next];
    });
    for (const rate of rates) [params, state] = step(params, state, rate);
    assert.equal(step.programs, 1);
    const wanted = plainTrack(
      adamRule((i) => rates[i]!, 0),
      3,
    );
    const found = { w: await params.w.data(), b: await params.b.data(), x: await params.x.data() } as never;
    assertTracks([found], wanted.slice(-1), 2e-4);
  });
});

test("adamax, nadam and radam follow their written-out rules", async () => {
  await assertPlain(
    adamax(0.02),
    (leaf, count) => {
      const [mean, largest] = [keptOf(leaf, "mean"), keptOf(leaf, "largest")];
      leaf.g.forEach((g, i) => {
        mean[i] = 0.9 * mean[i]! + (1 - 0.9) * g;
        largest[i] = Math.max(0.999 * largest[i]!, Math.abs(g) + 1e-8);
        leaf.p[i]! -= ((0.02 / (1 - 0.9 ** count)) * mean[i]!) / largest[i]!;
      });
    },
    "cpu",
  );
  const momentum = (count: number) => 0.9 * (1 - 0.5 * 0.96 ** (count * 0.004));
  await assertPlain(
    nadam(0.02),
    (leaf, count) => {
      const [mean, square] = [keptOf(leaf, "mean"), keptOf(leaf, "square")];
      let product = 1;
      for (let i = 1; i <= count; i++) product *= momentum(i);
      leaf.g.forEach((g, i) => {
        mean[i] = 0.9 * mean[i]! + (1 - 0.9) * g;
        square[i] = 0.999 * square[i]! + (1 - 0.999) * g * g;
        const root = Math.sqrt(square[i]! / (1 - 0.999 ** count)) + 1e-8;
        leaf.p[i]! -= ((0.02 * (1 - momentum(count))) / (1 - product)) * (g / root);
        leaf.p[i]! -= ((0.02 * momentum(count + 1)) / (1 - product * momentum(count + 1))) * (mean[i]! / root);
      });
    },
    "cpu",
  );
  const [two, most] = [0.95, 2 / (1 - 0.95) - 1];
  const known: boolean[] = [];
  await assertPlain(
    radam(0.0005, { decays: [0.9, two] }),
    (leaf, count) => {
      const [mean, square] = [keptOf(leaf, "mean"), keptOf(leaf, "square")];
      const length = most - (2 * count * two ** count) / (1 - two ** count);
      known.push(length > 5);
      const ratio = ((length - 4) * (length - 2) * most) / ((most - 4) * (most - 2) * length);
      leaf.g.forEach((g, i) => {
        mean[i] = 0.9 * mean[i]! + (1 - 0.9) * g;
        square[i] = two * square[i]! + (1 - two) * g * g;
        const root = (Math.sqrt(square[i]!) + 1e-8) / Math.sqrt(1 - two ** count);
        leaf.p[i]! -= ((0.0005 * mean[i]!) / (1 - 0.9 ** count)) * (length > 5 ? Math.sqrt(ratio) / root : 1);
      });
    },
    "cpu",
  );
  assert.deepEqual([...new Set(known)], [false, true]);
});

test("amsgrad never divides by less than before", async () => {
  const optimizer = adam(0.1, { decays: [0.5, 0.5], amsgrad: true });
  const params = { w: tensor([0], { dtype: "f64", device: "cpu" }) };
  let state = optimizer.init(params);
  const found: number[] = [];
  for (const g of [2, 0, 0]) {
    const [updates, next] = optimizer.update({ w: tensor([g], { dtype: "f64", device: "cpu" }) }, state, params);
    found.push((await updates.w.data())[0] as number);
    state = next;
  }
  const of = (mean: number, largest: number, count: number) =>
    (-0.1 * (mean / (1 - 0.5 ** count))) / (Math.sqrt(largest / (1 - 0.5 ** count)) + 1e-8);
  const wanted = [of(1, 2, 1), of(0.5, 2, 2), of(0.25, 2, 3)];
  found.forEach((value, i) => {
    assert.ok(Math.abs(value - wanted[i]!) < 1e-12, `${found} for ${wanted}`);
  });
});

test("the tracks of torch.optim are met in f64", async () => {
  const { cases } = JSON.parse(readFileSync("test/nn/optimizers/optimizer-cases.json", "utf8")) as Cases;
  const { chain, addDecayedWeights, sgd, adagrad, rmsprop, adafactor } = optimizers;
  const ours: Record<string, optimizers.Optimizer> = {
    sgd: sgd(0.001),
    "sgd momentum": sgd(0.0005, { momentum: 0.9 }),
    "sgd nesterov": sgd(0.0005, { momentum: 0.9, nesterov: true }),
    "sgd decay": chain(addDecayedWeights(0.1), sgd(0.001, { momentum: 0.9 })),
    adam: adam(0.02),
    "adam amsgrad": adam(0.02, { decays: [0.7, 0.9], amsgrad: true }),
    adamw: adamw(0.02, { weightDecay: 0.1 }),
    nadam: nadam(0.02),
    adamax: adamax(0.02),
    radam: radam(0.02),
    "radam short": radam(0.02, { decays: [0.9, 0.95] }),
    adagrad: adagrad(0.05),
    "adagrad decay": adagrad(0.05, { rateDecay: 0.1, initial: 0.1 }),
    rmsprop: rmsprop(0.01),
    "rmsprop centred": rmsprop(0.01, { decay: 0.9, centered: true, momentum: 0.5 }),
    adafactor: adafactor(0.02),
    "adafactor decay": adafactor(0.5, { weightDecay: 0.1, decay: -0.6 }),
  };
  assert.deepEqual(
    Object.keys(cases).filter((name) => !ours[name]),
    ["muon"],
  );
  for (const [name, optimizer] of Object.entries(ours)) {
    const { quadratic, rosenbrock } = cases[name]!;
    const wanted = quadratic.map(([w, b], i) => ({ w: w!, b: b!, x: rosenbrock[i]![0]! }));
    try {
      assertTracks(await track(optimizer, "cpu", "f64"), wanted, 1e-9);
    } catch (error) {
      (error as Error).message = `${name}: ${(error as Error).message}`;
      throw error;
    }
  }
});

interface Cases {
  readonly cases: Record<string, { readonly quadratic: number[][][]; readonly rosenbrock: number[][][] }>;
}

test("misuse is refused by name", () => {
  assert.throws(() => adam(1e-3, { decays: [0.9, 1] }), {
    message: /adam: the option decays is at least 0 and below 1/,
  });
  assert.throws(() => adamw(1e-3, { epsilon: -1 }), { message: /adamw: the option epsilon is a number from 0 on/ });
  assert.throws(() => adam(tensor([1, 2])), { name: "ShapeError", message: /adam: the rate is a scalar/ });
  assert.throws(() => nadam(1e-3, { amsgrad: true } as never), { message: /nadam: there is no option "amsgrad"/ });
  assert.throws(
    () =>
      adamw(1e-3, { mask: (() => 3) as never }).update({ w: tensor([1]) }, adam().init({ w: tensor([1]) }), {
        w: tensor([1]),
      }),
    {
      message: /adamw: the mask gave 3 for w/,
    },
  );
});
