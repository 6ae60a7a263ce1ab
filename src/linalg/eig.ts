/** Eigenvalues and eigenvectors of general square matrices. Leading axes are batches. */

import { checkCount } from "../core/arity.js";
import type { DType } from "../core/dtype.js";
import { type ComplexOf, computedTogether, generalEigen, generalEigenvalues, type Tensor } from "../tensor/index.js";
import { checkSquare, workDTypes } from "./arguments.js";
import type { Eigenpairs } from "./eigh.js";

/**
 * Complex eigenvalues and eigenvectors, as columns, of square matrices [.., n, n]: c64, or c128 of f64 and c128. Vectors have
 * length 1, and their largest element is real and positive. Real matrices have real eigenvalues with real vectors, and
 * conjugate pairs of neighbours, the positive imaginary part first. A matrix with a NaN or an infinity, or one the algorithm does
 * not converge for, has NaN for all. Hermitian matrices are better served by `eigh`.
 */
export function eig<D extends DType>(a: Tensor<D>): Eigenpairs<ComplexOf<D>, ComplexOf<D>> {
  checkCount("linalg.eig", 1, arguments);
  checkSquare("eig", a);
  const [eigenvalues, eigenvectors] = generalEigen(a.cast(workDTypes(a.dtype).work));
  return computedTogether({ eigenvalues, eigenvectors }) as Eigenpairs<ComplexOf<D>, ComplexOf<D>>;
}

/** The eigenvalues of `eig` alone, in less than half the time. */
export function eigvals<D extends DType>(a: Tensor<D>): Tensor<ComplexOf<D>> {
  checkCount("linalg.eigvals", 1, arguments);
  checkSquare("eigvals", a);
  return generalEigenvalues(a.cast(workDTypes(a.dtype).work)) as Tensor<ComplexOf<D>>;
}
