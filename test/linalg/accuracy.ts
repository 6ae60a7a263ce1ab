/** Matrices to factor, kind by kind, and errors in units of n·ε: for the tests of this folder. */
import { type DType, realDType } from "../../src/core/dtype.js";
import { arange, linalg, random, type Tensor, tensor } from "../../src/index.js";

export const EPSILON = { f32: 2 ** -23, f64: 2 ** -52, c64: 2 ** -23, c128: 2 ** -52 } as const;
export type Numbers = keyof typeof EPSILON;

export const adjoint = (x: Tensor): Tensor => (x.dtype === "c64" || x.dtype === "c128" ? x.mT.conj() : x.mT);

/** Normal numbers; complex ones have two. */
export function normals(shape: readonly number[], dtype: Numbers, seed = 1): Tensor {
  const [a, b] = random.split(random.key(seed));
  const part = (key: Tensor) => random.normal(key as never, [...shape], { dtype: realDType(dtype) as "f32" });
  if (dtype === "f32" || dtype === "f64") return part(a as never);
  return part(a as never)
    .cast(dtype)
    .add(
      part(b as never)
        .cast(dtype)
        .mul({ re: 0, im: 1 }),
    );
}

/** Powers of ten from 1e-6 to 1e6 along n: rows times columns of these grade a matrix over 1e±12. */
const grades = (n: number, dtype: DType): Tensor =>
  arange(n, { dtype: "f64" })
    .mul(12 / Math.max(1, n - 1))
    .sub(6)
    .mul(Math.log(10))
    .exp()
    .cast(dtype);

/** General square matrices by name. */
export const GENERAL: Readonly<Record<string, (n: number, dtype: Numbers) => Tensor>> = {
  random: (n, dtype) => normals([n, n], dtype, n + 1),
  graded: (n, dtype) =>
    normals([n, n], dtype, n + 2)
      .mul(grades(n, dtype).expandDims(1))
      .mul(grades(n, dtype)),
  hilbert: (n, dtype) =>
    arange(n, { dtype: "f64" })
      .expandDims(1)
      .add(arange(n, { dtype: "f64" }))
      .add(1)
      .reciprocal()
      .cast(dtype),
  // Partial pivoting doubles the last column at every step: the worst there is.
  wilkinson: (n, dtype) => {
    const rows = Array.from({ length: n }, (_, i) =>
      Array.from({ length: n }, (__, j) => (j === n - 1 || i === j ? 1 : j < i ? -1 : 0)),
    );
    return tensor(rows, { dtype: "f64" }).reshape([n, n]).cast(dtype);
  },
  "of rank 1": (n, dtype) => normals([n, 1], dtype, 5).matmul(normals([1, n], dtype, 6)),
};

/** A Hermitian matrix with these eigenvalues. */
export function withSpectrum(n: number, dtype: Numbers, of: (i: number) => number): Tensor {
  const { q } = linalg.qr(normals([n, n], dtype, n + 3));
  const values = tensor(Array.from({ length: n }, (_, i) => of(i)), { dtype: "f64" }); // biome-ignore format: one line
  return q.mul(values.cast(dtype)).matmul(adjoint(q));
}

/** ‖x - y‖ / ‖y‖ in the largest absolute value, over n·ε. */
export function error(x: Tensor, y: Tensor, n: number, dtype: Numbers): number {
  const size = y.abs().max().itemSync() as number;
  return (x.sub(y).abs().max().itemSync() as number) / (size || 1) / (Math.max(1, n) * EPSILON[dtype]);
}
