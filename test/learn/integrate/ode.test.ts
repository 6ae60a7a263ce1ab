/** Differential equations against closed forms, SciPy's tightest solutions, and the orders that the methods claim. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { jit, type Tensor, tensor, vmap } from "../../../src/index.js";
import { integrate } from "../../../src/learn/index.js";
import type { OdeMethod } from "../../../src/learn/integrate/ode.js";
import { describeOnTensorDevices, f64, numbersOf } from "../../support/tensors.js";

interface Case {
  readonly y0: number[];
  readonly times: number[];
  readonly y: number[][];
}

const cases: Record<"lotkaVolterra" | "forced" | "vanDerPol" | "robertson", Case> = JSON.parse(
  readFileSync(resolve("test/learn/integrate/integrate-cases.json"), "utf8"),
);
const { odeSolve } = integrate;
const tight = { rtol: 1e-10, atol: 1e-12 };

const hares = (_: Tensor, { u, v }: { u: Tensor; v: Tensor }) => ({
  u: u.mul(v.mul(-0.028).add(0.55)),
  v: v.mul(u.mul(0.024).sub(0.8)),
});

const near = (got: Tensor, want: readonly number[], relative: number, absolute = 0) => {
  const values = numbersOf(got);
  assert.equal(values.length, want.length);
  want.forEach((each, i) => {
    assert.ok(Math.abs(values[i]! - each) <= absolute + relative * Math.abs(each), `${i}: ${values[i]}, not ${each}`);
  });
};

const column = ({ y }: Case, i: number): number[] => y.map((row) => row[i]!);

test("every method that controls its errors meets SciPy's solution of hares and lynxes, as a tree", () => {
  const { y0, times } = cases.lotkaVolterra;
  const start = { u: f64(y0[0]!), v: f64(y0[1]!) };
  for (const method of ["dopri5", "tsit5", "dopri8", "rodas5p"] as const) {
    const solution = odeSolve(hares, start, times, { method, ...tight });
    near(solution.y.u, column(cases.lotkaVolterra, 0), 3e-8);
    near(solution.y.v, column(cases.lotkaVolterra, 1), 3e-8);
    assert.deepEqual(numbersOf(solution.status), [0]);
  }
  const coarse = odeSolve(hares, start, times, { method: "bosh3", rtol: 1e-7, atol: 1e-9 });
  near(coarse.y.u, column(cases.lotkaVolterra, 0), 1e-5);
});

test("time in the equation: a forced pendulum with dopri8 and rodas5p", () => {
  const { y0, times } = cases.forced;
  const f = (t: Tensor, { x, v }: { x: Tensor; v: Tensor }) => ({
    x: v,
    v: t.mul(2).cos().sub(x.sin()).sub(v.mul(0.1)),
  });
  for (const method of ["dopri8", "rodas5p"] as const) {
    const { y } = odeSolve(f, { x: f64(y0[0]!), v: f64(y0[1]!) }, times, { method, ...tight });
    near(y.x, column(cases.forced, 0), 0, 2e-8);
    near(y.v, column(cases.forced, 1), 0, 2e-8);
  }
});

test("rodas5p solves stiff systems: van der Pol's with 1000, and Robertson's over ten decades of time", () => {
  const oscillator = (_: Tensor, { x, v }: { x: Tensor; v: Tensor }) => ({
    x: v,
    v: x.square().neg().add(1).mul(v).mul(1000).sub(x),
  });
  const pol = odeSolve(oscillator, { x: f64(2), v: f64(0) }, cases.vanDerPol.times, {
    method: "rodas5p",
    rtol: 1e-7,
    atol: 1e-9,
  });
  near(pol.y.x, column(cases.vanDerPol, 0), 1e-5);
  const kinetics = (_: Tensor, { a, b, c }: { a: Tensor; b: Tensor; c: Tensor }) => {
    const [slow, back, fast] = [a.mul(0.04), b.mul(c).mul(1e4), b.square().mul(3e7)];
    return { a: back.sub(slow), b: slow.sub(back).sub(fast), c: fast };
  };
  const { y, steps } = odeSolve(kinetics, { a: f64(1), b: f64(0), c: f64(0) }, cases.robertson.times, {
    method: "rodas5p",
    rtol: 1e-8,
    atol: 1e-14,
  });
  near(y.a, column(cases.robertson, 0), 1e-5);
  near(y.b, column(cases.robertson, 1), 1e-5);
  near(y.c, column(cases.robertson, 2), 1e-5);
  assert.ok(numbersOf(steps)[0]! < 1000, "an explicit method takes millions");
});

test("errors of fixed steps shrink with the order of the method", () => {
  // y′ = y·cos t has the solution exp(sin t).
  const f = (t: Tensor, y: Tensor) => y.mul(t.cos());
  const errorOf = (method: OdeMethod, steps: number) =>
    Math.abs(numbersOf(odeSolve(f, f64(1), [0, 1, 2], { method, steps }).y)[2]! - Math.exp(Math.sin(2)));
  for (const [method, order, steps] of [
    ["rk4", 4, 8],
    ["bosh3", 3, 8],
    ["dopri5", 5, 4],
    ["tsit5", 5, 4],
    ["dopri8", 8, 1],
    ["rodas5p", 5, 8],
  ] as const) {
    const found = Math.log2(errorOf(method, steps) / errorOf(method, 2 * steps));
    assert.ok(found > order - 0.6 && found < order + 1.6, `${method}: order ${found}`);
  }
});

test("states between steps are as good as at their ends, and times may fall", () => {
  const times = Array.from({ length: 41 }, (_, i) => i / 10);
  for (const method of ["dopri5", "tsit5", "dopri8", "rodas5p"] as const) {
    const { y, steps } = odeSolve((_, y: Tensor) => y.neg(), f64(1), times, { method, rtol: 1e-8, atol: 1e-10 });
    near(
      y,
      times.map((t) => Math.exp(-t)),
      0,
      1e-7,
    );
    assert.ok(numbersOf(steps)[0]! < 80);
  }
  const fallen = odeSolve((t, y: Tensor) => y.mul(t.cos()), f64(Math.exp(Math.sin(2))), [2, 1, 0.5, 0], tight);
  near(
    fallen.y,
    [2, 1, 0.5, 0].map((t) => Math.exp(Math.sin(t))),
    1e-9,
  );
});

test("members of a vmap take steps of their own, inside jit", () => {
  const grown = jit((rates: Tensor, start: Tensor) =>
    vmap((rate: Tensor) => odeSolve((_, y: Tensor) => y.mul(rate).mul(y.neg().add(1)), start, [0, 1, 4], tight))(rates),
  );
  const rates = [0.3, 2, -5];
  const { y, steps, status } = grown(f64(rates), f64(0.1));
  near(
    y,
    rates.flatMap((r) => [0, 1, 4].map((t) => 1 / (1 + 9 * Math.exp(-r * t)))),
    1e-8,
    1e-11,
  );
  assert.deepEqual(numbersOf(status), [0, 0, 0]);
  assert.equal(new Set(numbersOf(steps)).size, 3);
});

test("what cannot be solved is NaN from there on, has a status, and check says why", async () => {
  const blown = odeSolve((_, y: Tensor) => y.square(), f64(1), [0, 0.5, 2]);
  const values = numbersOf(blown.y);
  assert.ok(Math.abs(values[1]! - 2) < 1e-5 && Number.isNaN(values[2]));
  assert.deepEqual(numbersOf(blown.status), [2]);
  await assert.rejects(integrate.check(blown), /odeSolve: the solution needs steps shorter than the rounding/);
  const undefinedThere = odeSolve((_, y: Tensor) => y.log(), f64(-1), [0, 1]);
  await assert.rejects(integrate.check(undefinedThere), /became NaN or infinite/);
  const short = vmap((y0: Tensor) =>
    odeSolve((_, y: Tensor) => y.mul(y).neg(), y0, [0, 1], { maxSteps: 12, ...tight }),
  )(f64([0, 1]));
  assert.deepEqual(numbersOf(short.status), [0, 1]);
  await assert.rejects(integrate.check(short), /of member 1 did not reach the last time within maxSteps/);
  const good = odeSolve((_, y: Tensor) => y.neg(), f64(1), [0, 1], { firstStep: 0.01 });
  assert.equal(await integrate.check(good), good);
});

test("a step no longer than maxStep does not pass over a short pulse", () => {
  const pulse = (t: Tensor) => t.sub(100).square().mul(-10).exp() as Tensor;
  for (const method of ["dopri5", "rodas5p"] as const) {
    const { y } = odeSolve((t, _: Tensor) => pulse(t), f64(0), [0, 200], { method, maxStep: 0.5 });
    near(y.at(-1) as Tensor, [Math.sqrt(Math.PI / 10)], 1e-5);
  }
});

test("times of a tensor that lie beyond its last one are not reached", () => {
  const { y } = odeSolve((_, y: Tensor) => y.neg(), f64(1), f64([0, 2, 1]));
  assert.ok(Number.isNaN(numbersOf(y)[1]));
  near(y.at(2) as Tensor, [Math.exp(-1)], 1e-6);
});

test("misuse is refused by name", () => {
  const f = (_: Tensor, y: Tensor) => y;
  assert.throws(() => odeSolve(f, f64(1), [0, 2, 1]), /the times rise from 0 to 1, and 1 at position 2 comes after 2/);
  assert.throws(() => odeSolve(f, f64(1), [1, 2, 0]), /the times fall from 1 to 0, and 2 at position 1 comes after 1/);
  assert.throws(() => odeSolve(f, f64(1), [0, Number.NaN, 1]), /the times rise .* position 1/);
  assert.throws(() => odeSolve(f, tensor(1), [1e9, 1e9 + 1]), /are one number in f32; count from the first/);
  assert.throws(() => odeSolve(f, f64(1), [0, 1], { maxStep: 0 }), /maxStep is 0; it is a positive number/);
  assert.throws(() => odeSolve(f, f64(1), [0]), /times of shape \[1\]/);
  assert.throws(() => odeSolve(f, f64(1), [0, 1], { method: "rk4" }), /rk4 has no estimate of its error.*steps: 20/);
  assert.throws(() => odeSolve(f, f64(1), [0, 1], { method: "euler" as OdeMethod }), /the option method is "euler"/);
  assert.throws(() => odeSolve(f, f64(1), [0, 1], { rtol: -1 }), /rtol is -1/);
  assert.throws(() => odeSolve(() => f64([1, 2]), f64(1), [0, 1]), /the state has 1 numbers and the function gives 2/);
  assert.throws(() => odeSolve(f, tensor([1], { dtype: "i32" }), [0, 1]), /it must be a float/);
});

describeOnTensorDevices("equations in f32", (device) => {
  test("hares and lynxes to the digits of f32", () => {
    const like = { dtype: "f32", device } as const;
    const { y0, times } = cases.lotkaVolterra;
    const start = { u: tensor(y0[0]!, like), v: tensor(y0[1]!, like) };
    for (const method of ["dopri5", "rodas5p"] as const) {
      const { y } = odeSolve(hares, start, times, { method });
      near(y.u, column(cases.lotkaVolterra, 0), 5e-4);
      assert.equal(y.u.dtype, "f32");
    }
  });
});
