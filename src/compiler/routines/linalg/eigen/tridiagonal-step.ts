/**
 * A column of tridiagonal.ts on a GPU, as one kernel: its reflection, and the matrix changed by the reflection before, A - v wᴴ - w vᴴ,
 * and multiplied by the new vector on the way. Each workgroup finds the column for itself (tridiagonal-column.ts) and changes a few rows.
 * Two kernels would do less work, but waiting for the first takes longer than to repeat it: 9 µs a column of 256 rows on an H200.
 */
import type { ElementSettings } from "../../../elements/elements.js";
import type { Kernel, Value } from "../../../ir/ir.js";
import { KernelBuilder } from "../../../ir/kernel-builder.js";
import type { TargetProfile } from "../../../target/profile.js";
import { Field, type Num, type NumberKind, valuesOf } from "../field.js";
import { quickDivision } from "../panel.js";
import { powerOfTwo } from "../workspace.js";
import { type ColumnReflection, ColumnStep, type Position } from "./tridiagonal-column.js";
import type { TridiagonalSize } from "./tridiagonal-size.js";

/** Lanes of a workgroup: more of them wait longer for each other than they gain. */
const LANES = 256;
/** Columns at most that a lane loads before it waits. */
const AT_ONCE = 4;
/** Workgroups that keep a GPU busy; larger matrices have more rows to each. */
const WORKGROUPS = 128;
/** Rows of a workgroup: at least, and at most. */
const [FEWEST, MOST] = [2, 8];
/** With slow barriers, the lanes of one subgroup do all of it. */
const ALONE = { lanes: 8, rows: 16 };

/** Lanes and rows of a workgroup. */
function workgroupOf({ n, batch }: TridiagonalSize, { hasSlowBarriers, maxLanes }: TargetProfile) {
  if (hasSlowBarriers) return ALONE;
  const rows = powerOfTwo(Math.ceil((n * batch) / WORKGROUPS));
  return { lanes: Math.min(maxLanes, LANES), rows: Math.min(MOST, Math.max(FEWEST, rows)) };
}

/** Buffers: those of `ColumnStep`; the changed matrix, and its product with the new vector. */
export function stepKernel(
  size: TridiagonalSize,
  kind: NumberKind,
  profile: TargetProfile,
  settings: ElementSettings,
): Kernel {
  const { lanes, rows } = workgroupOf(size, profile);
  const chunks = Math.ceil(size.n / rows);
  const k = new KernelBuilder(`tridiagonal step[${size.n}]`, size.batch * chunks, lanes);
  const i = (value: number) => k.constant("i32", value);
  const [member, chunk] = [k.binary("idiv", k.row, i(chunks)), k.binary("irem", k.row, i(chunks))];
  const field = new Field(k, kind, quickDivision(settings, profile));
  const column = new ColumnStep(k, field, size, member);
  const step = new RowsStep(k, field, size, column);
  const first = k.binary("mul", chunk, i(rows));
  // The last rows are behind every column but their own: their workgroup stores what all have found.
  const isOwn = k.compare("eq", chunk, i(chunks - 1));
  const isBehind = k.compare("gt", k.binary("add", first, i(rows - 1)), column.step);
  k.when(k.binary("or", isOwn, isBehind), () => {
    column.loadAhead();
    step.loadAhead(first, rows);
    const besideOf = column.beside();
    const reflection = column.find(undefined, besideOf);
    column.store(reflection, isOwn);
    step.write(first, rows, besideOf, reflection);
    return [];
  });
  return k.finish();
}

/** A row of the workgroup, and its elements of the vector before and of w. */
interface OwnRow {
  readonly row: Value;
  readonly v: Num;
  readonly w: Num;
}

class RowsStep {
  private readonly to: number;
  private readonly y: number;

  constructor(
    private readonly k: KernelBuilder,
    private readonly field: Field,
    private readonly size: TridiagonalSize,
    private readonly column: ColumnStep,
  ) {
    [this.to, this.y] = [field.buffer(true), field.buffer(true)];
  }

  private i(value: number): Value {
    return this.k.constant("i32", value);
  }

  private row(first: Value, at: number): Value {
    const { k } = this;
    return k.binary("min", k.binary("add", first, this.i(at)), this.i(this.size.n - 1));
  }

  /** Begins to load the elements of some rows: see `ColumnStep.loadAhead`. */
  loadAhead(first: Value, count: number): void {
    for (const { safe } of this.column.positions ?? []) {
      for (let at = 0; at < count; at++) this.column.given(this.row(first, at), safe);
    }
  }

  /** Rows from `first` on. */
  write(first: Value, count: number, besideOf: (index: Value) => Num, reflection: ColumnReflection): void {
    const { k, field, column, size } = this;
    const own = Array.from({ length: count }, (_, at): OwnRow => {
      const row = this.row(first, at);
      return { row, v: column.before(row), w: besideOf(row) };
    });
    const sums = this.partsOfRows(own, besideOf, reflection).map((part) => field.sumLanes(part));
    const isFirst = k.compare("eq", k.lane, this.i(0));
    own.forEach(({ row }, at) => {
      const isNeeded = k.binary("and", isFirst, k.compare("lt", k.binary("add", first, this.i(at)), this.i(size.n)));
      field.store(this.y, column.at(row), sums[at], isNeeded);
    });
  }

  /** A lane's elements of the rows, changed and stored, times the new vector: a sum for each row. Lanes go along the rows together. */
  private partsOfRows(
    own: readonly OwnRow[],
    besideOf: (index: Value) => Num,
    { vector }: ColumnReflection,
  ): readonly Num[] {
    const { k, field, column, size } = this;
    const none = own.map(() => field.zero);
    if (column.positions) return this.elements(own, column.positions, none, besideOf, vector);
    const width = k.lanes * AT_ONCE;
    const skipped = k.binary("idiv", k.binary("add", column.step, this.i(1)), this.i(width));
    const begin = k.binary("add", k.binary("mul", skipped, this.i(width)), k.lane);
    const unflat = (values: readonly Value[]): Num[] =>
      own.map((_, at) =>
        field.isComplex ? { re: values[2 * at], im: values[2 * at + 1] } : { re: values[at], im: null },
      );
    const [, ...last] = k.loop(
      Math.ceil(size.n / width),
      [begin, ...none.flatMap(valuesOf)],
      (_, [start, ...carried]) => {
        const positions = Array.from({ length: AT_ONCE }, (_, at) => {
          const index = k.binary("add", start, this.i(at * k.lanes));
          return { index, safe: k.binary("min", index, this.i(size.n - 1)) };
        });
        const sums = this.elements(own, positions, unflat(carried), besideOf, vector);
        return [k.binary("add", start, this.i(width)), ...sums.flatMap(valuesOf)];
      },
      { exitWhen: ([next]) => k.compare("ge", k.binary("sub", next, k.lane), this.i(size.n)) },
    );
    return unflat(last);
  }

  /** The elements at some positions; sums with their products. Columns before the step have none. */
  private elements(
    own: readonly OwnRow[],
    positions: readonly Position[],
    sums: readonly Num[],
    besideOf: (index: Value) => Num,
    vector: (index: Value) => Num,
  ): Num[] {
    const { k, field, column } = this;
    const isThere = positions.map(({ index }) => k.compare("lt", index, this.i(this.size.n)));
    const given = own.map(({ row }) => positions.map(({ safe }) => column.given(row, safe)));
    const across = positions.map(({ safe }) => ({ v: column.before(safe), w: besideOf(safe), next: vector(safe) }));
    return own.map(({ row, v, w }, r) =>
      across.reduce((sum, other, c) => {
        const { index, safe } = positions[c];
        const less = field.mulSub(v, field.conj(other.w), given[r][c]);
        const x = field.mulSub(w, field.conj(other.v), less);
        field.store(this.to, column.place(row, safe), x, isThere[c]);
        const isBehind = k.binary("and", isThere[c], k.compare("gt", index, column.step));
        return field.add(sum, field.select(isBehind, field.mul(x, other.next), field.zero));
      }, sums[r]),
    );
  }
}
