/** Codes of features in words, four to a word, and indices: what the kernels of this folder read with. */
import { BINS } from "../../../graph/primitives/trees.js";
import type { Value } from "../../ir/ir.js";
import type { KernelBuilder } from "../../ir/kernel-builder.js";

/** Features in a word of codes. */
export const PACKED = 4;

/** Operations on indices, which kernels of this folder share. */
export const indices = (k: KernelBuilder) => ({
  i: (value: number) => k.constant("i32", value),
  add: (a: Value, b: Value) => k.binary("add", a, b),
  times: (a: Value, b: number) => k.binary("mul", a, k.constant("i32", b)),
});

/** The code of a feature of a word, by its place in it. */
export function codeIn(k: KernelBuilder, word: Value, place: Value): Value {
  const shift = k.bitcast("u32", k.binary("mul", place, k.constant("i32", 8)));
  return k.bitcast("i32", k.binary("and", k.binary("shr", word, shift), k.constant("u32", BINS - 1)));
}
