/**
 * The four shapes of covariances of a mixture: how each is learned from differences, inverted, and measured by. What is kept beside a
 * covariance C is P with P Pᵀ = C⁻¹: the length of (x − mean) P is the distance of a sample, and log |P| half the log-determinant.
 */
import { cholesky, triangularSolve } from "../../linalg/triangular.js";
import { eye, type Tensor } from "../../tensor/index.js";

/** "full": each part has a matrix, "tied": all share one, "diag": each has variances of the features, "spherical": each has one variance. */
export type CovarianceType = "full" | "tied" | "diag" | "spherical";

/** The shapes of covariances, of k parts and d features. */
export const covarianceShape = (type: CovarianceType, k: number, d: number): readonly number[] =>
  ({ full: [k, d, d], tied: [d, d], diag: [k, d], spherical: [k] })[type];

/** The numbers that a covariance is free in. */
export const freeNumbers = (type: CovarianceType, k: number, d: number): number =>
  ({ full: (k * d * (d + 1)) / 2, tied: (d * (d + 1)) / 2, diag: k * d, spherical: k })[type];

/** Shares of samples in parts, [samples, parts], with their sums, [parts], and the means of the parts, [parts, features]. */
interface Shares {
  readonly shares: Tensor;
  readonly counts: Tensor;
  readonly means: Tensor;
}

/** Covariances of samples by their shares; `regular` is added to every variance. */
export function covariancesOf(type: CovarianceType, x: Tensor, given: Shares, regular: number): Tensor {
  const { shares, counts, means } = given;
  const d = x.shape[1] as number;
  const ridge = eye(d, { device: x.device, dtype: x.dtype }).mul(regular);
  const byPart = counts.expandDims(1);
  switch (type) {
    case "full": {
      const apart = x.expandDims(0).sub(means.expandDims(1)) as Tensor;
      const weighed = apart.mul(shares.T.expandDims(2)) as Tensor;
      return weighed.mT.matmul(apart).div(byPart.expandDims(2)).add(ridge) as Tensor;
    }
    case "tied": {
      const between = means.mul(byPart).T.matmul(means);
      return x.T.matmul(x).sub(between).div(counts.sum()).add(ridge) as Tensor;
    }
    case "diag":
      return variancesOf(x, given).add(regular) as Tensor;
    case "spherical":
      return variancesOf(x, given).add(regular).mean({ axis: 1 }) as Tensor;
  }
}

/** Variances of the features of each part, by differences: sums of squares would lose the digits of distant means. */
const variancesOf = (x: Tensor, { shares, counts, means }: Shares): Tensor =>
  x
    .expandDims(0)
    .sub(means.expandDims(1))
    .square()
    .mul(shares.T.expandDims(2))
    .sum({ axis: 1 })
    .div(counts.expandDims(1)) as Tensor;

/** P of covariances, by Cholesky. NaN where one is not positive definite. */
export function rootsOfInverse(type: CovarianceType, covariances: Tensor): Tensor {
  if (type === "diag" || type === "spherical") return covariances.sqrt().reciprocal() as Tensor;
  const d = covariances.shape.at(-1) as number;
  const unit = eye(d, { device: covariances.device, dtype: covariances.dtype });
  return triangularSolve(cholesky(covariances), unit.broadcastTo([...covariances.shape])).mT as Tensor;
}

/** P of precisions. */
export const rootsOfPrecisions = (type: CovarianceType, precisions: Tensor): Tensor =>
  (type === "full" || type === "tied" ? cholesky(precisions) : precisions.sqrt()) as Tensor;

/** P Pᵀ, the precisions. */
export const precisionsOf = (type: CovarianceType, roots: Tensor): Tensor =>
  (type === "full" || type === "tied" ? roots.matmul(roots.mT) : roots.square()) as Tensor;

/** The logarithms of the densities of samples in each part, [samples, parts]. */
export function logDensities(type: CovarianceType, x: Tensor, means: Tensor, roots: Tensor): Tensor {
  const d = means.shape[1] as number;
  const squares = squaredDistances(type, x, means, roots);
  return squares
    .add(d * Math.log(2 * Math.PI))
    .mul(-0.5)
    .add(logVolumes(type, roots, d)) as Tensor;
}

function squaredDistances(type: CovarianceType, x: Tensor, means: Tensor, roots: Tensor): Tensor {
  if (type === "full" || type === "tied") {
    const apart = x.expandDims(0).sub(means.expandDims(1));
    return apart.matmul(roots).square().sum({ axis: 2 }).T as Tensor;
  }
  const scales = type === "diag" ? roots : roots.expandDims(1);
  return x.expandDims(1).sub(means).mul(scales).square().sum({ axis: 2 }) as Tensor;
}

/** log |P| of each part. */
function logVolumes(type: CovarianceType, roots: Tensor, d: number): Tensor {
  if (type === "spherical") return roots.log().mul(d) as Tensor;
  const scales = type === "diag" ? roots : roots.diagonal();
  return scales.log().sum({ axis: -1 }) as Tensor;
}
