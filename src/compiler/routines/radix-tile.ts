/**
 * Kernels of the radix sort (radix-sort.ts) share this: a kernel whose rows are tiles of the rows to sort, and the places of
 * elements and counts in memory.
 */
import type { Value } from "../ir/ir.js";
import { KernelBuilder } from "../ir/kernel-builder.js";

export type KeyType = "u32" | "u64";

export const DIGIT_BITS = 8;
export const DIGITS = 1 << DIGIT_BITS;

/** The rows to sort, cut into tiles. */
export interface TiledRows {
  readonly type: KeyType;
  readonly rows: number;
  readonly extent: number;
  readonly lanes: number;
  /** Elements of a tile that each lane takes. */
  readonly perLane: number;
  readonly tiles: number;
}

/** Elements of a tile. */
export const tileOf = ({ lanes, perLane }: TiledRows): number => lanes * perLane;

/** One pass over the keys: the digit it sorts by. */
export interface DigitPass {
  readonly shift: number;
  /** The positions are those of the elements themselves. */
  readonly isFirst: boolean;
  /** The keys are not needed afterwards. */
  readonly isLast: boolean;
}

/** A kernel over tiles, and the places in it. */
export class TileKernel {
  readonly k: KernelBuilder;
  readonly block: Value;
  readonly tile: Value;
  /** The start of the tile in its row, and of the row in memory. */
  readonly start: Value;
  readonly base: Value;

  /** `takeTile`: the number of the tile, of all rows together; the kernel's row unless told. */
  constructor(
    name: string,
    readonly shape: TiledRows,
    subgroupSize = 0,
    takeTile: (k: KernelBuilder) => Value = (k) => k.row,
  ) {
    const { rows, extent, lanes, tiles } = shape;
    this.k = new KernelBuilder(`${name}[${rows}×${extent}]`, rows * tiles, lanes, subgroupSize);
    const { k } = this;
    const taken = takeTile(k);
    this.block = rows === 1 ? this.i(0) : k.binary("idiv", taken, this.i(tiles));
    this.tile = rows === 1 ? taken : k.binary("irem", taken, this.i(tiles));
    this.start = k.binary("mul", this.tile, this.i(tileOf(shape)));
    this.base = k.binary("mul", this.block, this.i(extent));
  }

  i(value: number): Value {
    return this.k.constant("i32", value);
  }

  add(a: Value, b: Value): Value {
    return this.k.binary("add", a, b);
  }

  /** Some bits of a key, as a number; a shift that is a value is of the key's type. */
  bits(key: Value, shift: number | Value, count: number): Value {
    const { k } = this;
    const { type } = this.shape;
    const distance = typeof shift === "number" ? k.constant(type, shift) : shift;
    const shifted = shift === 0 ? key : k.binary("shr", key, distance);
    return k.convert("i32", k.binary("and", shifted, k.constant(type, 2 ** count - 1)));
  }

  /**
   * Elements by their offset from the start of the tile. `isInside` tests whether one lies in the row; it is null where all
   * do. If the row is a multiple of `neighbours`, one test serves that many.
   */
  elements(offsets: readonly Value[], neighbours: number): TileElement[] {
    const { k } = this;
    const { extent, tiles } = this.shape;
    const isRagged = tiles * tileOf(this.shape) > extent;
    const asked = extent % neighbours === 0 ? neighbours : 1;
    let isInside: Value | null = null;
    return offsets.map((offset, j) => {
      const at = this.add(this.start, offset);
      if (isRagged && j % asked === 0) isInside = k.compare("lt", at, this.i(extent));
      const index = this.add(this.base, at);
      return { at, isInside, index: isInside ? k.select(isInside, index, this.i(0)) : index };
    });
  }

  /** Runs the body for every digit. */
  eachDigit(body: (digit: Value, gate: Value | null) => void): void {
    const { k } = this;
    const { lanes } = this.shape;
    if (lanes > 1) body(k.lane, lanes > DIGITS ? k.compare("lt", k.lane, this.i(DIGITS)) : null);
    else {
      k.loop(DIGITS, [], (digit) => {
        body(digit, null);
        return [];
      });
    }
  }

  /** The place of a digit's count for a tile. */
  inTable(digit: Value, tile: Value): Value {
    const { k } = this;
    const row = this.add(k.binary("mul", this.block, this.i(DIGITS)), digit);
    return this.add(k.binary("mul", row, this.i(this.shape.tiles)), tile);
  }

  /** The count of a digit in the row. */
  total(counts: number, offsets: number, digit: Value): Value {
    const { k } = this;
    const last = this.inTable(digit, this.i(this.shape.tiles - 1));
    return this.add(k.load(counts, last, "i32"), k.load(offsets, last, "i32"));
  }
}

/** An element of a tile. */
export interface TileElement {
  /** Its place in the row. */
  readonly at: Value;
  readonly isInside: Value | null;
  /** Its place in memory; that of the first element where it is outside the row. */
  readonly index: Value;
}
