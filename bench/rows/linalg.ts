/**
 * Rows on linear algebra, on the GPU beside PyTorch and JAX: large factorisations and equations, and many small ones at once.
 * The work is in bench/linalg-work.ts, the peers' in bench/peers/linalg.py; both sides state the same sizes.
 */
import { choleskyFactors, solution, triangularSolution } from "../linalg-work.js";
import type { Row } from "../row.js";
import { edge, length, pythonPeers, type Sized, timeOf, to } from "../sizes.js";

const row = (name: string, title: string, ratio: number, work: Sized): Row => ({
  name: `linalg-${name}`,
  title,
  unit: "ms",
  better: "lower",
  targets: [to(ratio, "torch", "jax")],
  peers: pythonPeers(`linalg-${name}`),
  run: timeOf(work),
});

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
  row("solve-2048", "equations: 2048×2048 f32, 2048 right sides", 1, (device, context) =>
    solution(device, [edge(2048, context), edge(2048, context)], edge(2048, context)),
  ),
  row("solve-batch", "equations: 4096 of 32×32 f32, a right side each", 1, (device, context) =>
    solution(device, [length(4096, context), 32, 32], 1),
  ),
];
