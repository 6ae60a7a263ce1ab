/**
 * Rows of f16 or bf16 on their way to matrix units: lanes load units of 16 bytes, hold them as words while other tiles are
 * worked on, and write them to shared memory, where subgroups read fragments.
 */
import type { FragmentPlace, Value } from "../../ir/ir.js";
import type { KernelBuilder } from "../../ir/kernel-builder.js";
import type { Rows } from "./tiles.js";

/** Numbers of a unit, and words. */
export const UNIT = 8;
const WORDS = 4;

/** Words from row to row: a unit more than the row has, so that neighbouring rows begin in other banks. */
export const wordPitch = (width: number): number => (width + UNIT) / 2;

export class MatrixRows {
  private readonly pitch: number;

  /** `count` rows at a time, of `padded` numbers, written from word `place` on. */
  constructor(
    private readonly k: KernelBuilder,
    private readonly array: number,
    private readonly place: number,
    private readonly rows: Rows,
    private readonly count: number,
    private readonly padded: number,
  ) {
    this.pitch = wordPitch(padded);
  }

  /** The lane's words of the rows from `first` on; rows beyond the last are that one again. `start`: the head's first row. */
  load(start: Value, first: Value): Value[] {
    const { k, rows } = this;
    const i = (value: number) => k.constant("i32", value);
    return this.units().flatMap(({ row, column }) => {
      const which = k.binary("min", k.binary("add", first, row), i(rows.count - 1));
      const line = k.binary("mul", k.binary("add", start, which), i(rows.width));
      if (this.padded === rows.width) return k.loadWords(rows.buffer, k.binary("add", line, column));
      const isInside = k.compare("lt", column, i(rows.width));
      const words = k.loadWords(rows.buffer, k.binary("add", line, k.select(isInside, column, i(0))));
      return words.map((word) => k.select(isInside, word, k.constant("u32", 0)));
    });
  }

  /** Words that a lane holds. */
  get wordCount(): number {
    return Math.ceil((this.count * this.padded) / UNIT / this.k.lanes) * WORDS;
  }

  keep(words: readonly Value[]): void {
    const { k, array, pitch, place } = this;
    const i = (value: number) => k.constant("i32", value);
    this.units().forEach(({ row, column, isThere }, at) => {
      const inRow = k.binary("add", k.binary("mul", row, i(pitch)), k.binary("idiv", column, i(2)));
      const own = words.slice(at * WORDS, (at + 1) * WORDS);
      k.setMany(array, k.binary("add", inRow, i(place)), own, isThere);
    });
  }

  /** The units of the lane: row, first column, and whether it is there. */
  private units() {
    const { k, count, padded } = this;
    const i = (value: number) => k.constant("i32", value);
    const [perRow, all] = [padded / UNIT, (count * padded) / UNIT];
    return Array.from({ length: Math.ceil(all / k.lanes) }, (_, at) => {
      const own = k.binary("add", k.lane, i(at * k.lanes));
      const isThere = (at + 1) * k.lanes <= all ? null : k.compare("lt", own, i(all));
      const unit = isThere ? k.select(isThere, own, i(0)) : own;
      const column = k.binary("mul", k.binary("irem", unit, i(perRow)), i(UNIT));
      return { row: k.binary("idiv", unit, i(perRow)), column, isThere };
    });
  }

  /** A fragment from a row and column on. `isTurned`: the rows kept here are columns of the matrix. */
  fragment(row: Value, column: number, isTurned: boolean): FragmentPlace {
    const { k, array, pitch, place } = this;
    const index = k.binary(
      "add",
      k.binary("mul", row, k.constant("i32", pitch)),
      k.constant("i32", place + column / 2),
    );
    return { array, index, pitch, isByColumns: isTurned };
  }
}
