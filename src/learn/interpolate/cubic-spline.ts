/**
 * Cubic splines: cubic polynomials between points whose first and second derivatives are continuous. Unknown are the slopes at the points;
 * that second derivatives agree makes them solve a tridiagonal system, as in SciPy.
 */
import { checkChoice, checkOptions } from "../../core/arguments.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { concat, type Tensor } from "../../tensor/index.js";
import { solvedTridiagonal } from "./cyclic-reduction.js";
import { OUT_OF_BOUNDS } from "./outside.js";
import { hermitePieces, type PieceOptions, type PiecewisePolynomial } from "./piecewise-polynomial.js";
import { floatsOf, type Numbers, pointsOf, rises } from "./points.js";

/**
 * The rule at an end. "not-a-knot": the last two pieces are one polynomial. "natural": no second derivative. "clamped": no slope. Or a given
 * slope, or second derivative: a number, or numbers of the shape of one value.
 */
export type EndRule =
  | "not-a-knot"
  | "natural"
  | "clamped"
  | { readonly slope: Numbers }
  | { readonly curvature: Numbers };

/** Options of `cubicSpline`. */
export interface CubicSplineOptions extends PieceOptions {
  /** At both ends, or a list of two: "not-a-knot" unless told. "periodic": the last value is the first, and the ends join smoothly. */
  readonly ends?: EndRule | "periodic" | readonly [EndRule, EndRule];
}

/** The cubic spline through points: `cubicSpline(x, y).evaluate(at)`. x rises; y is [n], or [n, …] for several curves. */
export function cubicSpline(x: Numbers, y: Numbers, options: CubicSplineOptions = {}): PiecewisePolynomial {
  const operation = "interpolate.cubicSpline";
  checkOptions(operation, options, { outOfBounds: "text", ends: "any" });
  checkChoice(operation, "the option outOfBounds", options.outOfBounds, OUT_OF_BOUNDS);
  const { ends = "not-a-knot" } = options;
  const points = pointsOf(operation, x, y, 2);
  if (ends !== "periodic") {
    const rules = Array.isArray(ends) ? (ends as readonly EndRule[]) : [ends as EndRule, ends as EndRule];
    if (rules.length !== 2)
      throw new ArgumentError(`${operation}: ${rules.length} rules for the ends; there are two ends.`);
    for (const rule of rules) checkRule(operation, rule);
    return hermitePieces(
      points.x,
      points.y,
      openSlopes(points.x, points.y, rules),
      options.outOfBounds ?? "extrapolate",
    );
  }
  if (Array.isArray(y)) checkClosed(operation, y);
  return hermitePieces(points.x, points.y, periodicSlopes(points.x, points.y), options.outOfBounds ?? "periodic");
}

function checkRule(operation: string, rule: EndRule): void {
  if (typeof rule === "object" && rule !== null && ("slope" in rule || "curvature" in rule)) return;
  checkChoice(operation, "the rule at an end", rule ?? null, ["not-a-knot", "natural", "clamped"]);
}

function checkClosed(operation: string, y: readonly unknown[]): void {
  const [first, last] = [y[0], y[y.length - 1]];
  if (JSON.stringify(first) === JSON.stringify(last)) return;
  throw new ArgumentError(
    `${operation}: the first value is ${shown(first)} and the last ${shown(last)}; in a period the last point is the first again.`,
  );
}

/** Equations of the slopes at points between two pieces, from the widths and rises of these. */
const joints = (width0: Tensor, width1: Tensor, rise0: Tensor, rise1: Tensor) => ({
  before: width1,
  at: width0.add(width1).mul(2) as Tensor,
  after: width0,
  right: width1.mul(rise0).add(width0.mul(rise1)).mul(3) as Tensor,
});

function periodicSlopes(x: Tensor, y: Tensor): Tensor {
  const { width, rise } = rises(x, y);
  const previous = (of: Tensor): Tensor => of.roll(1, { axis: 0 }) as Tensor;
  const slopes = solvedTridiagonal(joints(previous(width), width, previous(rise), rise), true);
  return concat([slopes, slopes.at(":1")], { axis: 0 }) as Tensor;
}

/** The slope at an end as `right` − `share` · the slope at its neighbour. All are [1, …]. */
interface EndEquation {
  readonly right: Tensor;
  readonly share: Tensor;
}

/** `sign` is 1 at the first end and −1 at the last. Width and rise 0 are those of the outermost piece. */
function endEquation(
  rule: EndRule,
  sign: number,
  width0: Tensor,
  width1: Tensor,
  rise0: Tensor,
  rise1: Tensor,
): EndEquation {
  const given = (numbers: Numbers): Tensor => endValue(numbers, rise0);
  const none = width0.mul(0) as Tensor;
  if (rule === "clamped") return { right: rise0.mul(0) as Tensor, share: none };
  if (rule === "not-a-knot") {
    const both = width0.add(width1);
    const right = rise0
      .mul(width0.add(both.mul(2)))
      .mul(width1)
      .add(rise1.mul(width0.square()))
      .div(both.mul(width1));
    return { right: right as Tensor, share: both.div(width1) as Tensor };
  }
  if (rule !== "natural" && "slope" in rule) return { right: given(rule.slope), share: none };
  const natural = rise0.mul(1.5) as Tensor;
  const right =
    rule === "natural"
      ? natural
      : natural.sub(
          given(rule.curvature)
            .mul(width0)
            .mul(sign / 4),
        );
  return { right: right as Tensor, share: none.add(0.5) as Tensor };
}

/** A slope or second derivative at an end, [1, …] like the values. */
function endValue(numbers: Numbers, like: Tensor): Tensor {
  const value = floatsOf("interpolate.cubicSpline", "a slope or second derivative at an end", numbers, like);
  const shape = like.shape.slice(1);
  if (value.rank > 0 && value.shape.join() !== shape.join()) {
    throw new ShapeError(
      `interpolate.cubicSpline: a slope or second derivative of shape [${value.shape.join(", ")}] at an end; values have the shape ` +
        `[${shape.join(", ")}].`,
    );
  }
  return value.add(like.mul(0)) as Tensor;
}

/** With both ends as equations, the slopes between them solve a system that is tridiagonal. */
function openSlopes(x: Tensor, y: Tensor, rules: readonly EndRule[]): Tensor {
  const { width, rise } = rises(x, y);
  const count = x.size;
  if (count === 3 && rules.every((rule) => rule === "not-a-knot")) return parabolaSlopes(width, rise);
  // Two points have one piece: without a knot beside it, the rule "not-a-knot" gives the slope of the line.
  const known = count > 2 ? rules : rules.map((rule) => (rule === "not-a-knot" ? null : rule));
  const piece = (of: Tensor, at: number): Tensor => of.at(at).expandDims(0) as Tensor;
  const [left, right] = [0, -1].map((at, side) => {
    const inner = count > 2 ? (side === 0 ? 1 : -2) : at;
    const [width0, width1, rise0, rise1] = [piece(width, at), piece(width, inner), piece(rise, at), piece(rise, inner)];
    return endEquation(
      known[side] ?? { slope: rise0.at(0) as Tensor },
      side === 0 ? 1 : -1,
      width0,
      width1,
      rise0,
      rise1,
    );
  });
  if (count === 2) {
    const share = left.share.mul(right.share).neg().add(1);
    const first = left.right.sub(left.share.mul(right.right)).div(share) as Tensor;
    return concat([first, right.right.sub(right.share.mul(first))], { axis: 0 }) as Tensor;
  }
  const system = joints(
    width.at(":-1") as Tensor,
    width.at("1:") as Tensor,
    rise.at(":-1") as Tensor,
    rise.at("1:") as Tensor,
  );
  const { before, after } = system;
  // The ends are put in at the first and the last row.
  const [first, last] = [before.at(":1"), after.at("-1:")] as [Tensor, Tensor];
  const inner = solvedTridiagonal(
    {
      ...system,
      at: addedAtEnds(system.at, first.mul(left.share).neg() as Tensor, last.mul(right.share).neg() as Tensor),
      right: addedAtEnds(system.right, first.mul(left.right).neg() as Tensor, last.mul(right.right).neg() as Tensor),
    },
    false,
  );
  const start = left.right.sub(left.share.mul(inner.at(":1")));
  const end = right.right.sub(right.share.mul(inner.at("-1:")));
  return concat([start, inner, end], { axis: 0 }) as Tensor;
}

/** Rows with something added to the first and to the last. */
function addedAtEnds(rows: Tensor, first: Tensor, last: Tensor): Tensor {
  const size = rows.shape[0] as number;
  const padded = (of: Tensor, before: number, after: number): Tensor =>
    of.pad([[before, after], ...new Array<[number, number]>(of.rank - 1).fill([0, 0])]) as Tensor;
  return rows.add(padded(first, 0, size - 1)).add(padded(last, size - 1, 0)) as Tensor;
}

/** The slopes of the parabola through three points. */
function parabolaSlopes(width: Tensor, rise: Tensor): Tensor {
  const [width0, width1, rise0, rise1] = [width.at(":1"), width.at("1:"), rise.at(":1"), rise.at("1:")];
  const middle = width1.mul(rise0).add(width0.mul(rise1)).div(width0.add(width1));
  return concat([rise0.mul(2).sub(middle), middle, rise1.mul(2).sub(middle)], { axis: 0 }) as Tensor;
}
