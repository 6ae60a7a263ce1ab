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

/** Facts about the columns of a matrix that a fit may be told. */
interface ToldFeatures {
  readonly featureNames?: readonly string[];
  readonly featureCategories?: Features["categories"];
}

/** Features under the names that a fit was told, and with the categories that whole numbers stand for. */
export function featuresNamed(operation: string, features: Features, told: ToldFeatures): Features {
  const { featureNames: names = features.names, featureCategories: categories = features.categories } = told;
  for (const [name, list] of Object.entries({ featureNames: names, featureCategories: categories })) {
    if (list === null || (Array.isArray(list) && list.length === features.count)) continue;
    throw new ShapeError(
      `${operation}: there are ${list.length} ${name}, and the samples have ${features.count} features.`,
    );
  }
  return { count: features.count, names, categories };
}
