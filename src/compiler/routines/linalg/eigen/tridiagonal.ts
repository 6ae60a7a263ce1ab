/**
 * Hermitian matrices reduced to real tridiagonal form, T = Qᴴ A Q, by Householder reflections from both sides. A column takes
 * two kernels. The first, a workgroup to a matrix, finds the column as the reflections before it leave it, and its own
 * reflection. The second (tridiagonal-product.ts) changes the whole matrix by the reflection before, and multiplies it by the
 * new vector on the way: each element is read and written once for a column. The same kernels serve all columns: they read the
 * number of the column from memory, where the kernel before wrote it. On a GPU one kernel does the last columns (tridiagonal-end.ts).
 */
import { productOf } from "../../../../core/shape.js";
import type { ElementSettings } from "../../../elements/elements.js";
import type { Kernel, Value } from "../../../ir/ir.js";
import { KernelBuilder } from "../../../ir/kernel-builder.js";
import type { TargetProfile } from "../../../target/profile.js";
import type { Routine, RoutineBuffer, RoutineStep } from "../../../target/routine.js";
import { Field, kindOf, type Num, type NumberKind, shapeOf } from "../field.js";
import { reflectionOf } from "../reflection.js";
import { arrayWorkspace, eachByLane, overLanes, type Workspace } from "../workspace.js";
import { endKernel, endRows } from "./tridiagonal-end.js";
import { BLOCK, productKernel, type TridiagonalSize } from "./tridiagonal-product.js";

/**
 * Inputs: Hermitian matrices [.., n, n]. Results: the diagonal [.., n]; what is beside it, [.., n], the last 0; the vectors of the
 * reflections, as rows [.., n, n], and their factors [.., n]. The last reflection is none.
 */
export const tridiagonalRoutine: Routine = (node, profile, settings) => {
  const kind = kindOf(node);
  const shape = shapeOf(node.inputs[0], kind.isComplex);
  const n = shape.at(-1) as number;
  const batch = productOf(shape.slice(0, -2));
  const padded = Math.ceil(n / BLOCK) * BLOCK;
  const size: TridiagonalSize = { n, batch, padded };
  const parts = kind.isComplex ? [2] : [];
  const matrix = { dtype: kind.type, shape: [batch, padded, padded, ...parts] };
  const line = { dtype: kind.type, shape: [batch, padded, ...parts] };
  const counter = { dtype: "i32", shape: [] } as const;
  const temporary = (index: number): RoutineBuffer => ({ kind: "temporary", index });
  const result = (part: number): RoutineBuffer => ({ kind: "result", part });
  const [a, v, count, y, w] = [
    (p: number) => temporary(p % 2),
    (p: number) => temporary(2 + (p % 2)),
    (p: number) => temporary(4 + (p % 2)),
    temporary(6),
    temporary(7),
  ];
  const find = vectorKernel(size, kind, profile, settings);
  const change = productKernel(size, kind, profile, settings);
  const steps: RoutineStep[] = [
    {
      kernel: copyKernel(size, kind, settings),
      buffers: [{ kind: "input", index: 0 }, a(0), v(0), count(0)],
      formula: ([from, to, vector, number]) => `${to} = ${from}, with zeros beyond; ${vector} = 0; ${number} = 0`,
    },
  ];
  const end = endRows(n, kind, profile);
  for (let j = 0; j < n - end; j++) {
    steps.push({
      kernel: find,
      buffers: [a(j), y, v(j), v(j + 1), w, count(j), count(j + 1), ...[0, 1, 2, 3].map(result)],
      formula: ([from, , , , , number]) => `the reflection of column ${number} of ${from}`,
    });
    if (j === n - 1) break;
    steps.push({
      kernel: change,
      buffers: [a(j), a(j + 1), v(j), v(j + 1), w, count(j + 1), y],
      formula: ([from, to, before, now, beside, , product]) =>
        `${to} = ${from} - ${before} ${beside}ᴴ - ${beside} ${before}ᴴ; ${product} = ${to} · ${now}`,
    });
  }
  if (end > 0) {
    steps.push({
      kernel: endKernel(size, end, kind, profile, settings),
      buffers: [a(n - end), y, v(n - end), ...[0, 1, 2, 3].map(result)],
      formula: ([from]) => `the reflections of the last ${end} columns of ${from}`,
    });
  }
  return { temporaries: [matrix, matrix, line, line, counter, counter, line, line], steps };
};

function copyKernel({ n, batch, padded }: TridiagonalSize, kind: NumberKind, settings: ElementSettings): Kernel {
  const k = new KernelBuilder(`tridiagonal start[${n}]`, batch * padded * padded);
  const field = new Field(k, kind, settings);
  const [from, to, vector] = [false, true, true].map((isWritten) => field.buffer(isWritten));
  const count = k.buffer("i32", true);
  const i = (value: number) => k.constant("i32", value);
  const line = k.binary("idiv", k.row, i(padded));
  const [row, column] = [k.binary("irem", line, i(padded)), k.binary("irem", k.row, i(padded))];
  const member = k.binary("idiv", line, i(padded));
  const isThere = k.binary("and", k.compare("lt", row, i(n)), k.compare("lt", column, i(n)));
  const place = k.binary("add", k.binary("mul", k.binary("add", k.binary("mul", member, i(n)), row), i(n)), column);
  field.store(to, k.row, field.select(isThere, field.load(from, k.select(isThere, place, i(0))), field.zero));
  field.store(vector, k.row, field.zero, k.compare("lt", k.row, i(batch * padded)));
  k.store(count, i(0), i(0), true, k.compare("eq", k.row, i(0)));
  return k.finish();
}

/** Lanes that share a column: on an H200 more of them wait longer for each other than they gain. */
const COLUMN_LANES = 256;

/** The column of this step, as the reflection before leaves it, and its reflection. */
function vectorKernel(
  size: TridiagonalSize,
  kind: NumberKind,
  { maxLanes }: TargetProfile,
  settings: ElementSettings,
): Kernel {
  const k = new KernelBuilder(`tridiagonal column[${size.n}]`, size.batch, Math.min(maxLanes, COLUMN_LANES));
  const column = new ColumnStep(k, new Field(k, kind, settings), size);
  const squares = column.find();
  k.barrier();
  column.store(squares);
  return k.finish();
}

class ColumnStep {
  /** Buffers, in the order of their numbers. */
  private readonly lines: { readonly [name in "a" | "y" | "before" | "now" | "w"]: number };
  private readonly counts: readonly [count: number, next: number];
  private readonly made: { readonly [name in "diagonal" | "beside" | "vectors" | "factors"]: number };
  private readonly step: Value;
  /** The first element of this member, in lines that are filled up and in results. */
  private readonly start: Value;
  private readonly own: Value;
  /** A reflection came before this one: its factor is τ. */
  private readonly isLater: Value;
  private readonly tau: Num;
  private readonly column: Workspace;

  constructor(
    private readonly k: KernelBuilder,
    private readonly field: Field,
    private readonly size: TridiagonalSize,
  ) {
    const { n, padded } = size;
    const { type } = field;
    const [a, y, before, now, w] = [false, false, false, true, true].map((isWritten) => field.buffer(isWritten));
    this.lines = { a, y, before, now, w };
    this.counts = [k.buffer("i32", false), k.buffer("i32", true)];
    const [diagonal, beside] = [k.buffer(type, true), k.buffer(type, true)];
    this.made = { diagonal, beside, vectors: field.buffer(true), factors: field.buffer(true) };
    this.step = k.load(this.counts[0], this.i(0), "i32");
    this.start = k.binary("mul", k.row, this.i(padded));
    this.own = k.binary("mul", k.row, this.i(n));
    this.isLater = k.compare("gt", this.step, this.i(0));
    const earlier = k.binary("max", k.binary("sub", this.step, this.i(1)), this.i(0));
    const known = field.read(this.made.factors, k.binary("add", this.own, earlier));
    this.tau = field.select(this.isLater, known, field.zero);
    this.column = arrayWorkspace(field, padded);
  }

  private i(value: number): Value {
    return this.k.constant("i32", value);
  }

  private at(index: Value): Value {
    return this.k.binary("add", this.start, index);
  }

  private isFrom(index: Value): Value {
    const { k, step, size } = this;
    return k.binary("and", k.compare("ge", index, step), k.compare("lt", index, this.i(size.n)));
  }

  private isBelow(index: Value): Value {
    const { k, step, size } = this;
    const next = k.binary("add", step, this.i(1));
    return k.binary("and", k.compare("gt", index, next), k.compare("lt", index, this.i(size.n)));
  }

  /** x = τ A v, and w = x - ½ τ (xᴴ v) v: w at a position. */
  private beside(): (index: Value) => Num {
    const { k, field, tau, size } = this;
    const { y, before } = this.lines;
    const [sum] = overLanes(k, field, size.padded, [field.zero], (index, [total]) => {
      const x = field.conj(field.mul(tau, field.load(y, this.at(index))));
      const product = field.mul(x, field.load(before, this.at(index)));
      return [field.add(total, field.select(this.isFrom(index), product, field.zero))];
    });
    const back = field.scale(field.mul(tau, field.sumLanes(sum)), k.constant(field.type, -0.5));
    return (index) => {
      const x = field.mul(tau, field.load(y, this.at(index)));
      const made = field.add(x, field.mul(back, field.load(before, this.at(index))));
      return field.select(k.binary("and", this.isLater, this.isFrom(index)), made, field.zero);
    };
  }

  /** The column, and w; the sum of squares below the first element beside the diagonal. */
  find(): Value {
    const { k, field, isLater, step, size } = this;
    const { a, before, w } = this.lines;
    const besideOf = this.beside();
    const [own1, own2] = [
      field.conj(besideOf(step)),
      field.conj(field.select(isLater, field.load(before, this.at(step)), field.zero)),
    ];
    const line = k.binary("mul", k.binary("add", this.start, step), this.i(size.padded));
    const [below] = overLanes(k, field, size.padded, [field.zero], (index, [total]) => {
      const beside = besideOf(index);
      field.store(w, this.at(index), beside);
      // Row `step`, turned around, is the column, and lies side by side.
      const given = field.conj(field.load(a, k.binary("add", line, index)));
      const v = field.select(isLater, field.load(before, this.at(index)), field.zero);
      const left = field.sub(field.sub(given, field.mul(v, own1)), field.mul(beside, own2));
      this.column.set(index, left);
      const isBelow = this.isBelow(index);
      return [field.add(total, field.select(isBelow, field.real(field.squared(left)), field.zero))];
    });
    return k.combineLanes("add", below.re);
  }

  /** The reflection of the column, and the number of the next step. */
  store(squares: Value): void {
    const { k, field, step, own, column } = this;
    const { n, padded } = this.size;
    const { diagonal, beside, vectors, factors } = this.made;
    const isLast = k.compare("ge", step, this.i(n - 1));
    const next = column.get(k.binary("min", k.binary("add", step, this.i(1)), this.i(padded - 1)));
    const head = field.select(isLast, field.zero, next);
    const { beta, tau: factor, inverse } = reflectionOf(k, field, head, squares);
    const isFirst = k.compare("eq", k.lane, this.i(0));
    const to = k.binary("add", own, step);
    k.store(diagonal, to, column.get(step).re, k.lanes === 1, isFirst);
    k.store(beside, to, beta.re, k.lanes === 1, isFirst);
    field.store(factors, to, factor, isFirst);
    const counts = k.binary("and", isFirst, k.compare("eq", k.row, this.i(0)));
    k.store(this.counts[1], this.i(0), k.binary("add", step, this.i(1)), k.lanes === 1, counts);
    const place = k.binary("mul", to, this.i(n));
    eachByLane(k, padded, (index) => {
      const isOne = k.compare("eq", index, k.binary("add", step, this.i(1)));
      const below = field.select(this.isBelow(index), field.mul(column.get(index), inverse), field.zero);
      const kept = field.select(isLast, field.zero, field.select(isOne, field.one, below));
      field.store(this.lines.now, this.at(index), kept);
      field.store(vectors, k.binary("add", place, index), kept, k.compare("lt", index, this.i(n)));
    });
  }
}
