/** Deviances of Tweedie's distributions: normal (power 0), Poisson (1), gamma (2), and those between and beyond. */
import { checkOptions } from "../../core/arguments.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { type Tensor, where } from "../../tensor/index.js";
import type { Numbers } from "../core/targets.js";
import { METRIC, type MetricOptions, weightedMean } from "./inputs.js";
import { numberPair } from "./regression.js";

/** Options of `meanTweedieDeviance` and `d2Tweedie`. */
export interface TweedieDevianceOptions extends MetricOptions {
  /** The power of the mean that the variance goes with: 0 unless told, and never between 0 and 1. */
  readonly power?: number;
}

/** The mean deviance of one output. NaN where a number is outside of the distribution: predictions above 0 for all powers but 0. */
export function meanTweedieDeviance(
  predictions: Numbers,
  targets: Numbers,
  options: TweedieDevianceOptions = {},
): Tensor {
  checkOptions("metrics.meanTweedieDeviance", options, { ...METRIC, power: "number" });
  const { power = 0, ...rest } = options;
  return meanDeviance("metrics.meanTweedieDeviance", predictions, targets, rest, power);
}

/** The mean deviance of Poisson's distribution: predictions above 0, targets from 0 on. */
export function meanPoissonDeviance(predictions: Numbers, targets: Numbers, options: MetricOptions = {}): Tensor {
  checkOptions("metrics.meanPoissonDeviance", options, METRIC);
  return meanDeviance("metrics.meanPoissonDeviance", predictions, targets, options, 1);
}

/** The mean deviance of gamma distributions: all numbers above 0. */
export function meanGammaDeviance(predictions: Numbers, targets: Numbers, options: MetricOptions = {}): Tensor {
  checkOptions("metrics.meanGammaDeviance", options, METRIC);
  return meanDeviance("metrics.meanGammaDeviance", predictions, targets, options, 2);
}

/** The share of the deviance that predictions save against the mean of the targets. NaN for one sample. */
export function d2Tweedie(predictions: Numbers, targets: Numbers, options: TweedieDevianceOptions = {}): Tensor {
  const operation = "metrics.d2Tweedie";
  checkOptions(operation, options, { ...METRIC, power: "number" });
  const { power = 0, ...rest } = options;
  const { found, right, weights } = columnPair(operation, predictions, targets, rest, power);
  if (right.shape[0] === 1) return right.sum().mul(Number.NaN) as Tensor;
  const middle = weightedMean(right, weights);
  const loss = weightedMean(devianceOf(found, right, power), weights);
  const plain = weightedMean(devianceOf(middle, right, power), weights);
  return loss.div(plain).neg().add(1) as Tensor;
}

function meanDeviance(
  operation: string,
  predictions: Numbers,
  targets: Numbers,
  options: MetricOptions,
  power: number,
): Tensor {
  const { found, right, weights } = columnPair(operation, predictions, targets, options, power);
  return weightedMean(devianceOf(found, right, power), weights);
}

function columnPair(operation: string, predictions: Numbers, targets: Numbers, options: MetricOptions, power: number) {
  if (!(power <= 0 || power >= 1) || !Number.isFinite(power)) {
    throw new ArgumentError(`${operation}: power is ${power}; it is 0 or less, or 1 or more.`);
  }
  const { found, right, weights } = numberPair(operation, predictions, targets, options);
  if (found.shape[1] !== 1) throw new ShapeError(`${operation}: takes one output; call it for each.`);
  return { found: found.reshape(-1) as Tensor, right: right.reshape(-1) as Tensor, weights };
}

/** The unit deviance of each sample. */
function devianceOf(found: Tensor, right: Tensor, power: number): Tensor {
  if (power === 0) return right.sub(found).square() as Tensor;
  const isInside = found
    .greater(0)
    .logicalAnd(power < 0 ? right.isFinite() : power < 2 ? right.greaterEqual(0) : right.greater(0));
  return where(
    isInside,
    unitDeviance(where(isInside, found, 1) as Tensor, where(isInside, right, 1) as Tensor, power),
    Number.NaN,
  ) as Tensor;
}

function unitDeviance(found: Tensor, right: Tensor, power: number): Tensor {
  const ratio = right.div(found) as Tensor;
  if (power === 1) {
    const isZero = right.equal(0);
    return where(isZero, 0, right.mul(where(isZero, 1, ratio).log()))
      .sub(right)
      .add(found)
      .mul(2) as Tensor;
  }
  if (power === 2) return ratio.sub(ratio.log()).sub(1).mul(2) as Tensor;
  const own = right
    .maximum(0)
    .pow(2 - power)
    .div((1 - power) * (2 - power));
  const mixed = right.mul(found.pow(1 - power)).div(1 - power);
  return own
    .sub(mixed)
    .add(found.pow(2 - power).div(2 - power))
    .mul(2) as Tensor;
}
