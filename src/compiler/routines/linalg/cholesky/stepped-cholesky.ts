/**
 * Cholesky factors of large matrices on a GPU, by blocks of columns from left to right. A step has two kernels. In the first,
 * each workgroup has the block on the diagonal and one below it in registers, side by side as a tall block, and factors it:
 * all factor the one on the diagonal, which takes no longer than waiting for one to do so. The second subtracts the products
 * of the new columns from the rest (cholesky-rest.ts), in its place, so that more of it stays in the cache.
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
  const changed: RoutineBuffer = { kind: "temporary", index: 0 };
  const l: RoutineBuffer = { kind: "result" };
  const whole = { dtype: node.dtype, shape: node.shape };
  const from = (which: number) => (which === 0 ? a : changed);
  return inSteps(
    blocks,
    [],
    [whole],
    () => [
      {
        kernel: factor,
        formula: ([x, to, step]) => `${to} = ${grid.block} columns of the factor of ${x}, step ${step}`,
      },
      { kernel: rest, formula: ([x, , to]) => `${to} = the rest of ${x}, less the product of the new columns` },
    ],
    (which) => [
      [from(which), l],
      [from(which), l, changed],
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

/**
 * Factors a tall block, of which a lane has some elements row by row: two neighbouring columns at a time, which lanes exchange.
 * Each lane makes the factor of the two by itself, so that they cost one barrier.
 */
function factorTall(kernel: GridKernel, given: readonly Num[]): Num[] {
  const { k, f, grid, perLane } = kernel;
  const { side, block } = grid;
  const rows = 2 * perLane;
  const height = 2 * block;
  // Two pairs of columns take turns, so that one barrier is enough.
  const shared = f.array(2 * PAIR * height);
  let tall = [...given];
  for (let now = 0; now < perLane; now++) {
    tall = f.loop(side / PAIR, tall, (turn, values) => {
      const place = kernel.mul(turn, PAIR);
      const start = kernel.mul(k.binary("and", turn, kernel.i(1)), PAIR * height);
      const isOwner = [0, 1].map((which) => k.compare("eq", kernel.across, kernel.add(place, which)));
      isOwner.forEach((isOwn, which) => {
        for (let r = 0; r < rows; r++) {
          const to = kernel.add(start, kernel.add(kernel.rowOf(r), which * height));
          f.set(shared, to, values[r * perLane + now], isOwn);
        }
      });
      k.barrier();
      const pair = new ColumnPair(
        kernel,
        (row, which) => f.get(shared, kernel.add(kernel.add(start, which * height), row)),
        kernel.add(place, now * side),
      );
      const left = Array.from({ length: rows }, (_, r) => pair.elements(kernel.rowOf(r)));
      const right = Array.from({ length: perLane }, (_, c) => pair.elements(kernel.columnOf(c)).map((x) => f.conj(x)));
      return values.map((value, at) => {
        const [r, c] = [Math.floor(at / perLane), at % perLane];
        if (c < now) return value;
        const next = left[r].reduce((rest, x, which) => f.mulSub(x, right[c][which], rest), value);
        if (c > now) return next;
        const row = kernel.rowOf(r);
        const done = [0, 1].map((which) =>
          r < perLane ? pair.finished(row, which, left[r][which], value) : left[r][which],
        );
        const behind = f.select(kernel.less(pair.columns[1], kernel.columnOf(c)), next, value);
        return f.select(isOwner[0], done[0], f.select(isOwner[1], done[1], behind));
      });
    });
  }
  return tall;
}

/** Columns that are finished at a time. */
const PAIR = 2;

/** Two neighbouring columns of a block, less those before them, and their Cholesky factor. */
class ColumnPair {
  readonly columns: readonly [Value, Value];
  private readonly roots: readonly [Value, Value];
  private readonly inverses: readonly [Value, Value];
  /** The element of the factor below the first root. */
  private readonly below: Num;

  /** `given`: an element by its row, of the first column or of the second. */
  constructor(
    private readonly kernel: GridKernel,
    private readonly given: (row: Value, which: number) => Num,
    first: Value,
  ) {
    const { k, f } = kernel;
    const second = kernel.add(first, 1);
    this.columns = [first, second];
    const one = k.constant(f.type, 1);
    const root = f.pivotRoot(given(first, 0).re);
    const inverse = f.divReal(one, root);
    this.below = f.scale(given(second, 0), inverse);
    const rest = k.binary("sub", given(second, 1).re, f.squared(this.below));
    const other = f.pivotRoot(rest);
    this.roots = [root, other];
    this.inverses = [inverse, f.divReal(one, other)];
  }

  /** The elements of the factor in a row below. */
  elements(row: Value): [Num, Num] {
    const { f } = this.kernel;
    const first = f.scale(this.given(row, 0), this.inverses[0]);
    const rest = f.mulSub(first, f.conj(this.below), this.given(row, 1));
    return [first, f.scale(rest, this.inverses[1])];
  }

  /** The element of the factor in a row of the block on the diagonal; rows above a root keep what they have. */
  finished(row: Value, which: number, element: Num, before: Num): Num {
    const { kernel, columns } = this;
    const { k, f } = kernel;
    const own = f.select(k.compare("eq", row, columns[which]), f.real(this.roots[which]), element);
    return f.select(kernel.less(row, columns[which]), before, own);
  }
}
