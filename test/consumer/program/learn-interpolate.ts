/** A consumer's program: `interpolate` of `pumice/learn`. */
import { type Tensor, tensor } from "pumice";
import { interpolate } from "pumice/learn";
import type { Calls } from "./methods.js";

const x = () => tensor([0, 1, 2], { device: "cpu" });
const y = [1, 3, 2];

export const learnInterpolateCalls: Calls = {
  "interpolate.akima": () => interpolate.akima(x(), y).evaluate([0.5]),
  "interpolate.bernstein": () => interpolate.bernstein(3, x()),
  "interpolate.bezier": () => interpolate.bezier(x()).derivative().evaluate(0.5),
  "interpolate.bezierSpline": () => interpolate.bezierSpline(x(), { closed: true }).evaluate([0.5]),
  "interpolate.cubicSpline": () => interpolate.cubicSpline(x(), y, { ends: ["natural", { slope: 1 }] }).evaluate([0.5]),
  "interpolate.grid": () => interpolate.grid([x()], y, { method: "nearest" }).evaluate([[0.4]]),
  "interpolate.hermite": () => interpolate.hermite(x(), y, [0, 0, 1]).integral(0, 2),
  "interpolate.linear": (): Tensor => {
    const curve: interpolate.PiecewisePolynomial = interpolate.linear(x(), y, { outOfBounds: "clip" });
    return curve.antiderivative().evaluate([1, 2]);
  },
  "interpolate.pchip": () => interpolate.pchip(x(), y).derivative().evaluate(0.5),
  "interpolate.steps": () => interpolate.steps(x(), y, { side: "next" }).evaluate([0.5]),
};
