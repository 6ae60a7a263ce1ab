/**
 * AdaBoost: copies of a weak estimator, each fitted to what those before got wrong, and their weighted vote. For classes SAMME and SAMME.R
 * (Zhu, Zou, Rosset & Hastie 2009), for numbers AdaBoost.R2 (Drucker 1997), as in scikit-learn.
 */
import { checkChoice, checkWhole } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { bitsFrom } from "../../core/seeded-order.js";
import { concat, stack, type Tensor, where } from "../../tensor/index.js";
import type { AnyEstimator } from "../compose/steps.js";
import type { Fitted } from "../core/model.js";
import { categorySamples, type Samples } from "../core/samples.js";
import { classifier, regressor, samplesFor } from "../core/sorts.js";
import { stagedMethods } from "../core/staged.js";
import { checkOneOutput } from "../linear/generalized.js";
import { checkSeveral } from "../linear/logistic.js";
import { decisionTreeClassifier, decisionTreeRegressor } from "../trees/decision-tree.js";
import {
  type Boosted,
  type BoostRoundsOptions,
  boostedImportances,
  boostRounds,
  checkRounds,
  LEAST_SHARE,
} from "./boost-rounds.js";
import { type ClassMembers, checkMember, fitMember, placesOf, probabilitiesOf, votesOf } from "./members.js";

/** Options of `adaBoostClassifier`. */
export interface AdaBoostClassifierOptions extends BoostRoundsOptions {
  /** The estimator that is copied: a decision tree with one split unless told. It takes weights of samples. */
  readonly estimator?: AnyEstimator;
  /** "SAMME.R" (unless told) goes by probabilities, "SAMME" by predicted classes. */
  readonly algorithm?: "SAMME" | "SAMME.R";
}

/** Options of `adaBoostRegressor`. */
export interface AdaBoostRegressorOptions extends BoostRoundsOptions {
  /** The estimator that is copied: a decision tree of depth 3 unless told. */
  readonly estimator?: AnyEstimator;
  /** How residuals, as shares of the largest, count as errors: "linear" unless told. */
  readonly loss?: "linear" | "square" | "exponential";
  /** Decides the samples that each copy sees, drawn by their weights: 0 unless told. */
  readonly seed?: number;
}

const classEstimator = ({ estimator }: AdaBoostClassifierOptions): AnyEstimator =>
  estimator ?? (decisionTreeClassifier({ maxDepth: 1 }) as AnyEstimator);

const numberEstimator = ({ estimator }: AdaBoostRegressorOptions): AnyEstimator =>
  estimator ?? (decisionTreeRegressor({ maxDepth: 3 }) as AnyEstimator);

// ---------------------------------------------------------------------------------------------- classes

type BoostedClasses = Boosted & ClassMembers;

/** The logarithms of probabilities, none of which counts as 0. */
const safeLogs = (shares: Tensor): Tensor => shares.maximum(LEAST_SHARE).log() as Tensor;

/** The vote of each copy for each class, times its weight, [rounds, samples, classes]. */
function saidOfClasses(learned: BoostedClasses, x: Tensor, { algorithm }: AdaBoostClassifierOptions): Tensor {
  const { models, places, estimatorWeights } = learned;
  const classes = places.shape[0] as number;
  const each = models.map((model) => {
    if (algorithm === "SAMME") return votesOf(model, x, places);
    const logs = safeLogs(probabilitiesOf(model, x, places));
    return logs.sub(logs.mean({ axis: 1, keepDims: true })).mul(classes - 1) as Tensor;
  });
  return stack(each).mul(estimatorWeights.reshape([-1, 1, 1])) as Tensor;
}

/** Of two classes how much more is said of the second, [..., 1]. */
const decided = (said: Tensor): Tensor =>
  said.shape.at(-1) === 2 ? (said.at("...", "1:").sub(said.at("...", ":1")) as Tensor) : said;

const decisions = {
  total: (learned: BoostedClasses, x: Tensor, options: AdaBoostClassifierOptions): Tensor =>
    decided(saidOfClasses(learned, x, options).sum({ axis: 0 }).div(learned.estimatorWeights.sum()) as Tensor),
  stages(learned: BoostedClasses, x: Tensor, options: AdaBoostClassifierOptions): Tensor {
    const counted = learned.estimatorWeights.cumsum({ axis: 0 }).reshape([-1, 1, 1]);
    return decided(saidOfClasses(learned, x, options).cumsum({ axis: 0 }).div(counted) as Tensor);
  },
  logs(found: Tensor): Tensor {
    const classes = found.shape.at(-1) as number;
    const raw = classes === 1 ? concat([found.neg(), found], { axis: -1 }).div(2) : found.div(classes - 1);
    return raw.sub(raw.logsumexp({ axis: -1, keepDims: true })) as Tensor;
  },
};

const classMethods = {
  ...stagedMethods<BoostedClasses, AdaBoostClassifierOptions>(decisions),
  /** Importances of the features, the mean over the copies by their weights, [features]; for estimators of trees. */
  featureImportances: ({ learned }: Fitted<BoostedClasses, AdaBoostClassifierOptions>): Tensor =>
    boostedImportances("adaBoostClassifier.featureImportances", learned),
};

const CLASSIFIER = "adaBoostClassifier";

/** A weighted vote of weak classifiers, each fitted to the samples that those before got wrong. */
export const adaBoostClassifier = classifier<BoostedClasses, AdaBoostClassifierOptions, typeof classMethods>({
  kind: CLASSIFIER,
  options: { estimator: "any", nEstimators: "number", learningRate: "number", algorithm: "text" },
  samples: categorySamples,
  allowsMissing: (options) => classEstimator(options).allowsMissing ?? false,
  check(options) {
    const estimator = classEstimator(options);
    checkRounds(CLASSIFIER, options);
    checkChoice(CLASSIFIER, "algorithm", options.algorithm, ["SAMME.R", "SAMME"]);
    checkMember(CLASSIFIER, "estimator", estimator, true);
    if (estimator.takesWeights ?? true) return;
    throw new ArgumentError(`${CLASSIFIER}: ${estimator.kind} takes no weights of samples; take another estimator.`);
  },
  async *learn(data, options) {
    const { x, y, classes } = data;
    const { learningRate = 1, algorithm = "SAMME.R" } = options;
    checkSeveral(CLASSIFIER, classes, data.facts.classes);
    const estimator = classEstimator(options);
    const places = placesOf(x, classes);
    const isOwn = y.expandDims(1).equal(places);
    const round = async (weights: Tensor) => {
      const model = await fitMember(estimator, { ...data, weights }, null);
      const isSure = algorithm === "SAMME.R";
      const shares = isSure ? probabilitiesOf(model, x, places) : votesOf(model, x, places);
      const isWrong = shares.argmax({ axis: 1 }).cast("i32").notEqual(y).cast(x.dtype);
      const error = isWrong.mul(weights).sum().div(weights.sum()) as Tensor;
      if (!isSure) {
        const odds = error.neg().add(1).div(error).log();
        const weight = odds.add(Math.log(classes - 1)).mul(learningRate) as Tensor;
        return { model, error, weight, next: weights.mul(isWrong.mul(weight).exp()) as Tensor };
      }
      const codes = where(isOwn, 1, -1 / (classes - 1)).cast(x.dtype);
      const agrees = codes.mul(safeLogs(shares)).sum({ axis: 1 });
      const factor = agrees.mul((-learningRate * (classes - 1)) / classes).exp();
      return { model, error, weight: error.mul(0).add(1) as Tensor, next: weights.mul(factor) as Tensor };
    };
    const hopeless = algorithm === "SAMME" ? 1 - 1 / classes : null;
    const rule = { round, hopeless, first: "refused" } as const;
    return { ...(yield* boostRounds(`${CLASSIFIER}.fit`, x, data.weights, rule, options)), places };
  },
  scores: (learned, x, options) => decisions.logs(decisions.total(learned, x, options)),
  methods: classMethods,
});

// ---------------------------------------------------------------------------------------------- numbers

/** Predictions of all copies, [samples, rounds]. */
const saidOfNumbers = ({ models }: Boosted, x: Tensor): Tensor =>
  stack(
    models.map((model) => model.predict(x)),
    { axis: 1 },
  ) as Tensor;

/** The median of predictions by what their copies count, [samples]: the first that half of the weight does not exceed. */
function weightedMedian(said: Tensor, weights: Tensor): Tensor {
  const order = said.argsort({ axis: 1 });
  const running = weights.take(order).cumsum({ axis: 1 });
  const isEnough = running.greaterEqual(running.at(":", "-1:").mul(0.5));
  const place = isEnough.cast("i32").argmax({ axis: 1, keepDims: true });
  return said.takeAlongAxis(order.takeAlongAxis(place, { axis: 1 }), { axis: 1 }).squeeze(1) as Tensor;
}

type RegressorModel = Fitted<Boosted, AdaBoostRegressorOptions>;

const numberMethods = {
  /** The numbers predicted after each round, [rounds, samples]. */
  stagedPredict(model: RegressorModel, samples: Samples): Tensor {
    const { learned } = model;
    const said = saidOfNumbers(learned, samplesFor(model as Fitted<unknown, object>, "stagedPredict", samples));
    const { estimatorWeights: weights } = learned;
    return stack(
      learned.models.map((_, last) =>
        weightedMedian(said.at(":", `:${last + 1}`) as Tensor, weights.at(`:${last + 1}`) as Tensor),
      ),
    ) as Tensor;
  },
  /** Importances of the features, the mean over the copies by their weights, [features]; for estimators of trees. */
  featureImportances: ({ learned }: RegressorModel): Tensor =>
    boostedImportances("adaBoostRegressor.featureImportances", learned),
};

/** As many positions as there are weights, each drawn with the probability of its weight. */
function drawnByWeight(weights: ArrayLike<number>, seed: number, round: number): Int32Array {
  const running = new Float64Array(weights.length);
  let total = 0;
  for (let i = 0; i < weights.length; i++) running[i] = total += weights[i] as number;
  const bits = bitsFrom([0, seed], round);
  return Int32Array.from(running, () => {
    const aim = ((bits() + (bits() >>> 11) * 2 ** 32) / 2 ** 53) * total;
    let [low, high] = [0, running.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((running[middle] as number) > aim) high = middle;
      else low = middle + 1;
    }
    return low;
  });
}

const REGRESSOR = "adaBoostRegressor";

/** The weighted median of weak regressions, each fitted to samples drawn by how wrong those before were. */
export const adaBoostRegressor = regressor<Boosted, AdaBoostRegressorOptions, typeof numberMethods>({
  kind: REGRESSOR,
  options: { estimator: "any", nEstimators: "number", learningRate: "number", loss: "text", seed: "number" },
  samples: categorySamples,
  allowsMissing: (options) => numberEstimator(options).allowsMissing ?? false,
  check(options) {
    checkRounds(REGRESSOR, options);
    checkChoice(REGRESSOR, "loss", options.loss, ["linear", "square", "exponential"]);
    checkWhole(REGRESSOR, "seed", options.seed ?? 0, 0);
    checkMember(REGRESSOR, "estimator", numberEstimator(options), false);
  },
  async *learn(data, options) {
    const { x, y } = data;
    const { learningRate = 1, loss = "linear", seed = 0 } = options;
    checkOneOutput(REGRESSOR, y);
    const estimator = numberEstimator(options);
    const round = async (weights: Tensor, number: number) => {
      const rows = drawnByWeight((await weights.data()) as ArrayLike<number>, seed, number);
      const model = await fitMember(estimator, { ...data, weights: null }, rows);
      const rest = model.predict(x).sub(y).abs() as Tensor;
      const counts = weights.greater(0);
      const most = where(counts, rest, 0).max();
      const share = rest.div(where(most.equal(0), 1, most)) as Tensor;
      const wrong = (
        loss === "linear" ? share : loss === "square" ? share.square() : share.neg().expm1().neg()
      ) as Tensor;
      const error = where(counts, weights.mul(wrong), 0).sum() as Tensor;
      const odds = error.neg().add(1).div(error).log();
      const weight = odds.mul(learningRate) as Tensor;
      const factor = wrong.neg().add(1).mul(weight).neg().exp();
      return { model, error, weight, next: weights.mul(factor) as Tensor };
    };
    const rule = { round, hopeless: 0.5, first: "taken" } as const;
    return yield* boostRounds(`${REGRESSOR}.fit`, x, data.weights, rule, options);
  },
  predict: (learned, x) => weightedMedian(saidOfNumbers(learned, x), learned.estimatorWeights),
  methods: numberMethods,
});
