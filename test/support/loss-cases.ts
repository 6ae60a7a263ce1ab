/** Checks that the tests of src/nn/losses share: PyTorch's values and gradients, and difference quotients in f64. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { grad, type Tensor, tensor } from "../../src/index.js";
import type { LossOptions } from "../../src/nn/losses/loss.js";
import { torchCases, withoutTorch } from "./activation-cases.js";
import { checkGradients } from "./gradient-check.js";
import { randomFrom } from "./random.js";
import { describeOnTensorDevices, numbersOf } from "./tensors.js";

interface Listed {
  readonly shape: readonly number[];
  readonly values: readonly (number | string)[];
}

interface LossCase {
  readonly name: string;
  readonly predictions: readonly Listed[];
  readonly targets: readonly Listed[];
  readonly none: Listed;
  readonly sum: number;
  readonly mean: number;
  readonly gradients: readonly Listed[];
  readonly inputLengths?: readonly number[];
  readonly labelLengths?: readonly number[];
}

const FILE = "losses/loss-cases.json";

/** A loss of predictions and targets as PyTorch's case lists them. */
export type CaseLoss = (
  predictions: readonly Tensor[],
  targets: readonly Tensor[],
  options: LossOptions,
  lengths: Pick<LossCase, "inputLengths" | "labelLengths">,
) => Tensor;

export function near(got: readonly number[], want: readonly number[], tolerance: number, what: string): void {
  assert.equal(got.length, want.length, what);
  got.forEach((value, i) => {
    const isNear =
      Object.is(value, want[i]) || Math.abs(value - want[i]!) <= tolerance * Math.max(1, Math.abs(want[i]!));
    assert.ok(isNear, `${what}: element ${i} is ${value}, not ${want[i]}`);
  });
}

/** Values by all reductions, and the gradient of the mean, on each device in f32. */
export function testLossesAgainstTorch(losses: Readonly<Record<string, CaseLoss>>): void {
  describeOnTensorDevices("losses and their gradients are PyTorch's", () => {
    for (const [name, loss] of Object.entries(losses)) {
      test(name, { skip: withoutTorch(FILE) }, () => {
        const found = torchCases<{ readonly cases: readonly LossCase[] }>(FILE).cases.find(
          (each) => each.name === name,
        );
        assert.ok(found, `PyTorch's ${name} is not in the file`);
        const isWhole = /^(categoricalCrossEntropy(?! dense)|ctc)/.test(name);
        const made = ({ shape, values }: Listed, dtype: "f32" | "i32") => tensor(values.map(Number), { shape, dtype });
        const predictions = found.predictions.map((each) => made(each, "f32"));
        const targets = found.targets.map((each) => made(each, isWhole ? "i32" : "f32"));
        const by = (reduction: "mean" | "sum" | "none") => (p: Tensor[]) => loss(p, targets, { reduction }, found);
        const none = by("none")(predictions);
        assert.deepEqual(none.shape, found.none.shape);
        near(numbersOf(none), found.none.values.map(Number), 2e-5, "the losses");
        near(numbersOf(by("sum")(predictions)), [found.sum], 2e-5, "the sum");
        near(numbersOf(by("mean")(predictions)), [found.mean], 1e-5, "the mean");
        const gradients = grad(by("mean"))(predictions) as Tensor[];
        gradients.forEach((each, i) => {
          near(numbersOf(each), found.gradients[i]!.values.map(Number), 1e-5, `gradient ${i}`);
        });
      });
    }
  });
}

/** Numbers between low and high, with a seed of the position. */
export const drawn =
  (shape: readonly number[], low: number, high: number) =>
  (
    seed: number,
  ): { readonly shape: readonly number[]; readonly dtype: "float"; readonly values: readonly number[] } => {
    const random = randomFrom(seed);
    const count = shape.reduce((product, extent) => product * extent, 1);
    return {
      shape,
      dtype: "float",
      values: Array.from({ length: count }, () => low + ((high - low) * random.below(2 ** 20)) / 2 ** 20),
    };
  };

/** First and second derivatives with respect to all inputs against difference quotients, in f64. */
export function testSlopes(
  losses: Readonly<Record<string, readonly [(...inputs: never[]) => Tensor, ...ReturnType<typeof drawn>[]]>>,
): void {
  for (const [name, [f, ...inputs]] of Object.entries(losses)) {
    test(`derivatives of ${name} are those of difference quotients`, () => {
      checkGradients({ name, f, inputs } as never, [{ device: "cpu", dtype: "f64", tolerance: 1e-7 }]);
    });
  }
}
