/**
 * Vectors of bf16 as words of two: what is a shift or a mask of a word would be several operations on halves, and eight of them
 * are one access of 16 bytes, where SPIR-V's vectors end at four elements.
 */
import type { FunctionBuilder } from "../../../spirv/function/function-builder.js";
import type { Value } from "../../../spirv/function/value.js";
import type { ModuleBuilder } from "../../../spirv/module/builder.js";
import { brainBits } from "./stored-elements.js";

/** The numbers in a vector of words, the lower half of a word first, as f32. */
export function unpackBrains(f: FunctionBuilder, m: ModuleBuilder, words: Value, count: number): Value[] {
  return Array.from({ length: count }, (_, part) => {
    const word = f.extract(words, part >> 1);
    return f.bitcast(part % 2 === 0 ? f.shiftLeft(word, 16) : f.and(word, 0xffff0000), m.f32);
  });
}

/** A value of f32 to be stored. `isRounded`: it is a bf16 already. */
interface Stored {
  readonly value: Value;
  readonly isRounded: boolean;
}

/** Numbers as a vector of words. */
export function packBrains(f: FunctionBuilder, m: ModuleBuilder, stored: readonly Stored[]): Value {
  const words = Array.from({ length: stored.length / 2 }, (_, i) => {
    const [low, high] = [stored[2 * i], stored[2 * i + 1]];
    const upper = high.isRounded
      ? f.and(f.bitcast(high.value, m.u32), 0xffff0000)
      : f.shiftLeft(brainBits(f, m, high.value, false), 16);
    return f.or(upper, brainBits(f, m, low.value, low.isRounded));
  });
  return f.vector(...words);
}
