/**
 * A hook that reports index tensors as they are used. Positions outside an axis read its end or write nothing, because
 * nobody waits for their values. Models know their data before they are sampled, and check the positions here.
 */
import type { Tensor } from "../tensor.js";

/** `extent`: how many elements the axis has. */
export type NotePositions = (operation: string, positions: Tensor, extent: number) => void;

let current: NotePositions | null = null;

/** Runs `work` and reports all positions that it reads or writes at. */
export function notingPositions<T>(note: NotePositions, work: () => T): T {
  const outer = current;
  current = note;
  try {
    return work();
  } finally {
    current = outer;
  }
}

/** @internal Every operation that takes positions calls this. */
export const positionsUsed: NotePositions = (operation, positions, extent) => current?.(operation, positions, extent);
