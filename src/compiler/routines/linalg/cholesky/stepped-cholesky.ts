/**
 * Cholesky factors of large matrices on a GPU, by blocks of columns from left to right. A step has two kernels. In the first,
 * each workgroup has the block on the diagonal and one below it in registers, side by side as a tall block, and factors it:
 * all factor the one on the diagonal, which takes no longer than waiting for one to do so. The second subtracts the products
 * of the new columns from the rest (cholesky-rest.ts), which goes back and forth between two buffers.
 */
import type { Node } from "../../../../graph/node.js";
import type { ElementSettings } from "../../../elements/elements.js";
import type { Kernel, Value } from "../../../ir/ir.js";
import type { RoutineBuffer, RoutinePlan } from "../../../target/routine.js";
import type { Num } from "../field.js";
import { type Grid, GridKernel, inSteps, stepNumber } from "../grid.js";
import { choleskyRestKernel } from "./cholesky-rest.js";

export function steppedCholesky(
  node: Node,
  batch: number,
  n: number,
  grid: Grid,
  settings: ElementSettings,
): RoutinePlan {
  const blocks = Math.ceil(n / grid.block);
  const make = (what: string, rows: number) =>
    new GridKernel(`cholesky ${what}[${node.shape.join("×")}]`, batch * rows, grid, node, settings);
  const factor = factorKernel(make("columns", blocks), n, blocks);
  const rest = choleskyRestKernel(`cholesky rest[${node.shape.join("×")}]`, batch, n, grid, node, settings);
  const a: RoutineBuffer = { kind: "input", index: 0 };
  const [even, odd]: RoutineBuffer[] = [0, 1].map((index) => ({ kind: "temporary", index }));
  const l: RoutineBuffer = { kind: "result" };
  const whole = { dtype: node.dtype, shape: node.shape };
  const from = (which: number) => (which === 0 ? a : which % 2 === 0 ? even : odd);
  return inSteps(
    blocks,
    [],
    [whole, whole],
    () => [
      {
        kernel: factor,
        formula: ([x, to, step]) => `${to} = ${grid.block} columns of the factor of ${x}, step ${step}`,
      },
      { kernel: rest, formula: ([x, , to]) => `${to} = the rest of ${x}, less the product of the new columns` },
    ],
    (which) => [
      [from(which), l],
      [from(which), l, from(which + 1)],
    ],
  );
}

/** Buffers: the matrix as far as it is worked on, the factor, the step. */
function factorKernel(kernel: GridKernel, n: number, blocks: number): Kernel {
  const { k, f, grid, perLane } = kernel;
  const [from, to] = [f.buffer(false), f.buffer(true)];
  const step = stepNumber(kernel);
  const matrix = kernel.mul(k.binary("idiv", k.row, kernel.i(blocks)), n * n);
  const own = k.binary("irem", k.row, kernel.i(blocks));
  const firstColumn = kernel.mul(step, grid.block);
  const firstRow = kernel.mul(own, grid.block);
  const store = (row: Value, column: Value, value: Num) => {
    f.store(
      to,
      kernel.add(matrix, kernel.add(kernel.mul(row, n), column)),
      value,
      kernel.isInside(row, column, [n, n]),
    );
  };
  const places = Array.from(
    { length: perLane * perLane },
    (_, at) => [Math.floor(at / perLane), at % perLane] as const,
  );
  kernel.when(kernel.less(own, step), () => {
    for (const [r, c] of places) {
      store(kernel.add(firstRow, kernel.rowOf(r)), kernel.add(firstColumn, kernel.columnOf(c)), f.zero);
    }
  });
  kernel.when(k.compare("ge", own, step), () => {
    const load = (top: Value) =>
      places.map(([r, c]) => {
        const [row, column] = [kernel.add(top, kernel.rowOf(r)), kernel.add(firstColumn, kernel.columnOf(c))];
        const unit = f.select(k.compare("eq", row, column), f.one, f.zero);
        return kernel.inside(row, column, [n, n], (index) => f.load(from, kernel.add(matrix, index)), unit);
      });
    const tall = factorTall(kernel, [...load(firstColumn), ...load(firstRow)]);
    const isDiagonal = k.compare("eq", own, step);
    places.forEach(([r, c], at) => {
      const isAbove = kernel.less(kernel.rowOf(r), kernel.columnOf(c));
      const above = f.select(isAbove, f.zero, tall[at]);
      const value = f.select(isDiagonal, above, tall[places.length + at]);
      store(kernel.add(firstRow, kernel.rowOf(r)), kernel.add(firstColumn, kernel.columnOf(c)), value);
    });
  });
  return k.finish();
}

/** Factors a tall block, of which a lane has some elements row by row: column after column, which lanes exchange. */
function factorTall(kernel: GridKernel, given: readonly Num[]): Num[] {
  const { k, f, grid, perLane } = kernel;
  const { side, block } = grid;
  const rows = 2 * perLane;
  // Two columns take turns, so that one barrier is enough.
  const shared = f.array(2 * 2 * block);
  let tall = [...given];
  for (let now = 0; now < perLane; now++) {
    tall = f.loop(side, tall, (turn, values) => {
      const column = kernel.add(turn, now * side);
      const isOwner = k.compare("eq", kernel.across, turn);
      const start = kernel.mul(k.binary("and", turn, kernel.i(1)), 2 * block);
      for (let r = 0; r < rows; r++) {
        f.set(shared, kernel.add(start, kernel.rowOf(r)), values[r * perLane + now], isOwner);
      }
      k.barrier();
      const root = f.sqrtReal(f.get(shared, kernel.add(start, column)).re);
      const inverse = f.divReal(k.constant(f.type, 1), root);
      const element = (at: Value) => f.scale(f.get(shared, kernel.add(start, at)), inverse);
      const left = Array.from({ length: rows }, (_, r) => element(kernel.rowOf(r)));
      const right = Array.from({ length: perLane }, (_, c) => f.conj(element(kernel.columnOf(c))));
      return values.map((value, at) => {
        const [r, c] = [Math.floor(at / perLane), at % perLane];
        if (c < now) return value;
        const next = f.mulSub(left[r], right[c], value);
        if (c > now) return next;
        const row = kernel.rowOf(r);
        const done = f.select(k.compare("eq", row, column), f.real(root), left[r]);
        const finished = r < perLane ? f.select(kernel.less(row, column), value, done) : left[r];
        return f.select(isOwner, finished, f.select(kernel.less(column, kernel.columnOf(c)), next, value));
      });
    });
  }
  return tall;
}
