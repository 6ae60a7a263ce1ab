/** Curves through points against SciPy's, and laws that they keep. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { grad, jit, type Tensor, tensor, tree, vmap } from "../../../src/index.js";
import { interpolate } from "../../../src/learn/index.js";
import { describeOnTensorDevices, devicesWithDoubles, f64, numbersOf } from "../../support/tensors.js";
import { curveOf, known, near } from "./cases.js";

const { akima, cubicSpline, hermite, linear, pchip, steps } = interpolate;

for (const device of devicesWithDoubles()) {
  const on = (values: number[] | number[][]): Tensor => tensor(values, { device, dtype: "f64" });

  test(`curves, their derivatives and integrals are SciPy's to 1e-12, for two curves at once, ${device}`, () => {
    for (const { x, y, closed, at, curves } of device === "cpu" ? known.curves : known.curves.slice(-1)) {
      const places = on(at);
      const get = jit((x: Tensor, y: Tensor, closed: Tensor, at: Tensor) =>
        curves.map(({ name }) => {
          const made = curveOf(name, x, y, closed);
          const [value, first, second] = [made, made.derivative(), made.derivative(2)].map((each) => each.evaluate(at));
          return { value, first, second, integral: made.integral(at.at(":-1"), at.at("1:")) };
        }),
      );
      get(on(x), on(y), on(closed), places).forEach((found, i) => {
        const { name, ...want } = curves[i]!;
        for (const part of ["value", "first", "second", "integral"] as const) {
          near(found[part] as Tensor, want[part], 2e-13, `${x.length} points, ${name}, ${part}`);
        }
      });
    }
  });
}

test("plateaus, peaks and steep ends: every branch of pchip and akima is SciPy's", () => {
  const { x, y, at, curves } = known.flat;
  for (const { name, value, first, integral } of curves) {
    const made = curveOf(name, f64(x), f64(y), f64(y));
    near(made.evaluate(f64(at)), value, 1e-13, name);
    near(made.derivative().evaluate(at), first, 1e-12, name);
    near(made.integral(f64(at.slice(0, -1)), at.slice(1)), integral, 1e-12, name);
  }
});

test("steps are SciPy's, and NaN where there is no place", () => {
  for (const { x, y, at, steps: want } of known.curves) {
    for (const side of ["nearest", "previous", "next"] as const) {
      near(steps(f64(x), f64(y), { side }).evaluate(at), want[side], 0, side);
    }
  }
  const halves = steps(f64([0, 1, 2]), f64([5, 6, 7]), { outOfBounds: "nan" });
  near(halves.evaluate([0.5, 0.51, 1.5, -0.1, Number.NaN]), [5, 6, 6, Number.NaN, Number.NaN], 0);
  near(steps(f64([0, 1, 2]), f64([5, 6, 5]), { outOfBounds: "periodic" }).evaluate([3, 2.2, -1]), [6, 5, 6], 0);
  near(
    grad((y: Tensor) =>
      steps(f64([0, 1, 2]), y)
        .evaluate([0.2, 0.9, 1.1])
        .sum(),
    )(f64([1, 2, 3])),
    [1, 2, 0],
    0,
  );
});

test("a cubic polynomial is its own not-a-knot spline, at uneven places and far outside", () => {
  const cubic = (x: number) => 2 - x + 0.5 * x ** 2 - 0.25 * x ** 3;
  const x = [-2, -1.9, 0.3, 0.4, 3, 3.001, 5];
  const spline = cubicSpline(f64(x), f64(x.map(cubic)));
  near(spline.evaluate([-4, -1, 3.0005, 8]), [-4, -1, 3.0005, 8].map(cubic), 1e-11);
  const slopes = x.map((x) => -1 + x - 0.75 * x ** 2);
  near(hermite(f64(x), f64(x.map(cubic)), slopes).evaluate([-4, 8]), [-4, 8].map(cubic), 1e-11);
});

test("a spline of 3000 points joins smoothly, with one knot far from the others", () => {
  const x = Array.from({ length: 3000 }, (_, i) => (i === 2999 ? 1e4 : i + 0.9 * Math.sin(i)));
  const y = x.map((x) => Math.sin(x) + (x > 1e3 ? 1 : 0));
  const spline = cubicSpline(f64(x), f64(y));
  const [cubic, square, line, first] = [0, 1, 2, 3].map((power) => numbersOf(spline.coefficients.at(power) as Tensor));
  for (let i = 0; i + 1 < cubic!.length; i++) {
    const h = x[i + 1]! - x[i]!;
    const ends = {
      value: [first![i]! + h * (line![i]! + h * (square![i]! + h * cubic![i]!)), first![i + 1]!],
      slope: [line![i]! + h * (2 * square![i]! + 3 * h * cubic![i]!), line![i + 1]!],
      curvature: [2 * square![i]! + 6 * h * cubic![i]!, 2 * square![i + 1]!],
    };
    for (const [what, [before, after]] of Object.entries(ends)) {
      assert.ok(Math.abs(before! - after!) < 1e-9 * (1 + Math.abs(after!)), `${what} at ${i}: ${before} and ${after}`);
    }
  }
  assert.ok(Math.abs(cubic![0]! - cubic![1]!) < 1e-11, "not-a-knot at the first end");
});

test("rules for places outside hold for values, derivatives and integrals", () => {
  const [x, y] = [f64([0, 1, 3]), f64([1, 3, -1])];
  const out = [-1, 0, 3, 4.5, Number.NaN];
  const made = (outOfBounds: interpolate.OutOfBounds) => linear(x, y, { outOfBounds });
  near(made("extrapolate").evaluate(out), [-1, 1, -1, -4, Number.NaN], 1e-15);
  near(made("nan").evaluate(out), [Number.NaN, 1, -1, Number.NaN, Number.NaN], 1e-15);
  near(made("zero").evaluate(out), [0, 1, -1, 0, Number.NaN], 1e-15);
  near(made("clip").evaluate(out), [1, 1, -1, -1, Number.NaN], 1e-15);
  near(made("periodic").evaluate([-1, 3, 4.5, 302]), [1, -1, 2, 1], 1e-13);
  near(made("clip").derivative().evaluate([-1, 0.5, 2, 4]), [0, 2, -2, 0], 1e-15);
  // The whole range has the area 2 + 2.
  near(made("extrapolate").integral(-1, [0, 3, 4]), [0, 4, 2], 1e-14);
  near(made("zero").integral(-1, [0, 3, 4]), [0, 4, 4], 1e-14);
  near(made("clip").integral(-1, [-2, 0, 3, 4]), [-1, 1, 5, 4], 1e-14);
  near(made("periodic").integral(-3, [0, 3, 300, 3.5]), [4, 8, 404, 8.75], 1e-12);
  near(made("nan").integral(0, [3, 3.1]), [4, Number.NaN], 1e-14);
});

test("gradients by places, values and knots are those of finite differences", () => {
  const at = f64([0.2, 1.3, 2.9, 4.2]);
  const x = f64([0, 1, 1.6, 3, 4]);
  const y = f64([1, -2, 0.5, 3, 2.5]);
  const curves = {
    spline: (x: Tensor, y: Tensor) => cubicSpline(x, y),
    periodic: (x: Tensor, y: Tensor) => cubicSpline(x, y, { ends: "periodic" }),
    pchip,
    akima,
  };
  for (const [name, curve] of Object.entries(curves)) {
    const f = (x: Tensor, y: Tensor, at: Tensor) => curve(x, y).evaluate(at).square().sum() as Tensor;
    const found = grad(f, { argument: [0, 1, 2] })(x, y, at) as readonly Tensor[];
    [x, y, at].forEach((given, k) => {
      const values = numbersOf(given);
      const moved = (by: number) => {
        const each = f64(values.map((value, i) => values.with(i, value + by)));
        return vmap((one: Tensor) => f(...([x, y, at].with(k, one) as [Tensor, Tensor, Tensor])))(each);
      };
      const want = numbersOf(moved(1e-6).sub(moved(-1e-6)).div(2e-6) as Tensor);
      near(found[k]!, want, 1e-7, `${name}, argument ${k}`);
    });
  }
});

test("a curve is a tree: vmap makes many and evaluates each, jit takes one", () => {
  const { x, y, at } = known.curves[3]!;
  const each = f64(y).T as Tensor;
  const splines = vmap((y: Tensor) => cubicSpline(f64(x), y))(each);
  assert.equal(tree.leaves(splines).length, 2);
  const values = vmap((spline: typeof splines) => spline.evaluate(at))(splines);
  near(values.T as Tensor, numbersOf(cubicSpline(f64(x), f64(y)).evaluate(at)), 1e-14);
  const spline = cubicSpline(f64(x), f64(y), { outOfBounds: "clip" });
  const inside = jit((curve: typeof spline, at: Tensor) => curve.derivative().evaluate(at))(spline, f64(at));
  near(inside, numbersOf(spline.derivative().evaluate(at)), 1e-14);
  assert.equal(String(spline), "piecewise polynomial of degree 3, 9 knots, values of shape [2]");
  assert.deepEqual(spline.evaluate(f64([at, at])).shape, [2, at.length, 2]);
});

test("misuse is refused by name", () => {
  const [x, y] = [f64([0, 1, 2]), f64([1, 2, 4])];
  assert.throws(() => cubicSpline([0, 2, 1], [1, 2, 3]), /the places rise, and 1 at position 2 is not above 2/);
  assert.throws(() => linear([1e9, 1e9 + 1], [0, 1]), /1000000000 and 1000000001 are one number in f32/);
  assert.equal(numbersOf(linear(f64([1e9, 1e9 + 1]), [0, 1]).evaluate(1e9 + 0.5))[0], 0.5);
  assert.throws(() => cubicSpline([0, 1], [1, 2, 3]), /places of shape \[2\] and values of shape \[3\]/);
  assert.throws(() => cubicSpline([0], [1]), /1 points; it takes 2 or more/);
  assert.throws(() => cubicSpline([0, 1, 2], [1, 2, 3], { ends: "periodic" }), /the first value is 1 and the last 3/);
  assert.throws(() => cubicSpline(x, y, { ends: "loose" as "natural" }), /the rule at an end is "loose"/);
  assert.throws(() => cubicSpline(x, y, { ends: ["natural"] as never }), /1 rules for the ends/);
  assert.throws(() => cubicSpline(x, y, { ends: { slope: [1, 2] } }), /of shape \[2\] at an end/);
  assert.throws(() => pchip(x, y, { outOfBounds: "wrap" as "nan" }), /outOfBounds is "wrap"/);
  assert.throws(() => hermite(x, y, [1, 2]), /slopes of shape \[2\] for values of shape \[3\]/);
  assert.throws(() => linear("a" as never, y), /the places are "a"/);
  assert.throws(() => cubicSpline(x, y).derivative(0), /the order is a whole number from 1 on/);
});

describeOnTensorDevices("curves in f32", (device) => {
  test("have the digits of f32", () => {
    const { x, y, closed, at, curves } = known.curves[3]!;
    const on = (values: number[] | number[][]): Tensor => tensor(values, { device, dtype: "f32" });
    for (const { name, value, first } of curves) {
      const made = curveOf(name, on(x), on(y), on(closed));
      near(made.evaluate(at), value, 2e-5, name);
      near(made.derivative().evaluate(at), first, 1e-4, name);
    }
  });
});
