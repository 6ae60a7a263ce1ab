/**
 * Rows on linear algebra, on the GPU beside PyTorch and JAX, and on the CPU engine beside NumPy: large factorisations and
 * equations, and many small ones at once. The work is in bench/linalg-work.ts, the peers' in bench/peers/linalg.py; both sides state
 * the same sizes.
 */
import type { DType } from "../../src/index.js";
import {
  choleskyFactors,
  eigenvectors,
  inverses,
  orthogonalFactors,
  singularVectors,
  solution,
  triangularSolution,
} from "../linalg-work.js";
import type { Row } from "../row.js";
import { edge, length, pythonPeers, type Sized, timeOf, to } from "../sizes.js";
import type { Work } from "../tensor-work.js";

const row = (name: string, title: string, ratio: number, work: Sized): Row => ({
  name: `linalg-${name}`,
  title,
  unit: "ms",
  better: "lower",
  targets: [to(ratio, "torch", "jax")],
  peers: pythonPeers(`linalg-${name}`),
  run: timeOf(work),
});

/** On the CPU engine, two threads, beside NumPy with as many. */
const cpuRow = (name: string, title: string, ratio: number, work: Sized): Row => ({
  ...row(name, `${title}, on the CPU engine`, ratio, work),
  name: `cpu-linalg-${name}`,
  place: "cpu",
  targets: [to(ratio, "numpy")],
  peers: { numpy: `numpy/linalg-${name}` },
});

type Make = (device: string, shape: readonly number[], dtype?: DType) => Work;

const squares =
  (full: number, make: Make, dtype?: DType): Sized =>
  (device, context) =>
    make(device, [edge(full, context), edge(full, context)], dtype);
const batches =
  (count: number, n: number, make: Make, dtype?: DType): Sized =>
  (device, context) =>
    make(device, [length(count, context), n, n], dtype);
/** Equations with as many right sides as rows. */
const manySides: Make = (device, shape, dtype) => solution(device, shape, shape.at(-1) as number, dtype);
const oneSide: Make = (device, shape, dtype) => solution(device, shape, 1, dtype);

/** Work of the rows of the CPU engine in f32 and f64: its name, what it makes, and of which matrices. */
const ON_CPU: readonly (readonly [name: string, what: string, make: Make])[] = [
  ["cholesky", "Cholesky factors", choleskyFactors],
  ["solve", "solutions of equations", manySides],
  ["qr", "QR decompositions", orthogonalFactors],
  ["eigh", "eigenvalues and vectors, symmetric", eigenvectors],
  ["svd", "singular values and vectors", singularVectors],
];

/** One large matrix, as asked within three times NumPy's time, and the decompositions of many small ones, as asked within its time. */
const cpuRowsIn = (dtype: "f32" | "f64", suffix: string): Row[] => [
  ...ON_CPU.map(([name, what, make]) =>
    cpuRow(`${name}-512${suffix}`, `${what}: a 512×512 ${dtype} matrix`, 1 / 3, squares(512, make, dtype)),
  ),
  ...ON_CPU.slice(2).map(([name, what, make]) =>
    cpuRow(`${name}-small${suffix}`, `${what}: 1000 8×8 ${dtype} matrices`, 1, batches(1000, 8, make, dtype)),
  ),
];

export const linalgRows: readonly Row[] = [
  ...[2048, 4096].map((full) =>
    row(`cholesky-${full}`, `Cholesky factor of a ${full}×${full} f32 matrix`, 0.7, (device, context) =>
      choleskyFactors(device, [edge(full, context), edge(full, context)]),
    ),
  ),
  row("cholesky-batch", "Cholesky factors of 4096 32×32 f32 matrices", 1, (device, context) =>
    choleskyFactors(device, [length(4096, context), 32, 32]),
  ),
  row("triangular-4096", "triangular equations: 4096×4096 f32, 4096 right sides", 0.7, (device, context) =>
    triangularSolution(device, edge(4096, context), edge(4096, context)),
  ),
  row("solve-2048", "equations: 2048×2048 f32, 2048 right sides", 1, squares(2048, manySides)),
  row("solve-batch", "equations: 4096 of 32×32 f32, a right side each", 1, batches(4096, 32, oneSide)),
  row("qr-2048", "QR decomposition of a 2048×2048 f32 matrix", 1, squares(2048, orthogonalFactors)),
  ...[512, 2048].map((full) =>
    row(
      `eigh-${full}`,
      `eigenvalues and vectors of a symmetric ${full}×${full} f32 matrix`,
      1,
      squares(full, eigenvectors),
    ),
  ),
  row("svd-512", "singular values and vectors of a 512×512 f32 matrix", 1, squares(512, singularVectors)),
  row("eigh-batch", "eigenvalues and vectors of 4096 symmetric 32×32 f32 matrices", 1, batches(4096, 32, eigenvectors)),
  row("svd-batch", "singular values and vectors of 4096 32×32 f32 matrices", 1, batches(4096, 32, singularVectors)),
  row("qr-batch", "QR decompositions of 4096 32×32 f32 matrices", 1, batches(4096, 32, orthogonalFactors)),
  cpuRow("cholesky-small", "Cholesky factors: 1000 8×8 f32 matrices", 1, batches(1000, 8, choleskyFactors)),
  cpuRow("solve-small", "equations: 1000 of 8×8 f32, a right side each", 1, batches(1000, 8, oneSide)),
  cpuRow("inv-small", "inverses: 1000 8×8 f32 matrices", 1, batches(1000, 8, inverses)),
  ...cpuRowsIn("f32", ""),
  ...cpuRowsIn("f64", "-f64"),
];
