/**
 * The second kernel of a column of tridiagonal.ts: the matrix changed by the reflection before, A - v wᴴ - w vᴴ, and multiplied
 * by the new vector on the way. A thread of a CPU goes along rows; a workgroup of a GPU has neighbouring columns, which are
 * the rows turned around.
 */
import type { ElementSettings } from "../../../elements/elements.js";
import type { Kernel, Value } from "../../../ir/ir.js";
import { KernelBuilder } from "../../../ir/kernel-builder.js";
import type { TargetProfile } from "../../../target/profile.js";
import { Field, type Num, type NumberKind, valuesOf } from "../field.js";
import { arrayWorkspace } from "../workspace.js";

/** Rows and columns are filled up with zeros to a multiple of this: the CPU takes so many at once. */
export const BLOCK = 64;
/** Columns of a workgroup: 32 bytes, what memory gives at once. */
const COLUMNS = 8;
/** Rows that a lane loads before it waits. */
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
  const each = isAlone ? CHUNK : COLUMNS;
  const rows = size.batch * Math.ceil(size.n / each);
  const k = new KernelBuilder(`tridiagonal product[${size.n}]`, rows, isAlone ? 1 : Math.min(maxLanes, 256));
  const product = new ProductStep(k, new Field(k, kind, settings), size, each);
  if (isAlone) product.writeRows();
  else product.writeColumns();
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

  /** A workgroup's columns: lanes are neighbours along a row, `groups` of them below each other. */
  writeColumns(): void {
    const { k, field, first, step } = this;
    const groups = k.lanes / COLUMNS;
    const [group, own] = [k.binary("idiv", k.lane, this.i(COLUMNS)), k.binary("irem", k.lane, this.i(COLUMNS))];
    const column = k.binary("add", first, own);
    const isNeeded = k.compare("gt", k.binary("add", first, this.i(COLUMNS - 1)), step);
    const sums = arrayWorkspace(field, k.lanes);
    k.when(isNeeded, () => {
      sums.set(k.lane, this.partOfColumn(column, group, groups));
      k.barrier();
      k.when(k.binary("and", k.compare("eq", group, this.i(0)), k.compare("gt", column, step)), () => {
        const [total] = field.loop(groups, [field.zero], (g, [before]) => [
          field.add(before, sums.get(k.binary("add", k.binary("mul", g, this.i(COLUMNS)), own))),
        ]);
        field.store(this.y, k.binary("add", this.member, column), total);
        return [];
      });
      return [];
    });
  }

  /** Every row of a group, changed and stored, times the new vector. */
  private partOfColumn(column: Value, group: Value, groups: number): Num {
    const { k, field, step } = this;
    const { n } = this.size;
    const { from, to, before, now, w } = this.lines;
    const [cv, cw] = [field.conj(this.vector(before, column)), field.conj(this.vector(w, column))];
    const begin = k.binary("add", k.binary("add", step, this.i(1)), group);
    const last = k.loop(
      Math.ceil(n / (groups * AT_ONCE)),
      [begin, ...valuesOf(field.zero)],
      (_, [row0, re, im]) => {
        const rows = Array.from({ length: AT_ONCE }, (_r, at0) => k.binary("add", row0, this.i(at0 * groups)));
        const safe = rows.map((row) => k.binary("min", row, this.i(n - 1)));
        const isInside = rows.map((row) => k.compare("lt", row, this.i(n)));
        const given = safe.map((row) => field.load(from, this.at(row, column)));
        const [vs, ws, news] = [before, w, now].map((buffer) => safe.map((row) => this.vector(buffer, row)));
        let sum: Num = { re, im: im ?? null };
        rows.forEach((_row, r) => {
          const x = field.mulSub(ws[r], cv, field.mulSub(vs[r], cw, given[r]));
          field.store(to, this.at(safe[r], column), x, isInside[r]);
          const term = field.mul(field.conj(x), news[r]);
          sum = field.add(sum, field.select(isInside[r], term, field.zero));
        });
        return [k.binary("add", row0, this.i(groups * AT_ONCE)), ...valuesOf(sum)];
      },
      { exitWhen: ([next]) => k.compare("ge", next, this.i(n)) },
    );
    return { re: last[1], im: last[2] ?? null };
  }
}
