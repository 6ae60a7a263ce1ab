/** Polynomial regression: least squares on all products of features up to a degree. */
import { checkWhole } from "../../core/arguments.js";
import { lstsq } from "../../linalg/least-squares.js";
import { concat, type Tensor, tensor } from "../../tensor/index.js";
import { regressor } from "../core/sorts.js";
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
    const problem = centred(productsOf(x, degree), y, weights, fitIntercept);
    return problem.learned(lstsq(problem.x, problem.y).x as Tensor);
  },
  predict: (learned, x, { degree = 2 }) =>
    linearPrediction(learned, productsOf(x.cast(learned.coefficients.dtype) as Tensor, degree)),
});

/** All products of up to `degree` columns. Those of a degree are those of the degree before, times each column from their last one on. */
function productsOf(x: Tensor, degree: number): Tensor {
  const width = x.shape[1] as number;
  const positions = (list: readonly number[]): Tensor => tensor(list as number[], { device: x.device, dtype: "i32" });
  const blocks = [x];
  let last = Array.from({ length: width }, (_, j) => j);
  for (let d = 2; d <= degree; d++) {
    const pairs = last.flatMap((from, before) =>
      Array.from({ length: width - from }, (_, i) => ({ before, column: from + i })),
    );
    const earlier = (blocks.at(-1) as Tensor).take(positions(pairs.map(({ before }) => before)), { axis: 1 });
    last = pairs.map(({ column }) => column);
    blocks.push(earlier.mul(x.take(positions(last), { axis: 1 })) as Tensor);
  }
  return concat(blocks, { axis: 1 }) as Tensor;
}
