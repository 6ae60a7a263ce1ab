/** LU factors, and the solutions and inverses they give. Leading axes are batches. */

import { checkOptions } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import type { DType } from "../core/dtype.js";
import { ArgumentError } from "../core/errors.js";
import { shown } from "../core/shown.js";
import {
  checkTensor,
  computedTogether,
  eye,
  type FloatOf,
  luFactors,
  type MeetingOf,
  solvedWithLu,
  stoppedLuFactors,
  type Tensor,
} from "../tensor/index.js";
import { checkMatrices, checkSquare, equations, workDTypes } from "./arguments.js";
import { triangularSolve } from "./triangular.js";

/** LU factors as matrices: a is p·l·u. */
export interface LuMatrices<D extends DType> {
  /** The permutation, [.., m, m], of zeros and ones. */
  readonly p: Tensor<D>;
  /** Unit lower triangular, [.., m, min(m, n)]. */
  readonly l: Tensor<D>;
  /** Upper triangular, [.., min(m, n), n]. */
  readonly u: Tensor<D>;
}

/** LU factors in one matrix, with the rows that were exchanged. */
export interface LuFactor<D extends DType> {
  /** Below the diagonal the unit lower factor, from the diagonal on the upper one, [.., m, n]. */
  readonly lu: Tensor<D>;
  /** LAPACK's pivots: row i was exchanged with row pivots[i], in that order; i32 [.., min(m, n)], counted from 0. */
  readonly pivots: Tensor<"i32">;
  /** The order they lead to: row i of the product of the factors is row order[i] of a; i32 [.., m]. */
  readonly order: Tensor<"i32">;
}

/**
 * Factors of matrices [.., m, n] with partial pivoting: a is p·l·u. A matrix without an inverse has a zero on the diagonal of
 * u; there are no errors and no NaN. `linalg.check` says where.
 */
export function lu<D extends DType>(a: Tensor<D>): LuMatrices<FloatOf<D>> {
  checkCount("linalg.lu", 1, arguments);
  checkMatrices("lu", a);
  const { work, result } = workDTypes(a.dtype);
  const [factors, , order] = luFactors(a.cast(work));
  const [m, n] = a.shape.slice(-2);
  const least = Math.min(m, n);
  const below = factors.at("...", `:${least}`).tril(-1);
  const matrices = {
    p: order.oneHot(m, { dtype: work }).mT,
    l: below.add(eye(m, least, { dtype: work, device: a.device })),
    u: factors.at("...", `:${least}`, ":").triu(),
  };
  const { p, l, u } = matrices;
  return computedTogether({ p: p.cast(result), l: l.cast(result), u: u.cast(result) }) as LuMatrices<FloatOf<D>>;
}

/** The same factors in one matrix, with pivots: what `luSolve` takes, for many right sides. f16 and bf16 give f32. */
export function luFactor<D extends DType>(a: Tensor<D>): LuFactor<FloatOf<D>> {
  checkCount("linalg.luFactor", 1, arguments);
  checkMatrices("luFactor", a);
  const [factors, pivots, order] = luFactors(a.cast(workDTypes(a.dtype).work));
  return computedTogether({ lu: factors, pivots, order }) as LuFactor<FloatOf<D>>;
}

/** x with a·x = b, or aᵀ·x = b, from `luFactor(a)`. b is [.., n, k], or a vector [n]; leading axes broadcast. */
export function luSolve<D extends DType, E extends DType>(
  factor: LuFactor<D>,
  b: Tensor<E>,
  options: { readonly transposed?: boolean } = {},
): Tensor<FloatOf<MeetingOf<D, E>>> {
  checkCount("linalg.luSolve", 3, arguments);
  checkOptions("linalg.luSolve", options, { transposed: "flag" });
  const { lu: factors, order } = checkFactor(factor);
  const given = equations("luSolve", factors, b);
  const rows = order.broadcastTo(given.a.shape.slice(0, -1));
  const inOrder = (x: Tensor, places: Tensor) =>
    x.takeAlongAxis(places.expandDims(-1).broadcastTo(x.shape), { axis: -2 });
  const { a } = given;
  if (!options.transposed) {
    const inner = triangularSolve(a, inOrder(given.b, rows), { unitDiagonal: true });
    return given.finish(triangularSolve(a, inner, { lower: false })) as Tensor<FloatOf<MeetingOf<D, E>>>;
  }
  const outer = triangularSolve(a, given.b, { lower: false, transposed: true });
  const inner = triangularSolve(a, outer, { transposed: true, unitDiagonal: true });
  return given.finish(inOrder(inner, rows.argsort({ axis: -1 }))) as Tensor<FloatOf<MeetingOf<D, E>>>;
}

function checkFactor<D extends DType>(factor: LuFactor<D>): { readonly lu: Tensor; readonly order: Tensor } {
  if (typeof factor !== "object" || factor === null || !("lu" in factor) || !("order" in factor)) {
    throw new ArgumentError(`linalg.luSolve: takes what luFactor gives, not ${shown(factor)}.`);
  }
  checkSquare("luSolve", factor.lu, "the factor");
  checkTensor("linalg.luSolve", "the order of rows", factor.order);
  return factor as { readonly lu: Tensor; readonly order: Tensor };
}

/**
 * x with a·x = b. b is [.., n, k], or a vector [n]; leading axes broadcast. A matrix without an inverse gives inf or NaN;
 * `linalg.check` throws there.
 */
export function solve<D extends DType, E extends DType>(a: Tensor<D>, b: Tensor<E>): Tensor<FloatOf<MeetingOf<D, E>>> {
  checkCount("linalg.solve", 2, arguments);
  checkSquare("solve", a);
  const given = equations("solve", a, b);
  // Factors of matrices that are broadcast are computed once.
  const [factors, , order] = stoppedLuFactors(a.cast(given.a.dtype));
  const spread = [factors.broadcastTo(given.a.shape), order.broadcastTo(given.a.shape.slice(0, -1))] as const;
  return given.finish(solvedWithLu(given.a, given.b, spread)) as Tensor<FloatOf<MeetingOf<D, E>>>;
}

/** The inverses of square matrices. To solve equations, `solve` is faster and more exact. */
export function inv<D extends DType>(a: Tensor<D>): Tensor<FloatOf<D>> {
  checkCount("linalg.inv", 1, arguments);
  checkSquare("inv", a);
  const { work, result } = workDTypes(a.dtype);
  const given = a.cast(work);
  const [factors, , order] = stoppedLuFactors(given);
  const unit = eye(a.shape.at(-1) as number, { dtype: work, device: a.device }).broadcastTo(a.shape);
  return solvedWithLu(given, unit, [factors, order]).cast(result) as Tensor<FloatOf<D>>;
}
