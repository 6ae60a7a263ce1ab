/** Products of matrices as the choice of tiles sees them: their shape, the plan of one, and candidates for a plan. */
import type { DType } from "../../core/dtype.js";
import type { MatmulPrecision } from "../../graph/product-precision.js";
import type { Tile } from "../target/tile-profile.js";

export interface ProductShape {
  readonly batch: number;
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly dtype: DType;
  /** Of f32: how exactly it is to be multiplied; f32's own arithmetic unless told. */
  readonly precision?: MatmulPrecision;
  /** Of i32: both operands are casts of this dtype, so that their numbers are small. */
  readonly narrow?: "i8";
  /** The product is symmetric, as one of a matrix and its transpose is (symmetric-product.ts). */
  readonly isSymmetric?: boolean;
  /**
   * The order of the operands in memory, as operand-orders.ts writes it; "nn", rows one after the other, unless told. The rule
   * does not look at it; what was measured holds for one order alone.
   */
  readonly orders?: string;
}

/** A tile, and the length of one part of the summation: less than all of it if it is split into parts that are then added. */
export interface Tiling {
  readonly tile: Tile;
  readonly length: number;
}

/** A tiling that a product may have. */
export interface Candidate extends Tiling {
  /** The estimated time, in units that only compare candidates of one product. */
  readonly estimate: number;
  /** Whether the constants of its estimate were measured: the rule chooses among these. */
  readonly isKnown: boolean;
}

/** Extents up to this one are classes of their own: they decide how a tile fits. */
const EXACT = 64;

/**
 * The class of a product, as text: products of a class use what was measured for one of them. Extents above 64 fall into four
 * classes to a doubling; "+" marks those that are no multiple of four, whose rows are no whole vectors.
 */
export function shapeClass(shape: ProductShape): string {
  const { batch, m, k, n, dtype, precision = "highest", narrow, orders = "nn" } = shape;
  const named =
    dtype === "f32" && precision !== "highest" ? `${dtype}-${precision}` : `${dtype}${narrow ? "-of-i8" : ""}`;
  return `${named} ${orders} ${rounded(batch)}×${extentClass(m)}×${extentClass(k)}×${extentClass(n)}`;
}

const extentClass = (extent: number): string => `${rounded(extent)}${extent > EXACT && extent % 4 !== 0 ? "+" : ""}`;

function rounded(extent: number): number {
  if (extent <= EXACT) return extent;
  const quarter = 2 ** (Math.floor(Math.log2(extent)) - 2);
  return Math.floor(extent / quarter) * quarter;
}

/**
 * A tiling of a product with a summation of k, in words: "128×128×16 of 8×8 in 4 parts". The same tiling has the same words.
 */
export function describeTiling({ tile, length }: Tiling, k: number): string {
  const parts = Math.ceil(k / length);
  return `${describeTile(tile)}${parts > 1 ? ` in ${parts} parts` : ""}`;
}

/** The words of a tiling taken apart: those of its tile, and the number of parts. */
export function tilingWords(words: string): { readonly tile: string; readonly parts: number } {
  const [, tile = words, parts = "1"] = /^(.*) in (\d+) parts$/.exec(words) ?? [];
  return { tile, parts: Number(parts) };
}

/** The tiling of a tile and a number of parts: each is whole steps long. */
export function inParts(tile: Tile, parts: number, k: number): Tiling {
  const step = tile.kind === "shared" || tile.kind === "matrix" ? tile.depth : 1;
  return { tile, length: parts === 1 ? k : Math.ceil(k / parts / step) * step };
}

export function describeTile(tile: Tile): string {
  const extents = `${tile.rows}×${tile.columns}`;
  switch (tile.kind) {
    case "shared": {
      const loop = tile.unrolled === tile.depth ? "" : ` by ${tile.unrolled}`;
      const half = tile.isHalf ? ", half of them" : "";
      const more = `${loop}${tile.buffers === 2 ? " twice" : ""}${tile.isSpread ? " apart" : ""}${half}`;
      return `${extents}×${tile.depth} of ${tile.perLane.join("×")}${more}`;
    }
    case "matrix":
      return `matrix units ${extents}×${tile.depth} of ${tile.subgroups.join("×")}`;
    case "registers":
      return `registers ${extents}`;
    case "panels":
      return `panels ${extents}×${tile.depth} of ${tile.micro.join("×")}${tile.isHalf ? ", half of them" : ""}`;
  }
}
