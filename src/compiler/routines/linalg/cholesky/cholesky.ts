/**
 * Cholesky factors of matrices that fit the memory of a workgroup, or a core's cache: one matrix per row of the kernel, all of
 * a batch in one kernel. Larger matrices are cut into such ones (rewrite/blocked.ts).
 *
 * Column by column, from the left: each element of a column is its own less a dot product with the columns before.
 */
import type { Kernel, Value } from "../../../ir/ir.js";
import type { Routine } from "../../../target/routine.js";
import { kindOf } from "../field.js";
import { gridFor } from "../grid.js";
import { lanesForRows, MatrixKernel, matricesOf } from "../matrix-kernel.js";
import { quickDivision } from "../panel.js";
import { oneKernel } from "../plan.js";
import { steppedCholesky } from "./stepped-cholesky.js";

/** The order of matrices that a thread has in registers, its loops written out. */
const WRITTEN_OUT = 8;

export const choleskyRoutine: Routine = (node, profile, settings) => {
  const { isComplex } = kindOf(node);
  const {
    batch,
    shape: [n],
  } = matricesOf(node, isComplex);
  const grid = gridFor(kindOf(node), profile.tiles);
  if (grid && n > oneKernel(kindOf(node), profile.tiles)) {
    return steppedCholesky(node, batch, n, grid, quickDivision(settings, profile));
  }
  const name = `cholesky[${node.shape.join("×")}]`;
  const kernel = new MatrixKernel(name, n === 0 ? 0 : batch, lanesForRows(n, profile), node, settings);
  const isOneThread = kernel.k.lanes === 1 && profile.tiles.kind === "panels";
  const adjoint = isComplex ? "ᴴ" : "ᵀ";
  return {
    temporaries: [],
    steps: [
      {
        kernel: n > 0 && n <= WRITTEN_OUT && isOneThread ? writtenOutKernel(kernel, n) : factorKernel(kernel, n),
        buffers: [{ kind: "input", index: 0 }, { kind: "result" }],
        formula: ([a, l]) => `${l} = the lower L with L · L${adjoint} = ${a}`,
      },
    ],
  };
};

/** A matrix in registers: column by column from the left, and each finished column is subtracted from those behind it. */
function writtenOutKernel(kernel: MatrixKernel, n: number): Kernel {
  const { k, f } = kernel;
  const [a, result] = [f.buffer(false), f.buffer(true)];
  const first = kernel.mul(k.row, n * n);
  const l = Array.from({ length: n }, (_, i) =>
    Array.from({ length: i + 1 }, (__, j) => f.load(a, kernel.add(first, i * n + j))),
  );
  for (let j = 0; j < n; j++) {
    const diagonal = f.pivotRoot(l[j][j].re);
    l[j][j] = f.real(diagonal);
    for (let i = j + 1; i < n; i++) l[i][j] = f.shrink(l[i][j], diagonal);
    for (let i = j + 1; i < n; i++) {
      for (let c = j + 1; c <= i; c++) l[i][c] = f.mulSub(l[i][j], f.conj(l[c][j]), l[i][c]);
    }
  }
  for (let at = 0; at < n * n; at++) {
    f.store(result, kernel.add(first, at), l[Math.floor(at / n)][at % n] ?? f.zero);
  }
  return k.finish();
}

function factorKernel(kernel: MatrixKernel, n: number): Kernel {
  const { k, f } = kernel;
  const [a, result] = [f.buffer(false), f.buffer(true)];
  if (n === 0) return k.finish();
  // Rows of an odd length lie in different banks.
  const pitch = k.lanes === 1 ? n : n | 1;
  const l = f.array(n * pitch);
  const column = f.array(n);
  const first = kernel.mul(k.row, n * n);
  const at = (row: Value, col: Value) => kernel.add(kernel.mul(row, pitch), col);
  const place = (each: Value) => at(k.binary("idiv", each, kernel.i(n)), k.binary("irem", each, kernel.i(n)));
  kernel.spread(n * n, (each) => f.set(l, place(each), f.load(a, kernel.add(first, each))));
  k.barrier();
  kernel.each(n, (j) => {
    kernel.spread(n, (i) => {
      kernel.when(k.compare("ge", i, j), () => {
        const product = (c: Value) => f.mul(f.get(l, at(i, c)), f.conj(f.get(l, at(j, c))));
        f.set(column, i, f.sub(f.get(l, at(i, j)), kernel.sumBelow(j, n, product)));
      });
    });
    k.barrier();
    const diagonal = f.pivotRoot(f.get(column, j).re);
    kernel.spread(n, (i) => {
      kernel.when(k.compare("ge", i, j), () => {
        const below = f.shrink(f.get(column, i), diagonal);
        f.set(l, at(i, j), f.select(k.compare("eq", i, j), f.real(diagonal), below));
      });
    });
    k.barrier();
  });
  kernel.spread(n * n, (each) => {
    const isAbove = k.compare("lt", k.binary("idiv", each, kernel.i(n)), k.binary("irem", each, kernel.i(n)));
    f.store(result, kernel.add(first, each), f.select(isAbove, f.zero, f.get(l, place(each))));
  });
  return k.finish();
}
