/**
 * The second kernel of a column of tridiagonal.ts: the matrix changed by the reflection before, A - v wᴴ - w vᴴ, and multiplied
 * by the new vector on the way. A thread of a CPU has many rows, and goes along one after another; the lanes of a small workgroup of
 * a GPU go along a few rows together.
 */
import type { ElementSettings } from "../../../elements/elements.js";
import type { Kernel, Value } from "../../../ir/ir.js";
import { KernelBuilder } from "../../../ir/kernel-builder.js";
import type { TargetProfile } from "../../../target/profile.js";
import { Field, type Num, type NumberKind, valuesOf } from "../field.js";

/** Rows and columns are filled up with zeros to a multiple of this: the CPU takes so many at once. */
export const BLOCK = 64;
/** Rows of a workgroup, which share what is read of the vectors, its lanes, and the columns that a lane loads before it waits. */
const ROWS = 2;
const LANES = 32;
const AT_ONCE = 4;
/** Rows of a thread of the CPU. */
const CHUNK = 32;

/** The order of the matrices, how many there are, and the rows and columns of their memory. */
export interface TridiagonalSize {
  readonly n: number;
  readonly batch: number;
  readonly padded: number;
}

/**
 * Buffers: the matrix, and the changed one; v, the new vector and w; the number of the column behind this one; the product. Only rows
 * and columns from that number on are changed.
 */
export function productKernel(
  size: TridiagonalSize,
  kind: NumberKind,
  { maxLanes }: TargetProfile,
  settings: ElementSettings,
): Kernel {
  const isAlone = maxLanes === 1;
  const each = isAlone ? CHUNK : ROWS;
  const rows = size.batch * Math.ceil(size.n / each);
  const k = new KernelBuilder(`tridiagonal product[${size.n}]`, rows, isAlone ? 1 : Math.min(maxLanes, LANES));
  const product = new ProductStep(k, new Field(k, kind, settings), size, each);
  if (isAlone) product.writeRows();
  else product.writeTogether();
  return k.finish();
}

class ProductStep {
  /** Buffers, in the order of their numbers. */
  private readonly lines: { readonly [name in "from" | "to" | "before" | "now" | "w"]: number };
  private readonly y: number;
  private readonly step: Value;
  /** Rows of the member before, filled up, and the first row or column of this chunk. */
  private readonly member: Value;
  private readonly first: Value;

  constructor(
    private readonly k: KernelBuilder,
    private readonly field: Field,
    private readonly size: TridiagonalSize,
    each: number,
  ) {
    const [from, to, before, now, w] = [false, true, false, false, false].map((isWritten) => field.buffer(isWritten));
    this.lines = { from, to, before, now, w };
    const count = k.buffer("i32", false);
    this.y = field.buffer(true);
    const chunks = Math.ceil(size.n / each);
    this.step = k.binary("sub", k.load(count, this.i(0), "i32"), this.i(1));
    this.member = k.binary("mul", k.binary("idiv", k.row, this.i(chunks)), this.i(size.padded));
    this.first = k.binary("mul", k.binary("irem", k.row, this.i(chunks)), this.i(each));
  }

  private i(value: number): Value {
    return this.k.constant("i32", value);
  }

  private vector(buffer: number, index: Value): Num {
    return this.field.load(buffer, this.k.binary("add", this.member, index));
  }

  private at(row: Value, column: Value): Value {
    const { k } = this;
    return k.binary("add", k.binary("mul", k.binary("add", this.member, row), this.i(this.size.padded)), column);
  }

  /** A thread's rows, one after another. */
  writeRows(): void {
    const { k, field, step, size } = this;
    const { before, w } = this.lines;
    k.loop(CHUNK, [], (at0) => {
      const row = k.binary("add", this.first, at0);
      k.when(k.binary("and", k.compare("gt", row, step), k.compare("lt", row, this.i(size.n))), () => {
        const [v, beside] = [this.vector(before, row), this.vector(w, row)];
        const [total] = field.loop(size.padded / BLOCK, [field.zero], (block, [sum]) => {
          const begin = k.binary("mul", block, this.i(BLOCK));
          const isNeeded = k.compare("gt", k.binary("add", begin, this.i(BLOCK - 1)), step);
          const found = k.when(
            isNeeded,
            () => valuesOf(field.add(sum, this.blockOfRow(row, begin, v, beside))),
            () => valuesOf(sum),
          );
          return [{ re: found[0], im: found[1] ?? null }];
        });
        field.store(this.y, k.binary("add", this.member, row), total);
        return [];
      });
      return [];
    });
  }

  /** A block of a row, changed and stored, times the new vector. */
  private blockOfRow(row: Value, begin: Value, v: Num, beside: Num): Num {
    const { k, field } = this;
    const { from, to, before, now, w } = this.lines;
    const [part] = field.loop(BLOCK, [field.zero], (column, [partial]) => {
      const c = k.binary("add", begin, column);
      const place = this.at(row, c);
      const [cv, cw] = [field.conj(this.vector(before, c)), field.conj(this.vector(w, c))];
      const x = field.mulSub(beside, cv, field.mulSub(v, cw, field.load(from, place)));
      field.store(to, place, x);
      return [field.add(partial, field.mul(x, this.vector(now, c)))];
    });
    return part;
  }

  /** A few rows, by lanes that are neighbours along them. */
  writeTogether(): void {
    const { k, field, first, step } = this;
    const rows = Array.from({ length: ROWS }, (_, at) => k.binary("add", first, this.i(at)));
    k.when(k.compare("gt", rows[ROWS - 1], step), () => {
      const sums = this.partsOfRows(rows).map((part) => field.sumLanes(part));
      rows.forEach((row, at) => {
        const isNeeded = k.binary("and", k.compare("gt", row, step), k.compare("lt", row, this.i(this.size.n)));
        const isFirst = k.compare("eq", k.lane, this.i(0));
        field.store(this.y, k.binary("add", this.member, row), sums[at], k.binary("and", isFirst, isNeeded));
      });
      return [];
    });
  }

  /** A lane's elements of some rows, changed and stored, times the new vector: a sum for each row. */
  private partsOfRows(rows: readonly Value[]): Num[] {
    const { k, field, step } = this;
    const { n } = this.size;
    const { before, w } = this.lines;
    const safe = rows.map((row) => k.binary("min", row, this.i(n - 1)));
    const own = safe.map((row) => ({ row, v: this.vector(before, row), w: this.vector(w, row) }));
    const width = k.lanes * AT_ONCE;
    const skipped = k.binary("idiv", k.binary("add", step, this.i(1)), this.i(width));
    const begin = k.binary("add", k.binary("mul", skipped, this.i(width)), k.lane);
    const unflat = (values: readonly Value[]): Num[] =>
      rows.map((_, at) =>
        field.isComplex ? { re: values[2 * at], im: values[2 * at + 1] } : { re: values[at], im: null },
      );
    const [, ...last] = k.loop(
      Math.ceil(n / width),
      [begin, ...rows.flatMap(() => valuesOf(field.zero))],
      (_, [start, ...carried]) => {
        const sums = this.elements(own, start, unflat(carried));
        return [k.binary("add", start, this.i(width)), ...sums.flatMap(valuesOf)];
      },
      { exitWhen: ([next]) => k.compare("ge", k.binary("sub", next, k.lane), this.i(n)) },
    );
    return unflat(last);
  }

  /** The elements at `start` and `lanes` apart; sums with their products. Rows and columns before the step have none. */
  private elements(
    rows: readonly { readonly row: Value; readonly v: Num; readonly w: Num }[],
    start: Value,
    sums: readonly Num[],
  ): Num[] {
    const { k, field, step } = this;
    const { n } = this.size;
    const { from, to, before, now, w } = this.lines;
    const columns = Array.from({ length: AT_ONCE }, (_, at) => k.binary("add", start, this.i(at * k.lanes)));
    const safe = columns.map((column) => k.binary("min", column, this.i(n - 1)));
    const isThere = columns.map((column) => k.compare("lt", column, this.i(n)));
    const given = rows.map(({ row }) => safe.map((column) => field.load(from, this.at(row, column))));
    const [vs, ws, news] = [before, w, now].map((buffer) => safe.map((column) => this.vector(buffer, column)));
    return rows.map((own, r) =>
      columns.reduce((sum, column, c) => {
        const less = field.mulSub(own.v, field.conj(ws[c]), given[r][c]);
        const x = field.mulSub(own.w, field.conj(vs[c]), less);
        field.store(to, this.at(own.row, safe[c]), x, isThere[c]);
        const isBehind = k.binary("and", isThere[c], k.compare("gt", column, step));
        return field.add(sum, field.select(isBehind, field.mul(x, news[c]), field.zero));
      }, sums[r]),
    );
  }
}
