/** Options of boosting, and their checks: what the regressor, the classifier and the ranker share. */
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { checkFeatureOptions, type FeatureOptions, type FeatureRules } from "./feature-rules.js";
import type { GrowLimits } from "./grow.js";

/** Options that all kinds of boosting have. */
export interface BoostingOptions extends FeatureOptions {
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
  categoricalFeatures: "any",
  monotonicCst: "any",
  interactionCst: "any",
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
  const { nIterNoChange = 10, tol = 1e-7, seed = 0 } = options;
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
  ];
  for (const [name, value, isRight, rule] of rules) {
    if (!isRight) throw new ArgumentError(`${kind}: ${name} is ${shown(value)}; it is ${rule}.`);
  }
  checkFeatureOptions(kind, options);
}

/** The limits of each tree. */
export function limitsOf(options: BoostingOptions, { monotonic, interactions }: FeatureRules): GrowLimits {
  const { maxLeafNodes = 31, maxDepth = null, minSamplesLeaf = 20, l2Regularization = 0 } = options;
  return { maxLeafNodes, maxDepth, minSamplesLeaf, l2: l2Regularization, monotonic, interactions };
}
