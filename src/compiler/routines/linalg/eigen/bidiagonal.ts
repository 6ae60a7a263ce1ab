/**
 * Square matrices reduced to real bidiagonal form, B = Qᴴ A P, by Householder reflections from both sides (Golub and Kahan 1965).
 * A column and its row take four kernels. One workgroup to a matrix finds the column as the reflections before it leave it,
 * and its reflection v; a pass over the matrix brings it up to date, A - v ŷ - ẑ uᴴ, and multiplies it by the new vector on the
 * way; one workgroup finds the row, and its reflection u; a second pass multiplies by that (bidiagonal-passes.ts). The same kernels
 * serve all columns: they read the number of the column from memory, where the kernel before wrote it.
 */
import { productOf } from "../../../../core/shape.js";
import type { ElementSettings } from "../../../elements/elements.js";
import type { Kernel, Value } from "../../../ir/ir.js";
import { KernelBuilder } from "../../../ir/kernel-builder.js";
import type { TargetProfile } from "../../../target/profile.js";
import type { Routine, RoutineBuffer, RoutineStep } from "../../../target/routine.js";
import { Field, kindOf, type Num, type NumberKind, shapeOf } from "../field.js";
import { quickDivision } from "../panel.js";
import { reflectionOf } from "../reflection.js";
import { arrayWorkspace, eachByLane, overLanes, type Workspace } from "../workspace.js";
import { type BidiagonalSize, BLOCK, changeKernel, chunkRows, productKernel } from "./bidiagonal-passes.js";

/**
 * Inputs: matrices [.., n, n]. Results: the diagonal [.., n]; what is beside it, [.., n], the last 0; the vectors of the
 * reflections as rows, [.., 2, n, n], and their factors [.., 2, n]: first P's, of the rows, then Q's, of the columns.
 */
export const bidiagonalRoutine: Routine = (node, profile, settings) => {
  const kind = kindOf(node);
  const shape = shapeOf(node.inputs[0], kind.isComplex);
  const n = shape.at(-1) as number;
  const batch = productOf(shape.slice(0, -2));
  const padded = Math.ceil(n / BLOCK) * BLOCK;
  const chunk = chunkRows(profile);
  const size: BidiagonalSize = { n, batch, padded, chunk, chunks: Math.ceil(n / chunk) };
  const parts = kind.isComplex ? [2] : [];
  const numbers = (...extents: number[]) => ({ dtype: kind.type, shape: [batch, ...extents, ...parts] });
  const counter = { dtype: "i32", shape: [] } as const;
  const temporary = (index: number): RoutineBuffer => ({ kind: "temporary", index });
  const result = (part: number): RoutineBuffer => ({ kind: "result", part });
  const [a, y, u, z, sums, inner] = [0, 1, 2, 3, 4, 5].map(temporary);
  const [v, count] = [(j: number) => temporary(6 + (j % 2)), (j: number) => temporary(8 + (j % 2))];
  const turn = temporary(10);
  const quick = quickDivision(settings, profile);
  const [column, row] = [columnKernel, rowKernel].map((make) => make(size, kind, profile, quick));
  const [change, multiply] = [changeKernel, productKernel].map((make) => make(size, kind, profile, settings));
  const steps: RoutineStep[] = [
    {
      kernel: startKernel(size, kind, settings),
      buffers: [{ kind: "input", index: 0 }, a, y, u, z, v(0), count(0)],
      formula: ([from, to, ...rest]) => `${to} = ${from}, with zeros beyond; ${rest.join(" = ")} = 0`,
    },
  ];
  for (let j = 0; j < n; j++) {
    steps.push({
      kernel: column,
      buffers: [a, y, u, z, v(j), v(j + 1), count(j), count(j + 1), turn, ...[0, 2, 3].map(result)],
      formula: ([from, , , , , , number]) => `the reflection of column ${number} of ${from}`,
    });
    if (j < n - 1) {
      steps.push({
        kernel: change,
        buffers: [a, y, u, z, v(j), v(j + 1), count(j + 1), sums],
        formula: ([to, beside, vector, product, before, now, , made]) =>
          `${to} = ${to} - ${before} ${beside} - ${product} ${vector}ᴴ; ${made} = ${now}ᴴ ${to}, in parts`,
      });
    }
    steps.push({
      kernel: row,
      buffers: [a, sums, count(j + 1), turn, y, u, inner, ...[1, 2, 3].map(result)],
      formula: ([from, , number]) => `the reflection of row ${number} - 1 of ${from}`,
    });
    if (j < n - 1) {
      steps.push({
        kernel: multiply,
        buffers: [a, u, v(j + 1), inner, count(j + 1), result(3), z],
        formula: ([from, vector, before, , , , made]) => `${made} = τ (${from} - ${before} ŷ) ${vector}`,
      });
    }
  }
  const line = numbers(padded);
  const temporaries = [numbers(padded, padded), line, line, line, numbers(size.chunks, padded), numbers(), line, line];
  return { temporaries: [...temporaries, counter, counter, numbers()], steps };
};

/** The matrix with zeros beyond it; vectors of zeros, as if a reflection had been before the first. */
function startKernel({ n, batch, padded }: BidiagonalSize, kind: NumberKind, settings: ElementSettings): Kernel {
  const k = new KernelBuilder(`bidiagonal start[${n}]`, batch * padded * padded);
  const field = new Field(k, kind, settings);
  const [from, to] = [false, true].map((isWritten) => field.buffer(isWritten));
  const lines = [0, 1, 2, 3].map(() => field.buffer(true));
  const count = k.buffer("i32", true);
  const i = (value: number) => k.constant("i32", value);
  const line = k.binary("idiv", k.row, i(padded));
  const [row, column] = [k.binary("irem", line, i(padded)), k.binary("irem", k.row, i(padded))];
  const member = k.binary("idiv", line, i(padded));
  const isThere = k.binary("and", k.compare("lt", row, i(n)), k.compare("lt", column, i(n)));
  const place = k.binary("add", k.binary("mul", k.binary("add", k.binary("mul", member, i(n)), row), i(n)), column);
  field.store(to, k.row, field.select(isThere, field.load(from, k.select(isThere, place, i(0))), field.zero));
  for (const vector of lines) field.store(vector, k.row, field.zero, k.compare("lt", k.row, i(batch * padded)));
  k.store(count, i(0), i(0), true, k.compare("eq", k.row, i(0)));
  return k.finish();
}

/** Lanes that share a column or a row. */
const LINE_LANES = 256;

/** The matrix of a workgroup, and the number of the column. */
class Line {
  constructor(
    readonly k: KernelBuilder,
    readonly field: Field,
    readonly size: BidiagonalSize,
    readonly step: Value,
  ) {}

  i(value: number): Value {
    return this.k.constant("i32", value);
  }

  /** A place in a line of this member. */
  at(index: Value): Value {
    return this.k.binary("add", this.k.binary("mul", this.k.row, this.i(this.size.padded)), index);
  }

  /** A place in the matrix of this member. */
  element(row: Value, column: Value): Value {
    return this.k.binary("add", this.k.binary("mul", this.at(row), this.i(this.size.padded)), column);
  }

  /** Row `which` of part 0 or 1 of the factors. */
  factor(part: 0 | 1, which: Value): Value {
    const { k, size } = this;
    const first = k.binary("add", k.binary("mul", k.row, this.i(2 * size.n)), this.i(part * size.n));
    return k.binary("add", first, which);
  }

  isBehind(index: Value, last: Value): Value {
    const { k, size } = this;
    return k.binary("and", k.compare("gt", index, last), k.compare("lt", index, this.i(size.n)));
  }

  /**
   * Stores the reflection of a line that has its head at `head`: the vector, the factor and the element that is left. `isNone`: there is
   * no such line.
   */
  store(
    line: Workspace,
    head: Value,
    squares: Value,
    isNone: Value | null,
    to: { readonly part: 0 | 1; readonly band: number; readonly vectors: number; readonly factors: number },
  ): { readonly factor: Num; readonly vector: (index: Value) => Num } {
    const { k, field, step } = this;
    const { n, padded } = this.size;
    const none = (x: Num) => (isNone ? field.select(isNone, field.zero, x) : x);
    const first = none(line.get(k.binary("min", head, this.i(padded - 1))));
    const { beta, tau, inverse } = reflectionOf(k, field, first, squares);
    const isFirst = k.compare("eq", k.lane, this.i(0));
    const own = k.binary("add", k.binary("mul", k.row, this.i(n)), step);
    k.store(to.band, own, beta.re, k.lanes === 1, isFirst);
    field.store(to.factors, this.factor(to.part, step), tau, isFirst);
    const vector = (index: Value) => {
      const isOne = k.compare("eq", index, head);
      const below = field.select(this.isBehind(index, head), field.mul(line.get(index), inverse), field.zero);
      return none(field.select(isOne, field.one, below));
    };
    const place = k.binary("mul", this.factor(to.part, step), this.i(n));
    eachByLane(k, n, (index) => field.store(to.vectors, k.binary("add", place, index), vector(index)));
    return { factor: tau, vector };
  }
}

/** The column of this step, as the reflections before leave it, and its reflection. */
function columnKernel(
  size: BidiagonalSize,
  kind: NumberKind,
  { maxLanes }: TargetProfile,
  settings: ElementSettings,
): Kernel {
  const k = new KernelBuilder(`bidiagonal column[${size.n}]`, size.batch, Math.min(maxLanes, LINE_LANES));
  const field = new Field(k, kind, settings);
  const [a, y, u, z, before] = [0, 1, 2, 3, 4].map(() => field.buffer(false));
  const now = field.buffer(true);
  const [count, next] = [k.buffer("i32", false), k.buffer("i32", true)];
  const turn = field.buffer(true);
  const [diagonal, vectors, factors] = [k.buffer(kind.type, true), field.buffer(true), field.buffer(true)];
  const step = k.load(count, k.constant("i32", 0), "i32");
  const line = new Line(k, field, size, step);
  const column = arrayWorkspace(field, size.padded);
  const along = [field.load(y, line.at(step)), field.conj(field.load(u, line.at(step)))];
  const [below] = overLanes(k, field, size.padded, [field.zero], (row, [total]) => {
    const given = field.load(a, line.element(row, step));
    const less = field.mulSub(field.load(before, line.at(row)), along[0], given);
    const left = field.mulSub(field.load(z, line.at(row)), along[1], less);
    column.set(row, left);
    const square = field.real(field.squared(left));
    return [field.add(total, field.select(line.isBehind(row, step), square, field.zero))];
  });
  const squares = k.combineLanes("add", below.re);
  k.barrier();
  const { factor, vector } = line.store(column, step, squares, null, { part: 1, band: diagonal, vectors, factors });
  field.store(turn, k.row, factor, k.compare("eq", k.lane, line.i(0)));
  eachByLane(k, size.padded, (row) => field.store(now, line.at(row), vector(row)));
  const counts = k.binary("and", k.compare("eq", k.lane, line.i(0)), k.compare("eq", k.row, line.i(0)));
  k.store(next, line.i(0), k.binary("add", step, line.i(1)), k.lanes === 1, counts);
  return k.finish();
}

/** ŷ = τ* vᴴ A, the row of this step less ŷ, its reflection u, and the number ŷ u. */
function rowKernel(
  size: BidiagonalSize,
  kind: NumberKind,
  { maxLanes }: TargetProfile,
  settings: ElementSettings,
): Kernel {
  const { n, padded } = size;
  const k = new KernelBuilder(`bidiagonal row[${n}]`, size.batch, Math.min(maxLanes, LINE_LANES));
  const field = new Field(k, kind, settings);
  const [a, sums, count] = [field.buffer(false), field.buffer(false), k.buffer("i32", false)];
  const turn = field.buffer(false);
  const [y, u, inner] = [field.buffer(true), field.buffer(true), field.buffer(true)];
  const [beside, vectors, factors] = [k.buffer(kind.type, true), field.buffer(true), field.buffer(true)];
  const i = (value: number) => k.constant("i32", value);
  const step = k.binary("sub", k.load(count, i(0), "i32"), i(1));
  const line = new Line(k, field, size, step);
  // It is among the factors, too. But where a kernel reads a buffer that it writes, barriers wait for memory.
  const tau = field.conj(field.load(turn, k.row));
  const product = sumOfParts(line, sums);
  const [row, change] = [arrayWorkspace(field, padded), arrayWorkspace(field, padded)];
  const head = k.binary("add", step, i(1));
  const [behind] = overLanes(k, field, padded, [field.zero], (column, [total]) => {
    const isThere = line.isBehind(column, step);
    const own = field.select(isThere, field.mul(tau, product(column)), field.zero);
    change.set(column, own);
    const left = field.conj(field.sub(field.load(a, line.element(step, column)), own));
    row.set(column, left);
    const square = field.real(field.squared(left));
    return [field.add(total, field.select(line.isBehind(column, head), square, field.zero))];
  });
  const squares = k.combineLanes("add", behind.re);
  k.barrier();
  const isNone = k.compare("ge", step, i(n - 1));
  const { vector } = line.store(row, head, squares, isNone, { part: 0, band: beside, vectors, factors });
  const [total] = overLanes(k, field, padded, [field.zero], (column, [sum]) => {
    const [own, made] = [change.get(column), vector(column)];
    field.store(y, line.at(column), own);
    field.store(u, line.at(column), made);
    return [field.add(sum, field.mul(own, made))];
  });
  const whole = field.sumLanes(total);
  field.store(inner, k.row, whole, k.compare("eq", k.lane, i(0)));
  return k.finish();
}

/** The sums of the parts of vᴴ A that chunks of rows left, by column. Chunks before the step left none. */
function sumOfParts({ k, field, size, step }: Line, sums: number): (column: Value) => Num {
  const { padded, chunk, chunks } = size;
  const constant = (value: number) => k.constant("i32", value);
  const first = k.binary("mul", k.row, constant(chunks * padded));
  const partOf = (at: Value, column: Value) => {
    const place = k.binary("add", k.binary("mul", at, constant(padded)), column);
    return field.load(sums, k.binary("add", first, place));
  };
  const begin = k.binary("idiv", step, constant(chunk));
  if (k.lanes > 1) {
    return (column) =>
      field.loop(chunks, [field.zero], (at, [sum]) => {
        const isPart = k.compare("ge", at, begin);
        return [field.add(sum, field.select(isPart, partOf(at, column), field.zero))];
      })[0];
  }
  const totals = arrayWorkspace(field, padded);
  eachByLane(k, padded, (column) => totals.set(column, field.zero));
  k.loop(chunks, [], (at) => {
    k.when(k.compare("ge", at, begin), () => {
      eachByLane(k, padded, (column) => totals.set(column, field.add(totals.get(column), partOf(at, column))));
      return [];
    });
    return [];
  });
  return (column) => totals.get(column);
}
