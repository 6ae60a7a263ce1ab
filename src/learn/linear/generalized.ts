/**
 * Generalised linear models: the mean of the targets is a function of a linear predictor, and their variance a power of the mean.
 * Poisson, gamma and Tweedie regressions are the same fit with other powers. Scores are shares of the deviance, D², as in scikit-learn.
 */
import { checkChoice } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { concat, type Tensor, where, zeros } from "../../tensor/index.js";
import type { Fitted } from "../core/model.js";
import type { Samples } from "../core/samples.js";
import { checkAmount } from "../core/settings.js";
import { regressor, samplesFor } from "../core/sorts.js";
import { type Numbers, numbersBeside } from "../core/targets.js";
import { smoothMinimum } from "./implicit-minimum.js";
import { linearPrediction } from "./linear-model.js";
import { type Link, meanOf, tweedieLoss } from "./losses.js";
import { checkStopping, type Setting, type Stopping, scalarBeside } from "./settings.js";
import { design, parted, penalties, summedLoss } from "./smooth-problem.js";

/** Options of `poissonRegressor` and `gammaRegressor`. `tol`, the largest element of the gradient, is 1e-4 unless told, `maxIter` 100. */
export interface GeneralizedOptions extends Stopping {
  /** The weight of the penalty alpha/2 · Σ coefficients²: 1 unless told. A tensor, too. */
  readonly alpha?: Setting;
  /** True unless told: an intercept is learned. It is not penalised. */
  readonly fitIntercept?: boolean;
}

/** Options of `tweedieRegressor`. */
export interface TweedieOptions extends GeneralizedOptions {
  /** The power of the mean that the variance is: 0 (normal, unless told), 1 (Poisson), between (zeros and positive numbers), 2 (gamma), 3 … */
  readonly power?: number;
  /** The predictor is the mean ("identity"), or its logarithm ("log"); "auto", unless told, is "log" for powers above 0. */
  readonly link?: "auto" | Link;
}

/** Coefficients [features] and the intercept of the predictor. */
export interface GeneralizedLearned {
  readonly coefficients: Tensor;
  readonly intercept: Tensor;
  /** Rounds of the solver, i32. */
  readonly iterations: Tensor;
  readonly [name: string]: Tensor;
}

/** The family that options choose. */
type FamilyOf<O> = (options: O) => { readonly power: number; readonly link: Link };

const KINDS = { alpha: "any", fitIntercept: "flag", tol: "number", maxIter: "number" } as const;

/** Counts: the variance is the mean, and the logarithm of the mean is linear in the features. */
export const poissonRegressor = generalized<GeneralizedOptions>("poissonRegressor", KINDS, () => ({
  power: 1,
  link: "log",
}));

/** Positive numbers: the deviation grows with the mean, whose logarithm is linear in the features. */
export const gammaRegressor = generalized<GeneralizedOptions>("gammaRegressor", KINDS, () => ({
  power: 2,
  link: "log",
}));

/** The variance is a power of the mean. */
export const tweedieRegressor = generalized<TweedieOptions>(
  "tweedieRegressor",
  { ...KINDS, power: "number", link: "text" },
  ({ power = 0, link = "auto" }) => ({ power, link: link === "auto" ? (power > 0 ? "log" : "identity") : link }),
);

function generalized<O extends GeneralizedOptions>(kind: string, kinds: object, familyOf: FamilyOf<O>) {
  const predicted = (learned: GeneralizedLearned, x: Tensor, options: O): Tensor =>
    meanOf(familyOf(options).link, linearPrediction(learned, x));
  const methods = {
    /** D², the share of the deviance that predictions explain. */
    score(model: Fitted<GeneralizedLearned, O>, samples: Samples, targets: Numbers): Tensor {
      const x = samplesFor(model as Fitted<unknown, object>, "score", samples);
      const found = predicted(model.learned, x, model.options);
      const y = numbersBeside(`${kind}.score`, targets, found);
      const { power } = familyOf(model.options);
      const constant = y.mean().broadcastTo(y.shape) as Tensor;
      return deviance(y, found, power)
        .mean()
        .div(deviance(y, constant, power).mean())
        .neg()
        .add(1) as Tensor;
    },
  };
  return regressor<GeneralizedLearned, O, typeof methods>({
    kind,
    options: kinds as never,
    settings: ["alpha"],
    check(options) {
      const { alpha = 1, tol, maxIter } = options;
      checkAmount(kind, "alpha", alpha);
      checkStopping(kind, { tol, maxIter });
      checkChoice(kind, "the link", (options as TweedieOptions).link, ["auto", "log", "identity"]);
      const { power } = familyOf(options);
      if (Number.isFinite(power) && (power <= 0 || power >= 1)) return;
      throw new ArgumentError(`${kind}: the power is ${power}; no distribution has one between 0 and 1.`);
    },
    async checkTargets(operation, y, options) {
      const { power } = familyOf(options);
      if (power < 1) return;
      const least = Number(await y.min().item());
      if (power < 2 ? least >= 0 : least > 0) return;
      throw new ArgumentError(
        `${operation}: a target is ${least}; with the power ${power} targets are ${power < 2 ? "zero or more" : "above zero"}.`,
      );
    },
    learn({ x, y, weights }, options) {
      const { alpha = 1, fitIntercept = true, tol = 1e-4, maxIter = 100 } = options;
      checkOneOutput(kind, y);
      const { power, link } = familyOf(options);
      const samples = x.shape[0] as number;
      const shares = weights ? (weights.div(weights.sum()) as Tensor) : (y.mul(0).add(1 / samples) as Tensor);
      const { dtype, device } = x;
      const mean = y.mul(shares).sum();
      const first = (link === "log" ? mean.log() : mean) as Tensor;
      const none = zeros([x.shape[1] as number], { dtype, device }) as Tensor;
      const start = fitIntercept
        ? (concat([none, first.reshape([1])]) as Tensor)
        : // Without an intercept the identity of zero is no mean of positive numbers: begin with the same coefficient for all.
          link === "identity" && power > 0
          ? (none.add(mean.div(x.sum({ axis: 1 }).mul(shares).sum())) as Tensor)
          : none;
      const ridge = penalties(x, scalarBeside(alpha, x), fitIntercept);
      const { parameters, iterations } = smoothMinimum(
        {
          given: { a: design(x, fitIntercept), targets: y, shares, ridge },
          problemOf: ({ a, targets, shares, ridge }) => summedLoss(a, tweedieLoss(targets, power, link), shares, ridge),
          start,
          samples,
        },
        { tol, maxIter },
      );
      return { ...parted(parameters, fitIntercept), iterations };
    },
    predict: predicted,
    methods,
  });
}

/** One model predicts one number. */
export function checkOneOutput(kind: string, y: Tensor): void {
  if (y.rank === 1) return;
  throw new ArgumentError(`${kind}.fit: the targets have ${y.shape[1]} columns; it predicts one number, [samples].`);
}

/** The deviance of each target. */
function deviance(y: Tensor, mean: Tensor, power: number): Tensor {
  if (power === 0) return y.sub(mean).square() as Tensor;
  const isZero = y.equal(0);
  const positive = where(isZero, 1, y);
  if (power === 1) {
    const logs = where(isZero, 0, y.mul(positive.div(mean).log()));
    return logs.sub(y).add(mean).mul(2) as Tensor;
  }
  if (power === 2) return mean.div(y).log().add(y.div(mean)).sub(1).mul(2) as Tensor;
  const [first, second] = [1 - power, 2 - power];
  const ofTarget = power < 0 ? y.relu().pow(second) : where(isZero, 0, positive.pow(second));
  return ofTarget
    .div(first * second)
    .sub(y.mul(mean.pow(first)).div(first))
    .add(mean.pow(second).div(second))
    .mul(2) as Tensor;
}
