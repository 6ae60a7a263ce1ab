/** Changes that need nothing learned: rows brought to length one, and numbers to yes or no. */
import { checkChoice } from "../../core/arguments.js";
import { type Tensor, where } from "../../tensor/index.js";
import { inputNames } from "../core/feature-names.js";
import { checkAmount } from "../core/settings.js";
import { type PlaceLearned, placeOf, transformer } from "../core/sorts.js";

/** How long a row is. */
export type RowNorm = "l1" | "l2" | "max";

/** Options of `normalizer`. */
export interface NormalizerOptions {
  /** "l2" unless told: the root of the sum of squares; "l1" is the sum of absolute values, "max" the largest of them. */
  readonly norm?: RowNorm;
}

/** Rows divided by their length. Rows of zeros stay. */
export function normalizedRows(x: Tensor, norm: RowNorm): Tensor {
  const over = { axis: 1, keepDims: true };
  const divided = (by: Tensor): Tensor => x.div(where(by.equal(0), 1, by)) as Tensor;
  switch (norm) {
    case "max":
      return divided(x.abs().max(over) as Tensor);
    case "l1":
      return divided(x.abs().sum(over) as Tensor);
    case "l2":
      return divided(x.square().sum(over).sqrt() as Tensor);
  }
}

/** Each sample divided by its length, so that its direction alone counts. */
export const normalizer = transformer<PlaceLearned, NormalizerOptions>({
  kind: "normalizer",
  options: { norm: "text" },
  takesWeights: false,
  check: ({ norm }) => checkChoice("normalizer", "norm", norm, ["l1", "l2", "max"]),
  learn: ({ x }) => placeOf(x),
  transform: (_, x, { norm = "l2" }) => normalizedRows(x, norm),
  featureNames: (_, features) => inputNames(features),
});

/** Options of `binarizer`. */
export interface BinarizerOptions {
  /** Numbers above it become 1, others 0. 0 unless told. */
  readonly threshold?: number;
}

/** Ones for numbers above a threshold, zeros for others. */
export const binarizer = transformer<PlaceLearned, BinarizerOptions>({
  kind: "binarizer",
  options: { threshold: "number" },
  takesWeights: false,
  check: ({ threshold = 0 }) => checkAmount("binarizer", "threshold", threshold, -Number.MAX_VALUE),
  learn: ({ x }) => placeOf(x),
  transform: (_, x, { threshold = 0 }) => x.greater(threshold).cast(x.dtype) as Tensor,
  featureNames: (_, features) => inputNames(features),
});
