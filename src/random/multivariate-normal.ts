/** Normal vectors with a covariance. Equal to JAX's up to rounding. */

import { checkOptions, inOperation } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import type { DType } from "../core/dtype.js";
import { ShapeError } from "../core/errors.js";
import { broadcastShapes, checkBroadcastTo, formatShape, type Shape } from "../core/shape.js";
import { checkTensor, choleskyFactor, einsum, type Tensor } from "../tensor/index.js";
import { checkKey, type Key } from "./key.js";
import { normal, workDType } from "./normal.js";
import { DTYPE, type FloatOptions } from "./uniform.js";

/**
 * Normal vectors of a mean [.., n] and a covariance [.., n, n], which is positive definite (NaN where it is not). `shape`
 * is that of the draws without the axis of the vectors; the leading axes of mean and covariance when left out.
 */
export function multivariateNormal<D extends DType = "f32">(
  key: Key,
  mean: Tensor,
  covariance: Tensor,
  shape?: Shape,
  options: FloatOptions<D> = {},
): Tensor<D> {
  checkCount("random.multivariateNormal", 5, arguments);
  checkOptions<FloatOptions>("random.multivariateNormal", options, DTYPE);
  checkKey(key, "multivariateNormal");
  checkTensor("random.multivariateNormal", "the mean", mean);
  checkTensor("random.multivariateNormal", "the covariance", covariance);
  const n = mean.shape.at(-1) as number;
  if (mean.rank < 1 || covariance.rank < 2 || covariance.shape.at(-1) !== n || covariance.shape.at(-2) !== n) {
    throw new ShapeError(
      `random.multivariateNormal: a mean of ${formatShape(mean.shape)} and a covariance of ` +
        `${formatShape(covariance.shape)}; they are [.., n] and [.., n, n].`,
    );
  }
  const dtype: DType = options.dtype ?? "f32";
  const work = workDType(dtype, "multivariateNormal");
  const own = broadcastShapes("random.multivariateNormal", mean.shape.slice(0, -1), covariance.shape.slice(0, -2));
  const extent = shape !== undefined ? checkBroadcastTo("random.multivariateNormal", own, shape) : own;
  return inOperation("random.multivariateNormal", () => {
    const factor = choleskyFactor(covariance.cast(work));
    const spread = einsum("...ij,...j->...i", factor, normal(key, [...extent, n], { dtype: work }));
    return spread.add(mean.cast(work)).cast(dtype) as Tensor<D>;
  });
}
