/**
 * The amount of work of a dispatch: about 60 ms, measured by the one before. Often enough for progress, far below what
 * watchdogs allow. Pure; `NutsChains` calls it.
 */

const DISPATCH_MS = 60;
/** Leapfrog steps to begin with, of a kernel that has not run before. */
export const FIRST_BUDGET = 16;
export const MAX_BUDGET = 1 << 20;

/** Steps for the next dispatch, after one that took so long. */
export function nextBudget(budget: number, milliseconds: number): number {
  return Math.max(1, Math.round(budget * Math.min(4, Math.max(0.25, DISPATCH_MS / Math.max(0.01, milliseconds)))));
}

/** Transitions of a pooled warmup that are under way before the host looks, and the steps that each may take. */
export interface Pace {
  readonly transitions: number;
  readonly budget: number;
}

/**
 * The next pace, after one that took `milliseconds`, and `steps` of the chain that took the most. A transition may take four
 * times the steps that were usual, so that all of them take four times as long at most: a chain that needs more has the next
 * one, too.
 */
export function nextPace({ transitions, budget }: Pace, steps: number, milliseconds: number): Pace {
  const usual = Math.ceil(steps / transitions);
  return {
    transitions: nextBudget(transitions, milliseconds),
    budget: Math.min(4 * budget, Math.max(FIRST_BUDGET, 4 * usual)),
  };
}
