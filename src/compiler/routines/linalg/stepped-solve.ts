/**
 * Equations with large lower triangular matrices on a GPU, by blocks of rows from the top. A step has two kernels: the first
 * solves with the block on the diagonal, a workgroup for each few columns of the right sides; the second subtracts what the
 * new rows contribute from the rows below. The solution is computed in place, in a copy of the right sides.
 */
import type { Node } from "../../../graph/node.js";
import type { ElementSettings } from "../../elements/elements.js";
import type { Kernel, Value } from "../../ir/ir.js";
import { KernelBuilder } from "../../ir/kernel-builder.js";
import type { RoutineBuffer, RoutinePlan } from "../../target/routine.js";
import { kindOf, type Num } from "./field.js";
import { countOn, type Grid, GridKernel, inSteps, stepNumber } from "./grid.js";

export function steppedSolve(
  node: Node,
  batch: number,
  [n, m]: readonly [number, number],
  grid: Grid,
  settings: ElementSettings,
): RoutinePlan {
  const [blocks, strips] = [Math.ceil(n / grid.block), Math.ceil(m / grid.block)];
  const make = (what: string, rows: number) =>
    new GridKernel(`solveLower ${what}[${node.shape.join("×")}]`, batch * rows, grid, node, settings);
  const solve = solveKernel(make("rows", strips), [n, m], strips, node.params.isUnit === true);
  const update = updateKernel(make("rest", blocks * strips), [n, m], strips, blocks);
  const [l, b]: RoutineBuffer[] = [0, 1].map((index) => ({ kind: "input", index }));
  const x: RoutineBuffer = { kind: "result" };
  const numbers = batch * n * m * (kindOf(node).isComplex ? 2 : 1);
  const copy = copyKernel(node.dtype as "f32" | "f64", numbers);
  return inSteps(
    blocks,
    [{ kernel: copy, buffers: [b, x], formula: ([from, to]) => `${to}[i] = ${from}[i]`, isCopy: true }],
    [],
    () => [
      {
        kernel: solve,
        formula: ([a, to, step]) => `${to} = ${grid.block} rows of the X with ${a} · X = ${to}, step ${step}`,
      },
      { kernel: update, formula: ([a, to]) => `${to} = the rows below, less ${a} · the new rows` },
    ],
    () => [
      [l, x],
      [l, x],
    ],
  );
}

function copyKernel(dtype: "f32" | "f64", count: number): Kernel {
  const k = new KernelBuilder(`right sides[${count}]`, count);
  const [from, to] = [k.buffer(dtype, false), k.buffer(dtype, true)];
  k.store(to, k.row, k.load(from, k.row, dtype));
  return k.finish();
}

/** Buffers: the matrix, the solution, the step. */
function solveKernel(kernel: GridKernel, [n, m]: readonly [number, number], strips: number, isUnit: boolean): Kernel {
  const { k, f, grid, perLane } = kernel;
  const { side, block } = grid;
  const [l, x] = [f.buffer(false), f.buffer(true)];
  const step = stepNumber(kernel);
  const matrix = k.binary("idiv", k.row, kernel.i(strips));
  const left = kernel.mul(k.binary("irem", k.row, kernel.i(strips)), block);
  const top = kernel.mul(step, block);
  const triangle = f.array(block * (block + 1));
  const inTriangle = (row: Value, column: Value) => kernel.add(kernel.mul(row, block + 1), column);
  kernel.spread(block * block, (each) => {
    const [row, column] = [k.binary("idiv", each, kernel.i(block)), k.binary("irem", each, kernel.i(block))];
    const read = (index: Value) => f.load(l, kernel.add(kernel.mul(matrix, n * n), index));
    const unit = f.select(k.compare("eq", row, column), f.one, f.zero);
    f.set(
      triangle,
      inTriangle(row, column),
      kernel.inside(kernel.add(top, row), kernel.add(top, column), [n, n], read, unit),
    );
  });
  const places = Array.from(
    { length: perLane * perLane },
    (_, at) => [Math.floor(at / perLane), at % perLane] as const,
  );
  const sides = kernel.mul(matrix, n * m);
  let values: Num[] = places.map(([r, c]) => {
    const [row, column] = [kernel.add(top, kernel.rowOf(r)), kernel.add(left, kernel.columnOf(c))];
    return kernel.inside(row, column, [n, m], (index) => f.read(x, kernel.add(sides, index)), f.zero);
  });
  const shared = f.array(2 * block);
  k.barrier();
  for (let now = 0; now < perLane; now++) {
    values = f.loop(side, values, (turn, before) => {
      const row = kernel.add(turn, now * side);
      const isOwner = k.compare("eq", kernel.down, turn);
      const start = kernel.mul(k.binary("and", turn, kernel.i(1)), block);
      const pivot = isUnit ? null : f.get(triangle, inTriangle(row, row));
      const solved = Array.from({ length: perLane }, (_, c) => {
        const value = before[now * perLane + c];
        const known = pivot ? f.div(value, pivot) : value;
        f.set(shared, kernel.add(start, kernel.columnOf(c)), known, isOwner);
        return known;
      });
      k.barrier();
      const line = Array.from({ length: perLane }, (_, c) => f.get(shared, kernel.add(start, kernel.columnOf(c))));
      const factors = Array.from({ length: perLane }, (_, r) => f.get(triangle, inTriangle(kernel.rowOf(r), row)));
      return before.map((value, at) => {
        const [r, c] = [Math.floor(at / perLane), at % perLane];
        if (r < now) return value;
        const next = f.mulSub(factors[r], line[c], value);
        if (r > now) return next;
        return f.select(isOwner, solved[c], f.select(kernel.less(row, kernel.rowOf(r)), next, value));
      });
    });
  }
  places.forEach(([r, c], at) => {
    const [row, column] = [kernel.add(top, kernel.rowOf(r)), kernel.add(left, kernel.columnOf(c))];
    const isInside = kernel.isInside(row, column, [n, m]);
    f.store(x, kernel.add(sides, kernel.add(kernel.mul(row, m), column)), values[at], isInside);
  });
  return k.finish();
}

/** Buffers: the matrix, the solution, the step, the next step. */
function updateKernel(kernel: GridKernel, [n, m]: readonly [number, number], strips: number, blocks: number): Kernel {
  const { k, f, grid, perLane } = kernel;
  const [l, x] = [f.buffer(false), f.buffer(true)];
  const step = stepNumber(kernel);
  countOn(kernel, step);
  const matrix = k.binary("idiv", k.row, kernel.i(strips * blocks));
  const which = k.binary("irem", k.row, kernel.i(strips * blocks));
  const [i, j] = [k.binary("idiv", which, kernel.i(strips)), k.binary("irem", which, kernel.i(strips))];
  kernel.when(kernel.less(step, i), () => {
    const [top, left, first] = [i, j, step].map((at) => kernel.mul(at, grid.block));
    const sides = kernel.mul(matrix, n * m);
    const inSides = (row: Value, column: Value) =>
      kernel.inside(row, column, [n, m], (index) => f.read(x, kernel.add(sides, index)), f.zero);
    const factor = (row: Value, column: Value) =>
      kernel.inside(row, column, [n, n], (at) => f.load(l, kernel.add(kernel.mul(matrix, n * n), at)), f.zero);
    const product = kernel.blockProduct(
      (row, at) => factor(kernel.add(top, row), kernel.add(first, at)),
      (at, column) => inSides(kernel.add(first, at), kernel.add(left, column)),
    );
    product.forEach((sum, at) => {
      const row = kernel.add(top, kernel.rowOf(Math.floor(at / perLane)));
      const column = kernel.add(left, kernel.columnOf(at % perLane));
      const isInside = kernel.isInside(row, column, [n, m]);
      const rest = f.sub(inSides(row, column), sum);
      f.store(x, kernel.add(sides, kernel.add(kernel.mul(row, m), column)), rest, isInside);
    });
  });
  return k.finish();
}
