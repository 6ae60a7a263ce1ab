/** Least squares: plain, and with a penalty on the squares of the coefficients. Both have closed forms, so that fits trace. */
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { lstsq } from "../../linalg/least-squares.js";
import { cholesky, choSolve } from "../../linalg/triangular.js";
import { eye, isTensor, type Tensor } from "../../tensor/index.js";
import { regressor } from "../core/sorts.js";
import { centred, type LinearLearned, linearPrediction } from "./linear-model.js";
import { nonNegativeSolution } from "./non-negative.js";

/** Options of `linearRegression`. */
export interface LinearRegressionOptions {
  /** True unless told: an intercept is learned. */
  readonly fitIntercept?: boolean;
  /** Coefficients are zero or more; false unless told. */
  readonly positive?: boolean;
}

/**
 * Ordinary least squares. Where several solutions are equally good, the smallest one is taken: columns may depend on one another, and
 * there may be more of them than samples.
 */
export const linearRegression = regressor<LinearLearned, LinearRegressionOptions>({
  kind: "linearRegression",
  options: { fitIntercept: "flag", positive: "flag" },
  learn({ x, y, weights }, { fitIntercept = true, positive }) {
    const problem = centred(x, y, weights, fitIntercept);
    if (positive) return problem.learned(nonNegativeSolution(problem.x, problem.y, 0));
    return problem.learned(lstsq(problem.x, problem.y).x as Tensor);
  },
  predict: linearPrediction,
});

/** Options of `ridge`. */
export interface RidgeOptions extends LinearRegressionOptions {
  /** The weight of the penalty: 1 unless told. A tensor, too, so that fits with many penalties are one `vmap`. */
  readonly alpha?: number | Tensor;
}

/** Least squares with the penalty alpha · Σ coefficients². The intercept is not penalised. */
export const ridge = regressor<LinearLearned, RidgeOptions>({
  kind: "ridge",
  options: { fitIntercept: "flag", alpha: "any", positive: "flag" },
  settings: ["alpha"],
  check({ alpha = 1 }) {
    if (isTensor(alpha) ? alpha.rank === 0 : typeof alpha === "number" && alpha >= 0 && Number.isFinite(alpha)) return;
    throw new ArgumentError(`ridge: alpha is ${shown(alpha)}; it is a number, zero or more, or a tensor of one.`);
  },
  learn({ x, y, weights }, { fitIntercept = true, alpha = 1, positive }) {
    const problem = centred(x, y, weights, fitIntercept);
    if (positive) return problem.learned(nonNegativeSolution(problem.x, problem.y, alpha));
    return problem.learned(ridgeSolution(problem.x, problem.y, alpha));
  },
  predict: linearPrediction,
});

/** (XᵀX + αI)⁻¹ Xᵀy, or Xᵀ(XXᵀ + αI)⁻¹ y where there are fewer samples than features: the smaller matrix is factored. */
function ridgeSolution(x: Tensor, y: Tensor, alpha: number | Tensor): Tensor {
  const [samples, features] = x.shape as [number, number];
  // Without a penalty the matrix may be singular.
  if (alpha === 0) return lstsq(x, y).x as Tensor;
  const solved = (gram: Tensor, right: Tensor): Tensor => {
    const size = gram.shape[0] as number;
    const unit = eye(size, { device: x.device, dtype: x.dtype });
    const columns = right.rank === 1 ? right.expandDims(1) : right;
    // A penalty below the rounding of the matrix would leave it singular where columns depend on one another.
    const least = gram.diagonal().mul(4 * size * (x.dtype === "f64" ? 2 ** -52 : 2 ** -23));
    const found = choSolve(cholesky(gram.add(unit.mul(least.maximum(alpha)))), columns) as Tensor;
    return (right.rank === 1 ? found.squeeze(1) : found) as Tensor;
  };
  return features <= samples ? solved(x.T.matmul(x), x.T.matmul(y)) : (x.T.matmul(solved(x.matmul(x.T), y)) as Tensor);
}
