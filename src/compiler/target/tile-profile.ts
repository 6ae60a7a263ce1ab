/** The facts of a device that tiles depend on, and the shapes of tiles. tiles/plan.ts chooses. */
import type { Node } from "../../graph/node.js";

/** The facts of a device that the choice of tiles depends on. */
export interface TileProfile {
  /**
   * shared: a workgroup loads tiles into memory that it shares (GPUs). registers: a thread computes a small tile by itself
   * (software Vulkan, where barriers are slow). panels: a thread packs operands for its vectors and caches (CPUs). none:
   * every product is a plain sum of products, as in inlined functions.
   */
  readonly kind: "shared" | "registers" | "panels" | "none";
  /** Bytes of memory that a workgroup may share. */
  readonly sharedBytes: number;
  /** Lanes of a workgroup, at most. */
  readonly maxLanes: number;
  /** Multiprocessors, or threads, that work at the same time. */
  readonly units: number;
  /** Lanes of a subgroup that can vote, where their number is known. */
  readonly subgroupSize?: number;
  /** Matrix units, where the device has them. */
  readonly matrices?: MatrixUnits;
  /** The family of the device, which may have a row in tiles/families.ts. */
  readonly family?: string;
  /**
   * Tilings that were measured on this device, by class of product, both as text (tiles/product-shape.ts). A search adds to it
   * while programs are compiled.
   */
  readonly tuned?: Readonly<Record<string, string>>;
  /** Is told of each product that is worth tiles, with its operands: a search looks for what it has to measure. */
  readonly note?: (operands: readonly [Node, Node], precision: string | undefined) => void;
  /**
   * The tile of every attention, or its definition in products. No target sets it: tests do, because small shapes would never
   * reach most tiles, and so do scripts that measure tiles against one another.
   */
  readonly attention?: AttentionTile | "definition";
  /** Every product uses tiles, however small, and this tile if it is given. No target sets it; for tests and tuning, as above. */
  readonly forced?: { readonly tile?: Tile; readonly parts: number };
}

/** The matrix units of a device: they multiply fragments that the lanes of a subgroup hold together. */
interface MatrixUnits {
  readonly subgroupSize: number;
  readonly shapes: readonly FragmentShape[];
}

/** A product that the matrix units compute: [rows, depth] × [depth, columns], summed in f32 or i32. */
export interface FragmentShape {
  readonly operand: "f16" | "bf16" | "i8" | "u8";
  readonly rows: number;
  readonly columns: number;
  readonly depth: number;
  /** The elements of a sum that a lane holds are, two by two, neighbours in a row, the first in an even column. */
  readonly pairs?: boolean;
}

/** A workgroup's tile of the result: rows × columns, summed over `depth` at a time. */
export interface SharedTile {
  readonly kind: "shared";
  readonly rows: number;
  readonly columns: number;
  readonly depth: number;
  /** The part of the tile in the registers of one lane. */
  readonly perLane: readonly [rows: number, columns: number];
  /** Tiles of each operand in shared memory: with two, one is multiplied while the next is loaded. */
  readonly buffers: 1 | 2;
  /** Unrolled steps along the depth: a loop goes through as many as it can, and the rest comes after it. With two buffers, all. */
  readonly unrolled: number;
  /**
   * A lane's columns lie apart, so that neighbouring lanes store neighbouring columns: for results whose rows are no whole
   * vectors. Without it a lane has vectors of neighbours.
   */
  readonly isSpread?: boolean;
  /** The product is symmetric: only the tiles on and above its diagonal are computed, square ones, and stored on both sides. */
  readonly isHalf?: boolean;
}

/** A workgroup's tile of the scores of attention, and the grid of its lanes (routines/attention/shared-tiles.ts). */
export interface SharedAttentionTile {
  readonly kind: "shared";
  readonly rows: number;
  readonly columns: number;
  readonly lanes: readonly [down: number, aside: number];
  /** Lanes of a subgroup, where the lanes of a row are in one: they then wait for each other alone. */
  readonly subgroupSize?: number;
  /** Operands lie without padding, weights take the place of keys, and loops over vectors are written out. */
  readonly isTight?: boolean;
}

/** A workgroup's tile of the scores of attention that matrix units compute; a subgroup has the rows of a fragment. */
export interface MatrixAttentionTile {
  readonly kind: "matrix";
  readonly rows: number;
  readonly columns: number;
  readonly subgroupSize: number;
  readonly fragment: FragmentShape;
}

/** A tile of the scores of attention; `vectors`: a thread's (routines/attention/vector-tiles.ts). */
export type AttentionTile = SharedAttentionTile | MatrixAttentionTile | { readonly kind: "vectors" };

/** A workgroup's tile of the result that matrix units compute, fragment by fragment. */
export interface MatrixTile {
  readonly kind: "matrix";
  readonly rows: number;
  readonly columns: number;
  readonly depth: number;
  /** Subgroups below one another and side by side; each computes its part of the tile. */
  readonly subgroups: readonly [down: number, aside: number];
  readonly subgroupSize: number;
  readonly fragment: FragmentShape;
  /**
   * f16 parts that an f32 operand is the sum of; with two, three products make one (rewrite/split-product.ts). 1 where operands
   * are multiplied as they are.
   */
  readonly parts: 1 | 2;
  /**
   * Tiles of the summation after which the fragments' sums go into a second set, which plain lanes add and round. Matrix units
   * truncate as they add. 0: never.
   */
  readonly promoted: number;
}

/** A thread's tile of the result. */
export interface RegisterTile {
  readonly kind: "registers";
  readonly rows: number;
  readonly columns: number;
}

/**
 * A thread's tile of the result, and the part of it in registers: `micro` rows of vectors. Where they do not divide the tile, the last panel
 * of rows or columns begins early enough to be whole.
 */
export interface PanelTile {
  readonly kind: "panels";
  readonly rows: number;
  readonly columns: number;
  readonly depth: number;
  readonly micro: readonly [rows: number, vectors: number];
  /** Elements of a vector. */
  readonly lanes: 1 | 4;
  /** The product is symmetric: only what is above its diagonal is computed, in square tiles, and stored on both sides. */
  readonly isHalf?: boolean;
}

export type Tile = SharedTile | MatrixTile | RegisterTile | PanelTile;
