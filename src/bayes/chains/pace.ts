/** The amount of work of a dispatch in leapfrog steps, and of a pooled warmup in transitions. Pure; `NutsChains` calls it. */
import { nextBudget } from "../../runs/pace.js";

/** Leapfrog steps to begin with, of a kernel that has not run before. */
export const FIRST_BUDGET = 16;
export const MAX_BUDGET = 1 << 20;

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
