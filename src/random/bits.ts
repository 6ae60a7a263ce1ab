/** Random bits and floats of the unit interval: all distributions start here. Equal to JAX's for the same key. */

import { checkOptions } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import { BYTE_FORMATS } from "../core/byte-float.js";
import type { DType } from "../core/dtype.js";
import { DTypeError, UnsupportedError } from "../core/errors.js";
import { checkShape, type Shape, sizeOf } from "../core/shape.js";
import { countingLike, type Tensor, threefry, type Word } from "../tensor/index.js";
import { type Key, keyWords, split } from "./key.js";

/** 64 random bits per element, as two words or folded into one of 32. */
export interface RandomWords {
  first(): Tensor<"u32">;
  second(): Tensor<"u32">;
  folded(): Tensor<"u32">;
}

/** The words of every element of a shape. `round` tells several draws for the same element apart. */
export function randomWords(key: Key, shape: Shape, operation: string, round: Word = 0): RandomWords {
  const words = keyWords(key, operation);
  const size = sizeOf(checkShape(shape, `random.${operation}`));
  if (size > 2 ** 31) throw new UnsupportedError(`random.${operation}: more than 2^31 elements of one key; split it.`);
  const counter = [round, countingLike(key, size).cast("u32").reshape(shape)] as const;
  return {
    first: () => threefry(words, counter, "first"),
    second: () => threefry(words, counter, "second"),
    folded: () => threefry(words, counter, "folded"),
  };
}

/** Words of which each number of at most 32 bits takes one. */
const single = (word: () => Tensor<"u32">): RandomWords => ({ first: word, second: word, folded: word });

/**
 * Words of two independent numbers of a dtype for every element. Numbers of at most 32 bits share a block of random bits, which
 * makes a draw of both a third cheaper; f64 takes a block for each.
 */
export function pairOfWords(
  key: Key,
  shape: Shape,
  operation: string,
  dtype: DType,
  round: Word = 0,
): readonly [RandomWords, RandomWords] {
  if (dtype === "f64") {
    const [first, second] = split(key);
    return [randomWords(first, shape, operation, round), randomWords(second, shape, operation, round)];
  }
  const { first, second } = randomWords(key, shape, operation, round);
  return [single(first), single(second)];
}

/** Random bits as unsigned integers: u32 unless told, u8, u16 or u64. */
export function bits<D extends "u8" | "u16" | "u32" | "u64" = "u32">(
  key: Key,
  shape: Shape = [],
  options: { readonly dtype?: D } = {},
): Tensor<D> {
  checkCount("random.bits", 3, arguments);
  checkOptions<{ readonly dtype?: DType }>("random.bits", options, { dtype: "dtype" });
  const dtype = options.dtype ?? "u32";
  if (!["u8", "u16", "u32", "u64"].includes(dtype)) {
    throw new DTypeError(`random.bits: bits come as u8, u16, u32 or u64, not ${dtype}; use randint for others.`);
  }
  const words = randomWords(key, shape, "bits");
  if (dtype !== "u64") return words.folded().cast(dtype) as Tensor as Tensor<D>;
  return words.first().cast("u64").leftShift(32).bitwiseOr(words.second().cast("u64")) as Tensor<D>;
}

/**
 * Floats evenly spaced in [0, 1): as many random bits as the fraction has, scaled. JAX puts them under the exponent of 1
 * and subtracts 1, which gives the same numbers. With another `end`, a power of two, they are spaced in [0, end).
 */
export function unitFloats(words: RandomWords, dtype: DType, operation: string, end = 1): Tensor {
  switch (dtype) {
    case "f64": {
      const high = words
        .first()
        .cast("f64")
        .mul(2 ** 20);
      return high.add(words.second().rightShift(12).cast("f64")).mul(end * 2 ** -52);
    }
    case "f32":
      return words
        .folded()
        .rightShift(9)
        .cast("f32")
        .mul(end * 2 ** -23);
    case "f16":
      return words
        .folded()
        .bitwiseAnd(0xffff)
        .rightShift(6)
        .cast("f16")
        .mul(end * 2 ** -10);
    case "bf16":
      return words
        .folded()
        .bitwiseAnd(0xff)
        .rightShift(1)
        .cast("bf16")
        .mul(end * 2 ** -7);
    case "f8e4m3":
    case "f8e5m2": {
      const { fractionBits } = BYTE_FORMATS[dtype];
      return words
        .folded()
        .bitwiseAnd(0xff)
        .rightShift(8 - fractionBits)
        .cast(dtype)
        .mul(end * 2 ** -fractionBits);
    }
    default:
      throw new DTypeError(`random.${operation}: ${dtype} is no float; use f16, bf16, f32 or f64.`);
  }
}
