/**
 * Cross-entropies of binary labels and of classes, and the focal loss (Lin et al. 2017). From logits they are computed without
 * forming probabilities, so that none of their digits are lost. Labels of classes are compared with the numbers of the classes, not
 * looked up: softmax, label and sum are one kernel, and so is the gradient.
 */
import { isInteger } from "../../core/dtype.js";
import { ArgumentError, DTypeError, ShapeError } from "../../core/errors.js";
import { formatShape, normalizeAxis, sameShape } from "../../core/shape.js";
import { asFloat, checkTensor, finfo, positionsAlong, type Tensor, tensor, where } from "../../tensor/index.js";
import { logSoftmax } from "../activations/rows.js";
import {
  checkLossOptions,
  checkWithin,
  fittingPair,
  type LossOptions,
  MAKE_INTEGERS,
  reduceLosses,
  slopedWhereCounted,
  widePredictions,
} from "./loss.js";

/** Options of `binaryCrossEntropy`. */
export interface BinaryCrossEntropyOptions extends LossOptions {
  /** Whether predictions are logits: any numbers, of which sigmoid makes probabilities. False unless told. */
  readonly fromLogits?: boolean;
  /** Targets come nearer to one half by this share. 0 unless told. */
  readonly labelSmoothing?: number;
  /** Weight of the positive and the negative part; 1 unless told. */
  readonly positiveWeight?: number;
  readonly negativeWeight?: number;
}

/** Options of `focal`. */
export interface FocalOptions extends LossOptions {
  readonly fromLogits?: boolean;
  /** How fast the loss of examples that are right falls: 2 unless told. */
  readonly gamma?: number;
  /** Share of the positive examples; that of the negative ones is 1 - alpha. 0.25 unless told. */
  readonly alpha?: number;
}

/** Options of `categoricalCrossEntropy`. */
export interface CategoricalCrossEntropyOptions extends LossOptions {
  /** Whether predictions are logits: any numbers, of which softmax makes probabilities. False unless told. */
  readonly fromLogits?: boolean;
  /** The axis of the classes: the last unless told. */
  readonly axis?: number;
  /** Targets come nearer to equal shares of all classes by this share. 0 unless told. */
  readonly labelSmoothing?: number;
  /** A weight for each class. A mean is divided by the weights of its examples. */
  readonly classWeights?: Tensor | readonly number[];
  /** A label that is left out, as that of padding. */
  readonly ignoreIndex?: number;
}

/**
 * -t·log p - (1 - t)·log(1 - p) of each element. From probabilities, those of 0 and 1 count as the smallest number that the
 * dtype holds with all its digits, so that the loss is finite; their slope is zero.
 */
export function binaryCrossEntropy(
  predictions: Tensor,
  targets: Tensor,
  options: BinaryCrossEntropyOptions = {},
): Tensor {
  checkLossOptions("binaryCrossEntropy", options, {
    fromLogits: "flag",
    labelSmoothing: "number",
    positiveWeight: "number",
    negativeWeight: "number",
  });
  const { fromLogits = false, labelSmoothing = 0, positiveWeight = 1, negativeWeight = 1 } = options;
  const [p, given] = fittingPair("binaryCrossEntropy", predictions, targets, options);
  const t = smoothed("binaryCrossEntropy", given, labelSmoothing, 2);
  const [positive, negative] = binaryTerms(p, fromLogits);
  const losses = times(t, positiveWeight)
    .mul(positive)
    .add(times(t.neg().add(1), negativeWeight).mul(negative));
  return reduceLosses("binaryCrossEntropy", losses, options);
}

/** α·(1 - p)^γ times the cross-entropy, where p is the probability of the label: examples that are right count little. */
export function focal(predictions: Tensor, targets: Tensor, options: FocalOptions = {}): Tensor {
  checkLossOptions("focal", options, { fromLogits: "flag", gamma: "number", alpha: "number" });
  const { fromLogits = false, gamma = 2, alpha = 0.25 } = options;
  checkWithin("focal", "gamma", gamma, gamma >= 0, "a number from 0 on");
  const [p, t] = fittingPair("focal", predictions, targets, options);
  const [positive, negative] = binaryTerms(p, fromLogits);
  // (1 - p)^γ by way of log(1 - p), whose slope is finite where p rounds to 1; that of the power is not for γ below 1.
  const raised = (term: Tensor) => term.mul(-gamma).exp();
  const losses = t.mul(raised(negative).mul(positive).mul(alpha)).add(
    t
      .neg()
      .add(1)
      .mul(
        raised(positive)
          .mul(negative)
          .mul(1 - alpha),
      ),
  );
  return reduceLosses("focal", losses, options);
}

/** -log p and -log(1 - p). */
function binaryTerms(p: Tensor, fromLogits: boolean): [Tensor, Tensor] {
  if (fromLogits) return [p.neg().softplus(), p.softplus()];
  const least = finfo(p).smallestNormal;
  return [p.maximum(least).log().neg(), p.neg().add(1).maximum(least).log().neg()];
}

const times = (x: Tensor, factor: number): Tensor => (factor === 1 ? x : x.mul(factor));

/** Targets nearer to equal shares of all classes. */
function smoothed(operation: string, targets: Tensor, share: number, classes: number): Tensor {
  checkWithin(operation, "labelSmoothing", share, share >= 0 && share <= 1, "a number from 0 to 1");
  return share === 0 ? targets : targets.mul(1 - share).add(share / classes);
}

/**
 * -Σ t·log p over the classes, for each example. Targets are shares of the classes, of the shape of the predictions, or the
 * numbers of the classes (integers), without the axis of the classes. A number that is no class gives NaN.
 */
export function categoricalCrossEntropy(
  predictions: Tensor,
  targets: Tensor,
  options: CategoricalCrossEntropyOptions = {},
): Tensor {
  const operation = "categoricalCrossEntropy";
  checkLossOptions(operation, options, {
    fromLogits: "flag",
    axis: "number",
    labelSmoothing: "number",
    classWeights: "any",
    ignoreIndex: "number",
  });
  const { fromLogits = false, labelSmoothing = 0, ignoreIndex } = options;
  const wide = widePredictions(operation, predictions);
  const axis = normalizeAxis(options.axis ?? -1, wide.rank, operation);
  checkTensor(operation, "the target", targets);
  // Integers hold no NaN: the slopes of their losses need no such care.
  const p = isInteger(targets.dtype) ? wide : slopedWhereCounted(wide, options.weights, axis);
  const classes = p.shape[axis] as number;
  const { shares, isThere, isValid, isIgnored } = sharesOf(operation, p, targets, axis, ignoreIndex);
  const logarithms = fromLogits ? logSoftmax(p, { axis }) : p.maximum(finfo(p).smallestNormal).log();
  const weights = classWeightsOf(operation, options.classWeights, p, axis);
  const t = smoothed(operation, shares, labelSmoothing, classes);
  // Of logits, one that is NaN makes all logarithms NaN: those of the other classes need no look.
  const isOne = isThere !== undefined && fromLogits && labelSmoothing === 0 && weights === undefined;
  const terms = isOne
    ? where(isThere, logarithms, 0)
    : finiteTerms(weights === undefined ? t : t.mul(weights), logarithms);
  let losses = terms.sum({ axis }).neg();
  let parts = weights === undefined ? undefined : shares.mul(weights).sum({ axis });
  if (isValid !== undefined) losses = where(isValid, losses, Number.NaN);
  if (isIgnored !== undefined) {
    losses = where(isIgnored, 0, losses);
    parts = where(isIgnored, 0, parts ?? 1).cast(p.dtype);
  }
  return reduceLosses(operation, losses, options, parts);
}

interface Shares {
  readonly shares: Tensor;
  /** Whether a class is the one, where labels are numbers of classes. */
  readonly isThere?: Tensor;
  /** Whether labels are numbers of classes, and whether they are left out. */
  readonly isValid?: Tensor;
  readonly isIgnored?: Tensor;
}

/** Targets as shares of the classes. */
function sharesOf(operation: string, p: Tensor, targets: Tensor, axis: number, ignoreIndex?: number): Shares {
  checkTensor(operation, "the target", targets);
  const isDense = sameShape(p.shape, targets.shape);
  if (isDense) {
    if (ignoreIndex !== undefined) {
      throw new ArgumentError(`${operation}: ignoreIndex is for labels that are numbers of classes; use weights.`);
    }
    return { shares: targets.cast(p.dtype) };
  }
  const without = p.shape.filter((_, i) => i !== axis);
  if (!sameShape(without, targets.shape)) {
    throw new ShapeError(
      `${operation}: predictions ${formatShape(p.shape)} take targets of their shape, or class numbers of shape ` +
        `${formatShape(without)}, not ${formatShape(targets.shape)}.`,
    );
  }
  if (!isInteger(targets.dtype)) {
    throw new DTypeError(`${operation}: numbers of classes are integers, not ${targets.dtype}; ${MAKE_INTEGERS}`);
  }
  const labels = targets.cast(/64$/.test(targets.dtype) ? "i64" : "i32");
  const isThere = labels.expandDims(axis).equal(positionsAlong(p, axis));
  const isIgnored = ignoreIndex === undefined ? undefined : labels.equal(ignoreIndex);
  const isValid = labels.greaterEqual(0).logicalAnd(labels.less(p.shape[axis] as number));
  return { shares: isThere.cast(p.dtype), isThere, isValid, isIgnored };
}

/** t·log p, which is 0 for a share of 0 also where the logarithm is -infinity: a class that was masked. */
function finiteTerms(t: Tensor, logarithms: Tensor): Tensor {
  const isNothing = t.equal(0).logicalAnd(logarithms.equal(-Infinity));
  return t.mul(where(isNothing, 0, logarithms));
}

/** Weights of classes, shaped to broadcast with the predictions. */
function classWeightsOf(
  operation: string,
  given: Tensor | readonly number[] | undefined,
  p: Tensor,
  axis: number,
): Tensor | undefined {
  if (given === undefined) return undefined;
  const weights = Array.isArray(given) ? tensor([...given], { dtype: p.dtype, device: p.device }) : (given as Tensor);
  checkTensor(operation, "the option classWeights", weights);
  const classes = p.shape[axis] as number;
  if (!sameShape(weights.shape, [classes])) {
    throw new ShapeError(
      `${operation}: classWeights ${formatShape(weights.shape)} for ${classes} classes; there is one weight for each.`,
    );
  }
  return asFloat(operation, weights)
    .cast(p.dtype)
    .reshape(p.shape.map((extent, i) => (i === axis ? extent : 1)));
}
