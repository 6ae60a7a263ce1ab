/** Precision, recall, F-scores and Jaccard's index: of one class, of each, and their averages as scikit-learn names them. */
import { checkChoice, checkOptions, type OptionKinds } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import type { Tensor } from "../../tensor/index.js";
import { shareOf } from "../core/share.js";
import type { Label, Labels } from "../core/targets.js";
import { weightedMean } from "./inputs.js";
import {
  classesAmong,
  codedPair,
  type Flagged,
  flaggedPair,
  LABELS,
  type LabelOptions,
  type LabelsOrFlags,
  positiveOf,
} from "./labels.js";
import { type Tallies, talliesOfClasses, talliesOfFlags } from "./tallies.js";

/** Which classes a share is of, and how those of several become one number. */
export type Average = "binary" | "micro" | "macro" | "weighted" | "samples" | "none";

const AVERAGES: readonly Average[] = ["binary", "micro", "macro", "weighted", "samples", "none"];

/** Options of `precision`, `recall`, `f1` and `jaccard`. */
export interface ShareOptions extends LabelOptions {
  /**
   * "binary" unless told: the share of the positive class. "macro" is the mean over the classes, "weighted" the mean by how often each
   * class is right, "micro" the share of all decisions together, "none" a value for each class. "samples" is the mean over samples that
   * have several labels.
   */
  readonly average?: Average;
  /** The positive class: the second in order unless told. */
  readonly posLabel?: Label;
  /** The value of 0 / 0: 0 unless told. */
  readonly zeroDivision?: number;
}

/** Options of `fBeta`. */
export interface FBetaOptions extends ShareOptions {
  /** How much more recall counts than precision: 1 unless told. */
  readonly beta?: number;
}

const SHARE: OptionKinds<ShareOptions> = { ...LABELS, average: "text", posLabel: "any", zeroDivision: "number" };

type Parts = (tallies: Tallies) => readonly [part: Tensor, whole: Tensor];

const PRECISION: Parts = ({ both, found }) => [both, found];
const RECALL: Parts = ({ both, right }) => [both, right];
const JACCARD: Parts = ({ both, found, right }) => [both, found.add(right).sub(both) as Tensor];

/** (1 + β²) both / (β² right + found): the harmonic mean of precision and recall without their own divisions. */
const fParts =
  (beta: number): Parts =>
  ({ both, found, right }) => {
    if (beta === Number.POSITIVE_INFINITY) return [both, right];
    return [both.mul(1 + beta * beta) as Tensor, right.mul(beta * beta).add(found) as Tensor];
  };

/** The share of the predicted samples of a class that are right. */
export function precision(predictions: LabelsOrFlags, targets: LabelsOrFlags, options: ShareOptions = {}): Tensor {
  checkOptions("metrics.precision", options, SHARE);
  return averaged("metrics.precision", predictions, targets, options, PRECISION);
}

/** The share of the samples of a class that are found. */
export function recall(predictions: LabelsOrFlags, targets: LabelsOrFlags, options: ShareOptions = {}): Tensor {
  checkOptions("metrics.recall", options, SHARE);
  return averaged("metrics.recall", predictions, targets, options, RECALL);
}

/** The harmonic mean of precision and recall, in which recall counts β times as much. */
export function fBeta(predictions: LabelsOrFlags, targets: LabelsOrFlags, options: FBetaOptions = {}): Tensor {
  checkOptions("metrics.fBeta", options, { ...SHARE, beta: "number" });
  const { beta = 1 } = options;
  if (!(beta >= 0)) throw new ArgumentError(`metrics.fBeta: beta is ${beta}; it is a number, zero or more.`);
  return averaged("metrics.fBeta", predictions, targets, options, fParts(beta));
}

/** The harmonic mean of precision and recall. */
export function f1(predictions: LabelsOrFlags, targets: LabelsOrFlags, options: ShareOptions = {}): Tensor {
  checkOptions("metrics.f1", options, SHARE);
  return averaged("metrics.f1", predictions, targets, options, fParts(1));
}

/** Jaccard's index: of the samples that are of a class or predicted as such, the share that are both. */
export function jaccard(predictions: LabelsOrFlags, targets: LabelsOrFlags, options: ShareOptions = {}): Tensor {
  checkOptions("metrics.jaccard", options, SHARE);
  return averaged("metrics.jaccard", predictions, targets, options, JACCARD);
}

/** Precision, recall, an F-score, and how often each class is right. */
export interface SharesByClass {
  readonly precision: Tensor;
  readonly recall: Tensor;
  readonly fBeta: Tensor;
  /** Null where the shares are averages. */
  readonly support: Tensor | null;
}

/** Precision, recall and F-score in one pass; with their supports where `average` is "none", the default here. */
export function precisionRecallFScore(
  predictions: LabelsOrFlags,
  targets: LabelsOrFlags,
  options: FBetaOptions = {},
): SharesByClass {
  const operation = "metrics.precisionRecallFScore";
  checkOptions(operation, options, { ...SHARE, beta: "number" });
  const { average = "none", beta = 1 } = options;
  const share = sharer(operation, predictions, targets, { ...options, average });
  return {
    precision: share(PRECISION),
    recall: share(RECALL),
    fBeta: share(fParts(beta)),
    support: average === "none" ? share.tallies.right : null,
  };
}

function averaged(
  operation: string,
  predictions: LabelsOrFlags,
  targets: LabelsOrFlags,
  options: ShareOptions,
  parts: Parts,
): Tensor {
  return sharer(operation, predictions, targets, options)(parts);
}

type Sharer = ((parts: Parts) => Tensor) & { readonly tallies: Tallies };

/** A function that gives shares of parts, averaged as the options say. */
function sharer(operation: string, predictions: LabelsOrFlags, targets: LabelsOrFlags, options: ShareOptions): Sharer {
  const { average = "binary", zeroDivision = 0 } = options;
  checkChoice(operation, "the option average", average, AVERAGES);
  const flagged = flaggedPair(operation, predictions, targets, options);
  const tallies = flagged
    ? flagTallies(operation, flagged, average)
    : classTallies(operation, predictions as Labels, targets as Labels, options, average);
  const share = (parts: Parts): Tensor => {
    const [part, whole] = parts(tallies);
    if (average === "micro") return shareOf(part.sum() as Tensor, whole.sum() as Tensor, zeroDivision);
    const shares = shareOf(part, whole, zeroDivision);
    switch (average) {
      case "binary":
        return shares.reshape([]) as Tensor;
      case "macro":
        return shares.mean() as Tensor;
      case "weighted":
        return shareOf(shares.mul(tallies.right).sum() as Tensor, tallies.right.sum() as Tensor, zeroDivision);
      case "samples":
        return weightedMean(shares, flagged?.weights ?? null);
      case "none":
        return shares;
    }
  };
  return Object.assign(share, { tallies });
}

function flagTallies(operation: string, flagged: Flagged, average: Average): Tallies {
  if (average !== "binary") return talliesOfFlags(flagged, average === "samples" ? "samples" : "labels");
  throw new ArgumentError(`${operation}: samples have several labels; name an average: "micro", "macro", "samples" …`);
}

function classTallies(
  operation: string,
  predictions: Labels,
  targets: Labels,
  options: ShareOptions,
  average: Average,
): Tallies {
  if (average === "samples") {
    throw new ArgumentError(
      `${operation}: the average "samples" is for a matrix of several labels, not for one label each.`,
    );
  }
  if (options.posLabel !== undefined && average !== "binary") {
    throw new ArgumentError(
      `${operation}: posLabel ${shown(options.posLabel)} is for the average "binary", not "${average}".`,
    );
  }
  if (average !== "binary") return talliesOfClasses(codedPair(operation, predictions, targets, options));
  const classes = options.labels ?? classesAmong(operation, [predictions, targets]);
  const positive = positiveOf(operation, classes, options.posLabel);
  return talliesOfClasses(codedPair(operation, predictions, targets, { ...options, labels: [positive] }));
}
