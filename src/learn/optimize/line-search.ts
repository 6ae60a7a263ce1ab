/**
 * A line search for strong Wolfe conditions: enough decrease, and a slope that is a share of the first one. It brackets and then
 * narrows by cubics through both ends (Nocedal & Wright 2006, algorithms 3.5 and 3.6), as one loop on the device in which a round is
 * one evaluation. bfgs.ts and lbfgs.ts call it.
 */
import { full, type Tensor, where } from "../../tensor/index.js";
import { whileLoop } from "../../transforms/control.js";
import { type Point, spacingOf } from "./result.js";

/** Shares: of the decrease that the slope promises, and of the slope that may be left. */
const [DECREASE, CURVATURE] = [1e-4, 0.9];
const EVALUATIONS = 30;

/** A length along the direction with the point there. */
interface Trial {
  readonly length: Tensor;
  readonly point: Point;
  readonly slope: Tensor;
}

/** The point that the search ends at. */
interface Searched {
  readonly point: Point;
  /** bool: a lower point was found. */
  readonly isLower: Tensor;
}

/** A point along the direction. Without one that fulfils the conditions: the lowest seen with enough decrease, else `from`. */
export function wolfeSearch(evaluate: (x: Tensor) => Point, from: Point, direction: Tensor): Searched {
  const slope = from.gradient.mul(direction).sum() as Tensor;
  // Values that differ by a rounding count as equal: near a minimum the gradient still tells, and values no longer do.
  const slack = from.value.abs().mul(8 * spacingOf(from.value));
  const at = (length: Tensor): Trial => {
    const point = evaluate(from.x.add(direction.mul(length)) as Tensor);
    return { length, point, slope: point.gradient.mul(direction).sum() as Tensor };
  };
  const isHigh = ({ length, point }: Trial): Tensor =>
    point.value.lessEqual(from.value.add(slack).add(slope.mul(length).mul(DECREASE))).logicalNot() as Tensor;
  const isFlat = (trial: Trial): Tensor => trial.slope.abs().lessEqual(slope.abs().mul(CURVATURE)) as Tensor;
  const one = slope.mul(0).add(1) as Tensor;
  const { device } = from.x;
  const origin: Trial = { length: one.mul(0) as Tensor, point: from, slope };
  const flag = (value: boolean): Tensor => full([], value, { device, dtype: "bool" }) as Tensor;
  const end = whileLoop(
    ({ isFound, count }) => isFound.logicalNot().logicalAnd(count.less(EVALUATIONS)) as Tensor,
    ({ low, high, isBracketed, length, count }) => {
      const trial = at(length);
      const isFine = isHigh(trial)
        .logicalOr(trial.point.value.greater(low.point.value.add(slack)))
        .logicalNot();
      const isFound = isFine.logicalAnd(isFlat(trial)) as Tensor;
      // The minimum lies behind the trial: before a bracket, where it climbs; within one, where its slope points to the other end.
      const span = where(isBracketed, high.length.sub(low.length), one);
      const turns = isFine.logicalAnd(trial.slope.mul(span).greaterEqual(0));
      const nextHigh = chosen(isFine.logicalNot() as Tensor, trial, chosen(turns as Tensor, low, high));
      const nextLow = chosen(isFine as Tensor, trial, low);
      const nextBracketed = isBracketed.logicalOr(isFine.logicalNot()).logicalOr(turns) as Tensor;
      return {
        low: nextLow,
        high: nextHigh,
        isBracketed: nextBracketed,
        isFound,
        length: where(nextBracketed, between(nextLow, nextHigh), length.mul(2)) as Tensor,
        count: count.add(1) as Tensor,
      };
    },
    {
      low: origin,
      high: origin,
      isBracketed: flag(false),
      isFound: flag(false),
      length: one,
      count: full([], 0, { device, dtype: "i32" }) as Tensor,
    },
  );
  const { point } = end.low;
  const isFlatter = point.gradient.square().sum().less(from.gradient.square().sum());
  const isLower = point.value
    .less(from.value)
    .logicalOr(point.value.lessEqual(from.value.add(slack)).logicalAnd(isFlatter));
  return { point, isLower: isLower.logicalAnd(end.low.length.greater(0)) as Tensor };
}

const chosen = (isFirst: Tensor, a: Trial, b: Trial): Trial => {
  const pick = (x: Tensor, y: Tensor): Tensor => where(isFirst, x, y) as Tensor;
  return {
    length: pick(a.length, b.length),
    slope: pick(a.slope, b.slope),
    point: {
      x: pick(a.point.x, b.point.x),
      value: pick(a.point.value, b.point.value),
      gradient: pick(a.point.gradient, b.point.gradient),
    },
  };
};

/** The minimum of the cubic through two trials, away from both ends by a tenth; their middle where there is none. */
function between(low: Trial, high: Trial): Tensor {
  const width = high.length.sub(low.length);
  const d1 = low.slope
    .add(high.slope)
    .sub(low.point.value.sub(high.point.value).div(low.length.sub(high.length)).mul(3));
  const inner = d1.square().sub(low.slope.mul(high.slope));
  const d2 = inner.relu().sqrt().mul(width.sign());
  const share = high.slope
    .add(d2)
    .sub(d1)
    .div(high.slope.sub(low.slope).add(d2.mul(2)));
  const isFine = inner.greaterEqual(0).logicalAnd(share.isFinite());
  // Shares count from the far end.
  const inside = where(isFine, share, 0.5).clip(0.1, 0.9);
  return high.length.sub(width.mul(inside)) as Tensor;
}
