/** How much work a run gives the device at a time: about 60 ms of it, measured by the last time. Pure. */

const PIECE_MS = 60;

/** The next amount, after one that took so long. It grows and shrinks by a factor of 4 at most. */
export function nextBudget(budget: number, milliseconds: number): number {
  return Math.max(1, Math.round(budget * Math.min(4, Math.max(0.25, PIECE_MS / Math.max(0.01, milliseconds)))));
}
