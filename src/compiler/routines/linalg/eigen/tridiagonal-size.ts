/** The memory of matrices that are reduced to tridiagonal form: their kernels (tridiagonal.ts) share it. */

/** Rows and columns are filled up with zeros to a multiple of this: the CPU takes so many at once. */
export const BLOCK = 64;

/** The order of the matrices, how many there are, and the rows and columns of their memory. */
export interface TridiagonalSize {
  readonly n: number;
  readonly batch: number;
  readonly padded: number;
}
