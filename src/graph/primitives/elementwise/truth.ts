/** Elementwise comparisons and tests, choice between two values, and changes of dtype. */
import type { DType, DTypeKind } from "../../../core/dtype.js";
import type { Comparison } from "../../element-ops.js";
import { ANY, bool, EVERY, elementwise, FLAT, INEXACT, REAL } from "./entry.js";

const comparison = (
  name: string,
  how: Comparison,
  oracle: (a: number, b: number) => boolean,
  kinds: readonly DTypeKind[] = ANY,
) => elementwise(name, 2, { kinds, result: bool, oracle, slopes: FLAT, lower: (k, [a, b]) => k.compare(how, a, b) });

export const equal = comparison("equal", "eq", (a, b) => a === b, EVERY);
export const notEqual = comparison("notEqual", "ne", (a, b) => a !== b, EVERY);
export const less = comparison("less", "lt", (a, b) => a < b);
export const lessEqual = comparison("lessEqual", "le", (a, b) => a <= b);
export const greater = comparison("greater", "gt", (a, b) => a > b);
export const greaterEqual = comparison("greaterEqual", "ge", (a, b) => a >= b);

export const isNan = elementwise("isNan", 1, {
  called: "isNaN",
  kinds: INEXACT,
  result: bool,
  oracle: Number.isNaN,
  slopes: FLAT,
  lower: (k, [x]) => k.compare("ne", x, x),
});
export const isInf = elementwise("isInf", 1, {
  kinds: INEXACT,
  result: bool,
  oracle: (x) => Math.abs(x) === Infinity,
  slopes: FLAT,
  lower: (k, [x]) => k.compare("eq", k.abs(x), k.constant(k.dtypeOf(x), Infinity)),
});

/** condition ? a : b. The condition is bool; a and b share a dtype. */
export const where = elementwise("where", 3, {
  kinds: EVERY,
  isExact: true,
  result: ([, a]) => a as DType,
  slopes: [
    null,
    (g, t, { inputs: [condition] }) => g.where(condition, t, 0),
    (g, t, { inputs: [condition] }) => g.where(condition, 0, t),
  ],
  lower: (k, [condition, a, b]) => k.select(condition, a, b),
});
/** The same value in another dtype. Params: dtype. */
export const cast = elementwise("cast", 1, {
  kinds: EVERY,
  isExact: true,
  result: (_, params) => params.dtype as DType,
  // The caller casts the result to the dtype it needs.
  slopes: [(_, t) => t],
  lower: (k, [x], _, dtype) => k.cast(x, dtype),
});
/** The same bits as another dtype of the same width. Params: dtype. */
export const bitcast = elementwise("bitcast", 1, {
  kinds: REAL,
  isExact: true,
  result: (_, params) => params.dtype as DType,
  slopes: FLAT,
  lower: (k, [x], _, dtype) => k.bitcast(x, dtype),
});
