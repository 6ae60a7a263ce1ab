/** What a device offers to products of matrices, and the shapes of tiles they are computed in. tiles/plan.ts chooses. */

/** What tiles are made for. */
export interface TileProfile {
  /**
   * shared: a workgroup loads tiles into memory that it shares (GPUs). registers: a thread computes a small tile by itself
   * (software Vulkan, where barriers are slow). panels: a thread packs operands for its vectors and caches (CPUs). none:
   * every product is a sum of products, as inside functions of a thread.
   */
  readonly kind: "shared" | "registers" | "panels" | "none";
  /** Bytes of memory that a workgroup may share. */
  readonly sharedBytes: number;
  /** Lanes of a workgroup, at most. */
  readonly maxLanes: number;
  /** Multiprocessors, or threads, that work at the same time. */
  readonly units: number;
  /** For tests and for tuning: every product is computed in tiles, however small, in this one if it is given. */
  readonly forced?: { readonly tile?: Tile; readonly parts: number };
}

/** A workgroup's tile of the result: rows × columns, summed over `depth` at a time. */
export interface SharedTile {
  readonly kind: "shared";
  readonly rows: number;
  readonly columns: number;
  readonly depth: number;
  /** The part of it that one lane has in registers. */
  readonly perLane: readonly [rows: number, columns: number];
  /** Tiles of each operand that there is memory for: with two, one is worked on while the next arrives. */
  readonly buffers: 1 | 2;
  /** Steps along the depth that are written out; the rest is a loop. */
  readonly unrolled: number;
}

/** A thread's tile of the result. */
export interface RegisterTile {
  readonly kind: "registers";
  readonly rows: number;
  readonly columns: number;
}

/** A thread's tile of the result, and the part of it that is in registers: so many rows of so many vectors. */
export interface PanelTile {
  readonly kind: "panels";
  readonly rows: number;
  readonly columns: number;
  readonly depth: number;
  readonly micro: readonly [rows: number, vectors: number];
  /** Elements of a vector. */
  readonly lanes: 1 | 4;
}

export type Tile = SharedTile | RegisterTile | PanelTile;
