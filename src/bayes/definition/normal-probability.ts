/**
 * log Φ, the probability that a standard normal number is below z or between bounds, without underflow; truncation and
 * censoring use it.
 */

import { gaussLegendre } from "../../core/quadrature.js";
import { type Tensor, where } from "../../tensor/index.js";

export const LOG_SQRT_2PI = 0.5 * Math.log(2 * Math.PI);

/** Below this the asymptotic series is as good as floats are, and erfc still far from zero. */
const FAR = { f32: -10, f64: -20 } as const;

/** Φ(z)·(-z)/φ(z) = 1 - 1/z² + 3/z⁴ - 15/z⁶ + 105/z⁸ …, for z far below zero, less the 1. */
function tailSeries(z: Tensor): Tensor {
  const w = z.square().reciprocal();
  let series = w.mul(-15);
  for (let n = 7; n >= 1; n--)
    series = series
      .add(1)
      .mul(w)
      .mul(-(2 * n - 1));
  return series;
}

export function logNormalCdf(z: Tensor): Tensor {
  const limit = z.dtype === "f64" ? FAR.f64 : FAR.f32;
  // Each branch sees only arguments it is good for: gradients of the other would be NaN even where it does not count.
  const near = z.maximum(limit).mul(-Math.SQRT1_2).erfc().log().sub(Math.LN2);
  const far = z.minimum(limit);
  const tail = far.square().mul(-0.5).sub(far.neg().log()).sub(LOG_SQRT_2PI).add(tailSeries(far).log1p());
  return where(z.less(limit), tail, near);
}

/** log(1 - exp(-x)) for x > 0. */
export function log1mExp(x: Tensor): Tensor {
  const isSmall = x.less(Math.LN2);
  const small = where(isSmall, x, 1).neg().expm1().neg().log();
  const large = where(isSmall, 1, x).neg().exp().neg().log1p();
  return where(isSmall, small, large);
}

/** log(Φ(high) - Φ(low)), for low < high that are not close to each other. */
function logNormalBetween(low: Tensor, high: Tensor): Tensor {
  // On the far right everything is nearly 1; the mirror image on the left keeps the digits.
  const isRight = low.greater(0);
  const from = where(isRight, high.neg(), low);
  const to = where(isRight, low.neg(), high);
  const upper = logNormalCdf(to);
  return upper.add(log1mExp(upper.sub(logNormalCdf(from))));
}

/** As many as make the mean of a normal density over a narrow interval exact to the last digit of f64. */
const { nodes: NODES, weights: WEIGHTS } = gaussLegendre(8);

/** The probability that a normal number lies between bounds. */
interface Mass {
  /** Whether the bounds are so close that nothing may be left of the difference of Φ at both. */
  readonly isNarrow: Tensor;
  /** Between the bounds where they are close, else 0. */
  readonly origin: Tensor;
  /** log(Φ(high) - Φ(low)) + origin²/2. */
  readonly log: Tensor;
}

/** The mass between low and high, whose distance is known better than by their difference. */
export function normalMass(low: Tensor, high: Tensor, width: Tensor): Mass {
  const middle = low.add(high).mul(0.5);
  const isNarrow = width.less(1).logicalAnd(width.mul(middle).abs().less(2));
  const wide = logNormalBetween(where(isNarrow, -1, low), where(isNarrow, 1, high));
  const origin = where(isNarrow, middle, 0);
  const half = where(isNarrow, width, 1).mul(0.5);
  // The mean of φ(origin + half·t)/φ(origin), t from -1 to 1, times the width.
  const [tilt, curve] = [half.mul(origin), half.square().mul(0.5)];
  const heights = NODES.map((t, i) => curve.mul(t).add(tilt).mul(-t).exp().mul(WEIGHTS[i]));
  const narrow = heights
    .reduce((a, b) => a.add(b))
    .log()
    .add(half.log())
    .sub(LOG_SQRT_2PI);
  return { isNarrow, origin, log: where(isNarrow, narrow, wide) };
}
