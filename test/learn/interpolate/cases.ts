/** SciPy's curves, and how near a tensor is to numbers. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Tensor } from "../../../src/index.js";
import { interpolate } from "../../../src/learn/index.js";
import type { PiecewisePolynomial } from "../../../src/learn/interpolate/piecewise-polynomial.js";
import { numbersOf } from "../../support/tensors.js";

/** Values, derivatives and integrals between neighbouring places. */
interface Curve {
  readonly name: string;
  readonly value: number[];
  readonly first: number[];
  readonly second: number[];
  readonly integral: number[];
}

export interface CurveCase {
  readonly x: number[];
  readonly y: number[][];
  readonly closed: number[][];
  readonly at: number[];
  readonly curves: Curve[];
  readonly steps: Record<"nearest" | "previous" | "next", number[]>;
}

export const known: { readonly curves: CurveCase[]; readonly flat: Omit<CurveCase, "closed" | "steps"> } = JSON.parse(
  readFileSync(resolve("test/learn/interpolate/interpolate-cases.json"), "utf8"),
);

/** Each number is within `by` of what is wanted, relative to the largest. */
export function near(got: Tensor, want: readonly number[], by: number, what = ""): void {
  const values = numbersOf(got);
  assert.equal(values.length, want.length, what);
  const scale = Math.max(1, ...want.filter(Number.isFinite).map(Math.abs));
  want.forEach((each, i) => {
    const isThere = Number.isNaN(each) ? Number.isNaN(values[i]) : Math.abs(values[i]! - each) <= by * scale;
    assert.ok(isThere, `${what} ${i}: ${values[i]}, not ${each}`);
  });
}

/** The curve of a case by its name. */
export function curveOf(name: string, x: Tensor, y: Tensor, closed: Tensor): PiecewisePolynomial {
  switch (name) {
    case "not-a-knot":
    case "natural":
    case "clamped":
      return interpolate.cubicSpline(x, y, { ends: name });
    case "periodic":
      return interpolate.cubicSpline(x, closed, { ends: name });
    case "given":
      return interpolate.cubicSpline(x, y, { ends: [{ slope: [0.5, -1] }, { curvature: [2, 0.25] }] });
    case "mixed":
      return interpolate.cubicSpline(x, y, { ends: ["not-a-knot", "natural"] });
    case "pchip":
    case "akima":
      return interpolate[name](x, y);
    default:
      throw new Error(`no curve ${name}`);
  }
}
