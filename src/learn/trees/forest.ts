/**
 * Forests: many trees whose predictions are averaged. Random forests give each tree rows drawn with replacement and each node a few features
 * to look at; extremely randomised trees take all rows and draw the thresholds, too.
 */
import { checkWhole } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { full, type Tensor, where } from "../../tensor/index.js";
import type { ClassWeight } from "../core/class-weights.js";
import type { FitProgress } from "../core/estimator.js";
import { classifier, regressor } from "../core/sorts.js";
import { forestNumbers, forestPrediction, type ShareMethods, shareMethods } from "./decision-tree.js";
import { type ExactData, exactData } from "./exact-data.js";
import type { ExactLimits } from "./exact-growth.js";
import { growForest } from "./forest-growth.js";
import type { TreeTensors } from "./grown-tree.js";
import { columnTensors } from "./node-table.js";
import { type TreeMethods, treeMethods } from "./tree-methods.js";
import {
  CLASS_TREE,
  type ClassTreeOptions,
  checkAims,
  checkClassTree,
  checkNumberTree,
  classWeights,
  criterionOf,
  exactLimits,
  NUMBER_TREE,
  type NumberTreeOptions,
} from "./tree-options.js";

/** Options that all forests have. */
interface ForestOptions {
  /** The number of trees: 100 unless told. */
  readonly nEstimators?: number;
  /** Whether each tree has rows drawn with replacement: true unless told in random forests, false in extremely randomised trees. */
  readonly bootstrap?: boolean;
  /** Rows that are drawn for each tree: a number from 1 on, or a share up to 1; as many as there are unless told. */
  readonly maxSamples?: number | null;
  /** Whether rows are predicted by the trees that did not see them: false unless told. Needs `bootstrap`. */
  readonly oobScore?: boolean;
}

/** Options of forests for classes; nodes look at "sqrt" features unless `maxFeatures` says otherwise. */
export interface ForestClassifierOptions extends ForestOptions, Omit<ClassTreeOptions, "classWeight"> {
  /** Weights of the classes; all count the same unless told. "balancedSubsample" balances the rows that each tree has drawn. */
  readonly classWeight?: ClassWeight | "balancedSubsample";
}

/** Options of forests for numbers. */
export interface ForestRegressorOptions extends ForestOptions, NumberTreeOptions {}

/** What forests learn. */
export interface ForestLearned {
  readonly trees: TreeTensors;
  /** Predictions of rows by trees that did not see them, [samples, outputs]; NaN where all saw it. Null without `oobScore`. */
  readonly oobPrediction: Tensor | null;
  /** The share of those that are right, or R². */
  readonly oobScore: Tensor | null;
  readonly [name: string]: Tensor | TreeTensors | null;
}

const FOREST = { nEstimators: "number", bootstrap: "flag", maxSamples: "any", oobScore: "flag" } as const;

function checkForest(kind: string, options: ForestOptions, bootstraps: boolean): void {
  const { nEstimators = 100, bootstrap = bootstraps, maxSamples = null, oobScore = false } = options;
  checkWhole(kind, "nEstimators", nEstimators, 1);
  const isShare = typeof maxSamples === "number" && maxSamples > 0 && maxSamples < 1;
  if (maxSamples !== null && !isShare) checkWhole(kind, "maxSamples", maxSamples, 1);
  const needing = oobScore ? "oobScore" : maxSamples !== null ? "maxSamples" : null;
  if (bootstrap || !needing) return;
  throw new ArgumentError(
    `${kind}: ${needing} is ${shown(options[needing])}; without bootstrap all trees see all rows.`,
  );
}

interface Fit {
  readonly x: Tensor;
  readonly y: Tensor;
  readonly data: ExactData;
  readonly weights: Tensor | null;
  readonly limits: ExactLimits;
  readonly signal: AbortSignal | undefined;
}

async function* forestOf(
  { x, y, data, weights, limits, signal }: Fit,
  options: ForestOptions,
  bootstraps: boolean,
  scoreOf: (predicted: Tensor, y: Tensor) => Tensor,
  balances = false,
): AsyncGenerator<FitProgress, ForestLearned> {
  const { nEstimators = 100, bootstrap = bootstraps, maxSamples = null, oobScore = false } = options;
  const { samples } = data;
  const drawn =
    maxSamples === null ? samples : Math.max(1, Math.round(maxSamples < 1 ? maxSamples * samples : maxSamples));
  const rows = bootstrap ? "bootstrap" : "all";
  const plan = { trees: nEstimators, rows, drawn, balances, predictsUnseen: oobScore } as const;
  const { groups, unseen } = yield* growForest(data, x, weights, limits, plan, signal);
  return {
    trees: columnTensors(groups, x.device, x.dtype),
    oobPrediction: unseen,
    oobScore: unseen && scoreOf(unseen, y),
  };
}

/** The mean over rows that were predicted. */
function meanOfKnown(values: Tensor, predicted: Tensor): Tensor {
  const isKnown = predicted.isNaN().any({ axis: 1 }).logicalNot().cast(predicted.dtype);
  return where(isKnown.greater(0), values, 0).sum({ axis: 0 }).div(isKnown.sum()) as Tensor;
}

const shareOfRight = (predicted: Tensor, y: Tensor): Tensor => {
  const isRight = predicted.argmax({ axis: 1 }).cast("i32").equal(y.cast("i32")).cast(predicted.dtype) as Tensor;
  return meanOfKnown(isRight, predicted);
};

/** R² of the rows that were predicted, the mean over targets. */
function explained(predicted: Tensor, y: Tensor): Tensor {
  const aims = (y.rank === 1 ? y.expandDims(1) : y) as Tensor;
  const isKnown = predicted.isNaN().any({ axis: 1, keepDims: true }).logicalNot();
  const { device, dtype } = predicted;
  const known = (values: Tensor): Tensor => where(isKnown, values, full([], 0, { device, dtype })) as Tensor;
  const mean = known(aims).sum({ axis: 0 }).div(isKnown.cast(dtype).sum()) as Tensor;
  const rest = known(aims.sub(predicted).square() as Tensor).sum({ axis: 0 });
  const total = known(aims.sub(mean).square() as Tensor).sum({ axis: 0 });
  return rest.div(total).neg().add(1).mean() as Tensor;
}

/** A kind of forest for classes. */
const forestClassifier = <K extends string>(kind: K, bootstraps: boolean) =>
  classifier<ForestLearned, ForestClassifierOptions, ShareMethods<ForestLearned, ForestClassifierOptions>>({
    kind,
    options: { ...FOREST, ...CLASS_TREE },
    check(options) {
      checkForest(kind, options, bootstraps);
      const { classWeight, bootstrap = bootstraps } = options;
      checkClassTree(kind, { ...options, classWeight: classWeight === "balancedSubsample" ? "balanced" : classWeight });
      if (classWeight !== "balancedSubsample" || bootstrap) return;
      throw new ArgumentError(`${kind}: without bootstrap all trees see all rows; take classWeight: "balanced".`);
    },
    learn({ x, y, weights, classes, facts, signal }, options) {
      const { classWeight: given } = options;
      const [balances, classWeight] = given === "balancedSubsample" ? [true, undefined] : [false, given];
      const all = classWeights(`${kind}.fit`, { classWeight }, x, y, facts.classes ?? [], weights);
      const limits = exactLimits(options, x, "sqrt", !bootstraps);
      const data = exactData(x, y, criterionOf(options.criterion ?? "gini"), classes);
      return forestOf({ x, y, data, weights: all, limits, signal }, options, bootstraps, shareOfRight, balances);
    },
    scores: forestPrediction,
    methods: shareMethods(),
  });

/** A kind of forest for numbers. */
const forestRegressor = <K extends string>(kind: K, bootstraps: boolean) =>
  regressor<ForestLearned, ForestRegressorOptions, TreeMethods<ForestLearned, ForestRegressorOptions>>({
    kind,
    options: { ...FOREST, ...NUMBER_TREE },
    check(options) {
      checkForest(kind, options, bootstraps);
      checkNumberTree(kind, options);
    },
    checkTargets: checkAims,
    learn({ x, y, weights, signal }, options) {
      const limits = exactLimits(options, x, null, !bootstraps);
      const data = exactData(x, y, criterionOf(options.criterion), 0);
      return forestOf({ x, y, data, weights, limits, signal }, options, bootstraps, explained);
    },
    predict: forestNumbers,
    methods: treeMethods(),
  });

/** A random forest for classes (Breiman 2001): probabilities are means of the shares in the trees' leaves. */
export const randomForestClassifier = forestClassifier("randomForestClassifier", true);

/** A random forest for numbers, or rows of several. */
export const randomForestRegressor = forestRegressor("randomForestRegressor", true);

/** Extremely randomised trees for classes (Geurts, Ernst & Wehenkel 2006): the best of a few thresholds that are drawn. */
export const extraTreesClassifier = forestClassifier("extraTreesClassifier", false);

/** Extremely randomised trees for numbers, or rows of several. */
export const extraTreesRegressor = forestRegressor("extraTreesRegressor", false);
