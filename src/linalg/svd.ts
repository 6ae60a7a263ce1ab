/** Singular values and what follows from them: rank, polar factors, approximations of low rank. */

import { checkNumber, checkOptions, inOperation, type OptionKinds } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import { type DType, realDType } from "../core/dtype.js";
import { ArgumentError } from "../core/errors.js";
import { shown } from "../core/shown.js";
import { type Key, normal } from "../random/index.js";
import { checkKey } from "../random/key.js";
import {
  computedTogether,
  type FloatOf,
  polarFactors,
  type RealOf,
  singularFactors,
  type Tensor,
} from "../tensor/index.js";
import { adjointOf, checkMatrices, workDTypes } from "./arguments.js";
import { qr } from "./qr.js";

/** Options of `svd`. */
export interface SvdOptions {
  /** u and vh are square: they complete a basis. false. */
  readonly full?: boolean;
}

/** a is u·diag(s)·vh. */
export interface SvdFactors<D extends DType> {
  /** Orthonormal columns, [.., m, k], k = min(m, n); of the full decomposition [.., m, m]. */
  readonly u: Tensor<D>;
  /** Singular values, falling, [.., k]. */
  readonly s: Tensor<RealOf<D>>;
  /** Orthonormal rows, [.., k, n], or [.., n, n]. */
  readonly vh: Tensor<D>;
}

const OPTIONS: OptionKinds<SvdOptions> = { full: "flag" };

/**
 * The singular value decomposition of matrices [.., m, n]. A matrix with a NaN or an infinity has NaN for all. Among equal
 * singular values the derivative of the vectors is taken to be zero, as with `eigh`: u·f(s)·vh lacks a part there.
 */
export function svd<D extends DType>(a: Tensor<D>, options: SvdOptions = {}): SvdFactors<FloatOf<D>> {
  checkCount("linalg.svd", 2, arguments);
  checkOptions("linalg.svd", options, OPTIONS);
  checkMatrices("svd", a);
  const { work, result } = workDTypes(a.dtype);
  const [u, s, vh] = singularFactors(a.cast(work), options.full === true);
  return computedTogether({ u: u.cast(result), s: s.cast(realDType(result)), vh: vh.cast(result) }) as SvdFactors<
    FloatOf<D>
  >;
}

/** The singular values of matrices, falling, [.., min(m, n)]. */
export function svdvals<D extends DType>(a: Tensor<D>): Tensor<RealOf<FloatOf<D>>> {
  checkCount("linalg.svdvals", 1, arguments);
  checkMatrices("svdvals", a);
  const { work, result } = workDTypes(a.dtype);
  return singularFactors(a.cast(work), false)[1].cast(realDType(result)) as Tensor<RealOf<FloatOf<D>>>;
}

/** Options of functions that decide which singular values count as zero. */
export interface RankOptions {
  /** Singular values up to this share of the largest count as zero. max(m, n) · ε, as in NumPy. */
  readonly rtol?: number;
}

export const RANK: OptionKinds<RankOptions> = { rtol: "number" };

/** The share of the largest singular value up to which others count as zero. */
export function shareOf(operation: string, a: Tensor, options: RankOptions): number {
  const { work } = workDTypes(a.dtype);
  const epsilon = work === "f64" || work === "c128" ? 2 ** -52 : 2 ** -23;
  const share = options.rtol ?? Math.max(...a.shape.slice(-2)) * epsilon;
  checkNumber(`linalg.${operation}`, "rtol", share);
  if (share < 0) throw new ArgumentError(`linalg.${operation}: rtol is 0 or more, not ${shown(share)}.`);
  return share;
}

/**
 * The number of singular values larger than `rtol` times the largest, i32. It is 0 for a matrix with a NaN or an infinity, whose
 * singular values are NaN, as in JAX; `linalg.check(svdvals(a))` throws there.
 */
export function matrixRank(a: Tensor, options: RankOptions = {}): Tensor<"i32"> {
  checkCount("linalg.matrixRank", 2, arguments);
  checkOptions("linalg.matrixRank", options, RANK);
  checkMatrices("matrixRank", a);
  return rankOf(svdvals(a), shareOf("matrixRank", a, options));
}

/** The number of singular values that count. */
export function rankOf(s: Tensor, share: number): Tensor<"i32"> {
  if (s.shape.at(-1) === 0) return s.cast("i32").sum({ axis: -1 }) as Tensor<"i32">;
  const least = s.at("...", ":1").mul(share);
  return s.greater(least).cast("i32").sum({ axis: -1 }) as Tensor<"i32">;
}

/** a is u·p with orthonormal columns (or rows) u and a positive semi-definite p. */
export interface PolarFactors<D extends DType> {
  readonly u: Tensor<D>;
  readonly p: Tensor<D>;
}

/**
 * The polar decomposition of matrices [.., m, n]: u is the nearest matrix with orthonormal columns (rows, if m < n). Derivatives
 * exist where the rank is full, also among equal singular values.
 */
export function polar<D extends DType>(a: Tensor<D>): PolarFactors<FloatOf<D>> {
  checkCount("linalg.polar", 1, arguments);
  checkMatrices("polar", a);
  const { work, result } = workDTypes(a.dtype);
  const [m, n] = a.shape.slice(-2);
  const [u, p] = m < n ? widePolar(a.cast(work)) : polarFactors(a.cast(work));
  return computedTogether({ u: u.cast(result), p: p.cast(result) }) as PolarFactors<FloatOf<D>>;
}

/** aᴴ = w·q gives a = q·wᴴ = wᴴ·(w·q·wᴴ). */
function widePolar(a: Tensor): [Tensor, Tensor] {
  const [w, q] = polarFactors(adjointOf(a));
  const u = adjointOf(w);
  return [u, w.matmul(q).matmul(u)];
}

/** Options of the randomised singular value decomposition. */
export interface RandomizedSvdOptions {
  /** Directions beyond the rank that are sampled, too. 10. */
  readonly oversampling?: number;
  /** Products with a·aᴴ, which make small singular values fade. 2. */
  readonly iterations?: number;
}

const RANDOMIZED: OptionKinds<RandomizedSvdOptions> = { oversampling: "number", iterations: "number" };

/** Each iteration is two products and two factorisations; a few suffice. */
const MAX_ITERATIONS = 100;

/**
 * The largest `rank` singular values of a large matrix and their vectors, approximately: a is projected on the range of its
 * product with a few random vectors (Halko, Martinsson and Tropp 2011). It takes a few products with a and decompositions
 * of matrices of rank + oversampling columns.
 */
export function randomizedSvd<D extends DType>(
  key: Key,
  a: Tensor<D>,
  rank: number,
  options: RandomizedSvdOptions = {},
): SvdFactors<FloatOf<D>> {
  checkCount("linalg.randomizedSvd", 4, arguments);
  checkOptions("linalg.randomizedSvd", options, RANDOMIZED);
  checkKey(key, "randomizedSvd", "linalg.");
  checkMatrices("randomizedSvd", a);
  const { oversampling = 10, iterations = 2 } = options;
  const [m, n] = a.shape.slice(-2);
  const isCount = (x: number, least: number, most: number) => Number.isInteger(x) && x >= least && x <= most;
  const most = Math.min(m, n);
  if (!isCount(rank, 1, most) || !isCount(oversampling, 0, Infinity) || !isCount(iterations, 0, MAX_ITERATIONS)) {
    throw new ArgumentError(
      `linalg.randomizedSvd: rank ${shown(rank)}, oversampling ${shown(oversampling)}, iterations ${shown(iterations)} for ` +
        `[${a.shape}]; give whole numbers, a rank of 1 to ${most} and at most ${MAX_ITERATIONS} iterations.`,
    );
  }
  const { work, result } = workDTypes(a.dtype);
  const given = a.cast(work);
  const columns = Math.min(rank + oversampling, m, n);
  const real = realDType(work) as "f32" | "f64";
  const samples = inOperation("linalg.randomizedSvd", () => normal(key, [n, columns], { dtype: real })).cast(work);
  const range = (x: Tensor): Tensor => qr(x).q;
  let basis = range(given.matmul(samples));
  for (let i = 0; i < iterations; i++) basis = range(given.matmul(range(adjointOf(given).matmul(basis))));
  const [inner, s, vh] = singularFactors(adjointOf(basis).matmul(given), false);
  return computedTogether({
    u: basis.matmul(inner).at("...", `:${rank}`).cast(result),
    s: s.at("...", `:${rank}`).cast(realDType(result)),
    vh: vh.at("...", `:${rank}`, ":").cast(result),
  }) as SvdFactors<FloatOf<D>>;
}
