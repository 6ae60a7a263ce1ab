/**
 * The language in which kernels are written by hand, for libraries that bring kernels of their own: the samplers of bayes. It is
 * all that they import of the compiler.
 *
 * A `KernelBuilder` writes loops, loads and stores; `elementOps` has the arithmetic and the math library; a `Place` is where
 * elements of a value lie; `inline` writes a function of the graph into the kernel; `Backend.handWritten` compiles the result.
 */
export { computeType, type Element, type ElementSettings, elementOps } from "../elements/elements.js";
export type { Kernel, Value } from "../ir/ir.js";
export { KernelBuilder } from "../ir/kernel-builder.js";
export { roundsWithin } from "../ir/loop-rounds.js";
export { type InlineContext, inline, isForLanes } from "./inline.js";
export { arrayPlace, columnPlace, dataPlace, type Place, Scratch, shifted } from "./place.js";
