/**
 * The vocabulary of the kernels of attention: tiles of scores. A kernel has rows that stay (queries, or keys on the way back
 * to them) and walks over columns that are streamed past (the others). Forms of tiles differ in where operands lie and how
 * lanes share the work; the kernels do not (forward.ts, backward.ts).
 */
import type { Value } from "../../ir/ir.js";
import type { KernelBuilder } from "../../ir/kernel-builder.js";

/** A form of tiles, for a kernel of so many rows at a time and lanes. */
export interface TileForm<O extends Operand> {
  readonly rows: number;
  readonly lanes: number;
  tiles(k: KernelBuilder): Tiles<O>;
}

/** Rows in memory, those of one head after those of another: queries, keys, values or cotangents. */
export interface Rows {
  readonly buffer: number;
  /** Rows of a head, and the numbers of each row. */
  readonly count: number;
  readonly width: number;
}

/** An operand whose rows are at hand. */
export interface Operand {
  /**
   * Makes the rows from `first` on available; rows beyond the last are that one again. `start`: the number of the head's first.
   */
  load(start: Value, first: Value): void;
}

/** Sums of weights times rows, for each row of the tile. What changes is carried in values, or kept in arrays. */
export interface Sums<O extends Operand> {
  readonly initial: readonly Value[];
  /** Sums times a factor for each row, if one is given, plus the weights times the rows of a streamed operand. */
  add(sums: readonly Value[], factors: readonly Value[] | null, streamed: O): readonly Value[];
  /** Visits the sums: a row of the lane, the first of some neighbouring columns, and their sums. */
  each(sums: readonly Value[], visit: (row: number, column: Value, values: readonly Value[]) => void): void;
}

export interface Tiles<O extends Operand = Operand> {
  /** Rows and columns of a tile, and those that a lane has a score of. */
  readonly rows: number;
  readonly columns: number;
  readonly laneRows: number;
  readonly laneColumns: number;
  /** Their places in the tile. */
  row(at: number): Value;
  column(at: number): Value;
  /** Rows that stay, and rows that are streamed. `isSummed`: sums of them are made. */
  resident(rows: Rows): O;
  streamed(rows: Rows, isSummed: boolean): O;
  sums(width: number): Sums<O>;
  /** Products of resident and streamed rows, a value for each row and column of the lane, row by row. */
  products(resident: O, streamed: O): readonly Value[];
  /** A value for each row of the lane, combined over the lanes that have a part of the row. Lanes meet here. */
  overRow(op: "max" | "add", values: readonly Value[]): readonly Value[];
  /** Keeps the weights that `Sums.add` takes. */
  putWeights(values: readonly Value[]): void;
  /** Lanes wait for each other. */
  meet(): void;
}
