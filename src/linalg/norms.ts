/** Norms of vectors and matrices, under the names of the array API's `linalg`. */

import { checkOptions, inOperation } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import { type DType, realDType } from "../core/dtype.js";
import { ArgumentError, ShapeError } from "../core/errors.js";
import { formatShape } from "../core/shape.js";
import { shown } from "../core/shown.js";
import { checkTensor, type FloatOf, type RealOf, type Tensor, where } from "../tensor/index.js";
import { customGradient } from "../transforms/custom.js";
import { stopGradient } from "../transforms/grad.js";
import { checkMatrices, checkSquare, workDTypes } from "./arguments.js";
import { inv } from "./lu.js";
import { polar, svdvals } from "./svd.js";

/** Options of `vectorNorm`. */
export interface VectorNormOptions {
  /** The axes of the vectors; all axes together unless told. */
  readonly axis?: number | readonly number[];
  readonly keepDims?: boolean;
  /** p of (Σ|x|^p)^(1/p); Infinity for the largest |x|, -Infinity for the least, 0 for the count of nonzero numbers. 2. */
  readonly order?: number;
}

/** The norm of vectors. */
export function vectorNorm<D extends DType>(x: Tensor<D>, options: VectorNormOptions = {}): Tensor<RealOf<FloatOf<D>>> {
  checkCount("linalg.vectorNorm", 2, arguments);
  checkOptions("linalg.vectorNorm", options, { axis: "numbers", keepDims: "flag", order: "number" });
  checkTensor("linalg.vectorNorm", "the vectors", x);
  return inOperation("linalg.vectorNorm", () => (x as Tensor<D>).norm(options));
}

/**
 * Norms of a matrix: the root of the sum of squares; the sum of the singular values ("nuc"), the largest (2) or the least of
 * them (-2); the largest (or least) sum of a column (1, -1) or of a row (Infinity, -Infinity).
 */
export type MatrixNormOrder = "fro" | "nuc" | 1 | -1 | 2 | -2 | typeof Infinity;

/** Options of `matrixNorm`. */
export interface MatrixNormOptions {
  readonly keepDims?: boolean;
  /** "fro", "nuc", 1, -1, 2, -2, Infinity or -Infinity. "fro". */
  readonly order?: MatrixNormOrder;
}

/** The norm of the matrices in the last two axes. */
export function matrixNorm<D extends DType>(a: Tensor<D>, options: MatrixNormOptions = {}): Tensor<RealOf<FloatOf<D>>> {
  checkCount("linalg.matrixNorm", 2, arguments);
  checkOptions("linalg.matrixNorm", options, { keepDims: "flag", order: "any" });
  checkMatrices("matrixNorm", a);
  return normOf("matrixNorm", a, options) as Tensor<RealOf<FloatOf<D>>>;
}

const ORDERS: readonly unknown[] = ["fro", "nuc", 1, -1, 2, -2, Infinity, -Infinity];

/** matrixNorm; errors name `operation`. */
function normOf(operation: string, given: Tensor, { order = "fro", keepDims = false }: MatrixNormOptions): Tensor {
  if (!ORDERS.includes(order)) {
    throw new ArgumentError(
      `linalg.${operation}: the order is ${shown(order)}; it is "fro", "nuc", 1, -1, 2, -2, Infinity or -Infinity.`,
    );
  }
  const isEmpty = given.shape.slice(-2).includes(0);
  if (isEmpty && (order as number) < 0) {
    throw new ShapeError(
      `linalg.${operation}: matrices of ${formatShape(given.shape)} have no elements, so none is the least; orders above 0 give 0.`,
    );
  }
  // The norm of nothing is 0, as in NumPy.
  if (order === "fro" || isEmpty) return given.norm({ axis: [-2, -1], keepDims });
  if (order === "nuc" || order === 2 || order === -2) {
    const found = order === "nuc" ? nuclear(given) : svdvals(given).at("...", order === 2 ? 0 : -1);
    return keepDims ? found.expandDims([-2, -1]) : found;
  }
  const [summed, left] = Math.abs(order) === 1 ? [-2, -1] : [-1, -2];
  const sums = given.norm({ order: 1, axis: summed, keepDims: true });
  const picked = order > 0 ? sums.max({ axis: left, keepDims: true }) : sums.min({ axis: left, keepDims: true });
  return keepDims ? picked : picked.squeeze([-2, -1]);
}

/** The sum of the singular values. */
function nuclear(given: Tensor): Tensor {
  const { work, result } = workDTypes(given.dtype);
  return nuclearNorm(given.cast(work)).cast(realDType(result));
}

/** The slope of the nuclear norm is the polar factor, whose derivative needs no differences of singular values. */
const nuclearNorm = customGradient((a: Tensor): Tensor => svdvals(a).sum({ axis: -1 }), {
  jvp: ([change], a) =>
    polar(a)
      .u.conj()
      .mul(change)
      .sum({ axis: [-2, -1] })
      .real(),
  vjp: (ct, _norm, a) => [
    polar(a)
      .u.conj()
      .mul(ct.expandDims([-2, -1])),
  ],
});

/**
 * The condition number of matrices: the norm times that of the inverse. In the order 2 (unless told) it is the largest singular
 * value over the least, of any shape; -2 is its reciprocal. Other orders take square matrices. As in NumPy, what is no number of a
 * finite matrix is inf: of a zero matrix in every order, of a singular one where the norms are 0 · inf. A matrix with a NaN or an
 * infinity has NaN.
 */
export function cond<D extends DType>(
  a: Tensor<D>,
  options: { readonly order?: MatrixNormOrder } = {},
): Tensor<RealOf<FloatOf<D>>> {
  checkCount("linalg.cond", 2, arguments);
  checkOptions("linalg.cond", options, { order: "any" });
  checkMatrices("cond", a);
  const { order = 2 } = options;
  if (order !== 2 && order !== -2) {
    checkSquare("cond", a);
    const { work, result } = workDTypes(a.dtype);
    const even = scaledDown(a.cast(work));
    const found = normOf("cond", even, { order }).mul(normOf("cond", inv(even), { order }));
    return infiniteOf(a, found.cast(realDType(result)));
  }
  const s = svdvals(a);
  if (s.shape.at(-1) === 0) {
    throw new ShapeError(`linalg.cond: matrices of ${formatShape(a.shape)} have no singular values.`);
  }
  const [first, last] = [s.at("...", 0), s.at("...", -1)];
  return infiniteOf(a, order === 2 ? first.div(last) : last.div(first));
}

/** Matrices over a power of two near their largest element, whose squares neither overflow nor vanish; the condition is the same. */
function scaledDown(a: Tensor): Tensor {
  if (a.shape.slice(-2).includes(0)) return a;
  const largest = stopGradient(a)
    .abs()
    .max({ axis: [-2, -1], keepDims: true });
  const hasSize = largest.greater(0).logicalAnd(largest.less(Infinity));
  return a.div(where(hasSize, largest, 1).log2().floor().exp2());
}

/** Quotients of norms, with inf for NaN unless the matrix itself is not finite. */
function infiniteOf<D extends DType>(a: Tensor<D>, found: Tensor): Tensor<RealOf<FloatOf<D>>> {
  const isSingular = found.isNaN().logicalAnd(a.isFinite().all({ axis: [-2, -1] }));
  return where(isSingular, Infinity, found).cast(found.dtype) as Tensor<RealOf<FloatOf<D>>>;
}
