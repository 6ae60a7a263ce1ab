/** How far predicted numbers are from the targets: errors, shares of what is explained; of one output or several, with weights. */
import { checkOptions, type OptionKinds } from "../../core/arguments.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape, sameShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { type Tensor, tensor, where } from "../../tensor/index.js";
import { type Numbers, numbersLike } from "../core/targets.js";
import { checkNotEmpty, METRIC, type MetricOptions, placeOf, weightedMean, weightedSum, weightsFor } from "./inputs.js";

/** Options of errors of regressions. */
export interface RegressionMetricOptions extends MetricOptions {
  /** Of several outputs: their mean, "uniformAverage", unless told; "none" a value for each; or a weight for each. */
  readonly multiOutput?: "uniformAverage" | "none" | readonly number[];
}

/** Options of `r2` and `explainedVariance`. */
export interface ExplainedOptions extends MetricOptions {
  /** As for errors; "varianceWeighted" is the mean by the variances of the outputs. */
  readonly multiOutput?: "uniformAverage" | "varianceWeighted" | "none" | readonly number[];
  /** Constant targets give 1 where they are met, else 0. When false, they give NaN and -∞. */
  readonly forceFinite?: boolean;
}

const ERROR: OptionKinds<RegressionMetricOptions> = { ...METRIC, multiOutput: "any" };
const EXPLAINED: OptionKinds<ExplainedOptions> = { ...ERROR, forceFinite: "flag" };

/** Predictions and targets, [samples, outputs] both. */
interface NumberPair {
  readonly found: Tensor;
  readonly right: Tensor;
  readonly weights: Tensor | null;
}

/** Predictions and targets as matrices of one shape. */
export function numberPair(
  operation: string,
  predictions: Numbers,
  targets: Numbers,
  options: MetricOptions,
): NumberPair {
  const place = placeOf(operation, [predictions, targets], options);
  const [found, right] = [
    numbersLike(operation, predictions, place, "predictions"),
    numbersLike(operation, targets, place),
  ];
  if (!sameShape(found.shape, right.shape)) {
    throw new ShapeError(
      `${operation}: predictions ${formatShape(found.shape)} and targets ${formatShape(right.shape)} have different shapes; reshape one.`,
    );
  }
  const samples = found.shape[0] as number;
  checkNotEmpty(operation, samples);
  const rows = (x: Tensor): Tensor => x.reshape(samples, -1) as Tensor;
  return { found: rows(found), right: rows(right), weights: weightsFor(operation, options, samples, place) };
}

/** A value for each output as the options want it. */
function joined(
  operation: string,
  values: Tensor,
  multiOutput: ExplainedOptions["multiOutput"],
  spread?: Tensor,
): Tensor {
  if (multiOutput === undefined || multiOutput === "uniformAverage") return values.mean() as Tensor;
  if (multiOutput === "none") return values;
  if (multiOutput === "varianceWeighted" && spread) {
    // Outputs that are all constant weigh the same.
    const total = spread.sum();
    return where(
      total.equal(0),
      values.mean(),
      values
        .mul(spread)
        .sum()
        .div(where(total.equal(0), 1, total)),
    ) as Tensor;
  }
  const isList = Array.isArray(multiOutput) && multiOutput.every((each) => typeof each === "number");
  if (!isList || multiOutput.length !== values.shape[0]) {
    throw new ArgumentError(
      `${operation}: the option multiOutput is ${shown(multiOutput)}; it is "uniformAverage", "none"` +
        `${spread ? ', "varianceWeighted"' : ""} or a weight for each of the ${values.shape[0]} outputs.`,
    );
  }
  const { device, dtype } = values;
  return weightedMean(values, tensor([...multiOutput], { device, dtype }) as Tensor);
}

/** A metric that is the mean of an error of each number. */
const meanOf =
  (name: string, error: (found: Tensor, right: Tensor) => Tensor, after: (mean: Tensor) => Tensor = (mean) => mean) =>
  (predictions: Numbers, targets: Numbers, options: RegressionMetricOptions = {}): Tensor => {
    const operation = `metrics.${name}`;
    checkOptions(operation, options, ERROR);
    const { found, right, weights } = numberPair(operation, predictions, targets, options);
    return joined(operation, after(weightedMean(error(found, right), weights)), options.multiOutput);
  };

const squared = (found: Tensor, right: Tensor): Tensor => right.sub(found).square() as Tensor;
const absolute = (found: Tensor, right: Tensor): Tensor => right.sub(found).abs() as Tensor;
const squaredLog = (found: Tensor, right: Tensor): Tensor => squared(found.log1p() as Tensor, right.log1p() as Tensor);
const root = (mean: Tensor): Tensor => mean.sqrt() as Tensor;

/** The mean of the squared differences. */
export const meanSquaredError = meanOf("meanSquaredError", squared);
/** The root of the mean squared difference, of each output before outputs are averaged. */
export const rootMeanSquaredError = meanOf("rootMeanSquaredError", squared, root);
/** The mean of the absolute differences. */
export const meanAbsoluteError = meanOf("meanAbsoluteError", absolute);
/** The mean squared difference of log(1 + x); NaN where a number is below -1. */
export const meanSquaredLogError = meanOf("meanSquaredLogError", squaredLog);
/** The root of `meanSquaredLogError`, of each output before outputs are averaged. */
export const rootMeanSquaredLogError = meanOf("rootMeanSquaredLogError", squaredLog, root);
/** The mean absolute difference as a share of the target. Targets count as the spacing of floats at 1 at least. */
export const meanAbsolutePercentageError = meanOf("meanAbsolutePercentageError", (found, right) => {
  const least = right.dtype === "f64" ? 2 ** -52 : 2 ** -23;
  return absolute(found, right).div(right.abs().maximum(least)) as Tensor;
});

/** The largest absolute difference. */
export function maxError(predictions: Numbers, targets: Numbers, options: Omit<MetricOptions, "weights"> = {}): Tensor {
  const { weights: _, ...known } = METRIC;
  checkOptions("metrics.maxError", options, known);
  const { found, right } = numberPair("metrics.maxError", predictions, targets, options);
  if (found.shape[1] === 1) return absolute(found, right).max() as Tensor;
  throw new ShapeError("metrics.maxError: takes one output; call it for each.");
}

/** The median of the absolute differences. With weights, the smallest that half of the weight lies at or below. */
export function medianAbsoluteError(
  predictions: Numbers,
  targets: Numbers,
  options: RegressionMetricOptions = {},
): Tensor {
  const operation = "metrics.medianAbsoluteError";
  checkOptions(operation, options, ERROR);
  const { found, right, weights } = numberPair(operation, predictions, targets, options);
  return joined(operation, quantileOf(absolute(found, right), weights, 0.5), options.multiOutput);
}

/** A quantile of each column; with weights, the smallest value up to which lies that share of the weight. */
function quantileOf(values: Tensor, weights: Tensor | null, share: number): Tensor {
  if (!weights) return values.quantile(share, { axis: 0 }) as Tensor;
  const order = values.argsort({ axis: 0 });
  const sums = weights.take(order).cumsum({ axis: 0 });
  const aim = sums.at(-1).mul(share);
  // Where nothing is asked for, samples of weight zero do not answer.
  const isBefore = where(aim.greater(0), sums.less(aim), sums.equal(0));
  const place = isBefore
    .cast("i32")
    .sum({ axis: 0, keepDims: true })
    .minimum((values.shape[0] as number) - 1);
  return values.takeAlongAxis(order, { axis: 0 }).takeAlongAxis(place.cast("i32"), { axis: 0 }).squeeze(0) as Tensor;
}

/** The share of a loss that predictions save against what is best without samples, by output. */
function saved(loss: Tensor, plain: Tensor, forceFinite = true): Tensor {
  const isConstant = plain.equal(0);
  const share = loss
    .div(where(isConstant, 1, plain))
    .neg()
    .add(1);
  const [met, missed] = forceFinite ? [1, 0] : [Number.NaN, Number.NEGATIVE_INFINITY];
  return where(isConstant, where(loss.equal(0), met, missed), share) as Tensor;
}

const deviations = (x: Tensor, weights: Tensor | null): Tensor => x.sub(weightedMean(x, weights)).square() as Tensor;

/** R², the share of the targets' spread about their mean that predictions explain. NaN for one sample. */
export function r2(predictions: Numbers, targets: Numbers, options: ExplainedOptions = {}): Tensor {
  return explained("metrics.r2", predictions, targets, options, squared);
}

/** The share of the targets' variance that predictions explain; unlike R², errors count without their mean. */
export function explainedVariance(predictions: Numbers, targets: Numbers, options: ExplainedOptions = {}): Tensor {
  return explained("metrics.explainedVariance", predictions, targets, options, (found, right, weights) =>
    deviations(right.sub(found) as Tensor, weights),
  );
}

function explained(
  operation: string,
  predictions: Numbers,
  targets: Numbers,
  options: ExplainedOptions,
  rest: (found: Tensor, right: Tensor, weights: Tensor | null) => Tensor,
): Tensor {
  checkOptions(operation, options, EXPLAINED);
  const { found, right, weights } = numberPair(operation, predictions, targets, options);
  const spread = weightedSum(deviations(right, weights), weights);
  const unexplained = weightedSum(rest(found, right, weights), weights);
  const values = saved(unexplained, spread, options.forceFinite);
  const isAlone = operation === "metrics.r2" && right.shape[0] === 1;
  return joined(operation, isAlone ? (values.mul(Number.NaN) as Tensor) : values, options.multiOutput, spread);
}

/** Options of `meanPinballLoss` and `d2Pinball`. */
export interface PinballOptions extends RegressionMetricOptions {
  /** The quantile that is predicted: ½ unless told, the median. */
  readonly alpha?: number;
}

const pinball =
  (alpha: number) =>
  (found: Tensor, right: Tensor): Tensor => {
    const over = right.sub(found);
    return over
      .maximum(0)
      .mul(alpha)
      .sub(over.minimum(0).mul(1 - alpha)) as Tensor;
  };

function checkAlpha(operation: string, alpha: number): void {
  if (alpha >= 0 && alpha <= 1) return;
  throw new ArgumentError(`${operation}: alpha is ${alpha}; it is a number from 0 to 1.`);
}

/** The mean pinball loss, which the quantile `alpha` minimises. */
export function meanPinballLoss(predictions: Numbers, targets: Numbers, options: PinballOptions = {}): Tensor {
  const operation = "metrics.meanPinballLoss";
  checkOptions(operation, options, { ...ERROR, alpha: "number" });
  const { alpha = 0.5, ...rest } = options;
  checkAlpha(operation, alpha);
  return meanOf("meanPinballLoss", pinball(alpha))(predictions, targets, rest);
}

/** The share of the pinball loss that predictions save against the quantile of the targets. NaN for one sample. */
export function d2Pinball(predictions: Numbers, targets: Numbers, options: PinballOptions = {}): Tensor {
  checkOptions("metrics.d2Pinball", options, { ...ERROR, alpha: "number" });
  return savedPinball("metrics.d2Pinball", predictions, targets, options);
}

/** The share of the absolute error that predictions save against the median of the targets. NaN for one sample. */
export function d2AbsoluteError(predictions: Numbers, targets: Numbers, options: RegressionMetricOptions = {}): Tensor {
  checkOptions("metrics.d2AbsoluteError", options, ERROR);
  return savedPinball("metrics.d2AbsoluteError", predictions, targets, options);
}

function savedPinball(operation: string, predictions: Numbers, targets: Numbers, options: PinballOptions): Tensor {
  const { alpha = 0.5 } = options;
  checkAlpha(operation, alpha);
  const { found, right, weights } = numberPair(operation, predictions, targets, options);
  const loss = pinball(alpha);
  const plain = loss(quantileOf(right, weights, alpha), right);
  const values = saved(weightedMean(loss(found, right), weights), weightedMean(plain, weights));
  return joined(operation, right.shape[0] === 1 ? (values.mul(Number.NaN) as Tensor) : values, options.multiOutput);
}
