/** Least squares, pseudo-inverses and condition numbers: what singular values give. Leading axes are batches. */

import { checkOptions } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import { type DType, realDType } from "../core/dtype.js";
import {
  computedTogether,
  type FloatOf,
  leastSquaresSolution,
  type MeetingOf,
  pseudoInverse,
  type RealOf,
  singularFactors,
  type Tensor,
} from "../tensor/index.js";
import { checkMatrices, equations, workDTypes } from "./arguments.js";
import { RANK, type RankOptions, rankOf, shareOf } from "./svd.js";

/** The pseudo-inverse (Moore and Penrose) of matrices [.., m, n], [.., n, m]. */
export function pinv<D extends DType>(a: Tensor<D>, options: RankOptions = {}): Tensor<FloatOf<D>> {
  checkCount("linalg.pinv", 2, arguments);
  checkOptions("linalg.pinv", options, RANK);
  checkMatrices("pinv", a);
  const { work, result } = workDTypes(a.dtype);
  return pseudoInverse(a.cast(work), shareOf("pinv", a, options)).cast(result) as Tensor<FloatOf<D>>;
}

/** A solution of least squares, and how good it is. */
export interface LeastSquares<D extends DType> {
  /** [.., n, k], or [.., n] where b is a vector. */
  readonly x: Tensor<D>;
  /** The sums of squares of b - a·x, for each column of b. */
  readonly residuals: Tensor<RealOf<D>>;
  /** The rank of a; 0 where a has a NaN or an infinity, and x and s are NaN. */
  readonly rank: Tensor<"i32">;
  /** The singular values of a, falling. */
  readonly s: Tensor<RealOf<D>>;
}

/**
 * The x that makes ‖a·x - b‖ least, and of those the shortest. a is [.., m, n], b is [.., m, k] or a vector [m]; leading axes
 * broadcast. Singular values of a up to `rtol` times the largest count as zero.
 */
export function lstsq<D extends DType, E extends DType>(
  a: Tensor<D>,
  b: Tensor<E>,
  options: RankOptions = {},
): LeastSquares<FloatOf<MeetingOf<D, E>>> {
  checkCount("linalg.lstsq", 3, arguments);
  checkOptions("linalg.lstsq", options, RANK);
  checkMatrices("lstsq", a);
  const given = equations("lstsq", a, b);
  const share = shareOf("lstsq", given.a, options);
  const solution = leastSquaresSolution(given.a, given.b, share);
  const squares = given.b.sub(given.a.matmul(solution)).abs().square().sum({ axis: -2, keepDims: true });
  const [, s] = singularFactors(given.a, false);
  const x = given.finish(solution);
  const residuals = squares.squeeze(-2);
  return computedTogether({
    x,
    residuals: (b.rank === 1 ? residuals.squeeze(-1) : residuals).cast(realDType(x.dtype)),
    rank: rankOf(s, share),
    s: s.cast(realDType(x.dtype)),
  }) as LeastSquares<FloatOf<MeetingOf<D, E>>>;
}
