/** Checks of the options that optimisers share. */
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";

/** A share that is kept of an average: at least 0, below 1. */
export function checkShare(operation: string, option: string, value: number): void {
  if (typeof value === "number" && value >= 0 && value < 1) return;
  throw new ArgumentError(`${operation}: the option ${option} is at least 0 and below 1, not ${shown(value)}.`);
}

/** A number that is not negative. */
export function checkNotNegative(operation: string, option: string, value: number): void {
  if (typeof value === "number" && value >= 0) return;
  throw new ArgumentError(`${operation}: the option ${option} is a number from 0 on, not ${shown(value)}.`);
}
