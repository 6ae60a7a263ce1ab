/**
 * Equations solved with the LU factors of small matrices: rows in order, forwards with L, backwards with U, in one kernel. A thread
 * has the factors in registers, all loops over rows written out, and goes through the right sides; on a CPU four at a time, as the
 * lanes of vectors.
 */
import type { Kernel, Value } from "../../../ir/ir.js";
import type { Routine } from "../../../target/routine.js";
import { kindOf, type Num } from "../field.js";
import { MatrixKernel, matricesOf } from "../matrix-kernel.js";

const VECTOR = 4;

/** Inputs: the factors [.., n, n], right sides [.., n, m], and the order of rows, i32 [.., n]. n is at most 8. */
export const luSubstitutionRoutine: Routine = (node, { maxLanes }, settings) => {
  const { isComplex } = kindOf(node);
  const {
    batch,
    shape: [n, m],
  } = matricesOf(node, isComplex);
  const lanes = maxLanes === 1 && m >= VECTOR ? VECTOR : 1;
  const name = `luSubstitution[${node.shape.join("×")}]`;
  const kernel = new MatrixKernel(name, m === 0 ? 0 : batch, lanes, node, settings);
  return {
    temporaries: [],
    steps: [
      {
        kernel: substitutionKernel(kernel, n, m),
        buffers: [...[0, 1, 2].map((index) => ({ kind: "input", index }) as const), { kind: "result" }],
        formula: ([lu, b, order, x]) => `${x} = the X with L · U · X = the rows of ${b} in ${order}, L \\ U = ${lu}`,
      },
    ],
  };
};

function substitutionKernel(kernel: MatrixKernel, n: number, m: number): Kernel {
  const { k, f } = kernel;
  const [lu, b] = [f.buffer(false), f.buffer(false)];
  const order = k.buffer("i32", false);
  const x = f.buffer(true);
  const at = (first: Value, more: number) => kernel.add(first, more);
  const ofMatrix = kernel.mul(k.row, n * n);
  const factors = Array.from({ length: n }, (_, i) =>
    Array.from({ length: n }, (__, j) => f.load(lu, at(ofMatrix, i * n + j))),
  );
  const ofRow = kernel.mul(k.row, n);
  const rows = factors.map((_, i) => kernel.mul(k.load(order, at(ofRow, i), "i32"), m));
  const ofSides = kernel.mul(k.row, n * m);
  const side = (turn: Value) => {
    const column = k.lanes === 1 ? turn : kernel.add(kernel.mul(turn, k.lanes), k.lane);
    const isWhole = m % k.lanes === 0;
    const first = k.binary("add", ofSides, isWhole ? column : k.binary("min", column, kernel.i(m - 1)));
    const given = rows.map((row) => f.load(b, k.binary("add", first, row)));
    substituted(kernel, factors, given).forEach((value, i) => {
      f.store(x, at(first, i * m), value, isWhole ? null : kernel.less(column, m));
    });
  };
  const turns = Math.ceil(m / k.lanes);
  if (turns === 1) side(kernel.i(0));
  else if (turns > 1) kernel.each(turns, side);
  return k.finish();
}

function substituted({ f }: MatrixKernel, factors: readonly (readonly Num[])[], given: readonly Num[]): Num[] {
  const n = given.length;
  const y: Num[] = [];
  given.forEach((value, i) => {
    y.push(y.reduce((rest, each, j) => f.mulSub(factors[i][j], each, rest), value));
  });
  const x: Num[] = [...y];
  for (let i = n - 1; i >= 0; i--) {
    let rest = y[i];
    for (let j = i + 1; j < n; j++) rest = f.mulSub(factors[i][j], x[j], rest);
    x[i] = f.div(rest, factors[i][i]);
  }
  return x;
}
