/**
 * Labels as metrics compare them: positions in one list of classes. The classes are those of the option `labels`, or all that occur; then
 * tensors are read. So metrics of classes trace when `labels` are given and predictions and targets are tensors.
 */
import { ArgumentError, ShapeError, TraceError } from "../../core/errors.js";
import { formatShape, sameShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { isTensor, type Tensor, tensor } from "../../tensor/index.js";
import { codesOfTensor, type Label, type Labels, labelsNow, sortedClasses } from "../core/targets.js";
import {
  checkCounts,
  checkNotEmpty,
  isMatrix,
  METRIC,
  type MetricOptions,
  type MetricPlace,
  placeOf,
  weightsFor,
} from "./inputs.js";

/** Labels of samples, or a matrix of yes and no [samples, labels] where a sample has several. */
export type LabelsOrFlags = Labels | readonly (readonly number[])[] | readonly (readonly boolean[])[];

/** Options of metrics of classes. */
export interface LabelOptions extends MetricOptions {
  /** The classes that count, in their order: all that occur, sorted, unless told. Labels that are none of them belong to no class. */
  readonly labels?: readonly Label[];
}

export const LABELS = { ...METRIC, labels: "any" } as const;

/** Predicted and right labels as positions in a list of classes, i32; -1 for labels that are no class. */
export interface Coded extends MetricPlace {
  readonly found: Tensor;
  readonly right: Tensor;
  readonly classes: readonly Label[];
  readonly weights: Tensor | null;
}

/** Predictions and targets by their classes. */
export function codedPair(operation: string, predictions: Labels, targets: Labels, options: LabelOptions): Coded {
  const place = placeOf(operation, [predictions, targets], options);
  const classes = options.labels ?? classesAmong(operation, [predictions, targets]);
  const found = codesOf(operation, predictions, classes, place);
  const right = codesOf(operation, targets, classes, place);
  const samples = right.shape[0] as number;
  checkCounts(operation, "predictions", found.shape[0] as number, samples);
  checkNotEmpty(operation, samples);
  return { ...place, found, right, classes, weights: weightsFor(operation, options, samples, place) };
}

/** All classes that occur, in order. Reads tensors. */
export function classesAmong(operation: string, lists: readonly Labels[]): readonly Label[] {
  return sortedClasses(
    operation,
    lists.flatMap((labels) => [...new Set(readNow(operation, labels))]),
  );
}

function readNow(operation: string, labels: Labels): readonly Label[] {
  try {
    return labelsNow(operation, labels);
  } catch (error) {
    if (!(error instanceof TraceError)) throw error;
    const remedy = "inside a transform the classes must be told: { labels: [0, 1] }";
    throw new TraceError(`${operation}: ${remedy}.`, { cause: error });
  }
}

/** Labels as positions in a list of classes, i32; -1 for those that are no class. */
export function codesOf(operation: string, labels: Labels, classes: readonly Label[], { device }: MetricPlace): Tensor {
  if (isTensor(labels)) return codesOfTensor(operation, labels, labels, classes).codes;
  const places = new Map(classes.map((label, place) => [label, place]));
  const codes = Int32Array.from(labelsNow(operation, labels), (label) => places.get(label) ?? -1);
  return tensor(codes, { device }) as Tensor;
}

/** Which samples are positive, bool [samples]. The positive class is the second in order unless `posLabel` says otherwise. */
export function positives(
  operation: string,
  targets: Labels,
  { labels, posLabel }: LabelOptions & { readonly posLabel?: Label },
  place: MetricPlace,
): Tensor {
  // Inside a transform nothing is read; 1 and true are positive there.
  const isTraced = isTensor(targets) && targets.node.isAbstract;
  const classes = labels ?? (isTraced ? [0, 1] : classesAmong(operation, [targets]));
  const positive = positiveOf(operation, classes, posLabel);
  return codesOf(operation, targets, [positive], place).equal(0) as Tensor;
}

/** The positive one of at most two classes. A lone class is positive when it is 1 or true. */
export function positiveOf(operation: string, classes: readonly Label[], posLabel: Label | undefined): Label {
  if (classes.length > 2) {
    throw new ArgumentError(
      `${operation}: there are ${classes.length} classes, ${shown(classes)}; with more than two, name an average, or the scores of each class.`,
    );
  }
  if (posLabel !== undefined) {
    if (classes.length < 2 || classes.includes(posLabel)) return posLabel;
    throw new ArgumentError(`${operation}: posLabel is ${shown(posLabel)}, not one of the classes ${shown(classes)}.`);
  }
  const [first, second] = classes;
  if (second !== undefined) return second;
  if (typeof first !== "string") return typeof first === "boolean" ? true : 1;
  throw new ArgumentError(`${operation}: the only class is ${shown(first)}; say by posLabel which class is positive.`);
}

/** A matrix of yes and no in the dtype of the place: [samples, labels]. */
export function flagsOf(operation: string, flags: LabelsOrFlags, place: MetricPlace): Tensor {
  const given = isTensor(flags) ? flags : (tensor(flags as number[][], { device: place.device }) as Tensor);
  if (given.rank !== 2) {
    throw new ShapeError(
      `${operation}: labels of several kinds are [samples, labels], not ${formatShape(given.shape)}.`,
    );
  }
  return given.notEqual(0).cast(place.dtype) as Tensor;
}

/** Predicted and right flags, of one shape. */
export interface Flagged extends MetricPlace {
  readonly found: Tensor;
  readonly right: Tensor;
  readonly weights: Tensor | null;
}

/** Predictions and targets that are matrices of yes and no; null where they are labels. */
export function flaggedPair(
  operation: string,
  predictions: LabelsOrFlags,
  targets: LabelsOrFlags,
  options: MetricOptions,
): Flagged | null {
  if (!isMatrix(predictions) && !isMatrix(targets)) return null;
  const place = placeOf(operation, [predictions, targets], options);
  const [found, right] = [flagsOf(operation, predictions, place), flagsOf(operation, targets, place)];
  if (!sameShape(found.shape, right.shape)) {
    throw new ShapeError(
      `${operation}: predictions ${formatShape(found.shape)} and targets ${formatShape(right.shape)} have different shapes.`,
    );
  }
  const samples = right.shape[0] as number;
  checkNotEmpty(operation, samples);
  return { ...place, found, right, weights: weightsFor(operation, options, samples, place) };
}
