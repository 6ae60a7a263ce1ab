/** Options of boosting, and their checks: what the regressor, the classifier and the ranker share. */
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import type { Features } from "../core/samples.js";
import type { GrowLimits } from "./grow.js";

/** Options that all kinds of boosting have. */
export interface BoostingOptions {
  /** The factor of each tree's values: 0.1 unless told. */
  readonly learningRate?: number;
  /** The number of rounds, each with a tree for every output: 100 unless told. */
  readonly maxIter?: number;
  /** Leaves of a tree at most: 31 unless told; null for no limit. */
  readonly maxLeafNodes?: number | null;
  /** The longest way from the root to a leaf; no limit unless told. */
  readonly maxDepth?: number | null;
  /** Samples of a leaf at least: 20 unless told. */
  readonly minSamplesLeaf?: number;
  /** The penalty on the squares of leaves' values: 0 unless told. */
  readonly l2Regularization?: number;
  /** Bins of a feature at most, 2 to 255: 255 unless told. Missing values have one more. */
  readonly maxBins?: number;
  /** Columns with categories as whole numbers from 0 to 254. Columns of text of a table are categories without being named here. */
  readonly categoricalFeatures?: readonly number[];
  /** For each feature 1 where predictions may only rise with it, -1 where they may only fall, else 0. */
  readonly monotonicCst?: readonly number[];
  /** Ends when the loss no longer improves: "auto" unless told, which means from 10,000 samples on. */
  readonly earlyStopping?: boolean | "auto";
  /** The share of samples that are held back to measure the loss: 0.1 unless told; null measures it on the training samples. */
  readonly validationFraction?: number | null;
  /** Rounds without improvement before the end: 10 unless told. */
  readonly nIterNoChange?: number;
  /** The improvement that counts: 1e-7 unless told. */
  readonly tol?: number;
  /** Which samples are held back, and which of many make the bins: 0 unless told. */
  readonly seed?: number;
}

/** The kinds of these options, for checks. */
export const BOOSTING = {
  learningRate: "number",
  maxIter: "number",
  maxLeafNodes: "any",
  maxDepth: "any",
  minSamplesLeaf: "number",
  l2Regularization: "number",
  maxBins: "number",
  categoricalFeatures: "list",
  monotonicCst: "list",
  earlyStopping: "any",
  validationFraction: "any",
  nIterNoChange: "number",
  tol: "number",
  seed: "number",
} as const;

const isWhole = (value: unknown, from: number): boolean => Number.isInteger(value) && (value as number) >= from;

/** Throws on options that are out of their range. */
export function checkBoosting(kind: string, options: BoostingOptions): void {
  const { learningRate = 0.1, maxIter = 100, maxLeafNodes = 31, maxDepth = null, minSamplesLeaf = 20 } = options;
  const { l2Regularization = 0, maxBins = 255, earlyStopping = "auto", validationFraction = 0.1 } = options;
  const { nIterNoChange = 10, tol = 1e-7, seed = 0, monotonicCst = [], categoricalFeatures = [] } = options;
  const rules: readonly (readonly [string, unknown, boolean, string])[] = [
    ["learningRate", learningRate, learningRate > 0, "a number above zero"],
    ["maxIter", maxIter, isWhole(maxIter, 1), "a whole number from 1 on"],
    [
      "maxLeafNodes",
      maxLeafNodes,
      maxLeafNodes === null || isWhole(maxLeafNodes, 2),
      "a whole number from 2 on, or null",
    ],
    ["maxDepth", maxDepth, maxDepth === null || isWhole(maxDepth, 1), "a whole number from 1 on, or null"],
    ["minSamplesLeaf", minSamplesLeaf, isWhole(minSamplesLeaf, 1), "a whole number from 1 on"],
    ["l2Regularization", l2Regularization, l2Regularization >= 0, "a number, zero or more"],
    ["maxBins", maxBins, isWhole(maxBins, 2) && maxBins <= 255, "a whole number from 2 to 255"],
    [
      "earlyStopping",
      earlyStopping,
      earlyStopping === "auto" || typeof earlyStopping === "boolean",
      `true, false or "auto"`,
    ],
    [
      "validationFraction",
      validationFraction,
      validationFraction === null || (validationFraction > 0 && validationFraction < 1),
      "a share between 0 and 1, or null",
    ],
    ["nIterNoChange", nIterNoChange, isWhole(nIterNoChange, 1), "a whole number from 1 on"],
    ["tol", tol, tol >= 0, "a number, zero or more"],
    ["seed", seed, isWhole(seed, 0), "a whole number"],
    ["monotonicCst", monotonicCst, monotonicCst.every((each) => [-1, 0, 1].includes(each)), "a list of -1, 0 and 1"],
    [
      "categoricalFeatures",
      categoricalFeatures,
      categoricalFeatures.every((each) => isWhole(each, 0)),
      "a list of columns by number",
    ],
  ];
  for (const [name, value, isRight, rule] of rules) {
    if (!isRight) throw new ArgumentError(`${kind}: ${name} is ${shown(value)}; it is ${rule}.`);
  }
  const clash = categoricalFeatures.find((feature) => (monotonicCst[feature] ?? 0) !== 0);
  if (clash !== undefined) {
    throw new ArgumentError(`${kind}: feature ${clash} is categorical, so it has no monotone constraint.`);
  }
}

/** Which features are categorical. */
export function categoricalOf(
  operation: string,
  { count: features, categories }: Features,
  options: BoostingOptions,
): boolean[] {
  const { categoricalFeatures = [] } = options;
  const outside = categoricalFeatures.find((feature) => feature >= features);
  if (outside !== undefined) {
    throw new ArgumentError(
      `${operation}: categoricalFeatures names ${outside}; the samples have ${features} features.`,
    );
  }
  return Array.from(
    { length: features },
    (_, f) => categoricalFeatures.includes(f) || (categories?.[f] ?? null) !== null,
  );
}

/** The limits of each tree. */
export function limitsOf(operation: string, features: number, options: BoostingOptions): GrowLimits {
  const { maxLeafNodes = 31, maxDepth = null, minSamplesLeaf = 20, l2Regularization = 0, monotonicCst } = options;
  if (monotonicCst && monotonicCst.length !== features) {
    throw new ArgumentError(
      `${operation}: monotonicCst has ${monotonicCst.length} numbers; the samples have ${features} features.`,
    );
  }
  return { maxLeafNodes, maxDepth, minSamplesLeaf, l2: l2Regularization, monotonic: monotonicCst ?? [] };
}
