/**
 * The order in which a lane multiplies its rows by its columns (shared-product.ts). A multiply-add reads three registers, and a
 * GPU delivers three at a time only where they lie in different banks or the last instruction has read one of them already. The
 * driver allocates registers with the order in mind, so the best one was found by measuring.
 */
import type { IRType } from "../ir/ir.js";

/** Rows and columns of a block of products. */
type Block = readonly [rows: number, columns: number];

/**
 * Multiply-adds alone, of 8×8 products, reached 60.7 TFLOP/s in f32 on an H200 in blocks of 1×2, 58.8 in those of 2×8, and 54.5
 * row by row. A product of f64 2048×2048 made 19.9, 22.2 and 21.1; twelve other orders made 20.3 to 22.4.
 */
export const blockOf = (type: IRType): Block => (type === "f64" ? [2, 8] : [1, 2]);

/**
 * All pairs of a row and a column, block by block: strips of blocks go there and back, and so do the rows in a block. Blocks at
 * the edge may be smaller.
 */
export function productOrder(
  rows: number,
  columns: number,
  [high, wide]: Block,
): (readonly [row: number, column: number])[] {
  const strips = inGroups(rows, high);
  const across = inGroups(columns, wide);
  const blocks = strips.flatMap((strip, at) => turned(across, at).map((block) => [strip, block] as const));
  return blocks.flatMap(([strip, block], at) =>
    turned(strip, at).flatMap((row, inBlock) => turned(block, inBlock).map((column) => [row, column] as const)),
  );
}

/** 0 … count - 1 in groups of a size. */
const inGroups = (count: number, size: number): number[][] =>
  Array.from({ length: Math.ceil(count / size) }, (_, group) =>
    Array.from({ length: Math.min(size, count - group * size) }, (_, i) => group * size + i),
  );

/** A list as it is for even numbers, from its end for odd ones. */
const turned = <T>(list: readonly T[], number: number): readonly T[] => (number % 2 === 0 ? list : [...list].reverse());
