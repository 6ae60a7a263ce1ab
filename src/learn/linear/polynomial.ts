/** Polynomial regression: least squares on all products of features up to a degree. */
import { checkWhole } from "../../core/arguments.js";
import { lstsq } from "../../linalg/least-squares.js";
import type { Tensor } from "../../tensor/index.js";
import { regressor } from "../core/sorts.js";
import { productsOf } from "../preprocessing/products.js";
import { centred, type LinearLearned, linearPrediction } from "./linear-model.js";

/** Options of `polynomialRegression`. */
export interface PolynomialRegressionOptions {
  /** The largest degree of a product: 2 unless told. */
  readonly degree?: number;
  /** True unless told: an intercept is learned. */
  readonly fitIntercept?: boolean;
}

/**
 * Least squares on products of features. Coefficients belong to the products by degree, and within one in the order of the features:
 * a, b, a², ab, b².
 */
export const polynomialRegression = regressor<LinearLearned, PolynomialRegressionOptions>({
  kind: "polynomialRegression",
  options: { degree: "number", fitIntercept: "flag" },
  check({ degree = 2 }) {
    checkWhole("polynomialRegression", "the degree", degree, 1);
  },
  learn({ x, y, weights }, { degree = 2, fitIntercept = true }) {
    const problem = centred(productsOf(x, { degree }) as Tensor, y, weights, fitIntercept);
    return problem.learned(lstsq(problem.x, problem.y).x as Tensor);
  },
  predict: (learned, x, { degree = 2 }) =>
    linearPrediction(learned, productsOf(x.cast(learned.coefficients.dtype) as Tensor, { degree }) as Tensor),
});
