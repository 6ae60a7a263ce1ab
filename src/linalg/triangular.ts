/** Factors of positive definite matrices, and equations with triangular ones. Leading axes are batches. */

import { checkOptions, type OptionKinds } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import { DTYPES, type DType } from "../core/dtype.js";
import { DTypeError, ShapeError } from "../core/errors.js";
import { promote } from "../core/promotion.js";
import { broadcastShapes, formatShape } from "../core/shape.js";
import {
  checkOneDevice,
  checkTensor,
  choleskyFactor,
  type FloatOf,
  type MeetingOf,
  solvedLower,
  type Tensor,
} from "../tensor/index.js";

/** The dtype the work is done in: integers become f32, and so do f16 and bf16 on the way. */
function floatDTypes(operation: string, dtype: DType): { readonly work: "f32" | "f64"; readonly result: DType } {
  const { kind } = DTYPES[dtype];
  if (kind === "complex") throw new DTypeError(`linalg.${operation}: takes real numbers, not ${dtype}.`);
  return { work: dtype === "f64" ? "f64" : "f32", result: kind === "float" ? dtype : "f32" };
}

function checkSquare(operation: string, a: Tensor): void {
  checkTensor(`linalg.${operation}`, "the matrix", a);
  if (a.rank >= 2 && a.shape.at(-1) === a.shape.at(-2)) return;
  throw new ShapeError(
    `linalg.${operation}: ${formatShape(a.shape)} are no square matrices; the last two axes are equal.`,
  );
}

/**
 * The lower triangular L with L·Lᵀ = a, for symmetric positive definite a, of which only the lower half is read; with
 * `upper` its transpose. Where a matrix is not positive definite, its factor is NaN from the first impossible column on.
 */
export function cholesky<D extends DType>(
  a: Tensor<D>,
  options: { readonly upper?: boolean } = {},
): Tensor<FloatOf<D>> {
  checkCount("linalg.cholesky", 2, arguments);
  checkOptions("linalg.cholesky", options, { upper: "flag" });
  checkSquare("cholesky", a);
  const { work, result } = floatDTypes("cholesky", a.dtype);
  const factor = choleskyFactor(a.cast(work)).cast(result);
  return (options.upper ? factor.mT : factor) as Tensor<FloatOf<D>>;
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
  checkTensor("linalg.triangularSolve", "the right side", b);
  checkOneDevice("linalg.triangularSolve", [a.node, b.node]);
  const { lower = true, transposed = false, unitDiagonal = false, left = true } = options;
  const isVector = b.rank === 1;
  const n = a.shape.at(-1) as number;
  const sides = isVector ? b.expandDims(left ? 1 : 0) : b;
  if (sides.rank < 2 || sides.shape.at(left ? -2 : -1) !== n) {
    throw new ShapeError(
      `linalg.triangularSolve: matrices of ${formatShape(a.shape)} and right sides of ${formatShape(b.shape)}; ` +
        `b has ${n} ${left ? "rows" : "columns"}, or is a vector of ${n}.`,
    );
  }
  const { work, result } = floatDTypes("triangularSolve", promote(a.dtype, b.dtype));
  // x·a = b is aᵀ·xᵀ = bᵀ, and an upper matrix with both axes reversed is a lower one.
  const isTransposed = transposed !== !left;
  const matrix = isTransposed ? a.mT : a;
  const isLower = lower !== isTransposed;
  const facing = (x: Tensor, axes: readonly number[]) => (isLower ? x : x.flip(axes));
  const rows = left ? sides : sides.mT;
  const batch = broadcastShapes("linalg.triangularSolve", matrix.shape.slice(0, -2), rows.shape.slice(0, -2));
  const spread = (x: Tensor) => x.cast(work).broadcastTo([...batch, ...x.shape.slice(-2)]);
  const solved = solvedLower(facing(spread(matrix), [-2, -1]), facing(spread(rows), [-2]), unitDiagonal);
  const solution = facing(solved, [-2]).cast(result);
  const x = left ? solution : solution.mT;
  return (isVector ? x.squeeze(left ? -1 : -2) : x) as Tensor<FloatOf<MeetingOf<D, E>>>;
}
