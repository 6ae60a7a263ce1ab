/** Norms of vectors and matrices, under the names of the array API's `linalg`. */

import { checkOptions, inOperation } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import type { DType } from "../core/dtype.js";
import { ArgumentError } from "../core/errors.js";
import { shown } from "../core/shown.js";
import { checkTensor, type FloatOf, type RealOf, type Tensor } from "../tensor/index.js";
import { checkMatrices } from "./arguments.js";

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

/** Norms of a matrix: the root of the sum of squares, the largest (or least) sum of a column or of a row. */
export type MatrixNormOrder = "fro" | 1 | -1 | typeof Infinity;

/** Options of `matrixNorm`. */
export interface MatrixNormOptions {
  readonly keepDims?: boolean;
  /** "fro", 1, -1, Infinity or -Infinity. "fro". */
  readonly order?: MatrixNormOrder;
}

/** The norm of the matrices in the last two axes. */
export function matrixNorm<D extends DType>(a: Tensor<D>, options: MatrixNormOptions = {}): Tensor<RealOf<FloatOf<D>>> {
  checkCount("linalg.matrixNorm", 2, arguments);
  checkOptions("linalg.matrixNorm", options, { keepDims: "flag", order: "any" });
  checkMatrices("matrixNorm", a);
  const { order = "fro", keepDims = false } = options;
  const given = a as Tensor;
  if (order === "fro") return given.norm({ axis: [-2, -1], keepDims }) as Tensor<RealOf<FloatOf<D>>>;
  if (typeof order !== "number" || (Math.abs(order) !== 1 && Math.abs(order) !== Infinity)) {
    throw new ArgumentError(
      `linalg.matrixNorm: the order is ${shown(order)}; it is "fro", 1, -1, Infinity or -Infinity.`,
    );
  }
  const [summed, left] = Math.abs(order) === 1 ? [-2, -1] : [-1, -2];
  const sums = given.norm({ order: 1, axis: summed, keepDims: true });
  const picked = order > 0 ? sums.max({ axis: left, keepDims: true }) : sums.min({ axis: left, keepDims: true });
  return (keepDims ? picked : picked.squeeze([-2, -1])) as Tensor<RealOf<FloatOf<D>>>;
}
