/** Functions on grids against SciPy's, and Bézier curves by their laws. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { grad, jit, type Nested, type Tensor, tensor, vmap } from "../../../src/index.js";
import { interpolate } from "../../../src/learn/index.js";
import { describeOnTensorDevices, f64, numbersOf } from "../../support/tensors.js";
import { near } from "./cases.js";

const { bernstein, bezier, bezierSpline, cubicSpline, grid } = interpolate;

interface GridCase {
  readonly axes: number[][];
  readonly values: Nested<number>;
  readonly at: number[][];
  readonly linear: number[];
  readonly nearest: number[];
}

const cases: GridCase[] = JSON.parse(readFileSync(resolve("test/learn/interpolate/grid-cases.json"), "utf8"));

test("lines and nearest points on grids of one to three axes are SciPy's, outside too", () => {
  for (const { axes, values, at, linear, nearest } of cases) {
    const places = axes.map((axis) => f64(axis));
    near(grid(places, f64(values)).evaluate(at), linear, 1e-14);
    near(grid(places, f64(values), { method: "nearest" }).evaluate(at), nearest, 0);
  }
});

test("rules for places outside hold along each axis", () => {
  const [axes, values] = [
    [f64([0, 1]), f64([0, 2])],
    f64([
      [1, 2],
      [3, 5],
    ]),
  ];
  const at = [
    [0.5, 1],
    [-1, 1],
    [2, 3],
    [0.5, Number.NaN],
  ];
  const made = (outOfBounds: interpolate.OutOfBounds) => grid(axes, values, { outOfBounds }).evaluate(at);
  near(made("extrapolate"), [2.75, -1, 9.5, Number.NaN], 1e-15);
  near(made("nan"), [2.75, Number.NaN, Number.NaN, Number.NaN], 1e-15);
  near(made("zero"), [2.75, 0, 0, Number.NaN], 1e-15);
  near(made("clip"), [2.75, 1.5, 5, Number.NaN], 1e-15);
  near(made("periodic"), [2.75, 1.5, 1.5, Number.NaN], 1e-15);
});

test("a grid is a tree with gradients by its values and places", () => {
  const { axes, values, at: all } = cases[1]!;
  // The first two lie on lines of the grid, where there is no derivative.
  const at = all.slice(2);
  const surface = grid(
    axes.map((axis) => f64(axis)),
    f64(values),
  );
  const value = (own: typeof surface, at: Tensor): Tensor => own.evaluate(at).square().sum() as Tensor;
  const [byGrid, byPlace] = jit(grad(value, { argument: [0, 1] }))(surface, f64(at)) as unknown as [
    typeof surface,
    Tensor,
  ];
  const moved = (of: Tensor, by: (moved: Tensor) => Tensor, got: Tensor) => {
    const flat = numbersOf(of);
    for (const i of [0, 1, flat.length - 1]) {
      const at = (step: number) => numbersOf(by(f64(flat.with(i, flat[i]! + step)).reshape(of.shape) as Tensor))[0]!;
      const want = (at(1e-6) - at(-1e-6)) / 2e-6;
      assert.ok(Math.abs(numbersOf(got)[i]! - want) < 1e-6 * Math.max(1, Math.abs(want)), `${i}: ${want}`);
    }
  };
  moved(surface.values, (own) => value(grid(surface.axes, own), f64(at)), byGrid.values);
  moved(f64(at), (places) => value(surface, places), byPlace);
  moved(
    surface.axes[0]!,
    (own) => value(grid([own, ...surface.axes.slice(1)], surface.values), f64(at)),
    byGrid.axes[0]!,
  );
});

test("a Bézier curve is the sum of its points by Bernstein's polynomials, and its derivative is the limit of differences", () => {
  const controls = [
    [0, 0],
    [1, 3],
    [2, -1],
    [4, 0.5],
    [3, 3],
  ];
  const times = [0, 0.2, 0.5, 1, 1.3];
  const choose = [1, 4, 6, 4, 1];
  const weights = times.map((t) => choose.map((c, k) => c * t ** k * (1 - t) ** (4 - k)));
  near(bernstein(4, f64(times)), weights.flat(), 1e-14);
  const curve = bezier(f64(controls));
  const want = weights.flatMap((row) => [0, 1].map((d) => row.reduce((sum, w, k) => sum + w * controls[k]![d]!, 0)));
  near(curve.evaluate(times), want, 1e-14);
  const slope = curve
    .evaluate(times.map((t) => t + 1e-6))
    .sub(curve.evaluate(times.map((t) => t - 1e-6)))
    .div(2e-6);
  near(curve.derivative().evaluate(times), numbersOf(slope as Tensor), 1e-8);
  near(bezier(f64([[2, 1]])).evaluate([0, 0.5]), [2, 1, 2, 1], 0);
  near(
    bezier(f64([[2, 1]]))
      .derivative()
      .evaluate(0.5),
    [0, 0],
    0,
  );
});

test("cubic Bézier pieces go through their points as the natural or periodic spline of each coordinate", () => {
  const points = [
    [0, 0],
    [1, 2],
    [3, 1],
    [2, -1],
  ];
  const times = [0, 0.4, 1, 1.5, 2.9];
  const open = bezierSpline(f64(points));
  assert.deepEqual(open.controls.shape, [4, 3, 2]);
  near(open.evaluate([0, 1, 2, 3]), points.flat(), 1e-15);
  near(
    open.evaluate(times),
    numbersOf(cubicSpline(f64([0, 1, 2, 3]), f64(points), { ends: "natural" }).evaluate(times)),
    1e-14,
  );
  near(open.derivative().derivative().evaluate([0, 3]), [0, 0, 0, 0], 1e-13);
  const closed = bezierSpline(f64(points), { closed: true });
  near(closed.evaluate([3, 4]), [2, -1, 0, 0], 1e-14);
  near(closed.derivative().evaluate(4), numbersOf(closed.derivative().evaluate(0)), 1e-14);
  const curves = vmap((points: Tensor) => bezierSpline(points))(f64([points, points.toReversed()]));
  near(vmap((curve: typeof curves) => curve.evaluate(1))(curves), [1, 2, 3, 1], 1e-14);
  assert.equal(String(closed), "Bézier curve of degree 3, 4 pieces, points of shape [2]");
});

test("misuse is refused by name", () => {
  const [axes, values] = [
    [f64([0, 1]), f64([0, 2])],
    f64([
      [1, 2],
      [3, 5],
    ]),
  ];
  assert.throws(() => grid(axes, f64([1, 2, 3])), /places of shape \[2\] along axis 0 of values of shape \[3\]/);
  assert.throws(
    () =>
      grid(
        [
          [1, 0],
          [0, 1],
        ],
        [
          [1, 2],
          [3, 4],
        ],
      ),
    /the places of axis 0 rise/,
  );
  assert.throws(() => grid([], values), /the axes are/);
  assert.throws(() => grid(axes, values).evaluate([1, 2, 3]), /points of shape \[3\] on a grid of 2 axes/);
  assert.throws(() => bezierSpline([[1, 2]]), /points of shape \[1,2\]|points of shape \[1, 2\]/);
  assert.throws(() => bernstein(-1, [0]), /the degree is a whole number from 0 on/);
});

describeOnTensorDevices("grids and Bézier curves in f32", (device) => {
  test("have the digits of f32", () => {
    const on = (values: Nested<number>): Tensor => tensor(values, { device, dtype: "f32" }) as Tensor;
    const { axes, values, at, linear, nearest } = cases[2]!;
    const places = axes.map((axis) => on(axis));
    near(grid(places, on(values)).evaluate(at), linear, 1e-5);
    near(grid(places, on(values), { method: "nearest" }).evaluate(at), nearest, 1e-6);
    near(
      bezierSpline(
        on([
          [0, 0],
          [1, 2],
          [3, 1],
        ]),
      ).evaluate(1.5),
      numbersOf(
        bezierSpline(
          f64([
            [0, 0],
            [1, 2],
            [3, 1],
          ]),
        ).evaluate(1.5),
      ),
      1e-6,
    );
  });
});
