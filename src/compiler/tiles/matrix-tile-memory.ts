/** The layout of the shared memory of a product on matrix units (matrix-product.ts), in words. */
import { DTYPES } from "../../core/dtype.js";
import type { MatrixTile } from "../target/tile-profile.js";

export const matrixLanesOf = ({ subgroups, subgroupSize }: MatrixTile): number =>
  subgroups[0] * subgroups[1] * subgroupSize;

/**
 * Elements of 16 bytes: what a lane copies at a time. Lines of a tile are as much longer, so that they begin in other banks.
 */
export const unitOf = ({ fragment }: Pick<MatrixTile, "fragment">): number => 16 / DTYPES[fragment.operand].bytes;

/** Words from one line of an operand's tile to the next. */
export function pitchOfLine(tile: Pick<MatrixTile, "fragment">, extent: number): number {
  return ((extent + unitOf(tile)) * DTYPES[tile.fragment.operand].bytes) / 4;
}

/** Words of one part of an operand's tile: lines lie along the summation or across it, whichever needs more. */
export function operandWords(tile: MatrixTile, rows: number): number {
  return Math.max(rows * pitchOfLine(tile, tile.depth), tile.depth * pitchOfLine(tile, rows));
}

/** Words from one row of staged sums to the next: fragments are stored in pairs of words, and rows must lie in other banks. */
export const stagedPitch = (width: number): number => width + 8;

interface MatrixTileMemory {
  readonly words: number;
  /** The offset of the right operand's tile; the left one begins at 0. */
  readonly right: number;
  /** Fragments of sums that a subgroup puts side by side when it stores them. */
  readonly stagedColumns: number;
}

export function matrixTileMemory(tile: MatrixTile): MatrixTileMemory {
  const { rows, columns, subgroups, fragment } = tile;
  const right = tile.parts * operandWords(tile, rows);
  const operands = right + tile.parts * operandWords(tile, columns);
  const count = columns / subgroups[1] / fragment.columns;
  const staged = (fragments: number) =>
    subgroups[0] * subgroups[1] * fragment.rows * stagedPitch(fragments * fragment.columns);
  let stagedColumns = 1;
  while (count % (2 * stagedColumns) === 0 && staged(2 * stagedColumns) <= operands) stagedColumns *= 2;
  return { words: Math.max(operands, staged(stagedColumns)), right, stagedColumns };
}
