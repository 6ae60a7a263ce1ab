/**
 * Equations with small lower triangular matrices on a GPU, thousands of them at a time: a lane has a row of the matrix in
 * registers, and its row of a few right sides. From the top, each lane in turn tells the others its solution.
 */
import type { Node } from "../../../../graph/node.js";
import type { ElementSettings } from "../../../elements/elements.js";
import type { Kernel, Value } from "../../../ir/ir.js";
import type { RoutinePlan } from "../../../target/routine.js";
import type { TileProfile } from "../../../target/tile-profile.js";
import type { Num } from "../field.js";
import { MatrixKernel } from "../matrix-kernel.js";

/** Rows of the largest matrices, and lanes that share one. */
export const SMALL_ROWS = 32;
/** Right sides of a workgroup, at most. */
const SIDES = 4;

export const hasRowSolve = ({ kind, maxLanes }: TileProfile): boolean => kind === "shared" && maxLanes >= SMALL_ROWS;

export function rowSolve(
  node: Node,
  batch: number,
  [n, m]: readonly [number, number],
  settings: ElementSettings,
): RoutinePlan {
  const isUnit = node.params.isUnit === true;
  const sides = m >= SIDES ? SIDES : Math.max(1, m);
  const chunks = Math.ceil(m / sides);
  const name = `solveLower[${node.shape.join("×")}]`;
  const kernel = new MatrixKernel(name, n === 0 ? 0 : batch * chunks, SMALL_ROWS, node, settings);
  return {
    temporaries: [],
    steps: [
      {
        kernel: n * m === 0 ? emptyKernel(kernel) : solveKernel(kernel, [n, m], sides, isUnit),
        buffers: [{ kind: "input", index: 0 }, { kind: "input", index: 1 }, { kind: "result" }],
        formula: ([l, b, x]) =>
          `${x} = the X with ${l} · X = ${b}${isUnit ? `, with ones for the diagonal of ${l}` : ""}`,
      },
    ],
  };
}

function emptyKernel({ k, f }: MatrixKernel): Kernel {
  for (const isWritten of [false, false, true]) f.buffer(isWritten);
  return k.finish();
}

function solveKernel(kernel: MatrixKernel, [n, m]: readonly [number, number], sides: number, isUnit: boolean): Kernel {
  const { k, f } = kernel;
  const [l, b, x] = [f.buffer(false), f.buffer(false), f.buffer(true)];
  const chunks = Math.ceil(m / sides);
  const row = kernel.add(kernel.mul(k.binary("idiv", k.row, kernel.i(chunks)), n), k.lane);
  const left = kernel.mul(k.binary("irem", k.row, kernel.i(chunks)), sides);
  const isRow = n === SMALL_ROWS ? null : kernel.less(k.lane, n);
  const gated = (place: Value, gate: Value | null) => (gate ? k.select(gate, place, kernel.i(0)) : place);
  const line = kernel.mul(row, n);
  const factors = Array.from({ length: n }, (_, c) => f.load(l, gated(kernel.add(line, c), isRow)));
  const place = kernel.add(kernel.mul(row, m), left);
  const isSide = Array.from({ length: sides }, (_, s) => {
    const isThere = m % sides === 0 ? null : kernel.less(kernel.add(left, s), m);
    return isRow && isThere ? k.binary("and", isRow, isThere) : (isRow ?? isThere);
  });
  let values: Num[] = isSide.map((gate, s) => f.load(b, gated(kernel.add(place, s), gate)));
  // Two rows take turns, so that one barrier is enough.
  const shared = f.array(2 * SIDES);
  for (let j = 0; j < n; j++) {
    const isOwner = k.compare("eq", k.lane, kernel.i(j));
    const start = (j % 2) * SIDES;
    const known = isUnit ? values : values.map((value) => f.div(value, factors[j]));
    kernel.when(isOwner, () => {
      for (const [s, value] of known.entries()) f.set(shared, kernel.i(start + s), value);
    });
    k.barrier();
    const isBelow = k.compare("gt", k.lane, kernel.i(j));
    values = values.map((value, s) => {
      const next = f.mulSub(factors[j], f.get(shared, kernel.i(start + s)), value);
      return f.select(isBelow, next, f.select(isOwner, known[s], value));
    });
  }
  f.storeMany(x, place, values, isSide);
  return k.finish();
}
