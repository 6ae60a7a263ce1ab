/** Weights of attention in f16 and bf16: exponentials that are as exact as these dtypes need, and numbers in pairs. */
import type { DType } from "../../../core/dtype.js";
import { rounded } from "../../elements/elements.js";
import type { Value } from "../../ir/ir.js";
import type { KernelBuilder } from "../../ir/kernel-builder.js";

/** 2^f on |f| ≤ 1/2, off by at most 3e-6 of it. */
const COEFFICIENTS = [1, 0.6931242, 0.24024099, 0.05590637, 0.00958282] as const;
/** Floats next to it are integers, and their last bits are those of the integer. */
const MAGIC = 1.5 * 2 ** 23;
/** Powers below are 0. */
const LEAST = -126;

/** 2^x for x of at most 127: 0 below 2^-126, NaN for NaN. The error is a hundredth of what rounding to f16 adds. */
export function narrowPowerOfTwo(k: KernelBuilder, x: Value): Value {
  const f = (value: number) => k.constant("f32", value);
  const shifted = k.binary("add", x, f(MAGIC));
  const fraction = k.binary("sub", x, k.binary("sub", shifted, f(MAGIC)));
  const significand = COEFFICIENTS.map(f).reduceRight((sum, next) => k.mulAdd(sum, fraction, next));
  const exponent = k.binary("shl", k.bitcast("i32", shifted), k.constant("u32", 23));
  const power = k.bitcast("f32", k.binary("add", exponent, k.constant("i32", 127 << 23)));
  return k.select(k.compare("lt", x, f(LEAST)), f(0), k.binary("mul", significand, power));
}

/** Two numbers in one word, each to nearest; NaN stays. */
export function narrowPair(k: KernelBuilder, dtype: DType, low: Value, high: Value): Value {
  if (dtype === "f16") return k.packHalves(low, high);
  const [first, second] = [low, high].map((x) => k.bitcast("u32", rounded(k, dtype, x)));
  return k.binary("or", k.binary("shr", first, k.constant("u32", 16)), second);
}

/** Two weights, which are not negative, in one word: the first in the lower half. */
export function weightPair(k: KernelBuilder, dtype: DType, low: Value, high: Value): Value {
  if (dtype === "f16") return k.packHalves(low, high);
  // Half of a last place added, then cut off: to nearest, and up where two are as near.
  const rounded = [low, high].map((x) => k.binary("add", k.bitcast("u32", x), k.constant("u32", 0x8000)));
  const upper = k.binary("and", rounded[1], k.constant("u32", 0xffff0000));
  return k.binary("or", k.binary("shr", rounded[0], k.constant("u32", 16)), upper);
}
