/** Naive Bayes batch by batch: what is learned are sums over samples, so a model that has seen some can see more. Nothing is read: updates trace. */
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { isTensor, type Tensor, tensor } from "../../tensor/index.js";
import { type Data, type FitOptions, weightsBeside } from "../core/estimator.js";
import type { Fitted, Model } from "../core/model.js";
import type { Samples } from "../core/samples.js";
import { type ClassificationMethods, type ProbabilityMethods, samplesFor } from "../core/sorts.js";
import { checkRows, type Label, type Labels, labelsNow, tracedCodes } from "../core/targets.js";

/** Methods of every naive Bayes. */
export interface NaiveBayesMethods<L, O extends object> extends ProbabilityMethods<L, O> {
  /** The model that has also seen these samples, whose labels are among its classes. Values of samples are not checked. */
  partialFit(
    model: Fitted<L, O>,
    samples: Samples,
    labels: Labels,
    options?: Pick<FitOptions, "weights">,
  ): Model<L, O, ClassificationMethods<L, O> & NaiveBayesMethods<L, O>>;
}

/** Data of a classification. */
export type Classified = Data & { readonly y: Tensor; readonly classes: number };

/** Samples of a batch with their labels as positions of the model's classes. */
export function batchOf(
  model: Fitted<unknown, object>,
  samples: Samples,
  labels: Labels,
  { weights }: Pick<FitOptions, "weights"> = {},
): Classified {
  const operation = `${model.kind}.partialFit`;
  const { features } = model;
  const classes = model.classes as readonly Label[];
  const x = samplesFor(model, "partialFit", samples);
  return {
    x,
    y: isTensor(labels) ? tracedCodes(operation, labels, x, classes) : placesOf(operation, labels, x, classes),
    weights: weights === undefined ? null : weightsBeside(operation, weights, x),
    groups: null,
    facts: { features, classes },
    signal: undefined,
    classes: classes.length,
  };
}

function placesOf(operation: string, labels: Labels, x: Tensor, classes: readonly Label[]): Tensor {
  const places = new Map(classes.map((label, place) => [label, place]));
  const codes = Int32Array.from(labelsNow(operation, labels), (label, row) => {
    const place = places.get(label);
    if (place !== undefined) return place;
    throw new ArgumentError(
      `${operation}: label ${row} is ${shown(label)}, not one of the classes ${shown(classes)}; ` +
        "name those that come later in the first fit: fit(x, y, { classes }).",
    );
  });
  const made = tensor(codes, { device: x.device }) as Tensor;
  checkRows(operation, "labels", made, x);
  return made;
}
