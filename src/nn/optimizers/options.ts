/** Checks of the options that optimisers share. */
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";

/** A share that is kept of an average: at least 0, below 1. */
export function checkShare(operation: string, option: string, value: number): void {
  if (typeof value === "number" && value >= 0 && value < 1) return;
  throw new ArgumentError(`${operation}: the option ${option} is at least 0 and below 1, not ${shown(value)}.`);
}

/** Two such shares. */
export function checkShares(operation: string, option: string, values: readonly number[]): void {
  checkPair(operation, option, values);
  for (const value of values) checkShare(operation, option, value);
}

/** A list of two numbers. */
export function checkPair(operation: string, option: string, values: readonly number[]): void {
  const isPair = Array.isArray(values) && values.length === 2 && values.every((value) => typeof value === "number");
  if (!isPair) throw new ArgumentError(`${operation}: the option ${option} is two numbers, not ${shown(values)}.`);
}

/** A number that is not negative. */
export function checkNotNegative(operation: string, option: string, value: number): void {
  if (typeof value === "number" && value >= 0) return;
  throw new ArgumentError(`${operation}: the option ${option} is a number from 0 on, not ${shown(value)}.`);
}
