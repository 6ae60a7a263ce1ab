/** Integrals of samples against SciPy's, and of polynomials that they take exactly. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { grad, type Tensor, tensor } from "../../../src/index.js";
import { integrate } from "../../../src/learn/index.js";
import { describeOnTensorDevices, f64, numbersOf } from "../../support/tensors.js";

const NAMES = ["trapezoid", "simpson", "cumulativeTrapezoid", "cumulativeSimpson"] as const;
type Case = Record<(typeof NAMES)[number] | "x", number[]> & { readonly y: number[][] };
const { samples }: { samples: Case[] } = JSON.parse(
  readFileSync(resolve("test/learn/integrate/integrate-cases.json"), "utf8"),
);

const near = (got: Tensor, want: readonly number[], by: number) => {
  const values = numbersOf(got);
  assert.equal(values.length, want.length);
  want.forEach((each, i) => {
    assert.ok(Math.abs(values[i]! - each) <= by, `${i}: ${values[i]}, not ${each}`);
  });
};

for (const name of NAMES) {
  test(`${name} is SciPy's at uneven places, along either axis`, () => {
    for (const known of samples) {
      near(integrate[name](f64(known.y), { x: f64(known.x) }), known[name], 1e-12);
      const turned = integrate[name](f64(known.y).T as Tensor, { x: known.x, axis: 0 });
      near(turned.rank === 2 ? (turned.T as Tensor) : turned, known[name], 1e-12);
    }
  });
}

test("parabolas are integrated exactly, one or two samples too, and gradients are the weights", () => {
  near(integrate.simpson(f64([0, 1, 4, 9]), { dx: 2 }), [18], 1e-13);
  near(integrate.simpson(f64([1, 3])), [2], 0);
  near(integrate.trapezoid(f64([5])), [0], 0);
  near(grad((y: Tensor) => integrate.simpson(y))(f64([1, 2, 3])), [1 / 3, 4 / 3, 1 / 3], 1e-15);
});

test("misuse is refused by name", () => {
  assert.throws(() => integrate.trapezoid(f64([1, 2]), { x: [1, 2, 3] }), /2 samples and places of shape \[3\]/);
  assert.throws(() => integrate.simpson(f64([])), /no samples along axis 0/);
  assert.throws(() => integrate.simpson(f64(1)), /a tensor with an axis/);
});

describeOnTensorDevices("integrals of samples in f32", (device) => {
  test("have the digits of f32", () => {
    const { x, y, cumulativeSimpson } = samples[2]!;
    near(integrate.cumulativeSimpson(tensor(y, { device, dtype: "f32" }), { x }), cumulativeSimpson, 2e-6);
  });
});
