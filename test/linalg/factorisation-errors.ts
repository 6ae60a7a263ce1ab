/**
 * Backward errors of every factorisation for matrices of every kind: what `backward-errors.test.ts` asserts of a few sizes and
 * `npm run test:accuracy` of all.
 */
import { eye, linalg, stack, type Tensor, tensor } from "../../src/index.js";
import { adjoint, EPSILON, GENERAL, type Numbers, normals, withSpectrum } from "./accuracy.js";

const WIDE = { f32: "c64", f64: "c128", c64: "c64", c128: "c128" } as const;

/** The largest error that is accepted, in units of n·ε. The largest that is seen is 4. */
export const MOST = 10;

/** Kinds of matrices: those of accuracy.ts, half the rank, and spectra that are clustered and repeated. */
export const KINDS: Readonly<Record<string, (n: number, dtype: Numbers) => Tensor>> = {
  ...GENERAL,
  "of half the rank": (n, dtype) => {
    const rank = Math.ceil(n / 2);
    return normals([n, rank], dtype, 7).matmul(normals([rank, n], dtype, 8));
  },
  clustered: (n, dtype) => withSpectrum(n, dtype, (i) => 1 + 1e-10 * i),
  repeated: (n, dtype) => withSpectrum(n, dtype, (i) => (i % 3) - 1),
};

const length = (x: Tensor): Tensor =>
  x
    .abs()
    .square()
    .sum({ axis: [-2, -1] })
    .sqrt();

const slant = (q: Tensor): Tensor =>
  length(
    adjoint(q)
      .matmul(q)
      .sub(eye(q.shape.at(-1) as number, { dtype: q.dtype })),
  );

/** Errors of a factorisation relative to the length of the matrix, for a batch: products, and what is to be orthonormal. */
export const FACTORISATIONS: Readonly<Record<string, (a: Tensor, dtype: Numbers) => readonly Tensor[]>> = {
  cholesky: (a, dtype) => {
    const positive = a.matmul(adjoint(a)).add(eye(a.shape.at(-1) as number, { dtype }));
    const l = linalg.cholesky(positive);
    return [length(l.matmul(adjoint(l)).sub(positive)).div(length(positive))];
  },
  lu: (a) => {
    const { p, l, u } = linalg.lu(a);
    // Wilkinson's matrix grows by 2ⁿ⁻¹, in its factor.
    return [length(p.matmul(l).matmul(u).sub(a)).div(length(a).add(length(u)))];
  },
  qr: (a) => {
    const { q, r } = linalg.qr(a);
    return [length(q.matmul(r).sub(a)).div(length(a)), slant(q)];
  },
  eigh: (a, dtype) => {
    const whole = a.add(adjoint(a));
    const { eigenvalues, eigenvectors } = linalg.eigh(whole);
    const rest = whole.matmul(eigenvectors).sub(eigenvectors.mul(eigenvalues.cast(dtype).expandDims(-2)));
    return [length(rest).div(length(whole)), slant(eigenvectors)];
  },
  svd: (a, dtype) => {
    const { u, s, vh } = linalg.svd(a);
    const product = u.mul(s.cast(dtype).expandDims(-2)).matmul(vh);
    return [length(product.sub(a)).div(length(a)), slant(u), slant(adjoint(vh))];
  },
  eig: (a, dtype) => {
    const { eigenvalues, eigenvectors } = linalg.eig(a);
    const turned = a.cast(WIDE[dtype]).matmul(eigenvectors);
    return [length(turned.sub(eigenvectors.mul(eigenvalues.expandDims(-2)))).div(length(a))];
  },
  ldl: (a) => {
    const whole = a.add(adjoint(a));
    const { l, d } = linalg.ldl(whole);
    return [length(l.matmul(d).matmul(adjoint(l)).sub(whole)).div(length(whole))];
  },
};

/** The largest error of a factorisation for each kind of matrix of n rows, in units of n·ε; kinds that do not apply are left out. */
export function errorsByKind(factorisation: string, n: number, dtype: Numbers): ReadonlyMap<string, number> {
  // 2ⁿ⁻¹, by which it grows, is beyond f32.
  const isBeyond = factorisation === "lu" && EPSILON[dtype] > 1e-8 && n > 120;
  const kinds = Object.keys(KINDS).filter((kind) => !(isBeyond && kind === "wilkinson"));
  const made = kinds.map((kind) => {
    const a = KINDS[kind]!(n, dtype);
    const size = (a.abs().max().itemSync() as number) || 1;
    // From numbers, so that the batch is no part of what is compiled.
    return tensor(a.div(size).arraySync() as never, { dtype });
  });
  const errors = FACTORISATIONS[factorisation]!(stack(made) as Tensor, dtype).map(
    (each) => each.arraySync() as number[],
  );
  return new Map(
    kinds.map((kind, i) => [kind, Math.max(...errors.map((each) => each[i] as number)) / (n * EPSILON[dtype])]),
  );
}
