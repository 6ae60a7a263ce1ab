/**
 * The matrices that a single kernel factors: those that fit the memory of a workgroup, or a core's cache. Larger ones are cut
 * into blocks, so that their bulk is products of matrices (rewrite/blocked.ts). A pure function of shape and device.
 */
import type { TileProfile } from "../../target/tile-profile.js";
import { bytesOf, type NumberKind } from "./field.js";
import { gridFor } from "./grid.js";
import { stripRows } from "./triangular/strip-solve.js";

/** The order of the largest blocks, by the kind of tiles. */
const BLOCK = { shared: 64, panels: 64, registers: 32 } as const;

/** Steps of a kernel's loops that every driver takes: software ends them after 65,535 rounds of up to 16. */
const MOST_STEPS = 1 << 18;

/** The order of matrices that GPUs factor in steps (grid.ts); larger ones are cut, for the sake of products in larger tiles. */
const IN_STEPS = 4096;

/** The order of matrices whose Cholesky factors one routine computes. Infinity inside larger kernels. */
export const choleskyOrder = (kind: NumberKind, tiles: TileProfile): number =>
  gridFor(kind, tiles) ? IN_STEPS : oneKernel(kind, tiles);

/** The order of triangular matrices that one routine solves with. */
export const solveOrder = (kind: NumberKind, tiles: TileProfile): number =>
  stripRows(kind, tiles) || oneKernel(kind, tiles);

/** The order of matrices that one kernel factors. */
export function oneKernel(kind: NumberKind, tiles: TileProfile): number {
  if (tiles.kind === "none") return Infinity;
  let block: number = BLOCK[tiles.kind];
  if (tiles.kind !== "panels") while (block > 8 && block * (block + 2) * bytesOf(kind) > tiles.sharedBytes) block /= 2;
  return block;
}

/** Columns of an LU factorisation of m rows that one kernel does. */
export function luColumns(m: number, kind: NumberKind, tiles: TileProfile): number {
  let columns = oneKernel(kind, tiles);
  // A workgroup of a GPU is slow with what it does not hold in its own memory.
  while (tiles.kind === "shared" && columns > 4 && !isShareable(m, columns, kind, tiles)) columns /= 2;
  if (tiles.kind !== "registers") return columns;
  while (columns > 1 && m * columns * Math.max(columns, 16) > MOST_STEPS) columns /= 2;
  return columns;
}

/** Shared memory through which lanes agree on a pivot, at most. */
const EXCHANGE_BYTES = 4096;

/** Whether lanes have the memory to share a matrix of m rows while they factor it; a core's cache always does. */
export const isShareable = (m: number, columns: number, kind: NumberKind, { kind: tile, sharedBytes }: TileProfile) =>
  tile === "panels" || m * (columns | 1) * bytesOf(kind) + EXCHANGE_BYTES <= sharedBytes;
