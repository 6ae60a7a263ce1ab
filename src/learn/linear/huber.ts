/**
 * Huber's regression (Owen 2007): squares for small residuals, absolute values for large ones, and the scale that tells them apart is
 * learned with the coefficients. The three together are one convex problem, which Newton's method solves.
 */
import { ArgumentError } from "../../core/errors.js";
import { concat, type Tensor, where } from "../../tensor/index.js";
import { checkAmount } from "../core/settings.js";
import { regressor } from "../core/sorts.js";
import { checkOneOutput } from "./generalized.js";
import { smoothMinimum } from "./implicit-minimum.js";
import { linearPrediction } from "./linear-model.js";
import type { SmoothProblem } from "./newton.js";
import { checkStopping, type Setting, type Stopping, scalarBeside } from "./settings.js";
import { design, diagonalOf, parted, penalties } from "./smooth-problem.js";

/** Options of `huberRegressor`. `tol`, the largest element of the gradient, is 1e-5 unless told, `maxIter` 100. */
export interface HuberOptions extends Stopping {
  /** Residuals larger than this many scales count by their absolute values: 1.35 unless told, at least 1. */
  readonly epsilon?: number;
  /** The weight of the penalty alpha · Σ coefficients²: 0.0001 unless told. A tensor, too. */
  readonly alpha?: Setting;
  /** True unless told: an intercept is learned. It is not penalised. */
  readonly fitIntercept?: boolean;
}

/** Coefficients [features], the intercept, the scale of the residuals, and which samples of the fit are outliers, bool [samples]. */
export interface HuberLearned {
  readonly coefficients: Tensor;
  readonly intercept: Tensor;
  readonly scale: Tensor;
  readonly outliers: Tensor;
  readonly iterations: Tensor;
  readonly [name: string]: Tensor;
}

/** Linear regression that outliers pull at with bounded force. */
export const huberRegressor = regressor<HuberLearned, HuberOptions>({
  kind: "huberRegressor",
  options: { epsilon: "number", alpha: "any", fitIntercept: "flag", tol: "number", maxIter: "number" },
  settings: ["alpha"],
  check({ epsilon = 1.35, alpha = 0.0001, tol, maxIter }) {
    checkAmount("huberRegressor", "alpha", alpha);
    checkStopping("huberRegressor", { tol, maxIter });
    if (epsilon >= 1 && Number.isFinite(epsilon)) return;
    throw new ArgumentError(`huberRegressor: epsilon is ${epsilon}; it is a number, 1 or more.`);
  },
  learn({ x, y, weights }, { epsilon = 1.35, alpha = 0.0001, fitIntercept = true, tol = 1e-5, maxIter = 100 }) {
    checkOneOutput("huberRegressor", y);
    const counted = weights ?? (y.mul(0).add(1) as Tensor);
    const ridge = penalties(x, scalarBeside(alpha, x).mul(2) as Tensor, fitIntercept);
    // Zero coefficients, the mean as intercept, and the targets' deviation as the scale: the size that residuals begin with.
    const mean = y.mul(counted).sum().div(counted.sum());
    const centre = fitIntercept ? mean : mean.mul(0);
    const spread = y.sub(centre).square().mul(counted).sum().div(counted.sum()).sqrt();
    const scale = where(spread.greater(0), spread, 1).reshape([1]);
    const start = concat([
      ridge.at(`:${x.shape[1]}`).mul(0),
      ...(fitIntercept ? [mean.reshape([1])] : []),
      scale,
    ]) as Tensor;
    const { parameters, iterations } = smoothMinimum(
      {
        given: { a: design(x, fitIntercept), y, counted, ridge },
        problemOf: ({ a, y, counted, ridge }) => huberProblem(a, y, counted, ridge, epsilon),
        start,
        samples: x.shape[0] as number,
      },
      { tol, maxIter },
    );
    const width = ridge.shape[0] as number;
    const found = parameters.at(`:${width}`) as Tensor;
    const sigma = parameters.at(width) as Tensor;
    const outliers = design(x, fitIntercept).matmul(found).sub(y).abs().greater(sigma.mul(epsilon)) as Tensor;
    return { ...parted(found, fitIntercept), scale: sigma, outliers, iterations };
  },
  predict: linearPrediction,
});

/**
 * Σ weight · (σ + σ H(r/σ)) + ½ Σ ridge · w², with H(u) = u² up to epsilon and 2 epsilon |u| − epsilon² beyond. The parameters are w and,
 * last, σ. The predictors are a·w.
 */
function huberProblem(a: Tensor, y: Tensor, weights: Tensor, ridge: Tensor, epsilon: number): SmoothProblem {
  const width = a.shape[1] as number;
  const wOf = (v: Tensor): Tensor => v.at(`:${width}`) as Tensor;
  const sigmaOf = (v: Tensor): Tensor => v.at(width) as Tensor;
  const parts = (v: Tensor, z: Tensor) => {
    const sigma = sigmaOf(v);
    const r = z.sub(y) as Tensor;
    return { sigma, r, isInside: r.abs().lessEqual(sigma.mul(epsilon)) as Tensor };
  };
  return {
    predictors: (v) => a.matmul(wOf(v)) as Tensor,
    value(v, z) {
      const { sigma, r, isInside } = parts(v, z);
      const inside = r.square().div(sigma);
      const outside = r
        .abs()
        .mul(2 * epsilon)
        .sub(sigma.mul(epsilon ** 2));
      const total = where(isInside, inside, outside).add(sigma).mul(weights).sum();
      const penalty = ridge.mul(wOf(v).square()).sum().mul(0.5);
      // The scale is positive.
      return where(sigma.greater(0), total.add(penalty), Number.POSITIVE_INFINITY) as Tensor;
    },
    gradient(v, z) {
      const { sigma, r, isInside } = parts(v, z);
      const slope = where(isInside, r.div(sigma), r.sign().mul(epsilon)).mul(2);
      const ofScale = where(isInside, r.div(sigma).square(), epsilon ** 2)
        .neg()
        .add(1);
      const ofW = slope
        .mul(weights)
        .matmul(a)
        .add(ridge.mul(wOf(v)));
      return concat([ofW, ofScale.mul(weights).sum().reshape([1])]) as Tensor;
    },
    curvature(v, z) {
      const { sigma, r, isInside } = parts(v, z);
      const curved = where(isInside, weights, 0).mul(2).div(sigma);
      const u = r.div(sigma);
      const block = a.T.matmul(a.mul(curved.expandDims(1))).add(diagonalOf(ridge));
      const mixed = curved.mul(u).matmul(a).neg().expandDims(1);
      const own = curved.mul(u.square()).sum().reshape([1, 1]);
      return concat([concat([block, mixed], { axis: 1 }), concat([mixed.T, own], { axis: 1 })]) as Tensor;
    },
    // The scale loses nine tenths of itself at most: near zero the model of a step says little of the function.
    lowest: (v) => sigmaOf(v).mul(-0.9) as Tensor,
  };
}
