import { test } from "node:test";
import { optimizers } from "../../../src/nn/index.js";
import { describeOnTensorDevices } from "../../support/tensors.js";
import { assertPlain, keptOf, norm, type PlainLeaf } from "./trajectories.js";

const { adabelief, yogi, lamb } = optimizers;
const [ONE, TWO] = [0.9, 0.999];

/** Updates the mean and gives it without its lean towards zero. */
function unbiasedMean(leaf: PlainLeaf, count: number, first = 0): number[] {
  const mean = keptOf(leaf, "mean", first);
  leaf.g.forEach((g, i) => {
    mean[i] = ONE * mean[i]! + (1 - ONE) * g;
  });
  return mean.map((m) => m / (1 - ONE ** count));
}

describeOnTensorDevices("kin of Adam", (device) => {
  test("adabelief follows the written-out rule", () =>
    assertPlain(
      adabelief(0.02),
      (leaf, count) => {
        const unbiased = unbiasedMean(leaf, count);
        const [mean, square] = [leaf.kept.mean!, keptOf(leaf, "square")];
        leaf.g.forEach((g, i) => {
          square[i] = TWO * square[i]! + (1 - TWO) * (g - mean[i]!) ** 2 + 1e-16;
          leaf.p[i]! -= (0.02 * unbiased[i]!) / (Math.sqrt(square[i]! / (1 - TWO ** count)) + 1e-16);
        });
      },
      device,
    ));

  test("yogi follows the written-out rule", () =>
    assertPlain(
      yogi(0.02),
      (leaf, count) => {
        const unbiased = unbiasedMean(leaf, count, 1e-6);
        const square = keptOf(leaf, "square", 1e-6);
        leaf.g.forEach((g, i) => {
          square[i]! -= (1 - TWO) * Math.sign(square[i]! - g * g) * g * g;
          leaf.p[i]! -= (0.02 * unbiased[i]!) / (Math.sqrt(square[i]! / (1 - TWO ** count)) + 1e-3);
        });
      },
      device,
    ));

  test("lamb follows the written-out rule, with weight decay where the mask says", () =>
    assertPlain(
      lamb(0.02, { weightDecay: 0.1, mask: (path) => path !== "b" }),
      (leaf, count) => {
        const unbiased = unbiasedMean(leaf, count);
        const square = keptOf(leaf, "square");
        const direction = leaf.g.map((g, i) => {
          square[i] = TWO * square[i]! + (1 - TWO) * g * g;
          const decay = leaf.name === "b" ? 0 : 0.1 * leaf.p[i]!;
          return unbiased[i]! / (Math.sqrt(square[i]! / (1 - TWO ** count)) + 1e-6) + decay;
        });
        const ratio = norm(leaf.p) / norm(direction);
        direction.forEach((d, i) => {
          leaf.p[i]! -= 0.02 * ratio * d;
        });
      },
      device,
    ));
});
