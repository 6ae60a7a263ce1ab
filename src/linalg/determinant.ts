/**
 * Determinants. A determinant is a polynomial, so it has derivatives everywhere: they are written in cofactors, which exist for
 * matrices without an inverse, too. Leading axes are batches.
 */

import { checkCount } from "../core/arity.js";
import { type DType, realDType } from "../core/dtype.js";
import {
  arange,
  computedTogether,
  type FloatOf,
  luFactors,
  type RealOf,
  singularFactors,
  stack,
  type Tensor,
  where,
} from "../tensor/index.js";
import { customGradient } from "../transforms/custom.js";
import { stopGradient } from "../transforms/grad.js";
import { adjointOf, checkSquare, workDTypes } from "./arguments.js";
import { triangularSolve } from "./triangular.js";

/** -1 for an odd number of exchanges, else 1. */
function parityOf(pivots: Tensor, dtype: DType): Tensor {
  const count = pivots.shape.at(-1) as number;
  const own = arange(count, { dtype: "i32", device: pivots.device });
  const odd = pivots.notEqual(own).cast("i32").sum({ axis: -1 }).bitwiseAnd(1);
  return odd.mul(-2).add(1).cast(dtype);
}

/** Largest matrices whose determinant is written out; its derivatives of every order are then those of a polynomial. */
const WRITTEN_OUT = 3;

/** Determinants of square matrices. First and second derivatives are right for matrices without an inverse, too. */
export function det<D extends DType>(a: Tensor<D>): Tensor<FloatOf<D>> {
  checkCount("linalg.det", 1, arguments);
  checkSquare("det", a);
  const { work, result } = workDTypes(a.dtype);
  const given = a.cast(work);
  const n = a.shape.at(-1) as number;
  const found = n > 0 && n <= WRITTEN_OUT ? writtenOut(given, n) : n === 0 ? byFactors(given) : polynomial(given);
  return found.cast(result) as Tensor<FloatOf<D>>;
}

function byFactors(a: Tensor): Tensor {
  const [factors, pivots] = luFactors(a);
  return factors.diagonal().prod({ axis: -1 }).mul(parityOf(pivots, a.dtype));
}

/** The determinant, whose derivative by each element is its cofactor. */
const polynomial = customGradient((a: Tensor) => byFactors(a), {
  jvp: ([change], a) =>
    cofactors(a)
      .mul(change)
      .sum({ axis: [-2, -1] }),
  vjp: (ct, _value, a) => [cofactors(a).mul(ct.expandDims([-2, -1]))],
});

/** The derivative of cofactors along a matrix is symmetric in both: it serves both directions. */
const cofactors = customGradient((a: Tensor) => cofactorsByLu(a), {
  jvp: ([change], a) => changedCofactors(a, change),
  vjp: (ct, _value, a) => [changedCofactors(a, ct)],
});

/**
 * Cofactors, the transpose of the adjugate: the determinant times the inverse. Pivots below rounding count as rounding: this
 * changes the matrix, and so the cofactors, by no more than rounding does, and nothing is divided by zero.
 */
function cofactorsByLu(given: Tensor): Tensor {
  const a = stopGradient(given);
  const [factors, pivots, order] = luFactors(a);
  const n = a.shape.at(-1) as number;
  const diagonal = factors.diagonal();
  const epsilon = a.dtype === "f64" || a.dtype === "c128" ? 2 ** -52 : 2 ** -23;
  const largest = factors
    .triu()
    .abs()
    .max({ axis: [-2, -1], keepDims: true })
    .squeeze(-1);
  const least = where(largest.greater(0), largest, 1).mul(epsilon);
  const safe = where(diagonal.abs().less(least), least.cast(a.dtype), diagonal).cast(a.dtype);
  const isDiagonal = arange(n, { device: a.device })
    .expandDims(1)
    .equal(arange(n, { device: a.device }));
  const upper = where(isDiagonal, safe.expandDims(-1), factors.triu()).cast(a.dtype);
  // P a = L U, so a⁻¹ = U⁻¹ L⁻¹ P.
  const permutation = order.oneHot(n, { dtype: a.dtype });
  const inverse = triangularSolve(upper, triangularSolve(factors, permutation, { unitDiagonal: true }), {
    lower: false,
  });
  const value = safe.prod({ axis: -1 }).mul(parityOf(pivots, a.dtype));
  return inverse.mT.mul(value.expandDims([-2, -1])) as Tensor;
}

/**
 * The derivative of the cofactors along E. With a = U Σ Vᴴ and F = Uᴴ E V it is that of a diagonal matrix, between the same
 * vectors: off the diagonal -F times the product of the other singular values, on it the sum of such products.
 */
function changedCofactors(a: Tensor, along: Tensor): Tensor {
  const [u, s, vh] = singularFactors(a, false);
  const [left, right] = [adjointOf(u), adjointOf(vh)];
  const inner = left.matmul(along).matmul(right);
  const others = productsOfOthers(s).cast(a.dtype);
  const n = a.shape.at(-1) as number;
  const places = arange(n, { device: a.device });
  const isDiagonal = places.expandDims(1).equal(places);
  const sums = others.mul(inner.diagonal().expandDims(-2)).sum({ axis: -1 });
  const adjugate = where(isDiagonal, sums.expandDims(-1), inner.mul(others).neg()).cast(a.dtype);
  const sign = byFactors(u).mul(byFactors(vh)).expandDims([-2, -1]);
  return right.matmul(adjugate).matmul(left).mul(sign).mT as Tensor;
}

/** For each i and j the product of all numbers [.., n] but these two; 0 where i is j. */
function productsOfOthers(s: Tensor): Tensor {
  const n = s.shape.at(-1) as number;
  const places = arange(n, { device: s.device });
  const [i, j] = [places.reshape(n, 1, 1), places.reshape(1, n, 1)];
  const isLeftOut = i.equal(places).logicalOr(j.equal(places));
  const products = where(isLeftOut, 1, s.expandDims([-2, -3])).prod({ axis: -1 });
  return where(i.equal(j).squeeze(-1), 0, products).cast(s.dtype);
}

/** By cofactors of the first row. */
function writtenOut(a: Tensor, n: number): Tensor {
  if (n === 1) return a.at("...", 0, 0);
  const minors = Array.from({ length: n }, (_, column) => {
    const others = Array.from({ length: n }, (__, i) => i).filter((i) => i !== column);
    const columns = others.map((i) => a.at("...", "1:", i));
    const minor = n === 2 ? columns[0].at("...", 0) : writtenOut(stack(columns, { axis: -1 }), n - 1);
    const term = a.at("...", 0, column).mul(minor);
    return column % 2 === 0 ? term : term.neg();
  });
  return minors.reduce((sum, term) => sum.add(term));
}

/** A determinant as its sign and the logarithm of its absolute value. */
export interface SignAndLog<D extends DType> {
  /** 1, -1 or 0; of complex matrices a number of absolute value 1, or 0. */
  readonly sign: Tensor<D>;
  /** -inf where the determinant is 0. */
  readonly logAbsDet: Tensor<RealOf<D>>;
}

/** Determinants as sign and logarithm: those of large matrices overflow. */
export function slogdet<D extends DType>(a: Tensor<D>): SignAndLog<FloatOf<D>> {
  checkCount("linalg.slogdet", 1, arguments);
  checkSquare("slogdet", a);
  const { work, result } = workDTypes(a.dtype);
  const [factors, pivots] = luFactors(a.cast(work));
  const diagonal = factors.diagonal();
  const sign = diagonal.sign().prod({ axis: -1 }).mul(parityOf(pivots, work)).cast(result);
  const logAbsDet = diagonal.abs().log().sum({ axis: -1 }).cast(realDType(result));
  return computedTogether({ sign, logAbsDet }) as SignAndLog<FloatOf<D>>;
}
