/**
 * Backward errors of every factorisation in units of n·ε, for matrices of every kind. A few sizes by default;
 * PUMICE_LINALG_SIZES=all tries 0 to 70, 127, 128, 129 and 512, on both engines, which takes an hour or more;
 * PUMICE_LINALG_SIZES=64,65 tries these.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { eye, linalg, stack, type Tensor, tensor } from "../../src/index.js";
import { describeOnTensorDevices } from "../support/tensors.js";
import { adjoint, EPSILON, GENERAL, type Numbers, normals, withSpectrum } from "./accuracy.js";

const named = process.env.PUMICE_LINALG_SIZES ?? "";
const isLong = named !== "";
const ALL = [...Array.from({ length: 71 }, (_, i) => i), 127, 128, 129, 512];
const sizesFor = (device: string): readonly number[] => {
  if (isLong) return named === "all" ? ALL : named.split(",").map(Number);
  // Software drivers take a second to compile a factorisation.
  return device === "cpu" ? [0, 1, 13] : [13];
};
const WIDE = { f32: "c64", f64: "c128", c64: "c64", c128: "c128" } as const;

/** The largest error that is seen is 4. */
const MOST = 10;

const length = (x: Tensor): Tensor => x.abs().square().sum().sqrt();
const slant = (q: Tensor): Tensor =>
  length(
    adjoint(q)
      .matmul(q)
      .sub(eye(q.shape.at(-1) as number, { dtype: q.dtype })),
  );

/** Kinds of matrices with a largest element of 1: those of accuracy.ts, and spectra that are clustered and repeated. */
const KINDS: Readonly<Record<string, (n: number, dtype: Numbers) => Tensor>> = {
  ...GENERAL,
  clustered: (n, dtype) => withSpectrum(n, dtype, (i) => 1 + 1e-10 * i),
  repeated: (n, dtype) => withSpectrum(n, dtype, (i) => (i % 3) - 1),
};

/** Errors of a factorisation relative to the length of the matrix: products, and what is to be orthonormal. */
const FACTORISATIONS: Readonly<Record<string, (a: Tensor, dtype: Numbers) => readonly Tensor[]>> = {
  cholesky: (a, dtype) => {
    const positive = a.matmul(adjoint(a)).add(eye(a.shape[0]!, { dtype }));
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
    const rest = whole.matmul(eigenvectors).sub(eigenvectors.mul(eigenvalues.cast(dtype)));
    return [length(rest).div(length(whole)), slant(eigenvectors)];
  },
  svd: (a, dtype) => {
    const { u, s, vh } = linalg.svd(a);
    return [length(u.mul(s.cast(dtype)).matmul(vh).sub(a)).div(length(a)), slant(u), slant(adjoint(vh))];
  },
  eig: (a, dtype) => {
    const { eigenvalues, eigenvectors } = linalg.eig(a);
    return [length(a.cast(WIDE[dtype]).matmul(eigenvectors).sub(eigenvectors.mul(eigenvalues))).div(length(a))];
  },
  ldl: (a) => {
    const whole = a.add(adjoint(a));
    const { l, d } = linalg.ldl(whole);
    return [length(l.matmul(d).matmul(adjoint(l)).sub(whole)).div(length(whole))];
  },
};

describeOnTensorDevices("backward errors", (device) => {
  for (const [name, errorsOf] of Object.entries(FACTORISATIONS)) {
    test(name, () => {
      for (const dtype of isLong ? (["f32", "f64", "c64", "c128"] as const) : (["f64"] as const)) {
        for (const n of sizesFor(device)) {
          for (const [kind, make] of Object.entries(KINDS)) {
            if (n === 0) {
              assert.deepEqual(errorsOf(normals([0, 0], dtype), dtype)[0]!.shape, []);
              break;
            }
            // 2ⁿ⁻¹, by which it grows, is beyond f32.
            if (name === "lu" && kind === "wilkinson" && dtype === "f32" && n > 120) continue;
            const made = make(n, dtype);
            const size = (made.abs().max().itemSync() as number) || 1;
            // From numbers, so that one program serves all kinds.
            const a = tensor(made.div(size).arraySync() as never, { dtype });
            const errors = stack([...errorsOf(a, dtype)]).arraySync() as number[];
            const worst = Math.max(...errors) / (n * EPSILON[dtype]);
            assert.ok(worst < MOST, `${kind} ${n} ${dtype}: ${errors.map((x) => x / (n * EPSILON[dtype]))}`);
          }
        }
      }
    });
  }
});
