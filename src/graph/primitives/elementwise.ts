/**
 * Elementwise primitives: one entry each, in the file of its kind. Operands are of one shape and, unless an entry says otherwise,
 * of one dtype; broadcasting and promotion happen before. `oracle` is the meaning in plain JavaScript; the op sweep compares
 * with it, over `domain`.
 */
export * from "./elementwise/arithmetic.js";
export * from "./elementwise/bits.js";
export * from "./elementwise/complex.js";
export type { ElementwiseEntry } from "./elementwise/entry.js";
export * from "./elementwise/functions.js";
export * from "./elementwise/truth.js";
