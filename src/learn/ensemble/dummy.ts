/** Estimators that do not look at the samples: what others must beat. */
import { checkChoice } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { key, uniform } from "../../random/index.js";
import { full, type Tensor, tensor } from "../../tensor/index.js";
import { membersOf } from "../core/members.js";
import { checkAmount } from "../core/settings.js";
import { classifier, probabilityMethods, regressor } from "../core/sorts.js";
import type { Label } from "../core/targets.js";

/** Options of `dummyClassifier`. */
export interface DummyClassifierOptions {
  /**
   * The commonest class ("prior", unless told, with the shares of the classes as probabilities; "mostFrequent" is sure of it), classes drawn
   * by their shares ("stratified") or all equally ("uniform"), or the same class always ("constant").
   */
  readonly strategy?: "prior" | "mostFrequent" | "stratified" | "uniform" | "constant";
  /** The class of "constant". */
  readonly constant?: Label;
  /** The seed of the draws: 0 unless told. */
  readonly seed?: number;
}

/** The probability of each class, [classes], and the class of "constant" as ones and zeros. */
export interface DummyClassifierLearned {
  readonly priors: Tensor;
  readonly [name: string]: Tensor;
}

const STRATEGIES = ["prior", "mostFrequent", "stratified", "uniform", "constant"] as const;

/** [samples, classes]. */
function probabilities(
  { priors }: DummyClassifierLearned,
  x: Tensor,
  { strategy, seed = 0 }: DummyClassifierOptions,
): Tensor {
  const [samples, classes] = [x.shape[0] as number, priors.shape[0] as number];
  if (strategy !== "stratified" && strategy !== "uniform") return priors.broadcastTo([samples, classes]) as Tensor;
  const { device, dtype } = priors;
  const at = uniform(key(seed, { device }), [samples, 1]).cast(dtype);
  const place = at
    .greaterEqual(priors.cumsum())
    .cast("i32")
    .sum({ axis: 1 })
    .clip(0, classes - 1);
  const drawn = place.cast("i32").oneHot(classes).cast(dtype) as Tensor;
  // Uniform draws tell what they are drawn from.
  return drawn;
}

const methods = probabilityMethods<DummyClassifierLearned, DummyClassifierOptions>(
  (learned, x, options) =>
    (options.strategy === "uniform"
      ? learned.priors.broadcastTo([x.shape[0] as number, learned.priors.shape[0] as number])
      : probabilities(learned, x, options)
    ).log() as Tensor,
);

/** Predicts labels by their shares alone. */
export const dummyClassifier = classifier<DummyClassifierLearned, DummyClassifierOptions, typeof methods>({
  kind: "dummyClassifier",
  options: { strategy: "text", constant: "any", seed: "number" },
  allowsMissing: true,
  check({ strategy, constant }) {
    checkChoice("dummyClassifier", "the strategy", strategy, STRATEGIES);
    if ((strategy === "constant") === (constant !== undefined)) return;
    throw new ArgumentError(
      'dummyClassifier: the option constant belongs to { strategy: "constant" }, which needs it.',
    );
  },
  learn({ x, y, weights, classes, facts }, { strategy = "prior", constant }) {
    const { device, dtype } = x;
    const one = (place: number): Tensor =>
      tensor(
        Array.from({ length: classes }, (_, k) => (k === place ? 1 : 0)),
        { device, dtype },
      ) as Tensor;
    if (strategy === "uniform") return { priors: full([classes], 1 / classes, { device, dtype }) as Tensor };
    if (strategy === "constant") {
      const place = facts.classes?.indexOf(constant as Label) ?? -1;
      if (place >= 0) return { priors: one(place) };
      throw new ArgumentError(
        `dummyClassifier.fit: constant is ${shown(constant)}, not one of the classes ${shown(facts.classes)}.`,
      );
    }
    const counts = membersOf(x, y, classes, weights).sum({ axis: 1 });
    if (strategy === "mostFrequent")
      return { priors: counts.argmax().cast("i32").oneHot(classes).cast(dtype) as Tensor };
    return { priors: counts.div(counts.sum()) as Tensor };
  },
  scores: probabilities,
  methods,
});

/** Options of `dummyRegressor`. */
export interface DummyRegressorOptions {
  /** What is predicted: the mean of the targets, unless told, their median or another quantile, or a constant. */
  readonly strategy?: "mean" | "median" | "quantile" | "constant";
  /** The share of "quantile". */
  readonly quantile?: number;
  /** The number of "constant". */
  readonly constant?: number;
}

/** The prediction, [] or [outputs]. */
export interface DummyRegressorLearned {
  readonly constant: Tensor;
  readonly [name: string]: Tensor;
}

/** Predicts the same number always. */
export const dummyRegressor = regressor<DummyRegressorLearned, DummyRegressorOptions>({
  kind: "dummyRegressor",
  options: { strategy: "text", quantile: "number", constant: "number" },
  allowsMissing: true,
  takesWeights: ({ strategy = "mean" }) => strategy === "mean" || strategy === "constant",
  check({ strategy, quantile, constant }) {
    checkChoice("dummyRegressor", "the strategy", strategy, ["mean", "median", "quantile", "constant"]);
    if (strategy === "quantile") checkAmount("dummyRegressor", "quantile", quantile, 0, 1);
    if ((strategy === "constant") === (constant !== undefined)) return;
    throw new ArgumentError('dummyRegressor: the option constant belongs to { strategy: "constant" }, which needs it.');
  },
  learn({ y, weights }, { strategy = "mean", quantile = 0.5, constant = 0 }) {
    const { device, dtype } = y;
    if (strategy === "constant") return { constant: full(y.shape.slice(1), constant, { device, dtype }) as Tensor };
    if (strategy !== "mean") return { constant: y.quantile(quantile, { axis: 0 }) as Tensor };
    if (!weights) return { constant: y.mean({ axis: 0 }) as Tensor };
    return { constant: weights.matmul(y).div(weights.sum()) as Tensor };
  },
  predict: ({ constant }, x) => constant.broadcastTo([x.shape[0] as number, ...constant.shape]) as Tensor,
});
