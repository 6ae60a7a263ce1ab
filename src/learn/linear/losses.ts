/**
 * Losses of one sample as functions of its predictor, the number that a linear model computes: value, first and second derivative.
 * `smooth-problem.ts` sums them over samples. A loss holds the targets, so that solvers know of predictors alone.
 */
import { type Tensor, where } from "../../tensor/index.js";

/** A convex loss of predictors, element by element. */
export interface Loss {
  value(predictor: Tensor): Tensor;
  slope(predictor: Tensor): Tensor;
  /** The second derivative; a positive stand-in where the loss has kinks or is not convex. */
  curvature(predictor: Tensor): Tensor;
  /** The second derivative where `curvature` is not. */
  secondDerivative?(predictor: Tensor): Tensor;
}

/** −log likelihood of labels 0 and 1 whose log-odds are the predictor: log(1 + eᶻ) − y z. */
export function logisticLoss(y: Tensor): Loss {
  const probability = (z: Tensor): Tensor => z.sigmoid() as Tensor;
  return {
    value: (z) => z.softplus().sub(y.mul(z)) as Tensor,
    slope: (z) => probability(z).sub(y) as Tensor,
    // e^−|z| / (1 + e^−|z|)²: p (1 − p) loses its digits where p is close to 1.
    curvature(z) {
      const small = z.abs().neg().exp();
      return small.div(small.add(1).square()) as Tensor;
    },
  };
}

/** max(0, 1 − y z)², of labels −1 and 1. */
export function squaredHingeLoss(y: Tensor): Loss {
  const short = (z: Tensor): Tensor => y.mul(z).neg().add(1).relu() as Tensor;
  return {
    value: (z) => short(z).square() as Tensor,
    slope: (z) => short(z).mul(y).mul(-2) as Tensor,
    curvature: (z) => where(short(z).greater(0), 2, 0).cast(z.dtype) as Tensor,
  };
}

/** max(0, |z − y| − epsilon)². */
export function squaredTubeLoss(y: Tensor, epsilon: Tensor): Loss {
  const over = (z: Tensor): Tensor => z.sub(y).abs().sub(epsilon).relu() as Tensor;
  return {
    value: (z) => over(z).square() as Tensor,
    slope: (z) => over(z).mul(z.sub(y).sign()).mul(2) as Tensor,
    curvature: (z) => where(over(z).greater(0), 2, 0).cast(z.dtype) as Tensor,
  };
}

/** How the predictor gives the mean: it is its logarithm, or the mean itself. */
export type Link = "log" | "identity";

/** The mean of a predictor. */
export const meanOf = (link: Link, predictor: Tensor): Tensor =>
  (link === "log" ? predictor.exp() : predictor) as Tensor;

/**
 * Half the deviance of Tweedie distributions, whose variance is meanᵖ (0 normal, 1 Poisson, 2 gamma, 3 inverse Gaussian), less the
 * terms without the mean.
 */
export function tweedieLoss(y: Tensor, power: number, link: Link): Loss {
  return link === "log" ? logTweedieLoss(y, power) : plainTweedieLoss(y, power);
}

/** With m = eᶻ every power of the mean is an exponential of a multiple of z. */
function logTweedieLoss(y: Tensor, power: number): Loss {
  const powerOf = (z: Tensor, exponent: number): Tensor => (exponent === 1 ? z.exp() : z.mul(exponent).exp()) as Tensor;
  const [first, second] = [1 - power, 2 - power];
  const observed = (z: Tensor): Tensor =>
    powerOf(z, second)
      .mul(second)
      .sub(y.mul(powerOf(z, first)).mul(first)) as Tensor;
  return {
    // ∫ (m − y) m^−p dm, with the limits at p = 1 and 2.
    value(z) {
      const ofMean = second === 0 ? z : powerOf(z, second).div(second);
      const ofTarget = first === 0 ? z.mul(y) : powerOf(z, first).mul(y).div(first);
      return ofMean.sub(ofTarget) as Tensor;
    },
    slope: (z) =>
      (second === 0
        ? y.mul(powerOf(z, first)).neg().add(1)
        : powerOf(z, second).sub(y.mul(powerOf(z, first)))) as Tensor,
    // Between 1 and 2 the observed curvature is positive. Elsewhere its expectation stands in for it where it is not.
    curvature: (z) => (power >= 1 && power <= 2 ? observed(z) : positiveOr(observed(z), powerOf(z, second))),
    secondDerivative: observed,
  };
}

const positiveOr = (observed: Tensor, expected: Tensor): Tensor =>
  where(observed.greater(0), observed, expected) as Tensor;

function plainTweedieLoss(y: Tensor, power: number): Loss {
  if (power === 0) {
    return {
      value: (z) => z.sub(y).square().mul(0.5) as Tensor,
      slope: (z) => z.sub(y) as Tensor,
      curvature: (z) => z.mul(0).add(1) as Tensor,
    };
  }
  const [first, second] = [1 - power, 2 - power];
  // Means are positive: infinite beyond, so that searches turn back.
  const inside = (z: Tensor): Tensor => where(z.greater(0), z, 1) as Tensor;
  const observed = (z: Tensor): Tensor => {
    const m = inside(z);
    const ofTarget = y.mul(m.pow(-power - 1)).mul(power);
    return m.pow(-power).mul(first).add(ofTarget) as Tensor;
  };
  return {
    value(z) {
      const m = inside(z);
      const ofMean = second === 0 ? m.log() : m.pow(second).div(second);
      const ofTarget = first === 0 ? m.log().mul(y) : m.pow(first).mul(y).div(first);
      return where(z.greater(0), ofMean.sub(ofTarget), Number.POSITIVE_INFINITY) as Tensor;
    },
    slope: (z) => inside(z).sub(y).div(inside(z).pow(power)) as Tensor,
    curvature: (z) => positiveOr(observed(z), inside(z).pow(-power) as Tensor),
    secondDerivative: observed,
  };
}
