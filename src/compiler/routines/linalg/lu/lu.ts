/**
 * LU factors with partial pivoting of matrices [m, n] that fit the memory of a workgroup, or a core's cache: one matrix per
 * row of the kernel. Larger ones are cut into such (rewrite/blocked.ts).
 *
 * Column by column: the lanes look for the largest number from the diagonal on, exchange rows, and subtract multiples of the
 * pivot's row from those below. Sizes of complex numbers are compared as LAPACK does, by |re| + |im|.
 */
import type { Kernel, Value } from "../../../ir/ir.js";
import type { Routine } from "../../../target/routine.js";
import { kindOf, type Num } from "../field.js";
import { lanesForRows, MatrixKernel, matricesOf } from "../matrix-kernel.js";
import { luAloneFor, luPanelFor, quickDivision } from "../panel.js";
import { isShareable, luColumns } from "../plan.js";
import { luAloneKernel } from "./lu-panel.js";
import { isSmall, luWrittenOutKernel } from "./lu-written-out.js";
import { steppedLu } from "./stepped-lu.js";

export const luRoutine: Routine = (node, profile, settings) => {
  const kind = kindOf(node);
  const {
    batch,
    shape: [m, n],
  } = matricesOf(node.inputs[0], kind.isComplex);
  const alone = luAloneFor(m, n, kind, profile.tiles);
  const panel = luPanelFor(m, kind, profile.tiles);
  if (panel && !alone && n > luColumns(m, kind, profile.tiles)) {
    return steppedLu(node, batch, [m, n], panel, quickDivision(settings, profile));
  }
  const name = `lu[${node.inputs[0].shape.join("×")}]`;
  const isWrittenOut = profile.maxLanes === 1 && profile.tiles.kind === "panels" && isSmall(m, n);
  const make = (lanes: number, how = settings) => new MatrixKernel(name, batch, lanes, node, how);
  return {
    temporaries: [],
    steps: [
      {
        kernel: isWrittenOut
          ? luWrittenOutKernel(make(1), m, n)
          : alone
            ? luAloneKernel(make(alone.lanes, quickDivision(settings, profile)), alone, [m, n])
            : factorKernel(make(lanesForRows(m, profile)), m, n, isShareable(m, n, kind, profile.tiles)),
        buffers: [{ kind: "input", index: 0 }, ...[0, 1, 2].map((part) => ({ kind: "result", part }) as const)],
        formula: ([a, lu, pivots, order]) =>
          `${lu} = L \\ U with L · U = the rows of ${a} in ${order}; ${pivots} = the rows exchanged with each`,
      },
    ],
  };
};

/** The memory of the matrix while it is factored: shared by lanes, or the result itself if it is too large. */
interface WorkMemory {
  get(row: Value, column: Value): Num;
  set(row: Value, column: Value, value: Num): void;
}

function factorKernel(kernel: MatrixKernel, m: number, n: number, isShared: boolean): Kernel {
  const { k, f } = kernel;
  const [a, result] = [f.buffer(false), f.buffer(true)];
  const [pivots, order] = [k.buffer("i32", true), k.buffer("i32", true)];
  const least = Math.min(m, n);
  if (m === 0) return k.finish();
  const first = kernel.mul(k.row, m * n);
  const inRows = (i: Value) => kernel.add(kernel.mul(k.row, m), i);
  kernel.spread(m, (i) => k.store(order, inRows(i), i, false));
  if (least === 0) return k.finish();
  const x = isShared ? sharedMemory(kernel, m, n) : bufferMemory(kernel, result, first, n);
  const apart = (each: Value) => [k.binary("idiv", each, kernel.i(n)), k.binary("irem", each, kernel.i(n))] as const;
  kernel.spread(m * n, (each) => x.set(...apart(each), f.load(a, kernel.add(first, each))));
  k.barrier();
  kernel.each(least, (j) => {
    const pivot = pivotRow(kernel, j, m, (i) => f.size(x.get(i, j)));
    k.store(pivots, kernel.add(kernel.mul(k.row, least), j), pivot, true);
    k.barrier();
    exchangeRows(kernel, x, n, j, pivot);
    exchange(kernel, order, inRows(j), inRows(pivot));
    k.barrier();
    eliminate(kernel, x, [m, n], j);
    k.barrier();
  });
  if (isShared) kernel.spread(m * n, (each) => f.store(result, kernel.add(first, each), x.get(...apart(each))));
  return k.finish();
}

function sharedMemory({ k, f }: MatrixKernel, m: number, n: number): WorkMemory {
  // Rows of an odd length lie in different banks.
  const pitch = k.lanes === 1 ? n : n | 1;
  const array = f.array(m * pitch);
  const at = (row: Value, column: Value) => k.binary("add", k.binary("mul", row, k.constant("i32", pitch)), column);
  return {
    get: (row, column) => f.get(array, at(row, column)),
    set: (row, column, value) => f.set(array, at(row, column), value),
  };
}

function bufferMemory(kernel: MatrixKernel, buffer: number, first: Value, n: number): WorkMemory {
  const at = (row: Value, column: Value) => kernel.add(first, kernel.add(kernel.mul(row, n), column));
  return {
    get: (row, column) => kernel.f.read(buffer, at(row, column)),
    set: (row, column, value) => kernel.f.store(buffer, at(row, column), value),
  };
}

function exchangeRows(kernel: MatrixKernel, x: WorkMemory, n: number, j: Value, pivot: Value): void {
  kernel.spread(n, (column) => {
    const [above, below] = [x.get(j, column), x.get(pivot, column)];
    x.set(j, column, below);
    x.set(pivot, column, above);
  });
}

/** Subtracts multiples of row j from the rows below, and keeps the multipliers in column j. */
function eliminate(kernel: MatrixKernel, x: WorkMemory, [m, n]: readonly [number, number], j: Value): void {
  const { k, f } = kernel;
  const divisor = x.get(j, j);
  // A column of zeros: multipliers are zero, whatever they are divided by.
  const isZero = k.compare("eq", f.size(divisor), k.constant(f.type, 0));
  kernel.spread(m, (i) => {
    kernel.when(kernel.less(j, i), () => {
      const quotient = f.div(x.get(i, j), f.select(isZero, f.one, divisor));
      kernel.each(n, (column) => {
        const own = x.get(i, column);
        const next = f.sub(own, f.mul(quotient, x.get(j, column)));
        const isLeft = kernel.less(column, j);
        x.set(i, column, f.select(isLeft, own, f.select(kernel.less(j, column), next, quotient)));
      });
    });
  });
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

/** Exchanges two elements of a buffer of integers; one lane does. */
function exchange(kernel: MatrixKernel, buffer: number, i: Value, j: Value): void {
  const { k } = kernel;
  const swap = () => {
    const [x, y] = [k.read(buffer, i, "i32"), k.read(buffer, j, "i32")];
    k.store(buffer, i, y, false);
    k.store(buffer, j, x, false);
  };
  if (k.lanes === 1) swap();
  else kernel.when(k.compare("eq", k.lane, kernel.i(0)), swap);
}
