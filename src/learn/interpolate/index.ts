/** Curves and surfaces through points: `import { interpolate } from "pumice/learn"`. They are trees of tensors with derivatives. */
export { type BezierCurve, type BezierSplineOptions, bernstein, bezier, bezierSpline } from "./bezier.js";
export { type CubicSplineOptions, cubicSpline, type EndRule } from "./cubic-spline.js";
export { type GridFunction, type GridOptions, grid } from "./grid.js";
export { akima, hermite, linear, pchip } from "./local-slopes.js";
export type { OutOfBounds } from "./outside.js";
export type { PieceOptions, PiecewisePolynomial } from "./piecewise-polynomial.js";
export type { Numbers } from "./points.js";
export { type StepFunction, type StepOptions, type StepSide, steps } from "./steps.js";
