/** Gradient boosting on histograms, as estimators: for numbers and for classes. */
import { ArgumentError } from "../../core/errors.js";
import { concat, type Tensor } from "../../tensor/index.js";
import { type ClassWeight, checkClassWeight } from "../core/class-weights.js";
import type { Fitted } from "../core/model.js";
import { categorySamples, type Samples } from "../core/samples.js";
import { classifier, regressor, samplesFor } from "../core/sorts.js";
import { stagedMethods } from "../core/staged.js";
import { type BoostingLearned, boost } from "./boosting.js";
import { rawPrediction, stagedRawPrediction } from "./boosting-model.js";
import { BOOSTING, type BoostingOptions, checkBoosting } from "./boosting-options.js";
import { absoluteError, binomial, type Loss, multinomial, poisson, quantileError, squaredError } from "./losses.js";
import { treeMethods } from "./tree-methods.js";
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

/** Numbers from raw predictions, whose last axis has one output. */
function numbersFrom(raw: Tensor, { loss }: HistGradientBoostingRegressorOptions): Tensor {
  const found = raw.squeeze(-1) as Tensor;
  return loss === "poisson" ? (found.exp() as Tensor) : found;
}

type RegressorModel = Fitted<BoostingLearned, HistGradientBoostingRegressorOptions>;

const regressorMethods = {
  ...treeMethods<BoostingLearned, HistGradientBoostingRegressorOptions>(),
  /** The numbers predicted after each round, [rounds, samples]. */
  stagedPredict(model: RegressorModel, samples: Samples): Tensor {
    const x = samplesFor(model as Fitted<unknown, object>, "stagedPredict", samples);
    return numbersFrom(stagedRawPrediction(model.learned, x), model.options);
  },
};

/**
 * Boosted trees for regression, fast on many samples: features are binned first. Missing values (NaN) are handled: each split learns
 * which way they go. The same trees as scikit-learn's HistGradientBoostingRegressor.
 */
export const histGradientBoostingRegressor = regressor<
  BoostingLearned,
  HistGradientBoostingRegressorOptions,
  typeof regressorMethods
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
  predict: (learned, x, options) => numbersFrom(rawPrediction(learned, x), options),
  methods: regressorMethods,
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

/** The logarithms of probabilities, from raw predictions. */
const logProbability = (raw: Tensor): Tensor => {
  // log p = -softplus(-raw): no digits are lost where a probability is close to 1.
  if (raw.shape.at(-1) === 1) return concat([raw.softplus().neg(), raw.neg().softplus().neg()], { axis: -1 }) as Tensor;
  return raw.sub(raw.logsumexp({ axis: -1, keepDims: true })) as Tensor;
};

const classifierMethods = {
  ...treeMethods<BoostingLearned, HistGradientBoostingClassifierOptions>(),
  ...stagedMethods<BoostingLearned, HistGradientBoostingClassifierOptions>({
    total: rawPrediction,
    stages: stagedRawPrediction,
    logs: logProbability,
  }),
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
  scores: (learned, x) => logProbability(rawPrediction(learned, x)),
  methods: classifierMethods,
});
