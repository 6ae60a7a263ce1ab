/** Constraints on matrices, along the last two axes: covariances, and Cholesky factors of correlations and of covariances. */
import { ShapeError } from "../../core/errors.js";
import type { Shape } from "../../core/shape.js";
import { cholesky } from "../../linalg/triangular.js";
import { concat, countingLike, eye, stack, type Tensor, where } from "../../tensor/index.js";
import { runningSum } from "../numerics/running-sum.js";
import type { Bijection, Constraint } from "./constraint.js";

const TOLERANCE = 1e-5;

/** Numbers by rows into the lower triangle, with row i taking `i + extra` of them; zeros elsewhere. */
function intoTriangle(numbers: Tensor, n: number, extra: 0 | 1): Tensor {
  const around = numbers.shape.slice(0, -1).map(() => [0, 0] as const);
  const rows = Array.from({ length: n }, (_, i) => {
    const [start, length] = [triangleSize(i, extra), i + extra];
    return numbers.at("...", `${start}:${start + length}`).pad([...around, [0, n - length]]);
  });
  return stack(rows, { axis: -2 });
}

/** Numbers in the first n rows. */
const triangleSize = (n: number, extra: 0 | 1): number => (n * (n - 1)) / 2 + extra * n;

/** The lower triangle by rows. */
function fromTriangle(matrix: Tensor, extra: 0 | 1): Tensor {
  const n = matrix.shape.at(-1) as number;
  const rows = Array.from({ length: n }, (_, i) => matrix.at("...", i, `0:${i + extra}`));
  return concat(rows.slice(extra === 0 ? 1 : 0), { axis: -1 });
}

const isLower = (x: Tensor): Tensor => x.equal(x.tril()).all({ axis: [-2, -1] });
const hasPositiveDiagonal = (x: Tensor): Tensor => x.diagonal().greater(0).all({ axis: -1 });
const freeSize = (shape: Shape, extra: 0 | 1): Shape => {
  const [rows, columns] = shape.slice(-2);
  if (rows !== columns) throw new ShapeError(`matrices of ${rows} × ${columns}; Cholesky factors are square.`);
  return [...shape.slice(0, -2), triangleSize(columns, extra)];
};

/**
 * To lower factors L of correlation matrices, whose rows have length 1. Each free number is a partial correlation z = tanh(u),
 * and takes its part of what the elements before it left of the row's length: L_ij = z_ij √Π_{m<j}(1 - z_im²), as in Stan.
 */
export const partialCorrelations: Bijection = {
  freeShape: (shape) => freeSize(shape, 0),
  forward(free, shape) {
    const n = shape.at(-1) as number;
    // log(1 - tanh² u) = 2 (u + log 2 - softplus(2u)), which is exact where 1 - z² is not.
    const logRest = free.add(Math.LN2).sub(free.mul(2).softplus()).mul(2);
    const used = intoTriangle(logRest, n, 0);
    const left = runningSum(used, { exclusive: true });
    const isDiagonal = eye(n, n, { dtype: "bool", device: free.device });
    const value = where(isDiagonal, 1, intoTriangle(free.tanh(), n, 0)).mul(left.mul(0.5).exp());
    // Besides dz/du, each element is scaled by what was left for it.
    const below = where(isDiagonal, 0, left.mul(0.5).tril());
    return { value, logJacobian: logRest.sum({ axis: -1 }).add(below.sum({ axis: [-2, -1] })) };
  },
  inverse(value) {
    // The remaining length of a row, as the length of its rest: nothing is subtracted.
    const rest = runningSum(value.square().flip(-1)).flip(-1).sqrt();
    const z = where(rest.greater(0), value.div(rest), 0);
    const partial = fromTriangle(z, 0);
    return partial.log1p().sub(partial.neg().log1p()).mul(0.5);
  },
};

/** Lower factors of correlation matrices. */
export const correlationCholesky: Constraint = {
  name: "correlationCholesky",
  isBounded: true,
  description: "lower triangular matrices with positive diagonals and rows of length 1",
  eventRank: 2,
  bijection: partialCorrelations,
  holds: (x) =>
    isLower(x)
      .logicalAnd(hasPositiveDiagonal(x))
      .logicalAnd(x.square().sum({ axis: -1 }).sub(1).abs().less(TOLERANCE).all({ axis: -1 })),
};

/** Lower factors of covariance matrices: free below the diagonal, exp(u) on it. */
export const covarianceCholesky: Constraint = {
  name: "covarianceCholesky",
  description: "lower triangular matrices with positive diagonals",
  eventRank: 2,
  bijection: {
    freeShape: (shape) => freeSize(shape, 1),
    forward(free, shape) {
      const n = shape.at(-1) as number;
      const lower = intoTriangle(free, n, 1);
      const isDiagonal = eye(n, n, { dtype: "bool", device: free.device });
      return {
        value: where(isDiagonal, lower.exp(), lower),
        logJacobian: where(isDiagonal, lower, 0).sum({ axis: [-2, -1] }),
      };
    },
    inverse(value) {
      const isDiagonal = eye(value.shape.at(-1) as number, undefined, { dtype: "bool", device: value.device });
      return fromTriangle(where(isDiagonal, where(isDiagonal, value, 1).log(), value), 1);
    },
  },
  holds: (x) => isLower(x).logicalAnd(hasPositiveDiagonal(x)),
};

/** The factor of a covariance matrix behind free numbers [.., n(n + 1)/2]. */
export const factorBehind = (free: Tensor, n: number): Tensor =>
  (covarianceCholesky.bijection as Bijection).forward(free, [...free.shape.slice(0, -1), n, n]).value;

/** Whether matrices are symmetric but for rounding, next to their diagonals. */
function isSymmetric(x: Tensor): Tensor {
  const root = x.diagonal().abs().sqrt();
  const size = root.expandDims(-1).mul(root.expandDims(-2));
  return x
    .sub(x.mT)
    .abs()
    .lessEqual(size.mul(TOLERANCE))
    .all({ axis: [-2, -1] });
}

/** Covariance matrices, symmetric and positive definite: L·Lᵀ of a lower factor L, which is free as in `covarianceCholesky`. */
export const covarianceMatrix: Constraint = {
  name: "covarianceMatrix",
  description: "symmetric, positive definite matrices",
  eventRank: 2,
  bijection: {
    freeShape: (shape) => freeSize(shape, 1),
    forward(free, shape) {
      const n = shape.at(-1) as number;
      const factor = factorBehind(free, n);
      // From factors to matrices, the stretch is 2^n Π L_ii^(n + 1 - i), for i from 1, and to the factor's diagonal Π L_ii.
      const powers = countingLike(free, n)
        .cast(free.dtype)
        .neg()
        .add(n + 1);
      const stretch = intoTriangle(free, n, 1).diagonal().mul(powers).sum({ axis: -1 });
      return { value: factor.matmul(factor.mT), logJacobian: stretch.add(n * Math.LN2) };
    },
    inverse: (value) => (covarianceCholesky.bijection as Bijection).inverse(cholesky(value)),
  },
  holds: (x) => isSymmetric(x).logicalAnd(hasPositiveDiagonal(cholesky(x))),
};
