/**
 * Names of columns, on their way through transformers: `featureNames()` of a fitted one lists the columns that come out. Pipelines pass
 * the list on, so that the last model knows its features by name although it sees a plain matrix.
 */
import { ShapeError } from "../../core/errors.js";
import type { Features } from "./samples.js";

/** The names of the columns that went in: those of a table, else x0, x1 …, as in scikit-learn. */
export const inputNames = ({ count, names }: Features): readonly string[] => names ?? numberedNames("x", count);

/** Names for columns that have none of their own: pca0, pca1 … */
export const numberedNames = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, j) => `${prefix}${j}`);

/** Features under the names that a fit was told. */
export function featuresNamed(operation: string, features: Features, names: readonly string[] | undefined): Features {
  if (names === undefined) return features;
  if (names.length === features.count) return { ...features, names };
  throw new ShapeError(`${operation}: there are ${names.length} featureNames, and the samples have ${features.count}.`);
}
