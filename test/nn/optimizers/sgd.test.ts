import assert from "node:assert/strict";
import { test } from "node:test";
import { random, tensor } from "../../../src/index.js";
import { optimizers } from "../../../src/nn/index.js";
import { describeOnTensorDevices } from "../../support/tensors.js";
import { assertPlain, keptOf, track } from "./trajectories.js";

const { sgd, lion, noisySgd } = optimizers;

describeOnTensorDevices("gradient descent", (device) => {
  test("sgd with Nesterov's momentum follows the written-out rule", () =>
    assertPlain(
      sgd(0.0005, { momentum: 0.9, nesterov: true }),
      (leaf) => {
        const kept = keptOf(leaf, "momentum");
        leaf.g.forEach((g, i) => {
          kept[i] = 0.9 * kept[i]! + g;
          leaf.p[i]! -= 0.0005 * (g + 0.9 * kept[i]!);
        });
      },
      device,
    ));

  test("lion follows the written-out rule", () =>
    assertPlain(
      lion(0.02, { weightDecay: 0.1 }),
      (leaf) => {
        const mean = keptOf(leaf, "mean");
        leaf.g.forEach((g, i) => {
          const sign = Math.sign(0.9 * mean[i]! + (1 - 0.9) * g);
          leaf.p[i]! -= 0.02 * (sign + 0.1 * leaf.p[i]!);
          mean[i] = 0.99 * mean[i]! + (1 - 0.99) * g;
        });
      },
      device,
    ));
});

test("sgd keeps nothing without momentum and schedule", () => {
  assert.deepEqual(sgd(0.1).init({ w: tensor([1, 2]) }), {});
});

test("noise of noisySgd has the variance that it says, another one at each step, and depends on the key alone", async () => {
  const key = random.key(3, { device: "cpu" });
  const optimizer = noisySgd(key, 1, { eta: 4, gamma: 1 });
  const params = { w: tensor(new Float32Array(20_000), { device: "cpu" }) };
  let state = optimizer.init(params);
  for (const variance of [4, 2, 4 / 3]) {
    const [again] = optimizer.update(params, state, params);
    const [updates, next] = optimizer.update(params, state, params);
    assert.deepEqual(await again.w.data(), await updates.w.data());
    const found = await updates.w.square().mean().item();
    // The variance of an estimate from n squares is 2 / n of its square.
    assert.ok(Math.abs(found / variance - 1) < 5 * Math.sqrt(2 / 20_000), `${found}, not ${variance}`);
    state = next;
  }
});

test("noisySgd without noise is sgd", async () => {
  const key = random.key(0, { device: "cpu" });
  assert.deepEqual(
    await track(noisySgd(key, 0.001, { eta: 0 }), "cpu", "f64", 3),
    await track(sgd(0.001), "cpu", "f64", 3),
  );
});

test("misuse is refused by name", () => {
  assert.throws(() => sgd("fast" as never), { name: "ArgumentError", message: /sgd: the rate is a finite number/ });
  assert.throws(() => sgd(0.1, { momentum: 1 }), {
    message: /sgd: the option momentum is at least 0 and below 1, not 1/,
  });
  assert.throws(() => sgd(0.1, { nesterov: true }), {
    message: /sgd: nesterov is a form of momentum, and there is none/,
  });
  assert.throws(() => sgd(0.1, { momentun: 0.9 } as never), { message: /sgd: there is no option "momentun"/ });
  assert.throws(() => lion(0.1, { decays: [0.9, 1.5] }), { message: /lion: the option decays/ });
  assert.throws(() => noisySgd(3 as never), { name: "ArgumentError", message: /addNoise/ });
});
