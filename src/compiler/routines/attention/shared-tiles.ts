/**
 * Tiles of attention on a GPU. A workgroup has a tile of scores. Operands lie in shared memory row by row, and lanes multiply
 * them in vectors of four along the rows: no tile is transposed. The scores of a lane lie `laneRows` and `laneColumns` lanes
 * apart, which keeps neighbouring lanes in different banks; sums of neighbouring columns are stored together.
 *
 * Neighbouring rows begin in different banks: an odd number of vectors apart, or, where memory is tight, with the vectors of each
 * row exchanged by its number (`SharedTiles.exchanged`).
 */
import type { Value } from "../../ir/ir.js";
import type { KernelBuilder } from "../../ir/kernel-builder.js";
import type { SharedAttentionTile } from "../../target/tile-profile.js";
import type { Operand, Rows, Sums, Tiles } from "./tiles.js";

/** Numbers of a vector. */
const VECTOR = 4;
/** Vectors that a lane copies before it writes them. */
const COPIED = 8;

const whole = (extent: number, step: number): number => Math.ceil(extent / step) * step;

/** Rows whose vectors of a column lie in different banks, where they are exchanged: 32 banks have room for eight vectors. */
const EXCHANGED_ROWS = 8;

/** Numbers from row to row of an operand: vectors of neighbouring rows lie in different banks if their number is odd. */
function pitchOf(width: number, { isTight }: SharedAttentionTile): number {
  if (isTight) return width;
  const vectors = width / VECTOR;
  return (vectors % 2 === 0 ? vectors + 1 : vectors) * VECTOR;
}

/** Numbers of a row in shared memory. Summed columns are shared out evenly among the lanes. */
function paddedWidth(width: number, isSummed: boolean, { lanes, isTight }: SharedAttentionTile): number {
  if (isSummed) return whole(width, VECTOR * lanes[1]);
  return whole(width, isTight ? VECTOR * EXCHANGED_ROWS : VECTOR);
}

/**
 * Numbers in shared memory: operands, as [rows, width, isSummed], weights, and a number for each row and lane aside. In a tight
 * tile the latter lie where the second operand does.
 */
export function sharedNumbers(
  tile: SharedAttentionTile,
  operands: readonly (readonly [rows: number, width: number, isSummed: boolean])[],
): number {
  const staged = operands.map(([rows, width, isSummed]) => rows * pitchOf(paddedWidth(width, isSummed, tile), tile));
  const sum = staged.reduce((a, b) => a + b, 0);
  if (tile.isTight) return sum + Math.max(0, tile.rows * tile.columns - staged[1]);
  return sum + tile.rows * pitchOf(tile.columns, tile) + tile.rows * tile.lanes[1];
}

class StagedRows implements Operand {
  readonly array: number;
  readonly pitch: number;
  readonly padded: number;
  private readonly isExchanged: boolean;

  constructor(
    private readonly k: KernelBuilder,
    readonly rows: Rows,
    private readonly count: number,
    private readonly type: "f32" | "f64",
    tile: SharedAttentionTile,
    isSummed: boolean,
    atLeast = 0,
  ) {
    this.padded = paddedWidth(rows.width, isSummed, tile);
    this.pitch = pitchOf(this.padded, tile);
    this.isExchanged = tile.isTight === true && !isSummed;
    this.array = k.array(type, Math.max(count * this.pitch, atLeast));
  }

  load(start: Value, first: Value): void {
    const { k, rounds } = this;
    const i = (value: number) => k.constant("i32", value);
    const copy = (from: Value, times: number) => {
      const found = Array.from({ length: times }, (_, at) => this.unit(k.binary("add", from, i(at * k.lanes))));
      const numbers = found.map((unit) => this.numbersOf(unit, start, first));
      for (const [at, { to, gate }] of found.entries()) k.setMany(this.array, to, numbers[at], gate);
    };
    const [turns, rest] = [Math.floor(rounds / COPIED), rounds % COPIED];
    if (turns === 1) copy(k.lane, COPIED);
    else if (turns > 1) {
      k.loop(turns, [], (turn) => {
        copy(k.binary("add", k.lane, k.binary("mul", turn, i(COPIED * k.lanes))), COPIED);
        return [];
      });
    }
    if (rest > 0) copy(k.binary("add", k.lane, i(turns * COPIED * k.lanes)), rest);
  }

  /** The lane's numbers of the rows from `first` on, for `keep`: they are loaded while other rows are worked on. */
  fetch(start: Value, first: Value): Value[] {
    return this.laneUnits().flatMap((unit) => this.numbersOf(unit, start, first));
  }

  /** Numbers that a lane fetches. */
  get fetched(): number {
    return this.rounds * VECTOR;
  }

  /** Writes fetched numbers to shared memory. */
  keep(numbers: readonly Value[]): void {
    this.laneUnits().forEach(({ to, gate }, at) => {
      this.k.setMany(this.array, to, numbers.slice(at * VECTOR, (at + 1) * VECTOR), gate);
    });
  }

  private get units(): number {
    return (this.count * this.padded) / VECTOR;
  }

  private get rounds(): number {
    return Math.ceil(this.units / this.k.lanes);
  }

  private laneUnits() {
    const { k } = this;
    return Array.from({ length: this.rounds }, (_, at) =>
      this.unit(k.binary("add", k.lane, k.constant("i32", at * k.lanes))),
    );
  }

  /** A vector of a row: its row and first column, where it goes, and whether it is there. */
  private unit(at: Value) {
    const { k, padded, pitch, units } = this;
    const i = (value: number) => k.constant("i32", value);
    const perRow = padded / VECTOR;
    const gate = units % k.lanes === 0 ? null : k.compare("lt", at, i(units));
    const unit = gate ? k.select(gate, at, i(0)) : at;
    const row = k.binary("idiv", unit, i(perRow));
    const column = k.binary("mul", k.binary("irem", unit, i(perRow)), i(VECTOR));
    const place = this.isExchanged ? exchanged(k, column, row) : column;
    return { row, column, to: k.binary("add", k.binary("mul", row, i(pitch)), place), gate };
  }

  /** The numbers of a vector, of the rows from `first` on. */
  private numbersOf({ row, column }: { readonly row: Value; readonly column: Value }, head: Value, first: Value) {
    const { k, rows, padded, type } = this;
    const i = (value: number) => k.constant("i32", value);
    const which = k.binary("min", k.binary("add", first, row), i(rows.count - 1));
    const start = k.binary("mul", k.binary("add", head, which), i(rows.width));
    const isWhole = padded === rows.width;
    const isVector = rows.width % VECTOR === 0;
    const zero = k.constant(type, 0);
    const inside = isVector ? k.compare("lt", column, i(rows.width)) : null;
    return Array.from({ length: VECTOR }, (_, part) => {
      const place = k.binary("add", column, i(part));
      if (isWhole) return k.load(rows.buffer, k.binary("add", start, place), type);
      const isInside = inside ?? k.compare("lt", place, i(rows.width));
      const index = k.select(isInside, k.binary("add", start, place), i(0));
      return k.select(isInside, k.load(rows.buffer, index, type), zero);
    });
  }
}

/** The place of a column in a row whose vectors are exchanged. Rows that lie a multiple of eight apart have the same places. */
function exchanged(k: KernelBuilder, column: Value, row: Value): Value {
  const turn = k.binary("and", row, k.constant("i32", EXCHANGED_ROWS - 1));
  return k.binary("xor", column, k.binary("mul", turn, k.constant("i32", VECTOR)));
}

export class SharedTiles implements Tiles<StagedRows> {
  readonly rows: number;
  readonly columns: number;
  readonly laneRows: number;
  readonly laneColumns: number;
  private readonly down: Value;
  private readonly aside: Value;
  /** The arrays of weights, and of the numbers that lanes of a row combine. A tight tile has both where its keys lie. */
  private arrays: { readonly weights: number; readonly partial: number } | null;
  private readonly weightPitch: number;
  private readonly partialPitch: number;

  constructor(
    private readonly k: KernelBuilder,
    private readonly tile: SharedAttentionTile,
    private readonly type: "f32" | "f64",
  ) {
    const [down, aside] = tile.lanes;
    this.rows = tile.rows;
    this.columns = tile.columns;
    this.laneRows = tile.rows / down;
    this.laneColumns = tile.columns / aside;
    this.down = k.binary("idiv", k.lane, k.constant("i32", aside));
    this.aside = k.binary("irem", k.lane, k.constant("i32", aside));
    this.weightPitch = pitchOf(tile.columns, tile);
    this.partialPitch = tile.isTight ? this.weightPitch : aside;
    const arrayOf = (pitch: number) => k.array(type, tile.rows * pitch);
    this.arrays = tile.isTight ? null : { weights: arrayOf(this.weightPitch), partial: arrayOf(this.partialPitch) };
  }

  row(at: number): Value {
    return this.k.binary("add", this.down, this.k.constant("i32", at * this.tile.lanes[0]));
  }

  column(at: number): Value {
    return this.k.binary("add", this.aside, this.k.constant("i32", at * this.tile.lanes[1]));
  }

  resident(rows: Rows): StagedRows {
    return new StagedRows(this.k, rows, this.rows, this.type, this.tile, false);
  }

  streamed(rows: Rows, isSummed: boolean): StagedRows {
    const hasWeights = this.tile.isTight === true && !isSummed;
    const size = hasWeights ? this.rows * this.weightPitch : 0;
    const staged = new StagedRows(this.k, rows, this.columns, this.type, this.tile, isSummed, size);
    if (hasWeights) this.arrays = { weights: staged.array, partial: staged.array };
    return staged;
  }

  private get shared() {
    if (!this.arrays) throw new Error("a tight tile of attention has no keys");
    return this.arrays;
  }

  /** The place of a column of scores or operands in a row; `lane`: the row is that one, or a multiple of eight further. */
  private placeIn(lane: Value, column: Value): Value {
    return this.tile.isTight ? exchanged(this.k, column, lane) : column;
  }

  /** A loop over vectors. Where tiles are tight it is written out: 676 µs instead of 822 (plan.ts says of what). */
  private overVectors(
    count: number,
    initial: readonly Value[],
    body: (at: Value, state: readonly Value[]) => readonly Value[],
  ): readonly Value[] {
    const { k, tile } = this;
    if (!tile.isTight) return k.loop(count, initial, body);
    return Array.from({ length: count }, (_, at) => k.constant("i32", at)).reduce(
      (state, at) => body(at, state),
      initial,
    );
  }

  products(resident: StagedRows, streamed: StagedRows): readonly Value[] {
    const { k, laneRows, laneColumns } = this;
    const i = (value: number) => k.constant("i32", value);
    const [down, aside] = this.tile.lanes;
    // Rows of a lane lie a constant apart: one index serves them all.
    const side = ({ pitch }: StagedRows, lane: Value, lanes: number) => ({
      ...{ from: k.binary("mul", lane, i(pitch)), lane, apart: lanes * pitch },
    });
    const [left, right] = [side(resident, this.down, down), side(streamed, this.aside, aside)];
    const zeros = new Array<Value>(laneRows * laneColumns).fill(k.constant(this.type, 0));
    return this.overVectors(whole(resident.rows.width, VECTOR) / VECTOR, zeros, (round, sums) => {
      const inRow = k.binary("mul", round, i(VECTOR));
      const vectors = ({ array }: StagedRows, { from, lane, apart }: typeof left, count: number) => {
        const first = k.binary("add", from, this.placeIn(lane, inRow));
        return Array.from({ length: count }, (_, at) =>
          k.getMany(array, k.binary("add", first, i(at * apart)), VECTOR),
        );
      };
      const [a, b] = [vectors(resident, left, laneRows), vectors(streamed, right, laneColumns)];
      return sums.map((sum, at) => {
        const [x, y] = [a[Math.floor(at / laneColumns)], b[at % laneColumns]];
        return x.reduce((total, each, part) => k.mulAdd(each, y[part], total), sum);
      });
    });
  }

  overRow(op: "max" | "add", values: readonly Value[]): readonly Value[] {
    const { k } = this;
    const { partial } = this.shared;
    const aside = this.tile.lanes[1];
    const starts = values.map((_, r) => k.binary("mul", this.row(r), k.constant("i32", this.partialPitch)));
    // The subgroup has read its weights, or the numbers that it combined last.
    if (k.subgroupSize > 0) k.barrier("subgroup");
    values.forEach((value, r) => {
      k.set(partial, k.binary("add", starts[r], this.aside), value);
    });
    k.barrier(k.subgroupSize > 0 ? "subgroup" : "row");
    const step = Math.min(VECTOR, aside);
    return starts.map((start) => {
      const parts = Array.from({ length: aside / step }, (_, at) =>
        k.getMany(partial, k.binary("add", start, k.constant("i32", at * step)), step),
      ).flat();
      return parts.reduce((a, b) => k.binary(op, a, b));
    });
  }

  putWeights(values: readonly Value[]): void {
    const { k, laneColumns, weightPitch } = this;
    values.forEach((value, at) => {
      const row = k.binary("mul", this.row(Math.floor(at / laneColumns)), k.constant("i32", weightPitch));
      const place = this.placeIn(this.down, this.column(at % laneColumns));
      k.set(this.shared.weights, k.binary("add", row, place), value);
    });
  }

  sums(width: number): Sums<StagedRows> {
    const { k, laneRows, tile, type } = this;
    const i = (value: number) => k.constant("i32", value);
    const vectors = paddedWidth(width, true, tile) / VECTOR / tile.lanes[1];
    const perRow = vectors * VECTOR;
    const columnOf = (vector: number) =>
      k.binary("mul", k.binary("add", this.aside, i(vector * tile.lanes[1])), i(VECTOR));
    return {
      initial: new Array<Value>(laneRows * perRow).fill(k.constant(type, 0)),
      add: (sums, factors, streamed) => {
        const scaled = factors ? sums.map((sum, at) => k.binary("mul", sum, factors[Math.floor(at / perRow)])) : sums;
        const firstRow = k.binary("mul", this.down, i(this.weightPitch));
        const apart = tile.lanes[0] * this.weightPitch;
        const firstColumn = k.binary("mul", this.aside, i(VECTOR));
        return this.overVectors(tile.columns / VECTOR, scaled, (round, totals) => {
          const first = k.binary("mul", round, i(VECTOR));
          const line = k.binary("add", firstRow, this.placeIn(this.down, first));
          const weights = Array.from({ length: laneRows }, (_, r) =>
            k.getMany(this.shared.weights, k.binary("add", line, i(r * apart)), VECTOR),
          );
          const start = k.binary("add", k.binary("mul", first, i(streamed.pitch)), firstColumn);
          let next = totals;
          for (let key = 0; key < VECTOR; key++) {
            const values = Array.from({ length: vectors }, (_, vector) => {
              const further = i(key * streamed.pitch + vector * VECTOR * tile.lanes[1]);
              return k.getMany(streamed.array, k.binary("add", start, further), VECTOR);
            }).flat();
            next = next.map((sum, at) => k.mulAdd(weights[Math.floor(at / perRow)][key], values[at % perRow], sum));
          }
          return next;
        });
      },
      each: (sums, visit) => {
        for (let r = 0; r < laneRows; r++) {
          for (let vector = 0; vector < vectors; vector++) {
            const from = r * perRow + vector * VECTOR;
            visit(r, columnOf(vector), sums.slice(from, from + VECTOR));
          }
        }
      },
    };
  }

  meet(): void {
    this.k.barrier();
  }
}
