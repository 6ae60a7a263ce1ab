/**
 * Parameters of operations that count as the same, and the numbers by which forms of graphs are found. For the table of programs
 * and for the search of repeated rounds.
 */
import { GraphFunction } from "../graph/function.js";
import type { Params } from "../graph/primitive.js";

/**
 * Parameters alike in every bit: 0 and -0 differ, so do 1 and 1n, and NaN equals itself. Functions that are graphs are
 * compared by their keys, others are the same or not.
 */
export function isSameValue(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (a instanceof GraphFunction) return b instanceof GraphFunction && a.key === b.key;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!isSameValue(a[i], b[i])) return false;
    return true;
  }
  if (Array.isArray(b)) return false;
  let count = 0;
  for (const name in a) {
    if (!Object.hasOwn(b, name) || !isSameValue((a as Params)[name], (b as Params)[name])) return false;
    count++;
  }
  for (const _ in b) count--;
  return count === 0;
}

/** A hash with one more word in it. */
export const mix = (hash: number, word: number): number => Math.imul((hash << 5) ^ (hash >>> 27) ^ word, 0x9e3779b1);

/** Takes three characters: names of primitives and dtypes mostly differ in their ends or their middle. */
export function hashString(hash: number, text: string): number {
  const last = text.length - 1;
  return last < 0
    ? hash
    : mix(hash, text.charCodeAt(0) | (text.charCodeAt(last) << 8) | (text.charCodeAt(last >> 1) << 16));
}
