/** Options of trees with exact splits, and their checks: what decision trees, forests and extremely randomised trees share. */
import { checkChoice, checkWhole } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import type { Tensor } from "../../tensor/index.js";
import { type ClassWeight, checkClassWeight, withClassWeights } from "../core/class-weights.js";
import { membersOf } from "../core/members.js";
import type { Label } from "../core/targets.js";
import type { TreeCriterion } from "./exact-data.js";
import type { ExactLimits } from "./exact-growth.js";

/** Options that all trees with exact splits have. */
interface TreeOptions {
  /** The longest way from the root to a leaf; no limit unless told. */
  readonly maxDepth?: number | null;
  /** Samples of a node that is split, at least: 2 unless told. A number below 1 is a share of the samples of the fit. */
  readonly minSamplesSplit?: number;
  /** Samples of a leaf at least: 1 unless told. A number below 1 is a share of the samples of the fit. */
  readonly minSamplesLeaf?: number;
  /** The weight of a leaf at least, as a share of the weights of all samples, up to 0.5: 0 unless told. */
  readonly minWeightFractionLeaf?: number;
  /** Features that each node looks at: a number from 1 on, a share below 1, "sqrt", "log2", or null for all. */
  readonly maxFeatures?: number | "sqrt" | "log2" | null;
  /** Leaves of a tree at most, the split with the largest gain first; no limit unless told. */
  readonly maxLeafNodes?: number | null;
  /** Nodes are split where the impurity falls by this at least, as a share of all samples: 0 unless told. */
  readonly minImpurityDecrease?: number;
  /** The cost of a leaf, by which grown trees are pruned: 0 unless told. */
  readonly ccpAlpha?: number;
  /** Which features nodes look at, and whatever else is drawn: 0 unless told. */
  readonly seed?: number;
}

/** Options of trees for classes. */
export interface ClassTreeOptions extends TreeOptions {
  /** The impurity of nodes: "gini" unless told. "logLoss" is another name of "entropy". */
  readonly criterion?: "gini" | "entropy" | "logLoss";
  /** Weights of the classes; all count the same unless told. */
  readonly classWeight?: ClassWeight;
}

/** Options of trees for numbers. */
export interface NumberTreeOptions extends TreeOptions {
  /**
   * The impurity of nodes: "squaredError" unless told. "friedmanMse" has the same impurity, and chooses splits by how far the means of both parts
   * lie apart; "absoluteError" predicts medians, of one target; "poisson" is for counts, zero or more.
   */
  readonly criterion?: "squaredError" | "friedmanMse" | "absoluteError" | "poisson";
}

/** The kinds of these options, for checks. */
const TREE = {
  maxDepth: "any",
  minSamplesSplit: "number",
  minSamplesLeaf: "number",
  minWeightFractionLeaf: "number",
  maxFeatures: "any",
  maxLeafNodes: "any",
  minImpurityDecrease: "number",
  ccpAlpha: "number",
  seed: "number",
} as const;

export const CLASS_TREE = { ...TREE, criterion: "text", classWeight: "any" } as const;
export const NUMBER_TREE = { ...TREE, criterion: "text" } as const;

const isShareBelowOne = (amount: number): boolean => amount > 0 && amount < 1;

function checkAmount(kind: string, name: string, amount: number, least: number): void {
  if (isShareBelowOne(amount) || (Number.isSafeInteger(amount) && amount >= least)) return;
  throw new ArgumentError(
    `${kind}: ${name} is ${shown(amount)}; it is a whole number from ${least} on, or a share below 1.`,
  );
}

/** A number of samples: a number below 1 is a share of them, rounded up. */
const samplesOf = (amount: number, samples: number): number => (amount < 1 ? Math.ceil(amount * samples) : amount);

/** Throws on options that are out of their range. */
function checkTree(kind: string, options: TreeOptions): void {
  const { maxDepth = null, maxLeafNodes = null, maxFeatures = null } = options;
  const { minSamplesSplit = 2, minSamplesLeaf = 1, minImpurityDecrease = 0, ccpAlpha = 0, seed = 0 } = options;
  if (maxDepth !== null) checkWhole(kind, "maxDepth", maxDepth, 1);
  if (maxLeafNodes !== null) checkWhole(kind, "maxLeafNodes", maxLeafNodes, 2);
  checkAmount(kind, "minSamplesSplit", minSamplesSplit, 2);
  checkAmount(kind, "minSamplesLeaf", minSamplesLeaf, 1);
  checkWhole(kind, "seed", seed, 0);
  for (const [name, value] of Object.entries({ minImpurityDecrease, ccpAlpha })) {
    if (!(value >= 0)) throw new ArgumentError(`${kind}: ${name} is ${shown(value)}; it is a number, zero or more.`);
  }
  const { minWeightFractionLeaf = 0 } = options;
  if (!(minWeightFractionLeaf >= 0 && minWeightFractionLeaf <= 0.5)) {
    throw new ArgumentError(
      `${kind}: minWeightFractionLeaf is ${shown(minWeightFractionLeaf)}; it is a share from 0 to 0.5.`,
    );
  }
  checkFeatures(kind, maxFeatures, true);
}

/** Throws unless `maxFeatures` is a number of features, or where names are taken, one of them. */
export function checkFeatures(kind: string, maxFeatures: unknown, takesNames: boolean): void {
  const isNamed = maxFeatures === null || (takesNames && (maxFeatures === "sqrt" || maxFeatures === "log2"));
  const isNumber = typeof maxFeatures === "number";
  if (isNamed || (isNumber && (isShareBelowOne(maxFeatures) || (Number.isInteger(maxFeatures) && maxFeatures >= 1)))) {
    return;
  }
  const others = takesNames ? 'a share below 1, "sqrt", "log2" or null' : "a share below 1, or null";
  throw new ArgumentError(`${kind}: maxFeatures is ${shown(maxFeatures)}; it is a whole number from 1 on, ${others}.`);
}

export function checkClassTree(kind: string, options: ClassTreeOptions): void {
  checkTree(kind, options);
  checkChoice(kind, "criterion", options.criterion, ["gini", "entropy", "logLoss"]);
  checkClassWeight(kind, options.classWeight);
}

export function checkNumberTree(kind: string, options: NumberTreeOptions): void {
  checkTree(kind, options);
  checkChoice(kind, "criterion", options.criterion, ["squaredError", "friedmanMse", "absoluteError", "poisson"]);
}

/** Throws on targets that a criterion does not take. */
export async function checkAims(operation: string, y: Tensor, { criterion }: NumberTreeOptions): Promise<void> {
  if (criterion === "absoluteError" && y.rank === 2 && (y.shape[1] as number) > 1) {
    throw new ArgumentError(
      `${operation}: there are ${y.shape[1]} targets for each sample; the criterion "absoluteError" takes one.`,
    );
  }
  if (criterion !== "poisson") return;
  const [least, total] = await Promise.all([y.min().item(), y.sum().item()]);
  if (Number(least) >= 0 && Number(total) > 0) return;
  throw new ArgumentError(
    `${operation}: the smallest target is ${least}, their sum ${total}; the criterion "poisson" takes zero or more, not all zero.`,
  );
}

/** A number of features, as options give it. */
export function numberOfFeatures(maxFeatures: number | "sqrt" | "log2" | null, features: number): number {
  if (maxFeatures === null) return features;
  if (maxFeatures === "sqrt") return Math.max(1, Math.floor(Math.sqrt(features)));
  if (maxFeatures === "log2") return Math.max(1, Math.floor(Math.log2(features)));
  return maxFeatures < 1 ? Math.max(1, Math.floor(maxFeatures * features)) : Math.min(maxFeatures, features);
}

/** The limits of each tree on samples `x`. `looksAt` is what `maxFeatures` is unless told. */
export function exactLimits(options: TreeOptions, x: Tensor, looksAt: "sqrt" | null, isRandom: boolean): ExactLimits {
  const { maxDepth = null, maxLeafNodes = null, maxFeatures = looksAt } = options;
  const { minSamplesSplit = 2, minSamplesLeaf = 1, minWeightFractionLeaf = 0 } = options;
  const { minImpurityDecrease = 0, ccpAlpha = 0, seed = 0 } = options;
  const [samples, features] = x.shape as [number, number];
  return {
    ...{ maxDepth, maxLeafNodes, minWeightFractionLeaf, minImpurityDecrease, ccpAlpha, isRandom, seed },
    minSamplesSplit: samplesOf(minSamplesSplit, samples),
    minSamplesLeaf: samplesOf(minSamplesLeaf, samples),
    maxFeatures: numberOfFeatures(maxFeatures, features),
    featuresOfTree: null,
    splitsPure: false,
  };
}

/** How the kernels name an impurity. */
export function criterionOf(given: ClassTreeOptions["criterion"] | NumberTreeOptions["criterion"]): TreeCriterion {
  switch (given) {
    case undefined:
    case "squaredError":
      return "squared";
    case "friedmanMse":
      return "friedman";
    case "absoluteError":
      return "absolute";
    case "logLoss":
      return "entropy";
    default:
      return given;
  }
}

/** The weights of samples with those of their classes. */
export function classWeights(
  operation: string,
  { classWeight }: Pick<ClassTreeOptions, "classWeight">,
  x: Tensor,
  y: Tensor,
  classes: readonly Label[],
  weights: Tensor | null,
): Tensor | null {
  if (classWeight === undefined) return weights;
  return withClassWeights(operation, classWeight, membersOf(x, y, classes.length, null), weights, classes);
}
