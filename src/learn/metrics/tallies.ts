/** How often each class is right, predicted, and both: what precision, recall, F-scores and Jaccard's index are made of. */
import { countsByClass } from "../../nn/metrics/confusion.js";
import { type Tensor, where } from "../../tensor/index.js";
import { weightedSum } from "./inputs.js";
import type { Coded, Flagged } from "./labels.js";

/** Sums of weights, by class. */
export interface Tallies {
  /** Predicted and right. */
  readonly both: Tensor;
  readonly found: Tensor;
  readonly right: Tensor;
  /** Of all samples, a scalar. */
  readonly all: Tensor;
}

/** Tallies of classes, [classes]. */
export function talliesOfClasses({ found, right, classes, weights, dtype }: Coded): Tallies {
  const count = (codes: Tensor): Tensor =>
    codes.bincount({ length: classes.length, ...(weights && { weights, deterministic: true }) }).cast(dtype) as Tensor;
  return {
    both: count(where(found.equal(right), right, -1) as Tensor),
    found: count(found),
    right: count(right),
    all: (weights ?? right.mul(0).add(1)).sum().cast(dtype) as Tensor,
  };
}

/** Tallies of flags: of each label over the samples, or of each sample over the labels. */
export function talliesOfFlags({ found, right, weights, dtype }: Flagged, by: "labels" | "samples"): Tallies {
  const sum = (x: Tensor): Tensor => (by === "labels" ? weightedSum(x, weights) : x.sum({ axis: 1 })) as Tensor;
  const both = found.mul(right) as Tensor;
  const one = right.at(":", 0).mul(0).add(1) as Tensor;
  const all = by === "labels" ? weightedSum(one, weights) : right.at(0).mul(0).add(1).sum().cast(dtype);
  return { both: sum(both), found: sum(found), right: sum(right), all: all as Tensor };
}

/** Weights of samples by right class (rows) and predicted class (columns), in the dtype of the pair. */
export function confusionOf({ found, right, classes, weights, dtype }: Coded): Tensor {
  return countsByClass(right, found, classes.length, weights ?? undefined).cast(dtype) as Tensor;
}
