/**
 * The common part of all losses: arguments that fit one another, weights, and the reduction to one number. A loss computes a tensor of
 * losses, one for each element or for each example, and `reduceLosses` turns it into the user's choice. Losses of f16 and bf16 are
 * computed in f32 and are f32: sums over a batch leave the range of narrow floats.
 */
import { checkChoice, checkOptions, type OptionKinds } from "../../core/arguments.js";
import { isNarrowFloat } from "../../core/dtype.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape, sameShape } from "../../core/shape.js";
import { asFloat, checkTensor, type Tensor, where } from "../../tensor/index.js";
import { stopGradient } from "../../transforms/grad.js";

/** Options of every loss. */
export interface LossOptions {
  /** "mean" unless told; "sum"; or "none", which gives the losses one by one. */
  readonly reduction?: "mean" | "sum" | "none";
  /**
   * Weights of examples, by which a mean is divided again. Their axes are the first ones of the losses: [batch] weights whole
   * examples. Zeros leave padding out.
   */
  readonly weights?: Tensor;
}

const LOSS: OptionKinds<LossOptions> = { reduction: "text", weights: "any" };

/** Checks the options of a loss: its own and those that all have. */
export function checkLossOptions<O extends LossOptions>(
  operation: string,
  options: O,
  own: OptionKinds<Omit<O, keyof LossOptions>>,
): void {
  checkOptions<O>(operation, options, { ...own, ...LOSS } as OptionKinds<O>);
  checkChoice(operation, "the option reduction", options.reduction, ["mean", "sum", "none"]);
  if (options.weights !== undefined) checkTensor(operation, "the option weights", options.weights);
}

/** Predictions as f32 or f64. */
export function widePredictions(operation: string, predictions: Tensor, what = "the prediction"): Tensor {
  checkTensor(operation, what, predictions);
  const floats = asFloat(operation, predictions);
  return isNarrowFloat(floats.dtype) ? floats.cast("f32") : floats;
}

/** Predictions and targets of one shape, in the dtype of the predictions. */
export function fittingPair(
  operation: string,
  predictions: Tensor,
  targets: Tensor,
  { weights }: LossOptions = {},
): [Tensor, Tensor] {
  const wide = widePredictions(operation, predictions);
  checkTensor(operation, "the target", targets);
  checkSameShape(operation, wide, targets, "targets");
  return [slopedWhereCounted(wide, weights), targets.cast(wide.dtype)];
}

/**
 * The same values, without a slope where the weight is 0: there the target may be NaN, and 0 times the slope of NaN is NaN. Axes of the
 * weights are the first ones of the values, not counting `axis`, which the losses lack.
 */
export function slopedWhereCounted(values: Tensor, weights: Tensor | undefined, axis = values.rank): Tensor {
  if (weights === undefined) return values;
  const extents = weights.shape.slice(0, axis);
  const shape = axis < values.rank && weights.rank >= axis ? [...extents, 1, ...weights.shape.slice(axis)] : extents;
  const aligned = [...shape, ...values.shape.slice(shape.length).map(() => 1)];
  const fits = aligned.length === values.rank && aligned.every((n, i) => n === 1 || n === values.shape[i]);
  if (!fits) return values; // reduceLosses refuses such weights
  return where(weights.cast(values.dtype).reshape(aligned).equal(0), stopGradient(values), values);
}

/** Losses do not broadcast: predictions [n, 1] and targets [n] would be n·n differences. */
export function checkSameShape(operation: string, predictions: Tensor, other: Tensor, what: string): void {
  if (sameShape(predictions.shape, other.shape)) return;
  throw new ShapeError(
    `${operation}: predictions ${formatShape(predictions.shape)} and ${what} ${formatShape(other.shape)} have different ` +
      "shapes; reshape or broadcast one of them.",
  );
}

/**
 * The reduction of some losses. `shares`, of their shape, are the parts by which a mean counts them, where the losses have
 * been multiplied by them already (class weights).
 */
export function reduceLosses(operation: string, losses: Tensor, options: LossOptions, shares?: Tensor): Tensor {
  const { reduction = "mean", weights } = options;
  const factors = weights === undefined ? undefined : alignedWeights(operation, losses, weights);
  const weighted = factors === undefined ? losses : weighed(losses, factors);
  if (reduction === "none") return weighted;
  if (reduction === "sum") return weighted.sum();
  if (losses.size === 0) {
    throw new ShapeError(`${operation}: no losses to average: the batch is empty, ${formatShape(losses.shape)}.`);
  }
  if (factors === undefined && shares === undefined) return weighted.mean();
  const parts = shares === undefined ? factors : factors === undefined ? shares : shares.mul(factors);
  // Where nothing counts the mean is NaN, but has no slope: a training goes on without such a batch.
  const total = (parts as Tensor).broadcastTo(losses.shape).sum();
  const isEmpty = total.equal(0);
  return counted(where(isEmpty, Number.NaN, weighted.sum().div(where(isEmpty, 1, total))), total);
}

const COUNTS = new WeakMap<Tensor, Tensor>();

/** Notes what a mean was divided by, beside it: a mean over batches weights it by that. Results of arithmetic with the mean have no such note. */
export function counted(mean: Tensor, count: Tensor | undefined): Tensor {
  if (count !== undefined) COUNTS.set(mean, count);
  return mean;
}

/** What a mean was divided by: the sum of the weights of its losses. Undefined where all count alike, and for tensors that are no such mean. */
export const countOf = (mean: Tensor): Tensor | undefined => COUNTS.get(mean);

/** Values times their weights. A weight of 0 leaves a value out, also one that is NaN or infinite: padding may hold anything. */
export function weighed(values: Tensor, factors: Tensor): Tensor {
  return where(factors.equal(0), 0, values.mul(factors)).cast(values.dtype);
}

/** Weights in the dtype of the losses, with axes of extent 1 behind. */
export function alignedWeights(operation: string, losses: Tensor, weights: Tensor, what = "losses"): Tensor {
  const shape = [...weights.shape, ...losses.shape.slice(weights.rank).map(() => 1)];
  const fits = weights.rank <= losses.rank && shape.every((extent, i) => extent === 1 || extent === losses.shape[i]);
  if (!fits) {
    throw new ShapeError(
      `${operation}: weights ${formatShape(weights.shape)} do not fit ${what} ${formatShape(losses.shape)}; their axes are ` +
        `the first ones of the ${what}, as in [batch].`,
    );
  }
  return weights.cast(losses.dtype).reshape(shape);
}

/** The remedy for labels that are no integers. */
export const MAKE_INTEGERS =
  'cast them by .cast("i32"), or make them by tensor([0, 2, 1], { dtype: "i32" }) or as an Int32Array.';

/** A number of an option that must lie in a range. */
export function checkWithin(operation: string, what: string, value: number, isInside: boolean, range: string): void {
  if (isInside) return;
  throw new ArgumentError(`${operation}: ${what} is ${range}, not ${value}.`);
}
