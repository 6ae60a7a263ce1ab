/** The lanes and the shared memory of a workgroup's tile. The plan of products, the scheduler and the tile kernels ask here. */
import { DTYPES, type DType } from "../../core/dtype.js";
import type { Node } from "../../graph/node.js";
import type { SharedTile } from "./tile-profile.js";

export const lanesOf = ({ rows, columns, perLane }: SharedTile): number => (rows / perLane[0]) * (columns / perLane[1]);

/** Elements from one row of a tile to the next: a multiple of a vector, and rows begin in different banks. */
export const pitchOf = (extent: number): number => extent + 4;

/** Bytes of the type in which a dtype is computed. */
export const wideBytes = (dtype: DType): number => Math.max(4, DTYPES[dtype].bytes);

/** Shared bytes of both operands of a product. */
export const sharedBytesOf = ({ rows, columns, depth, buffers }: SharedTile, bytes: number): number =>
  buffers * depth * (pitchOf(rows) + pitchOf(columns)) * bytes;

/** Lanes beside one another in a tile, and one more, so that rows of their parts begin in different banks. */
export const partPitch = ({ columns, perLane }: SharedTile): number => columns / perLane[1] + 1;

/**
 * Shared bytes of a product that also reduces its rows of n elements, with numbers of two types in the making
 * (row-results.ts); null where a tile does not hold whole rows, or has more of them than lanes.
 */
export function rowResultBytes({ dtype, params }: Node, n: number): number | null {
  const tile = params.tile as SharedTile;
  if (n > tile.columns || tile.rows > lanesOf(tile)) return null;
  const bytes = wideBytes(dtype);
  return sharedBytesOf(tile, bytes) + tile.rows * (partPitch(tile) + 1) * (bytes + 4);
}
