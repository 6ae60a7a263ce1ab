/** Gradient boosting on histograms, as estimators: for numbers and for classes. */
import { ArgumentError } from "../../core/errors.js";
import { concat, type Tensor } from "../../tensor/index.js";
import { type ClassWeight, checkClassWeight } from "../core/class-weights.js";
import { categorySamples } from "../core/samples.js";
import { classifier, probabilityMethods, regressor } from "../core/sorts.js";
import { type BoostingLearned, boost } from "./boosting.js";
import { rawPrediction } from "./boosting-model.js";
import { BOOSTING, type BoostingOptions, checkBoosting } from "./boosting-options.js";
import { absoluteError, binomial, type Loss, multinomial, poisson, quantileError, squaredError } from "./losses.js";
import { type TreeMethods, treeMethods } from "./tree-methods.js";
import { classWeights } from "./tree-options.js";

/** Options of `histGradientBoostingRegressor`. */
export interface HistGradientBoostingRegressorOptions extends BoostingOptions {
  /** What is minimised: "squaredError" unless told. "poisson" is for counts, zero or more, and predicts by a logarithm. */
  readonly loss?: "squaredError" | "absoluteError" | "poisson" | "quantile";
  /** The quantile that the loss "quantile" predicts, between 0 and 1. */
  readonly quantile?: number;
}

function lossBy({ loss = "squaredError", quantile }: HistGradientBoostingRegressorOptions): Loss {
  switch (loss) {
    case "squaredError":
      return squaredError;
    case "absoluteError":
      return absoluteError;
    case "poisson":
      return poisson;
    case "quantile":
      return quantileError(quantile as number);
    default:
      throw new ArgumentError(
        `histGradientBoostingRegressor: loss is ${JSON.stringify(loss)}; it is "squaredError", "absoluteError", "poisson" or "quantile".`,
      );
  }
}

type Methods<O extends object> = TreeMethods<BoostingLearned, O>;

/**
 * Boosted trees for regression, fast on many samples: features are binned first. Missing values (NaN) are handled: each split learns
 * which way they go. The same trees as scikit-learn's HistGradientBoostingRegressor.
 */
export const histGradientBoostingRegressor = regressor<
  BoostingLearned,
  HistGradientBoostingRegressorOptions,
  Methods<HistGradientBoostingRegressorOptions>
>({
  kind: "histGradientBoostingRegressor",
  options: { ...BOOSTING, loss: "text", quantile: "number" },
  allowsMissing: true,
  samples: categorySamples,
  check(options) {
    checkBoosting("histGradientBoostingRegressor", options);
    lossBy(options);
    const { loss, quantile } = options;
    if (loss !== "quantile" || (quantile !== undefined && quantile > 0 && quantile < 1)) return;
    throw new ArgumentError(
      `histGradientBoostingRegressor: quantile is ${quantile}; with the loss "quantile" it is a number between 0 and 1.`,
    );
  },
  learn({ x, y, weights, signal, facts: { features } }, options) {
    const targets = oneColumn("histGradientBoostingRegressor", y);
    const data = { kind: "histGradientBoostingRegressor", x, y: targets, weights, signal, features, labels: null };
    return boost(data, () => lossBy(options), options);
  },
  predict(learned, x, { loss }) {
    const raw = rawPrediction(learned, x).squeeze(1) as Tensor;
    return loss === "poisson" ? (raw.exp() as Tensor) : raw;
  },
  methods: treeMethods(),
});

/** Targets of one output. */
function oneColumn(kind: string, y: Tensor): Tensor {
  if (y.rank === 1) return y;
  if (y.shape[1] === 1) return y.squeeze(1) as Tensor;
  throw new ArgumentError(`${kind}.fit: there are ${y.shape[1]} targets for each sample; it predicts one.`);
}

/** Options of `histGradientBoostingClassifier`. */
export interface HistGradientBoostingClassifierOptions extends BoostingOptions {
  /** "balanced", or a weight for each class, on top of the weights of samples. All count the same unless told. */
  readonly classWeight?: ClassWeight;
}

const logProbability = (learned: BoostingLearned, x: Tensor): Tensor => {
  const raw = rawPrediction(learned, x);
  // log p = -softplus(-raw): no digits are lost where a probability is close to 1.
  if (raw.shape[1] === 1) return concat([raw.softplus().neg(), raw.neg().softplus().neg()], { axis: 1 }) as Tensor;
  return raw.sub(raw.logsumexp({ axis: 1, keepDims: true })) as Tensor;
};

const classifierMethods = {
  ...treeMethods<BoostingLearned, HistGradientBoostingClassifierOptions>(),
  ...probabilityMethods<BoostingLearned, HistGradientBoostingClassifierOptions>(logProbability),
};

/**
 * Boosted trees for classification, by the log loss: one tree a round for two classes, else one for each class. Missing values (NaN)
 * are handled. The same trees as scikit-learn's HistGradientBoostingClassifier.
 */
export const histGradientBoostingClassifier = classifier<
  BoostingLearned,
  HistGradientBoostingClassifierOptions,
  typeof classifierMethods
>({
  kind: "histGradientBoostingClassifier",
  options: { ...BOOSTING, classWeight: "any" },
  allowsMissing: true,
  samples: categorySamples,
  check(options) {
    checkBoosting("histGradientBoostingClassifier", options);
    checkClassWeight("histGradientBoostingClassifier", options.classWeight);
  },
  learn({ x, y, weights: given, classes, signal, facts }, options) {
    if (classes < 2) {
      throw new ArgumentError("histGradientBoostingClassifier.fit: there is one class; a classification needs two.");
    }
    const kind = "histGradientBoostingClassifier";
    const { features } = facts;
    const weights = classWeights(`${kind}.fit`, options, x, y, facts.classes ?? [], given);
    const data = { kind, x, y: y.cast(x.dtype) as Tensor, weights, signal, features, labels: y };
    return boost(data, () => (classes === 2 ? binomial : multinomial(classes)), options);
  },
  scores: logProbability,
  methods: classifierMethods,
});
