import assert from "node:assert/strict";
import { test } from "node:test";
import { optimizers } from "../../../src/nn/index.js";
import { describeOnTensorDevices } from "../../support/tensors.js";
import { assertPlain, keptOf } from "./trajectories.js";

const { adadelta, adagrad, rmsprop } = optimizers;

describeOnTensorDevices("optimisers by squares", (device) => {
  test("adagrad follows the written-out rule", () =>
    assertPlain(
      adagrad(0.05, { initial: 0.1, rateDecay: 0.1 }),
      (leaf, count) => {
        const sum = keptOf(leaf, "sum", 0.1);
        leaf.g.forEach((g, i) => {
          sum[i]! += g * g;
          leaf.p[i]! -= ((0.05 / (1 + (count - 1) * 0.1)) * g) / (Math.sqrt(sum[i]!) + 1e-10);
        });
      },
      device,
    ));

  test("rmsprop, centred and with momentum, follows the written-out rule", () =>
    assertPlain(
      rmsprop(0.01, { decay: 0.9, centered: true, momentum: 0.5 }),
      (leaf) => {
        const [square, mean, kept] = [keptOf(leaf, "square"), keptOf(leaf, "mean"), keptOf(leaf, "momentum")];
        leaf.g.forEach((g, i) => {
          square[i] = 0.9 * square[i]! + (1 - 0.9) * g * g;
          mean[i] = 0.9 * mean[i]! + (1 - 0.9) * g;
          kept[i] = 0.5 * kept[i]! + g / (Math.sqrt(square[i]! - mean[i]! ** 2) + 1e-8);
          leaf.p[i]! -= 0.01 * kept[i]!;
        });
      },
      device,
    ));

  test("adadelta follows the written-out rule", () =>
    assertPlain(
      adadelta(0.5, { decay: 0.8, epsilon: 1e-3 }),
      (leaf) => {
        const [square, change] = [keptOf(leaf, "square"), keptOf(leaf, "change")];
        leaf.g.forEach((g, i) => {
          square[i] = 0.8 * square[i]! + (1 - 0.8) * g * g;
          const step = (Math.sqrt(change[i]! + 1e-3) / Math.sqrt(square[i]! + 1e-3)) * g;
          change[i] = 0.8 * change[i]! + (1 - 0.8) * step * step;
          leaf.p[i]! -= 0.5 * step;
        });
      },
      device,
    ));
});

test("misuse is refused by name", () => {
  assert.throws(() => adagrad(0.1, { initial: -1 }), { message: /adagrad: the option initial/ });
  assert.throws(() => adadelta(1, { epsilon: -1 }), { message: /adadelta: the option epsilon/ });
  assert.throws(() => rmsprop(0.1, { decay: 1 }), { message: /rmsprop: the option decay is at least 0 and below 1/ });
});
