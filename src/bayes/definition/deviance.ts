/**
 * Log densities as small numbers. k log λ - λ - log k! is the difference of numbers that grow with k, and for large ones nothing is
 * left of it: the density of poisson(1e6) at its mean would be -7.0 in f32, not -7.83, and that of poisson(1e15) -16 in f64, not
 * -18.2. Written as Loader does (Fast and accurate computation of binomial probabilities, 2000), it is the density at the best rate
 * less how far the rate is from that, and both are small where it matters. Counts, gamma and beta numbers use this unless their
 * parameters are small numbers; samplers of few and small counts use the short forms.
 */
import { stirlingSeries } from "../../random/stirling.js";
import { type Tensor, where } from "../../tensor/index.js";
import { type Argument, tensorOf } from "../arguments/argument.js";

/** Below this a parameter given as a number leaves nothing to cancel. */
const SMALL = 20;

/**
 * Whether a density needs care: unless the parameters that could be large are small numbers. It must not depend on values of
 * tensors: a plan and the kernel made by it have the same terms.
 */
export const mayCancel = (...parameters: readonly Argument[]): boolean =>
  !parameters.every((value) => typeof value === "number" && value < SMALL);

/** More than the logarithm of any f32. */
const BEYOND = 100;

/**
 * log(mean/x) from mean - x, which is known better than the mean; log(mean) serves where the mean is much smaller than x.
 * Finite for x = 0, where it does not count.
 */
function logRatio(x: Tensor, excess: Tensor, logMean: Tensor): Tensor {
  const divisor = where(x.equal(0), 1, x);
  const share = excess.div(divisor);
  const isFar = share.less(-0.5);
  const near = where(isFar, 0, share).log1p().minimum(BEYOND);
  return where(isFar, logMean.sub(divisor.log()), near);
}

/** mean - x - x log(mean/x): 0 where the mean is x, else positive; by mean - x. */
export const deviance = (x: Tensor, excess: Tensor, logMean: Tensor): Tensor =>
  excess.sub(where(x.equal(0), 0, x.mul(logRatio(x, excess, logMean))));

/** About how large the numbers are that a log density is a difference of, by a count or a concentration. */
export const magnitudeOf = (count: Tensor): Tensor => count.mul(count.log1p());

/** From here on Stirling's series is good to the last digit. */
const LARGE = { f32: 8, f64: 72 } as const;

/** x log x - x - log Γ(x), for positive x. */
export function logGammaPeak(x: Tensor): Tensor {
  const large = x.dtype === "f64" ? LARGE.f64 : LARGE.f32;
  const isLarge = x.greaterEqual(large);
  const logX = x.log();
  const small = where(isLarge, 1, x);
  const direct = small
    .mul(where(isLarge, 0, logX))
    .sub(small)
    .sub(small.lgamma());
  const series = stirlingSeries(where(isLarge, x, large));
  const stirling = logX
    .sub(Math.log(2 * Math.PI))
    .mul(0.5)
    .sub(series);
  return where(isLarge, stirling, direct);
}

/** x log x - x - log Γ(x + 1), the log density of poisson(x) at x; 0 at 0. */
export function logPeak(x: Tensor): Tensor {
  const isNone = x.equal(0);
  const positive = where(isNone, 1, x);
  return where(isNone, 0, logGammaPeak(positive).sub(positive.log()));
}

/**
 * The shortfall n·share - x of x successes in n trials. Where `share` is 1/2 or more it is computed as (n - x) - n·rest, with
 * `rest` = 1 - share: the smaller terms lose fewer digits.
 */
export function excessOf(x: Tensor, n: Tensor, share: Tensor, rest: Tensor): Tensor {
  return where(share.less(0.5), n.mul(share).sub(x), n.sub(x).sub(n.mul(rest)));
}

/** log Γ(h + 1/2) - log Γ(h) - log(h)/2, which goes to 0 as the logarithms grow. */
export function logHalfStep(h: Tensor): Tensor {
  const far = 16;
  const isFar = h.greaterEqual(far);
  const near = where(isFar, 1, h);
  const direct = near.add(0.5).lgamma().sub(near.lgamma()).sub(near.log().mul(0.5));
  const inverse = where(isFar, h, far).reciprocal();
  const square = inverse.square();
  const series = [-31 / 18432, 17 / 14336, -1 / 640, 1 / 192, -1 / 8]
    .reduce((sum, coefficient) => sum.mul(square).add(coefficient), tensorOf(0, inverse))
    .mul(inverse);
  return where(isFar, series, direct);
}
