/** Derivatives of the gamma functions: trigamma's and beyond, against mpmath and in closed form. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { grad, hessian, jit, jvp, type Tensor, tensor, vmap } from "../../../src/index.js";
import { backendFor } from "../../../src/tensor/index.js";
import { describeOnTensorDevices, numbersOf } from "../../support/tensors.js";

/** Written by make-polygamma-cases.py: x and the derivatives of trigamma of orders 1, 2 and 3 there. */
const rows: number[][] = JSON.parse(
  readFileSync(new URL("../../../../test/graph/primitives/polygamma-cases.json", import.meta.url), "utf8"),
);
const points = rows.map(([x]) => x!);

const slopeOf =
  (f: (x: Tensor) => Tensor) =>
  (x: Tensor): Tensor =>
    grad((y: Tensor) => f(y).sum())(x);

describeOnTensorDevices("polygamma", (device) => {
  const dtypes = backendFor(device).hasDoubles ? (["f32", "f64"] as const) : (["f32"] as const);
  for (const dtype of dtypes) {
    test(`of orders 2, 3 and 4, as derivatives of trigamma, in ${dtype}`, () => {
      let f = (x: Tensor) => x.trigamma() as Tensor;
      for (const order of [2, 3, 4]) {
        f = slopeOf(f);
        const [plain, jitted] = [f, jit(f)].map((each) => numbersOf(each(tensor(points, { dtype }))));
        // Left of zero the reflection's pole is computed from a cotangent to a power; what remains grows with the order.
        const [right, left] = [3 + order, 12 * order];
        rows.forEach(([x, ...values], i) => {
          const want = values[order - 2]!;
          const unit = Math.abs(want) * (dtype === "f32" ? 2 ** -23 : 2 ** -52);
          const errors = [plain, jitted].map((got) => Math.abs(got![i]! - want) / unit);
          for (const error of errors) assert.ok(error <= (x! > 0 ? right : left), `${order} at ${x}: ${error} ulp`);
        });
      }
    });
  }

  test("at the poles, at infinity and of what is not a number", () => {
    const at = [0, -0, -1, -2, Infinity, Number.NaN];
    const second = slopeOf((x: Tensor) => x.trigamma() as Tensor);
    assert.deepEqual(numbersOf(second(tensor(at))), [-Infinity, Infinity, NaN, NaN, -0, NaN]);
    assert.deepEqual(numbersOf(slopeOf(second)(tensor(at))), [Infinity, Infinity, Infinity, Infinity, 0, NaN]);
  });

  test("so that digamma has a Hessian and lgamma third and fourth derivatives", () => {
    // ψ₂(1) = -2ζ(3), ψ₃(1) = π⁴/15; from x to x + 1 they change by 2/x³ and -6/x⁴.
    const zeta3 = 1.202056903159594;
    const [at1, at2] = [-2 * zeta3, -2 * zeta3 + 2];
    const near = (got: Tensor, want: readonly number[]) => {
      for (const [i, value] of numbersOf(got).entries()) {
        assert.ok(Math.abs(value - want[i]!) <= 2e-6 * (1 + Math.abs(want[i]!)), `${value}, not ${want[i]}`);
      }
    };
    const x = tensor([1, 2]) as Tensor;
    near(hessian((y: Tensor) => y.digamma().sum())(x), [at1, 0, 0, at2]);
    const third = slopeOf(slopeOf(slopeOf((y: Tensor) => y.lgamma() as Tensor)));
    near(third(x), [at1, at2]);
    near(vmap(third)(x), [at1, at2]);
    near(jvp(third, [x], [tensor([1, 1])])[1], [Math.PI ** 4 / 15, Math.PI ** 4 / 15 - 6]);
  });
});
