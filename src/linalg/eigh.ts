/** Eigenvalues and eigenvectors of symmetric and Hermitian matrices. Leading axes are batches. */

import { checkOptions, type OptionKinds } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import { type DType, isComplex, realDType } from "../core/dtype.js";
import { computedTogether, type FloatOf, hermitianEigen, type RealOf, type Tensor } from "../tensor/index.js";
import { adjointOf, checkSquare, workDTypes } from "./arguments.js";

/** Options of functions of Hermitian matrices. */
export interface HermitianOptions {
  /** Reads the upper half of the matrix, not the lower. */
  readonly upper?: boolean;
}

const OPTIONS: OptionKinds<HermitianOptions> = { upper: "flag" };

/** a·v is v·diag(w) for eigenvalues w and the columns v. */
export interface Eigenpairs<V extends DType, D extends DType> {
  readonly eigenvalues: Tensor<V>;
  readonly eigenvectors: Tensor<D>;
}

/** The Hermitian matrix of which one half is given; the imaginary part of its diagonal is ignored. */
export function wholeOf(a: Tensor, isUpper: boolean): Tensor {
  const half = isUpper ? a.triu(1) : a.tril(-1);
  const diagonal = a.tril().triu();
  const real = isComplex(a.dtype) ? diagonal.real().cast(a.dtype) : diagonal;
  return half.add(adjointOf(half)).add(real);
}

/**
 * Real eigenvalues, rising, and orthonormal eigenvectors, as columns, of symmetric or Hermitian matrices [.., n, n], of which
 * the lower half is read. A matrix with a NaN or an infinity has NaN for all. Among equal eigenvalues the derivative of
 * the eigenvectors is taken to be zero: what does not depend on their choice has its true derivative.
 */
export function eigh<D extends DType>(
  a: Tensor<D>,
  options: HermitianOptions = {},
): Eigenpairs<RealOf<FloatOf<D>>, FloatOf<D>> {
  checkCount("linalg.eigh", 2, arguments);
  checkOptions("linalg.eigh", options, OPTIONS);
  checkSquare("eigh", a);
  const { work, result } = workDTypes(a.dtype);
  const [values, vectors] = hermitianEigen(wholeOf(a.cast(work), options.upper === true));
  return computedTogether({
    eigenvalues: values.cast(realDType(result)),
    eigenvectors: vectors.cast(result),
  }) as Eigenpairs<RealOf<FloatOf<D>>, FloatOf<D>>;
}

/** The eigenvalues of `eigh` alone. */
export function eigvalsh<D extends DType>(a: Tensor<D>, options: HermitianOptions = {}): Tensor<RealOf<FloatOf<D>>> {
  checkCount("linalg.eigvalsh", 2, arguments);
  checkOptions("linalg.eigvalsh", options, OPTIONS);
  checkSquare("eigvalsh", a);
  const { work, result } = workDTypes(a.dtype);
  const [values] = hermitianEigen(wholeOf(a.cast(work), options.upper === true));
  return values.cast(realDType(result)) as Tensor<RealOf<FloatOf<D>>>;
}
