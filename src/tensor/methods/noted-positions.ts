/**
 * Who wants to know of positions as they are used. Outside an axis they read its end or write nothing, because nobody waits for
 * their values; models know their data before they are sampled, and look here whether groups are what they are meant to be.
 */
import type { Tensor } from "../tensor.js";

/** `extent`: how many elements the axis has. */
export type NotePositions = (operation: string, positions: Tensor, extent: number) => void;

let current: NotePositions | null = null;

/** Tells of all positions that work reads or writes at. */
export function notingPositions<T>(note: NotePositions, work: () => T): T {
  const outer = current;
  current = note;
  try {
    return work();
  } finally {
    current = outer;
  }
}

/** @internal Called by whatever takes positions. */
export const positionsUsed: NotePositions = (operation, positions, extent) => current?.(operation, positions, extent);
