/**
 * Bayesian ridge regression (MacKay 1992; Tipping 2001): the precisions of the noise and of the coefficients are learned with them, by
 * maximising the evidence. The eigenvectors of XᵀX are found once; a round of the loop is then a few sums.
 */
import { eigh } from "../../linalg/eigh.js";
import { arange, full, type Tensor, where } from "../../tensor/index.js";
import { whileLoop } from "../../transforms/control.js";
import type { Fitted } from "../core/model.js";
import type { Samples } from "../core/samples.js";
import { checkAmount } from "../core/settings.js";
import { regressor, samplesFor } from "../core/sorts.js";
import { forwardOnly } from "./forward-only.js";
import { checkOneOutput } from "./generalized.js";
import { centred, linearPrediction } from "./linear-model.js";
import { checkStopping, type Setting, type Stopping, scalarBeside } from "./settings.js";

/** Options of `bayesianRidge`. `tol`, the change of the coefficients in sum at which a fit ends, is 1e-3 unless told, `maxIter` 300. */
export interface BayesianRidgeOptions extends Stopping {
  /** Shape of the gamma prior of the noise's precision: 1e-6 unless told. */
  readonly alpha1?: Setting;
  /** Rate of the gamma prior of the noise's precision: 1e-6 unless told. */
  readonly alpha2?: Setting;
  /** Shape of the gamma prior of the coefficients' precision: 1e-6 unless told. */
  readonly lambda1?: Setting;
  /** Rate of the gamma prior of the coefficients' precision: 1e-6 unless told. */
  readonly lambda2?: Setting;
  /** The first precision of the noise: 1 / the variance of the targets unless told. */
  readonly alphaInit?: Setting;
  /** The first precision of the coefficients: 1 unless told. */
  readonly lambdaInit?: Setting;
  /** True unless told: an intercept is learned. */
  readonly fitIntercept?: boolean;
}

/** Means and covariance of the coefficients, the intercept, and both precisions. */
export interface BayesianRidgeLearned {
  readonly coefficients: Tensor;
  readonly intercept: Tensor;
  /** The covariance of the coefficients, [features, features]. */
  readonly covariance: Tensor;
  /** The precision of the noise. */
  readonly alpha: Tensor;
  /** The precision of the coefficients. */
  readonly lambda: Tensor;
  /** The logarithm of the evidence, to a constant. */
  readonly logEvidence: Tensor;
  readonly iterations: Tensor;
  readonly [name: string]: Tensor;
}

/** A prediction and its standard deviation. */
export interface Uncertain {
  readonly mean: Tensor;
  readonly std: Tensor;
}

const methods = {
  /** Means and standard deviations of the predictions, noise included, [samples]. */
  predictWithStd(model: Fitted<BayesianRidgeLearned, BayesianRidgeOptions>, samples: Samples): Uncertain {
    const x = samplesFor(model as Fitted<unknown, object>, "predictWithStd", samples);
    const { covariance, alpha } = model.learned;
    const wide = x.cast(covariance.dtype) as Tensor;
    const variance = wide.matmul(covariance).mul(wide).sum({ axis: 1 }).add(alpha.reciprocal());
    return { mean: linearPrediction(model.learned, wide), std: variance.sqrt() as Tensor };
  },
};

const POSITIVE = ["alpha1", "alpha2", "lambda1", "lambda2", "alphaInit", "lambdaInit"] as const;

/** Ridge regression that finds its own penalty, and tells how certain it is. */
export const bayesianRidge = regressor<BayesianRidgeLearned, BayesianRidgeOptions, typeof methods>({
  kind: "bayesianRidge",
  options: {
    alpha1: "any",
    alpha2: "any",
    lambda1: "any",
    lambda2: "any",
    alphaInit: "any",
    lambdaInit: "any",
    fitIntercept: "flag",
    tol: "number",
    maxIter: "number",
  },
  check(options) {
    for (const name of POSITIVE) checkAmount("bayesianRidge", name, options[name] ?? 0);
    checkStopping("bayesianRidge", options);
  },
  learn({ x, y, weights }, options) {
    checkOneOutput("bayesianRidge", y);
    const { fitIntercept = true, tol = 1e-3, maxIter = 300 } = options;
    const problem = centred(x, y, weights, fitIntercept);
    const prior = (value: Setting = 1e-6): Tensor => scalarBeside(value, x);
    const priors = {
      alpha1: prior(options.alpha1),
      alpha2: prior(options.alpha2),
      lambda1: prior(options.lambda1),
      lambda2: prior(options.lambda2),
    };
    const variance = problem.y.variance().add(2 ** -52);
    const rank = (x.shape[0] as number) - (fitIntercept ? 1 : 0);
    const search = forwardOnly(
      (given: EvidenceProblem) => evidenceMaximum(given, { rank, tol, maxIter }),
      "bayesianRidge has no reverse derivative: its precisions are found by rounds whose number depends on the data. Take ridge",
      ["coefficients", "covariance", "alpha", "lambda", "logEvidence"],
    );
    const { coefficients, ...rest } = search({
      x: problem.x,
      y: problem.y,
      priors,
      alpha: (options.alphaInit === undefined ? variance.reciprocal() : scalarBeside(options.alphaInit, x)) as Tensor,
      lambda: scalarBeside(options.lambdaInit ?? 1, x),
    });
    return { ...problem.learned(coefficients), ...rest };
  },
  predict: linearPrediction,
  methods,
});

interface Priors {
  readonly alpha1: Tensor;
  readonly alpha2: Tensor;
  readonly lambda1: Tensor;
  readonly lambda2: Tensor;
}

interface EvidenceProblem {
  readonly x: Tensor;
  readonly y: Tensor;
  readonly priors: Priors;
  /** The first precisions. */
  readonly alpha: Tensor;
  readonly lambda: Tensor;
}

function evidenceMaximum(
  { x, y, priors, ...start }: EvidenceProblem,
  { rank, tol, maxIter }: { readonly rank: number; readonly tol: number; readonly maxIter: number },
) {
  const { alpha1, alpha2, lambda1, lambda2 } = priors;
  const [samples, features] = x.shape as [number, number];
  const { device } = x;
  const { eigenvalues, eigenvectors } = eigh(x.T.matmul(x) as Tensor);
  // Rounding leaves eigenvalues of a singular matrix a little above or below zero. Those beyond the rank are zero; they come first.
  const least = eigenvalues.max().mul((x.dtype === "f64" ? 2 ** -52 : 2 ** -23) * features);
  const isWithinRank = arange(features, { device, dtype: "i32" }).greaterEqual(features - rank);
  const isKept = eigenvalues.greater(least).logicalAnd(isWithinRank);
  const values = where(isKept, eigenvalues, 0) as Tensor;
  const turned = where(isKept, eigenvectors.T.matmul(y.matmul(x)), 0) as Tensor;
  const solve = (alpha: Tensor, lambda: Tensor): { w: Tensor; squares: Tensor } => {
    const inEigenvectors = turned.div(values.add(lambda.div(alpha)));
    const w = eigenvectors.matmul(inEigenvectors) as Tensor;
    return { w, squares: y.sub(x.matmul(w)).square().sum() as Tensor };
  };
  const first = { ...solve(start.alpha, start.lambda) };
  const end = whileLoop(
    ({ goesOn, count }) => goesOn.logicalAnd(count.less(maxIter)) as Tensor,
    ({ alpha, lambda, before, count }) => {
      const { w, squares } = solve(alpha, lambda);
      const weighed = values.mul(alpha);
      const gamma = weighed.div(weighed.add(lambda)).sum();
      const nextLambda = gamma.add(lambda1.mul(2)).div(w.square().sum().add(lambda2.mul(2)));
      const nextAlpha = gamma
        .neg()
        .add(samples)
        .add(alpha1.mul(2))
        .div(squares.add(alpha2.mul(2)));
      const isStill = before.sub(w).abs().sum().less(tol).logicalAnd(count.greater(0));
      return {
        alpha: nextAlpha as Tensor,
        lambda: nextLambda as Tensor,
        before: w,
        goesOn: isStill.logicalNot() as Tensor,
        count: count.add(1) as Tensor,
      };
    },
    {
      alpha: start.alpha.add(first.squares.mul(0)) as Tensor,
      lambda: start.lambda.add(first.squares.mul(0)) as Tensor,
      before: first.w,
      goesOn: full([], true, { device, dtype: "bool" }) as Tensor,
      count: full([], 0, { device, dtype: "i32" }) as Tensor,
    },
  );
  const { alpha, lambda } = end;
  const { w, squares } = solve(alpha, lambda);
  const covariance = eigenvectors.div(values.mul(alpha).add(lambda)).matmul(eigenvectors.T) as Tensor;
  const logEvidence = lambda1
    .mul(lambda.log())
    .sub(lambda2.mul(lambda))
    .add(alpha1.mul(alpha.log()))
    .sub(alpha2.mul(alpha))
    .add(
      lambda
        .log()
        .mul(features)
        .add(alpha.log().mul(samples))
        .sub(alpha.mul(squares))
        .sub(lambda.mul(w.square().sum()))
        .sub(values.mul(alpha).add(lambda).log().sum())
        .sub(samples * Math.log(2 * Math.PI))
        .mul(0.5),
    ) as Tensor;
  return { coefficients: w, covariance, alpha, lambda, logEvidence, iterations: end.count };
}
