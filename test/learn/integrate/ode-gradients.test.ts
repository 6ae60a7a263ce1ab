/** Derivatives of solutions against closed forms and finite differences in f64. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { grad, hessian, jit, jvp, stack, type Tensor, tensor, vmap } from "../../../src/index.js";
import { integrate } from "../../../src/learn/index.js";
import { describeOnTensorDevices, f64, numbersOf } from "../../support/tensors.js";

const { odeSolve } = integrate;
const tight = { rtol: 1e-10, atol: 1e-12 };

const near = (got: Tensor, want: readonly number[], share: number) => {
  numbersOf(got).forEach((value, i) => {
    assert.ok(Math.abs(value - want[i]!) <= share * Math.max(1, Math.abs(want[i]!)), `${i}: ${value}, not ${want[i]}`);
  });
};

for (const method of ["dopri5", "dopri8", "rodas5p"] as const) {
  test(`${method}: gradients by the rate, the first state and the times are those of the exponential`, () => {
    const loss = (rate: Tensor, y0: Tensor, times: Tensor) =>
      odeSolve((_, y: Tensor) => y.mul(rate), y0, times, { method, ...tight }).y.sum();
    const at = (t: number) => Math.exp(-0.7 * t);
    const [rate, y0, times] = [f64(-0.7), f64(1.5), f64([0, 0.5, 2])];
    const slope = 1.5 * (0.5 * at(0.5) + 2 * at(2));
    const [byRate, byStart, byTimes] = grad(loss, { argument: [0, 1, 2] })(rate, y0, times) as [Tensor, Tensor, Tensor];
    near(byRate, [slope], 1e-7);
    near(byStart, [1 + at(0.5) + at(2)], 1e-8);
    const later = [-0.7 * 1.5 * at(0.5), -0.7 * 1.5 * at(2)];
    near(byTimes, [-later[0]! - later[1]!, ...later], 1e-6);
    const [, pushed] = jvp((k: Tensor) => loss(k, y0, times), [rate], [f64(1)]);
    near(pushed, numbersOf(byRate), 1e-12);
  });
}

test("second derivatives, and gradients of each member of a vmap inside jit", () => {
  const loss = (k: Tensor) => odeSolve((_, y: Tensor) => y.mul(k), f64(1.5), [0, 0.5, 2], tight).y.sum() as Tensor;
  near(hessian(loss)(f64(-0.7)), [1.5 * (0.25 * Math.exp(-0.35) + 4 * Math.exp(-1.4))], 1e-7);
  const rates = [-0.7, -3, 0.5];
  near(
    jit(vmap(grad(loss)))(f64(rates)),
    rates.map((k) => 1.5 * (0.5 * Math.exp(0.5 * k) + 2 * Math.exp(2 * k))),
    1e-7,
  );
});

test("a system with time in it and captured tensors: the gradient is that of finite differences", () => {
  const solved = (p: Tensor, how: object) => {
    const f = (t: Tensor, y: Tensor) => {
      const [x, v] = [y.at(0), y.at(1)];
      return stack([
        v,
        t
          .mul(p.at(0))
          .cos()
          .sub(x.sin().mul(p.at(1).exp()))
          .sub(v.mul(p.at(2))),
      ]);
    };
    return odeSolve(f, p.at("3:"), [0, 0.5, 3, 4], how).y.square().sum() as Tensor;
  };
  const point = [2, 0.3, 0.1, 0.5, -0.2];
  for (const how of [tight, { method: "rodas5p", ...tight }, { method: "rk4", steps: 60 }]) {
    const found = numbersOf(grad((p: Tensor) => solved(p, how))(f64(point)));
    const loss = jit((p: Tensor) => solved(p, how));
    point.forEach((_, i) => {
      const at = (by: number) => numbersOf(loss(f64(point.with(i, point[i]! + by))))[0]!;
      const wanted = (at(1e-4) - at(-1e-4)) / 2e-4;
      assert.ok(
        Math.abs(found[i]! - wanted) < 1e-5 * Math.max(1, Math.abs(wanted)),
        `${i}: ${found[i]}, not ${wanted}`,
      );
    });
  }
});

test("no gradient comes from states that were not reached", () => {
  const loss = (y0: Tensor) => odeSolve((_, y: Tensor) => y.square(), y0, [0, 0.5, 2]).y.at(1) as Tensor;
  assert.ok(Number.isNaN(numbersOf(grad(loss)(f64(1)))[0]));
});

describeOnTensorDevices("gradients in f32", (device) => {
  test("of a logistic growth", () => {
    const like = { dtype: "f32", device } as const;
    const loss = (r: Tensor) =>
      odeSolve((_, y: Tensor) => y.mul(r).mul(y.neg().add(1)), tensor(0.1, like), [0, 1, 2]).y.at(2) as Tensor;
    const share = 9 * Math.exp(-2 * 1.5);
    near(grad(loss)(tensor(1.5, like)), [(2 * share) / (1 + share) ** 2], 1e-4);
  });
});
