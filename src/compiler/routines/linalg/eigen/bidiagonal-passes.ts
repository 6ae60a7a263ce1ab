/**
 * The two passes over the matrix of a column of bidiagonal.ts. The first brings it up to date, A - v ŷ - ẑ uᴴ, and sums the
 * products of its rows with the new vector, a part to each chunk of rows. The second multiplies its rows by the vector u. A thread of
 * a CPU has a chunk of rows and goes along them; on a GPU the lanes of a small workgroup have a column each of a chunk in the
 * first pass, and go along a few rows together in the second.
 */
import type { ElementSettings } from "../../../elements/elements.js";
import type { Kernel, Value } from "../../../ir/ir.js";
import { KernelBuilder } from "../../../ir/kernel-builder.js";
import type { TargetProfile } from "../../../target/profile.js";
import { Field, type Num, type NumberKind, valuesOf } from "../field.js";
import { arrayWorkspace, eachByLane } from "../workspace.js";

/** Rows and columns are filled up with zeros to a multiple of this: the CPU takes so many columns at once, a GPU's workgroup, too. */
export const BLOCK = 64;
/** Rows of a chunk: of a thread of the CPU, and of a workgroup. */
const CHUNK = { alone: 32, together: 16 };
/**
 * Rows that a thread of the CPU takes at once, so that it loads what they share once, and the columns it takes of them: too few for
 * vectors in turn, which would need more registers than there are.
 */
const [TOGETHER, COLUMNS] = [2, 32];
/** Rows of a workgroup of the second pass, its lanes, and the columns that a lane loads before it waits. */
const [ROWS, LANES, AT_ONCE] = [2, 32, 4];

export const chunkRows = ({ maxLanes }: TargetProfile): number => (maxLanes === 1 ? CHUNK.alone : CHUNK.together);

/** The order of the matrices, how many there are, the rows and columns of their memory, rows of a chunk, chunks. */
export interface BidiagonalSize {
  readonly n: number;
  readonly batch: number;
  readonly padded: number;
  readonly chunk: number;
  readonly chunks: number;
}

/** Places of a pass. */
class Pass {
  constructor(
    readonly k: KernelBuilder,
    readonly size: BidiagonalSize,
    /** Which matrix. */
    readonly member: Value,
  ) {}

  i(value: number): Value {
    return this.k.constant("i32", value);
  }

  /** A place in a line of this member. */
  at(index: Value): Value {
    return this.k.binary("add", this.k.binary("mul", this.member, this.i(this.size.padded)), index);
  }

  element(row: Value, column: Value): Value {
    return this.k.binary("add", this.k.binary("mul", this.at(row), this.i(this.size.padded)), column);
  }

  isBetween(index: Value, least: Value): Value {
    return this.k.binary("and", this.k.compare("ge", index, least), this.k.compare("lt", index, this.i(this.size.n)));
  }

  /** Rows that a thread takes at once, from the `at`-th such on behind `first`. */
  rowsTogether(first: Value, at: Value): Value[] {
    const begin = this.k.binary("add", first, this.k.binary("mul", at, this.i(TOGETHER)));
    return Array.from({ length: TOGETHER }, (_, r) => this.k.binary("add", begin, this.i(r)));
  }

  /** Whether some of the rows lie in the matrix, from `least` on. */
  isSomeBetween(rows: readonly Value[], least: Value): Value {
    const { k, size } = this;
    const isBehind = k.compare("ge", rows[rows.length - 1], least);
    return k.binary("and", isBehind, k.compare("lt", rows[0], this.i(size.n)));
  }

  /** The blocks of columns that reach beyond the step; what the body returns for them, else what is carried. */
  neededBlocks(step: Value, initial: readonly Value[], body: (begin: Value, carried: readonly Value[]) => Value[]) {
    const { k, size } = this;
    return k.loop(size.padded / COLUMNS, [...initial], (block, carried) => {
      const begin = k.binary("mul", block, this.i(COLUMNS));
      const isNeeded = k.compare("gt", k.binary("add", begin, this.i(COLUMNS - 1)), step);
      return k.when(
        isNeeded,
        () => body(begin, carried),
        () => [...carried],
      );
    });
  }
}

/** Buffers: the matrix, which is changed; ŷ, u, ẑ, v before and now; the number of the column behind this one; the parts. */
export function changeKernel(
  size: BidiagonalSize,
  kind: NumberKind,
  { maxLanes }: TargetProfile,
  settings: ElementSettings,
): Kernel {
  const { padded, chunk, chunks } = size;
  const lanes = Math.min(maxLanes, BLOCK);
  const blocks = lanes === 1 ? 1 : padded / lanes;
  const k = new KernelBuilder(`bidiagonal change[${size.n}]`, size.batch * chunks * blocks, lanes);
  const field = new Field(k, kind, settings);
  const a = field.buffer(true);
  const [y, u, z, before, now] = [0, 1, 2, 3, 4].map(() => field.buffer(false));
  const count = k.buffer("i32", false);
  const sums = field.buffer(true);
  const i = (value: number) => k.constant("i32", value);
  const step = k.binary("sub", k.load(count, i(0), "i32"), i(1));
  const whole = k.binary("idiv", k.row, i(blocks));
  const pass = new Pass(k, size, k.binary("idiv", whole, i(chunks)));
  const first = k.binary("mul", k.binary("irem", whole, i(chunks)), i(chunk));
  const part = k.binary("mul", whole, i(padded));
  const rowOf = (row: Value) => [now, before, z].map((buffer) => field.load(buffer, pass.at(row)));
  const changed = (row: Value, column: Value, [v, w]: readonly Num[]) => {
    const [own, turned] = [field.load(y, pass.at(column)), field.conj(field.load(u, pass.at(column)))];
    return field.mulSub(w, turned, field.mulSub(v, own, field.read(a, pass.element(row, column))));
  };
  if (lanes === 1) {
    const totals = arrayWorkspace(field, padded);
    eachByLane(k, padded, (column) => totals.set(column, field.zero));
    k.loop(chunk / TOGETHER, [], (at) => {
      // Rows before the step may change: nobody reads them again.
      const rows = pass.rowsTogether(first, at);
      k.when(pass.isSomeBetween(rows, step), () => {
        const given = rows.map(rowOf);
        pass.neededBlocks(step, [], (begin) => {
          eachByLane(k, COLUMNS, (offset) => {
            const column = k.binary("add", begin, offset);
            const made = rows.map((row, r) => changed(row, column, given[r].slice(1)));
            for (const [r, row] of rows.entries()) field.store(a, pass.element(row, column), made[r]);
            totals.set(
              column,
              made.reduce((sum, x, r) => field.mulAdd(field.conj(given[r][0]), x, sum), totals.get(column)),
            );
          });
          return [];
        });
        return [];
      });
      return [];
    });
    eachByLane(k, padded, (column) => field.store(sums, k.binary("add", part, column), totals.get(column)));
    return k.finish();
  }
  const begin = k.binary("mul", k.binary("irem", k.row, i(blocks)), i(lanes));
  const isNeeded = k.binary(
    "and",
    k.compare("ge", k.binary("add", first, i(chunk - 1)), step),
    k.compare("gt", k.binary("add", begin, i(lanes - 1)), step),
  );
  k.when(isNeeded, () => {
    const column = k.binary("add", begin, k.lane);
    const rows = Array.from({ length: chunk }, (_, at) => k.binary("add", first, i(at)));
    const made = rows.map((row) => changed(row, column, rowOf(row).slice(1)));
    const total = made.reduce((sum, x, at) => {
      const isThere = pass.isBetween(rows[at], step);
      field.store(a, pass.element(rows[at], column), x, isThere);
      const own = field.conj(field.load(now, pass.at(rows[at])));
      return field.select(isThere, field.mulAdd(own, x, sum), sum);
    }, field.zero);
    field.store(sums, k.binary("add", part, column), total);
    return [];
  });
  return k.finish();
}

/** Buffers: the matrix, u, v; ŷ u; the number of the column behind this one; the factors of reflections; ẑ = τ (A u - v (ŷ u)). */
export function productKernel(
  size: BidiagonalSize,
  kind: NumberKind,
  { maxLanes }: TargetProfile,
  settings: ElementSettings,
): Kernel {
  const { n } = size;
  const isAlone = maxLanes === 1;
  const each = isAlone ? size.chunk : ROWS;
  const groups = Math.ceil(n / each);
  const lanes = isAlone ? 1 : Math.min(maxLanes, LANES);
  const k = new KernelBuilder(`bidiagonal product[${n}]`, size.batch * groups, lanes);
  const field = new Field(k, kind, settings);
  const [a, u, v, inner] = [0, 1, 2, 3].map(() => field.buffer(false));
  const count = k.buffer("i32", false);
  const [factors, z] = [field.buffer(false), field.buffer(true)];
  const i = (value: number) => k.constant("i32", value);
  const next = k.load(count, i(0), "i32");
  const step = k.binary("sub", next, i(1));
  const pass = new Pass(k, size, k.binary("idiv", k.row, i(groups)));
  const first = k.binary("mul", k.binary("irem", k.row, i(groups)), i(each));
  const tau = field.load(factors, k.binary("add", k.binary("mul", pass.member, i(2 * n)), step));
  const less = field.load(inner, pass.member);
  const keep = (row: Value, sum: Num, gate: Value | null) => {
    const total = field.mulSub(field.load(v, pass.at(row)), less, sum);
    field.store(z, pass.at(row), field.mul(tau, total), gate);
  };
  const parts = valuesOf(field.zero).length;
  /** Values as numbers, of one part or two. */
  const numbers = (values: readonly Value[]): Num[] =>
    Array.from({ length: values.length / parts }, (_, at) => ({
      re: values[at * parts],
      im: parts === 2 ? values[at * parts + 1] : null,
    }));
  if (isAlone) {
    k.loop(each / TOGETHER, [], (at) => {
      const rows = pass.rowsTogether(first, at);
      k.when(pass.isSomeBetween(rows, next), () => {
        const zeros = rows.map(() => field.zero);
        const totals = pass.neededBlocks(step, zeros.flatMap(valuesOf), (begin, sums) => {
          const parts = field.loop(COLUMNS, zeros, (offset, partial) => {
            const column = k.binary("add", begin, offset);
            const along = field.load(u, pass.at(column));
            return rows.map((row, r) =>
              field.add(partial[r], field.mul(field.load(a, pass.element(row, column)), along)),
            );
          });
          return parts.flatMap((part, r) => valuesOf(field.add(numbers(sums)[r], part)));
        });
        for (const [r, row] of rows.entries()) keep(row, numbers(totals)[r], null);
        return [];
      });
      return [];
    });
    return k.finish();
  }
  const rows = Array.from({ length: ROWS }, (_, at) => k.binary("add", first, i(at)));
  k.when(k.compare("ge", rows[ROWS - 1], next), () => {
    const safe = rows.map((row) => k.binary("min", row, i(n - 1)));
    const width = lanes * AT_ONCE;
    const start = k.binary("mul", k.binary("idiv", next, i(width)), i(width));
    const [, ...sums] = k.loop(
      Math.ceil(n / width),
      [start, ...rows.flatMap(() => valuesOf(field.zero))],
      (_, [begin, ...carried]) => {
        const columns = Array.from({ length: AT_ONCE }, (_, at) =>
          k.binary("min", k.binary("add", k.binary("add", begin, i(at * lanes)), k.lane), i(n - 1)),
        );
        const isThere = Array.from({ length: AT_ONCE }, (_, at) =>
          k.compare("lt", k.binary("add", k.binary("add", begin, i(at * lanes)), k.lane), i(n)),
        );
        const vector = columns.map((column, at) =>
          field.select(isThere[at], field.load(u, pass.at(column)), field.zero),
        );
        const given = safe.map((row) => columns.map((column) => field.load(a, pass.element(row, column))));
        const before = numbers(carried);
        const found = given.flatMap((elements, r) =>
          valuesOf(elements.reduce((sum, x, at) => field.mulAdd(x, vector[at], sum), before[r])),
        );
        return [k.binary("add", begin, i(width)), ...found];
      },
      { exitWhen: ([begin]) => k.compare("ge", begin, i(n)) },
    );
    const found = numbers(sums);
    rows.forEach((row, r) => {
      const total = field.sumLanes(found[r]);
      keep(safe[r], total, k.binary("and", k.compare("eq", k.lane, i(0)), pass.isBetween(row, next)));
    });
    return [];
  });
  return k.finish();
}
