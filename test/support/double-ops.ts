/** The arithmetic of one element over doubles: for rules that are written in it, computed without a compiler. */
import type { ElementOps } from "../../src/graph/element-ops.js";

/** Bools are 0 and 1. What rules of floats do not use is left out, and fails when it is asked for. */
export const doubleOps = {
  dtypeOf: () => "f64",
  constant: (_dtype, value) => Number(value),
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div: (a, b) => a / b,
  min: Math.min,
  max: Math.max,
  neg: (a) => -a,
  abs: Math.abs,
  sqrt: Math.sqrt,
  withSign: (magnitude, sign) => (sign < 0 || Object.is(sign, -0) ? -magnitude : magnitude),
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
  not: (a) => 1 - a,
  compare: (how, a, b) => Number({ eq: a === b, ne: a !== b, lt: a < b, le: a <= b, gt: a > b, ge: a >= b }[how]),
  select: (condition, whenTrue, whenFalse) => (condition ? whenTrue : whenFalse),
  cast: (x) => x,
  math: (name, ...args) => (Math[name as "sin"] as (...numbers: readonly number[]) => number)(...args),
} as Partial<ElementOps<number>> as ElementOps<number>;
