/** A check of what users hand to diagnostics that work on plain numbers. */
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";

export function checkNumbers(operation: string, what: string, given: unknown): void {
  if (given instanceof Float64Array) return;
  throw new ArgumentError(
    `${operation}: ${what} ${given === undefined ? "is missing" : `is ${shown(given)}`}; give a Float64Array.`,
  );
}
