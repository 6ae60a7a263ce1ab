/**
 * LU factors with partial pivoting of matrices [m, n] that fit the memory of a workgroup, or a core's cache: one matrix per
 * row of the kernel. Larger ones are cut into such (rewrite/blocked.ts).
 *
 * Column by column: the lanes look for the largest number from the diagonal on, exchange rows, and subtract multiples of the
 * pivot's row from those below. Sizes of complex numbers are compared as LAPACK does, by |re| + |im|.
 */
import type { Kernel, Value } from "../../ir/ir.js";
import type { Routine } from "../../target/routine.js";
import { kindOf } from "./field.js";
import { lanesForRows, MatrixKernel, matricesOf } from "./matrix-kernel.js";

export const luRoutine: Routine = (node, profile, settings) => {
  const { isComplex } = kindOf(node);
  const {
    batch,
    shape: [m, n],
  } = matricesOf(node.inputs[0], isComplex);
  const name = `lu[${node.inputs[0].shape.join("×")}]`;
  const kernel = new MatrixKernel(name, batch, lanesForRows(m, profile), node, settings);
  return {
    temporaries: [],
    steps: [
      {
        kernel: factorKernel(kernel, m, n),
        buffers: [{ kind: "input", index: 0 }, ...[0, 1, 2].map((part) => ({ kind: "result", part }) as const)],
        formula: ([a, lu, pivots, order]) =>
          `${lu} = L \\ U with L · U = the rows of ${a} in ${order}; ${pivots} = the rows exchanged with each`,
      },
    ],
  };
};

function factorKernel(kernel: MatrixKernel, m: number, n: number): Kernel {
  const { k, f } = kernel;
  const [a, result] = [f.buffer(false), f.buffer(true)];
  const [pivots, order] = [k.buffer("i32", true), k.buffer("i32", true)];
  const least = Math.min(m, n);
  if (m === 0) return k.finish();
  const rows = k.array("i32", m);
  kernel.spread(m, (i) => k.set(rows, i, i));
  if (least > 0) {
    const pitch = k.lanes === 1 ? n : n | 1;
    const x = f.array(m * pitch);
    const first = kernel.mul(k.row, m * n);
    const at = (row: Value, column: Value) => kernel.add(kernel.mul(row, pitch), column);
    const place = (each: Value) => at(k.binary("idiv", each, kernel.i(n)), k.binary("irem", each, kernel.i(n)));
    kernel.spread(m * n, (each) => f.set(x, place(each), f.load(a, kernel.add(first, each))));
    k.barrier();
    kernel.each(least, (j) => {
      const pivot = pivotRow(kernel, j, m, (i) => f.size(f.get(x, at(i, j))));
      k.store(pivots, kernel.add(kernel.mul(k.row, least), j), pivot, true);
      k.barrier();
      kernel.spread(n, (column) => {
        const [here, there] = [at(j, column), at(pivot, column)];
        const [above, below] = [f.get(x, here), f.get(x, there)];
        f.set(x, here, below);
        f.set(x, there, above);
      });
      exchange(kernel, rows, j, pivot);
      k.barrier();
      const divisor = f.get(x, at(j, j));
      const isZero = k.compare("eq", f.size(divisor), k.constant(f.type, 0));
      kernel.spread(m, (i) => {
        kernel.when(kernel.less(j, i), () => {
          const quotient = f.div(f.get(x, at(i, j)), f.select(isZero, f.one, divisor));
          f.set(x, at(i, j), quotient);
          kernel.each(n, (column) => {
            const own = f.get(x, at(i, column));
            const next = f.sub(own, f.mul(quotient, f.get(x, at(j, column))));
            f.set(x, at(i, column), f.select(kernel.less(j, column), next, own));
          });
        });
      });
      k.barrier();
    });
    kernel.spread(m * n, (each) => f.store(result, kernel.add(first, each), f.get(x, place(each))));
  }
  k.barrier();
  kernel.spread(m, (i) => k.store(order, kernel.add(kernel.mul(k.row, m), i), k.get(rows, i)));
  return k.finish();
}

/** The row from j on whose size is largest, the first of equal ones; j where there are only NaN. */
function pivotRow(kernel: MatrixKernel, j: Value, m: number, sizeAt: (row: Value) => Value): Value {
  const { k, f } = kernel;
  const none = k.constant(f.type, -1);
  const [largest, own] = k.loop(
    m,
    [none, kernel.i(m)],
    (i, [most, where]) => {
      const size = k.select(kernel.less(i, j), none, sizeAt(i));
      const isMore = k.compare("gt", size, most);
      return [k.select(isMore, size, most), k.select(isMore, i, where)];
    },
    { isLaneLoop: true },
  );
  const most = k.combineLanes("max", largest);
  const first = k.combineLanes("min", k.select(k.compare("eq", largest, most), own, kernel.i(m)));
  return k.select(kernel.less(first, m), first, j);
}

/** Exchanges two elements of an array of integers; one lane does. */
function exchange(kernel: MatrixKernel, array: number, i: Value, j: Value): void {
  const { k } = kernel;
  const swap = () => {
    const [x, y] = [k.get(array, i), k.get(array, j)];
    k.set(array, i, y);
    k.set(array, j, x);
  };
  if (k.lanes === 1) swap();
  else kernel.when(k.compare("eq", k.lane, kernel.i(0)), swap);
}
