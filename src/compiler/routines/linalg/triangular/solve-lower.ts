/**
 * Equations with lower triangular matrices that fit a core's cache: rows of the solution one after another, columns in
 * parallel. A lane has a few columns, which it keeps in memory of its own, so that lanes never wait for one another. Larger
 * matrices are cut into such ones (rewrite/blocked.ts). GPUs have other ways: row-solve.ts and strip-solve.ts.
 */
import type { Kernel, Value } from "../../../ir/ir.js";
import type { TargetProfile } from "../../../target/profile.js";
import type { Routine } from "../../../target/routine.js";
import { kindOf, type Num, type NumberKind } from "../field.js";
import { MatrixKernel, matricesOf, SOFTWARE_LANES } from "../matrix-kernel.js";
import { quickDivision } from "../panel.js";
import { hasRowSolve, rowSolve, SMALL_ROWS } from "./row-solve.js";
import { stripLanes, stripRows, stripSolve } from "./strip-solve.js";

/** The sharing of the columns of the right sides: lanes of a row, and columns of a lane. */
interface ColumnShare {
  readonly lanes: number;
  readonly perLane: number;
}

/** Vectors of four columns on a CPU, a column for each lane where there are lanes. */
function shareOf(m: number, kind: NumberKind, { maxLanes, tiles }: TargetProfile): ColumnShare {
  if (maxLanes > 1) return { lanes: Math.min(SOFTWARE_LANES, tiles.maxLanes), perLane: 1 };
  if (m < 4) return { lanes: 1, perLane: 1 };
  return { lanes: 4, perLane: kind.isComplex || m < 16 ? 1 : kind.type === "f64" ? 2 : 4 };
}

export const solveLowerRoutine: Routine = (node, profile, settings) => {
  const kind = kindOf(node);
  const {
    batch,
    shape: [n, m],
  } = matricesOf(node, kind.isComplex);
  const quick = quickDivision(settings, profile);
  if (n > SMALL_ROWS && stripRows(kind, profile.tiles) > 0) {
    return stripSolve(node, batch, [n, m], stripLanes(profile.tiles), quick);
  }
  if (n <= SMALL_ROWS && hasRowSolve(profile.tiles)) return rowSolve(node, batch, [n, m], quick);
  const share = shareOf(m, kind, profile);
  const chunks = Math.ceil(m / (share.lanes * share.perLane));
  const name = `solveLower[${node.shape.join("×")}]`;
  const kernel = new MatrixKernel(name, n === 0 ? 0 : batch * chunks, share.lanes, node, settings);
  const isUnit = node.params.isUnit === true;
  return {
    temporaries: [],
    steps: [
      {
        kernel: solveKernel(kernel, [n, m], share, isUnit),
        buffers: [{ kind: "input", index: 0 }, { kind: "input", index: 1 }, { kind: "result" }],
        formula: ([l, b, x]) =>
          `${x} = the X with ${l} · X = ${b}${isUnit ? `, with ones for the diagonal of ${l}` : ""}`,
      },
    ],
  };
};

function solveKernel(
  kernel: MatrixKernel,
  [n, m]: readonly [number, number],
  { lanes, perLane }: ColumnShare,
  isUnit: boolean,
): Kernel {
  const { k, f } = kernel;
  const [l, b, x] = [f.buffer(false), f.buffer(false), f.buffer(true)];
  if (n * m === 0) return k.finish();
  const width = lanes * perLane;
  const chunks = Math.ceil(m / width);
  const matrix = k.binary("idiv", k.row, kernel.i(chunks));
  const chunk = k.binary("irem", k.row, kernel.i(chunks));
  const inMatrix = (row: Value, column: Value) =>
    kernel.add(kernel.mul(matrix, n * n), kernel.add(kernel.mul(row, n), column));
  const own = Array.from({ length: perLane }, (_, v) => kernel.add(k.lane, v * lanes));
  // The last chunk may reach beyond the columns; lanes there compute the last column once more.
  const columns = own.map((at) => kernel.add(kernel.mul(chunk, width), at));
  const isInside = columns.map((column) => (m % width === 0 ? null : kernel.less(column, m)));
  const inSides = (row: Value, v: number) => {
    const column = isInside[v] ? k.binary("min", columns[v], kernel.i(m - 1)) : columns[v];
    return kernel.add(kernel.mul(matrix, n * m), kernel.add(kernel.mul(row, m), column));
  };
  const known = f.array(n * width);
  const inKnown = (row: Value, v: number) => kernel.add(kernel.mul(row, width), own[v]);
  kernel.each(n, (i) => {
    const product = (c: Value, v: number): Num => f.mul(f.load(l, inMatrix(i, c)), f.get(known, inKnown(c, v)));
    const sums = kernel.sumsBelow(i, n, perLane, product);
    const pivot = isUnit ? null : f.load(l, inMatrix(i, i));
    sums.forEach((sum, v) => {
      const rest = f.sub(f.load(b, inSides(i, v)), sum);
      const value = pivot ? f.div(rest, pivot) : rest;
      f.set(known, inKnown(i, v), value);
      f.store(x, inSides(i, v), value, isInside[v]);
    });
  });
  return k.finish();
}
