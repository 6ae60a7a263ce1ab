/** Confusion matrices, and numbers made of them: which classes are taken for which. */
import { checkChoice, checkOptions } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { arange, stack, type Tensor, where } from "../../tensor/index.js";
import { shareOf } from "../core/share.js";
import type { Label, Labels } from "../core/targets.js";

import {
  classesAmong,
  codedPair,
  flaggedPair,
  LABELS,
  type LabelOptions,
  type LabelsOrFlags,
  positiveOf,
} from "./labels.js";
import { confusionOf, talliesOfClasses, talliesOfFlags } from "./tallies.js";

/** Options of `confusionMatrix`. */
export interface ConfusionMatrixOptions extends LabelOptions {
  /** Shares instead of counts: of the right class, of the predicted one, or of all samples. */
  readonly normalize?: "targets" | "predictions" | "all";
}

/** Counts of samples by right class (rows) and predicted class (columns); sums of weights where there are some. */
export function confusionMatrix(predictions: Labels, targets: Labels, options: ConfusionMatrixOptions = {}): Tensor {
  const operation = "metrics.confusionMatrix";
  checkOptions(operation, options, { ...LABELS, normalize: "text" });
  const { normalize } = options;
  checkChoice(operation, "the option normalize", normalize, ["targets", "predictions", "all"]);
  const counts = confusionOf(codedPair(operation, predictions, targets, options));
  switch (normalize) {
    case "targets":
      return shareOf(counts, counts.sum({ axis: 1, keepDims: true }) as Tensor);
    case "predictions":
      return shareOf(counts, counts.sum({ axis: 0, keepDims: true }) as Tensor);
    case "all":
      return shareOf(counts, counts.sum() as Tensor);
    case undefined:
      return counts;
  }
}

/** Options of `multilabelConfusionMatrix`. */
export interface MultilabelConfusionOptions extends LabelOptions {
  /** A matrix for each sample instead of each label, where samples have several labels. */
  readonly samplewise?: boolean;
}

/** A confusion matrix [[true negatives, false positives], [false negatives, true positives]] for each class: [classes, 2, 2]. */
export function multilabelConfusionMatrix(
  predictions: LabelsOrFlags,
  targets: LabelsOrFlags,
  options: MultilabelConfusionOptions = {},
): Tensor {
  const operation = "metrics.multilabelConfusionMatrix";
  checkOptions(operation, options, { ...LABELS, samplewise: "flag" });
  const { samplewise = false } = options;
  const flagged = flaggedPair(operation, predictions, targets, options);
  if (!flagged && samplewise) {
    throw new ArgumentError(`${operation}: samplewise is for a matrix of several labels, not for one label each.`);
  }
  const { both, found, right, all } = flagged
    ? talliesOfFlags(flagged, samplewise ? "samples" : "labels")
    : talliesOfClasses(codedPair(operation, predictions as Labels, targets as Labels, options));
  const rows = [all.sub(found).sub(right).add(both), found.sub(both), right.sub(both), both] as Tensor[];
  const cells = stack(rows, { axis: 1 }).reshape(-1, 2, 2) as Tensor;
  // A weighted sample counts by its weight in its own matrix.
  return samplewise && flagged?.weights ? (cells.mul(flagged.weights.reshape(-1, 1, 1)) as Tensor) : cells;
}

/** Matthews's correlation of predicted and right classes: 1 where they are equal, 0 by chance, or where one of them is constant. */
export function matthewsCorrelation(predictions: Labels, targets: Labels, options: LabelOptions = {}): Tensor {
  checkOptions("metrics.matthewsCorrelation", options, LABELS);
  const counts = confusionOf(codedPair("metrics.matthewsCorrelation", predictions, targets, options));
  const [right, found] = [counts.sum({ axis: 1 }), counts.sum({ axis: 0 })] as [Tensor, Tensor];
  const all = counts.sum() as Tensor;
  const covariance = (a: Tensor, b: Tensor, same: Tensor): Tensor => same.mul(all).sub(a.mul(b).sum()) as Tensor;
  const together = covariance(right, found, counts.diagonal().sum() as Tensor);
  const spread = covariance(right, right, all)
    .sqrt()
    .mul(covariance(found, found, all).sqrt()) as Tensor;
  return shareOf(together, spread);
}

/** Options of `cohenKappa`. */
export interface CohenKappaOptions extends LabelOptions {
  /** How much a confusion counts: by the distance between the places of the classes, or its square. All the same unless told. */
  readonly weighting?: "linear" | "quadratic";
}

/** Cohen's κ: agreement beyond chance. NaN where both raters always name one and the same class. */
export function cohenKappa(predictions: Labels, targets: Labels, options: CohenKappaOptions = {}): Tensor {
  const operation = "metrics.cohenKappa";
  checkOptions(operation, options, { ...LABELS, weighting: "text" });
  const { weighting } = options;
  checkChoice(operation, "the option weighting", weighting, ["linear", "quadratic"]);
  const counts = confusionOf(codedPair(operation, predictions, targets, options));
  const [right, found] = [counts.sum({ axis: 1 }), counts.sum({ axis: 0 })] as [Tensor, Tensor];
  const expected = right.expandDims(1).mul(found.expandDims(0)).div(right.sum());
  const places = arange(counts.shape[0] as number, { device: counts.device, dtype: "i32" }).cast(counts.dtype);
  const apart = places.expandDims(1).sub(places.expandDims(0)).abs();
  const cost =
    weighting === "linear" ? apart : weighting === "quadratic" ? apart.square() : apart.greater(0).cast(counts.dtype);
  return cost.mul(counts).sum().div(cost.mul(expected).sum()).neg().add(1) as Tensor;
}

/** Likelihood ratios of a test with two outcomes. */
export interface LikelihoodRatios {
  /** How much likelier a positive result is for a positive sample than for a negative one. NaN without false positives. */
  readonly positive: Tensor;
  /** How much likelier a negative result is for a positive sample than for a negative one. NaN without true negatives. */
  readonly negative: Tensor;
}

/** The likelihood ratios of positive and negative predictions. NaN without positive samples. */
export function classLikelihoodRatios(
  predictions: Labels,
  targets: Labels,
  options: LabelOptions & { readonly posLabel?: Label } = {},
): LikelihoodRatios {
  const operation = "metrics.classLikelihoodRatios";
  checkOptions(operation, options, { ...LABELS, posLabel: "any" });
  const classes = options.labels ?? classesAmong(operation, [predictions, targets]);
  const positive = positiveOf(operation, classes, options.posLabel);
  const tallies = talliesOfClasses(codedPair(operation, predictions, targets, { ...options, labels: [positive] }));
  const [both, found, right] = [tallies.both, tallies.found, tallies.right].map((x) => x.reshape([])) as [
    Tensor,
    Tensor,
    Tensor,
  ];
  const negatives = tallies.all.sub(right) as Tensor;
  const [wrong, missed] = [found.sub(both), right.sub(both)] as [Tensor, Tensor];
  const ratio = (hits: Tensor, misses: Tensor): Tensor => {
    const isNone = right.equal(0).logicalOr(negatives.equal(0)).logicalOr(misses.equal(0));
    const value = hits.mul(negatives).div(where(isNone, 1, right.mul(misses)));
    return where(isNone, Number.NaN, value) as Tensor;
  };
  return { positive: ratio(both, wrong), negative: ratio(missed, negatives.sub(wrong) as Tensor) };
}
