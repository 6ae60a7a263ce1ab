/**
 * LU factors of small matrices on the CPU: a thread has a matrix in registers, and all loops are written out. Rows are exchanged by
 * choosing, for each row below the diagonal, between itself and the row on the diagonal: without branches, so that four matrices
 * are factored at once, a lane of a vector each. lu.ts calls it.
 */
import type { Kernel, Value } from "../../../ir/ir.js";
import type { Num } from "../field.js";
import type { MatrixKernel } from "../matrix-kernel.js";

/** Rows and columns at most: code grows with their cube. */
const MOST = 8;

export const isSmall = (m: number, n: number): boolean => m > 0 && n > 0 && m <= MOST && n <= MOST;

/** Buffers: the matrices; the factors, the pivots, the order. */
export function luWrittenOutKernel(kernel: MatrixKernel, m: number, n: number): Kernel {
  const { k, f } = kernel;
  const [a, lu] = [f.buffer(false), f.buffer(true)];
  const [pivots, order] = [k.buffer("i32", true), k.buffer("i32", true)];
  const first = kernel.mul(k.row, m * n);
  const rows = Array.from({ length: m }, (_, i) =>
    Array.from({ length: n }, (__, j) => f.load(a, kernel.add(first, i * n + j))),
  );
  const origins = rows.map((_, i) => kernel.i(i));
  const least = Math.min(m, n);
  for (let j = 0; j < least; j++) {
    const pivot = pivotRow(kernel, rows, j);
    k.store(pivots, kernel.add(kernel.mul(k.row, least), j), pivot);
    for (let i = j + 1; i < m; i++) exchange(kernel, rows, origins, j, i, k.compare("eq", pivot, kernel.i(i)));
    eliminate(kernel, rows, j);
  }
  rows.flat().forEach((value, at) => {
    f.store(lu, kernel.add(first, at), value);
  });
  origins.forEach((origin, i) => {
    k.store(order, kernel.add(kernel.mul(k.row, m), i), origin);
  });
  return k.finish();
}

/** The row from j on whose size is largest, the first of equal ones; j where there are only NaN. */
function pivotRow(kernel: MatrixKernel, rows: readonly (readonly Num[])[], j: number): Value {
  const { k, f } = kernel;
  const own = f.size(rows[j][j]);
  let most = k.select(k.compare("ge", own, k.constant(f.type, 0)), own, k.constant(f.type, -1));
  let where = kernel.i(j);
  for (let i = j + 1; i < rows.length; i++) {
    const size = f.size(rows[i][j]);
    const isMore = k.compare("gt", size, most);
    [most, where] = [k.select(isMore, size, most), k.select(isMore, kernel.i(i), where)];
  }
  return where;
}

/** Exchanges rows j and i where the condition holds. */
function exchange(kernel: MatrixKernel, rows: Num[][], origins: Value[], j: number, i: number, isIt: Value): void {
  const { k, f } = kernel;
  const [above, below] = [rows[j], rows[i]];
  rows[j] = above.map((x, c) => f.select(isIt, below[c], x));
  rows[i] = below.map((x, c) => f.select(isIt, above[c], x));
  const [high, low] = [origins[j], origins[i]];
  [origins[j], origins[i]] = [k.select(isIt, low, high), k.select(isIt, high, low)];
}

/** Subtracts multiples of row j from those below. Of a column of zeros multipliers are zero, whatever they are divided by. */
function eliminate(kernel: MatrixKernel, rows: Num[][], j: number): void {
  const { k, f } = kernel;
  const isZero = k.compare("eq", f.size(rows[j][j]), k.constant(f.type, 0));
  const divisor = f.select(isZero, f.one, rows[j][j]);
  for (let i = j + 1; i < rows.length; i++) {
    const quotient = f.div(rows[i][j], divisor);
    rows[i] = rows[i].map((x, c) => (c < j ? x : c === j ? quotient : f.mulSub(quotient, rows[j][c], x)));
  }
}
