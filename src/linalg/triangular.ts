/** Factors of positive definite matrices, and equations with triangular ones. Leading axes are batches. */

import { checkOptions, type OptionKinds } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import type { DType } from "../core/dtype.js";
import { choleskyFactor, type FloatOf, type MeetingOf, solvedLower, type Tensor } from "../tensor/index.js";
import { adjointOf, checkSquare, equations, workDTypes } from "./arguments.js";

/**
 * The lower triangular L with L·Lᴴ = a, for Hermitian (or real symmetric) positive definite a, of which only the lower half is
 * read; with `upper` its conjugate transpose. Where a matrix is not positive definite, its factor is NaN from the first
 * impossible column on; `linalg.check` says which.
 */
export function cholesky<D extends DType>(
  a: Tensor<D>,
  options: { readonly upper?: boolean } = {},
): Tensor<FloatOf<D>> {
  checkCount("linalg.cholesky", 2, arguments);
  checkOptions("linalg.cholesky", options, { upper: "flag" });
  checkSquare("cholesky", a);
  const { work, result } = workDTypes(a.dtype);
  const factor = choleskyFactor(a.cast(work)).cast(result);
  return (options.upper ? adjointOf(factor) : factor) as Tensor<FloatOf<D>>;
}

/** Options of `triangularSolve`. */
export interface TriangularSolveOptions {
  /** Reads the lower half of a (true), or the upper. */
  readonly lower?: boolean;
  /** Solve with the transpose of a. */
  readonly transposed?: boolean;
  /** Take the diagonal of a for ones, without reading it. */
  readonly unitDiagonal?: boolean;
  /** Solve a·x = b, or x·a = b when false. true. */
  readonly left?: boolean;
}

// biome-ignore format: one row
const SOLVE: OptionKinds<TriangularSolveOptions> = { lower: "flag", transposed: "flag", unitDiagonal: "flag", left: "flag" };

/** x with a·x = b for triangular a. b is [.., n, m], or a vector [n]; leading axes broadcast. */
export function triangularSolve<D extends DType, E extends DType>(
  a: Tensor<D>,
  b: Tensor<E>,
  options: TriangularSolveOptions = {},
): Tensor<FloatOf<MeetingOf<D, E>>> {
  checkCount("linalg.triangularSolve", 3, arguments);
  checkOptions("linalg.triangularSolve", options, SOLVE);
  checkSquare("triangularSolve", a);
  const { lower = true, transposed = false, unitDiagonal = false, left = true } = options;
  const given = equations("triangularSolve", a, b, left);
  // x·a = b is aᵀ·xᵀ = bᵀ.
  const isTransposed = transposed !== !left;
  const matrix = isTransposed ? given.a.mT : given.a;
  const x = solvedTriangle(matrix, left ? given.b : given.b.mT, lower !== isTransposed, unitDiagonal);
  return given.finish(left ? x : x.mT) as Tensor<FloatOf<MeetingOf<D, E>>>;
}

/** X with A·X = B, batches alike: an upper matrix with both axes reversed is a lower one. */
function solvedTriangle(a: Tensor, b: Tensor, isLower: boolean, isUnit: boolean): Tensor {
  if (isLower) return solvedLower(a, b, isUnit);
  return solvedLower(a.flip([-2, -1]), b.flip([-2]), isUnit).flip([-2]);
}

/** x with a·x = b, from the lower Cholesky factor of a, or with `upper` from the upper one. Leading axes broadcast. */
export function choSolve<D extends DType, E extends DType>(
  factor: Tensor<D>,
  b: Tensor<E>,
  options: { readonly upper?: boolean } = {},
): Tensor<FloatOf<MeetingOf<D, E>>> {
  checkCount("linalg.choSolve", 3, arguments);
  checkOptions("linalg.choSolve", options, { upper: "flag" });
  checkSquare("choSolve", factor, "the factor");
  const given = equations("choSolve", factor, b);
  const l = options.upper ? adjointOf(given.a) : given.a;
  const x = solvedTriangle(adjointOf(l), solvedLower(l, given.b, false), false, false);
  return given.finish(x) as Tensor<FloatOf<MeetingOf<D, E>>>;
}
