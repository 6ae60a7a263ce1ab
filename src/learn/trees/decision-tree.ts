/** Decision trees: one tree with exact splits, for classes and for numbers. */
import { checkChoice } from "../../core/arguments.js";
import type { Tensor } from "../../tensor/index.js";
import type { FitProgress } from "../core/estimator.js";
import type { Fitted } from "../core/model.js";
import type { Samples } from "../core/samples.js";
import { classifier, regressor, samplesFor } from "../core/sorts.js";
import { exactData } from "./exact-data.js";
import type { ExactLimits } from "./exact-growth.js";
import { type ForestPlan, growForest } from "./forest-growth.js";
import { predictionsOf, type TreeTensors } from "./grown-tree.js";
import { columnTensors } from "./node-table.js";
import { type OneTreeMethods, oneTreeMethods, type TreeMethods, treeMethods } from "./tree-methods.js";
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

/** Options of `decisionTreeClassifier`. */
export interface DecisionTreeClassifierOptions extends ClassTreeOptions {
  /** Thresholds of splits: the best ones ("best", unless told), or one drawn for each feature ("random"). */
  readonly splitter?: "best" | "random";
}

/** Options of `decisionTreeRegressor`. */
export interface DecisionTreeRegressorOptions extends NumberTreeOptions {
  /** Thresholds of splits: the best ones ("best", unless told), or one drawn for each feature ("random"). */
  readonly splitter?: "best" | "random";
}

/** What decision trees learn: one tree. */
export interface DecisionTreeLearned {
  readonly trees: TreeTensors;
  readonly [name: string]: TreeTensors;
}

const ONE_TREE: ForestPlan = { trees: 1, rows: "all", predictsUnseen: false };

/** What all trees predict, [samples, outputs]: shares of classes, or means of targets. */
export const forestPrediction = ({ trees }: { readonly trees: TreeTensors }, x: Tensor): Tensor =>
  predictionsOf(trees, x).mean({ axis: 1 }) as Tensor;

/** Methods of models of trees that know shares of classes. */
export interface ShareMethods<L, O> extends TreeMethods<L, O> {
  /** The probability of each class, [samples, classes], in the order of `classes`: shares in leaves, and their means over trees. */
  predictProbability(model: Fitted<L, O>, samples: Samples): Tensor;
  /** The logarithms of the probabilities. */
  predictLogProbability(model: Fitted<L, O>, samples: Samples): Tensor;
}

export function shareMethods<L extends { readonly trees: TreeTensors }, O extends object>(): ShareMethods<L, O> {
  const shares = (model: Fitted<L, O>, method: string, samples: Samples): Tensor =>
    forestPrediction(model.learned, samplesFor(model as Fitted<unknown, object>, method, samples));
  return {
    ...treeMethods<L, O>(),
    predictProbability: (model: Fitted<L, O>, samples: Samples): Tensor => shares(model, "predictProbability", samples),
    predictLogProbability: (model: Fitted<L, O>, samples: Samples): Tensor =>
      shares(model, "predictLogProbability", samples).log() as Tensor,
  };
}

/** Predictions of numbers, [samples] or [samples, outputs], as the targets were. */
export const forestNumbers = (learned: { readonly trees: TreeTensors }, x: Tensor): Tensor => {
  const told = forestPrediction(learned, x);
  return told.shape[1] === 1 ? (told.squeeze(1) as Tensor) : told;
};

async function* oneTree(
  data: ReturnType<typeof exactData>,
  x: Tensor,
  weights: Tensor | null,
  limits: ExactLimits,
  signal: AbortSignal | undefined,
): AsyncGenerator<FitProgress, DecisionTreeLearned> {
  const { groups } = yield* growForest(data, x, weights, limits, ONE_TREE, signal);
  return { trees: columnTensors(groups, x.device, x.dtype) };
}

const splitters = { splitter: "text" } as const;

const checkSplitter = (kind: string, { splitter }: { readonly splitter?: string }): void =>
  checkChoice(kind, "splitter", splitter, ["best", "random"]);

/**
 * A tree that splits samples by one feature at a time until its leaves are pure. Splits and thresholds are scikit-learn's
 * DecisionTreeClassifier's; of equally good features the first one is taken.
 */
export const decisionTreeClassifier = classifier<
  DecisionTreeLearned,
  DecisionTreeClassifierOptions,
  ShareMethods<DecisionTreeLearned, DecisionTreeClassifierOptions> &
    OneTreeMethods<DecisionTreeLearned, DecisionTreeClassifierOptions>
>({
  kind: "decisionTreeClassifier",
  options: { ...CLASS_TREE, ...splitters },
  check(options) {
    checkClassTree("decisionTreeClassifier", options);
    checkSplitter("decisionTreeClassifier", options);
  },
  learn({ x, y, weights, classes, facts, signal }, options) {
    const all = classWeights("decisionTreeClassifier.fit", options, x, y, facts.classes ?? [], weights);
    const limits = exactLimits(options, x, null, options.splitter === "random");
    return oneTree(exactData(x, y, criterionOf(options.criterion ?? "gini"), classes), x, all, limits, signal);
  },
  scores: forestPrediction,
  methods: { ...shareMethods(), ...oneTreeMethods() },
});

/**
 * A tree for numbers, or rows of several: leaves predict the means of their targets. Splits and thresholds are scikit-learn's
 * DecisionTreeRegressor's; of equally good features the first one is taken.
 */
export const decisionTreeRegressor = regressor<
  DecisionTreeLearned,
  DecisionTreeRegressorOptions,
  OneTreeMethods<DecisionTreeLearned, DecisionTreeRegressorOptions>
>({
  kind: "decisionTreeRegressor",
  options: { ...NUMBER_TREE, ...splitters },
  check(options) {
    checkNumberTree("decisionTreeRegressor", options);
    checkSplitter("decisionTreeRegressor", options);
  },
  checkTargets: checkAims,
  learn({ x, y, weights, signal }, options) {
    const limits = exactLimits(options, x, null, options.splitter === "random");
    return oneTree(exactData(x, y, criterionOf(options.criterion), 0), x, weights, limits, signal);
  },
  predict: forestNumbers,
  methods: oneTreeMethods(),
});
