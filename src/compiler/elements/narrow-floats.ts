/**
 * Rounding to f16, bf16 and the 8-bit floats, which are computed as f32: every result is rounded, so that it does not depend on whether it was
 * stored in between. A wider value is first rounded to odd in f32 (Boldo and Melquiond, 2008), so that the second rounding
 * gives the same as a single one.
 *
 * It uses plain arithmetic, though many devices convert to f16 in one instruction: the driver chooses how that rounds, and
 * this is the same everywhere and vectorises on the CPU. A number that is only stored is not rounded here: stores round.
 */
import { BYTE_FORMATS, type ByteFloat } from "../../core/byte-float.js";
import { DTYPES, isByteFloat, type NarrowFloat } from "../../core/dtype.js";
import type { Value } from "../ir/ir.js";
import type { KernelBuilder } from "../ir/kernel-builder.js";
import { MODERATE, rangeOf } from "./float-range.js";

/** A number of any type as the float of the narrow dtype nearest to it; ties go to even. */
export function roundToNarrow(k: KernelBuilder, x: Value, to: NarrowFloat): Value {
  const single = toSingle(k, x);
  return k.noteRounding(nearest(k, single, to), single, to);
}

function nearest(k: KernelBuilder, x: Value, to: NarrowFloat): Value {
  switch (to) {
    case "f16":
      return roundToHalf(k, x);
    case "bf16":
      return roundToBrain(k, x);
    default:
      return roundToByte(k, x, to);
  }
}

/** As an f32 that rounds to the same narrow float. */
function toSingle(k: KernelBuilder, x: Value): Value {
  switch (x.type) {
    case "f64":
      return oddSingle(k, x);
    case "i32":
    case "u32":
      return k.convert("f32", stickyWord(k, x));
    case "i64":
    case "u64":
      return stickyWide(k, x);
    default:
      return x;
  }
}

/** An f64 as one of its two neighbours in f32: the one with an odd last bit, unless it is an f32 itself. */
function oddSingle(k: KernelBuilder, x: Value): Value {
  const nearest = k.convert("f32", x);
  const back = k.convert("f64", nearest);
  const bits = k.bitcast("u32", nearest);
  const isBeyond = k.compare("gt", k.unary("abs", back), k.unary("abs", x));
  const towardsZero = k.binary("sub", bits, k.select(isBeyond, k.constant("u32", 1), k.constant("u32", 0)));
  const odd = k.bitcast("f32", k.binary("or", towardsZero, k.constant("u32", 1)));
  return k.select(k.compare("eq", back, x), nearest, odd);
}

/** A 32-bit integer with at most 24 significant bits: the low eight of a large one become one sticky bit, set if any was. */
function stickyWord(k: KernelBuilder, x: Value): Value {
  const constant = (value: number) => k.constant(x.type, value);
  const isSmall =
    x.type === "u32"
      ? k.compare("lt", x, constant(2 ** 24))
      : k.binary("and", k.compare("lt", x, constant(2 ** 24)), k.compare("gt", x, constant(-(2 ** 24))));
  const isExact = k.compare("eq", k.binary("and", x, constant(0xff)), constant(0));
  const upper = k.binary("and", x, constant(x.type === "u32" ? 0xffffff00 : -256));
  const sticky = k.binary("or", upper, k.select(isExact, constant(0), constant(256)));
  return k.select(isSmall, x, sticky);
}

/** The same for 64 bits: the upper 32 significant bits, scaled back afterwards. */
function stickyWide(k: KernelBuilder, x: Value): Value {
  const { type } = x;
  const word = type === "u64" ? "u32" : "i32";
  const constant = (value: bigint) => k.constant(type, value);
  const isWithin = (bits: bigint) => {
    const below = k.compare("lt", x, constant(1n << bits));
    return type === "u64" ? below : k.binary("and", below, k.compare("ge", x, constant(-(1n << bits))));
  };
  const upper = (bits: bigint) => {
    const isExact = k.compare("eq", k.binary("and", x, constant((1n << bits) - 1n)), constant(0n));
    const shifted = k.binary("shr", x, constant(bits));
    return k.binary("or", shifted, k.select(isExact, constant(0n), constant(1n)));
  };
  const [isSmall, isMiddling] = [isWithin(31n), isWithin(47n)];
  const chosen = k.select(isSmall, x, k.select(isMiddling, upper(16n), upper(32n)));
  const scale = k.select(
    isSmall,
    k.constant("f32", 1),
    k.select(isMiddling, k.constant("f32", 2 ** 16), k.constant("f32", 2 ** 32)),
  );
  return k.binary("mul", k.convert("f32", stickyWord(k, k.convert(word, chosen))), scale);
}

/** Rounds the lower half of the bits away; a carry goes into the exponent, as it should. */
function roundToBrain(k: KernelBuilder, x: Value): Value {
  const word = (value: number) => k.constant("u32", value);
  const bits = k.bitcast("u32", x);
  const odd = k.binary("and", k.binary("shr", bits, word(16)), word(1));
  const raised = k.binary("add", k.binary("add", bits, word(0x7fff)), odd);
  const rounded = k.bitcast("f32", k.binary("and", raised, word(0xffff0000)));
  return k.select(k.compare("ne", x, x), x, rounded);
}

/** Below this the arithmetic that rounds to bf16 does not overflow. */
const MOST_BY_ARITHMETIC = 2 ** 111;

/** Rounding to bf16 by arithmetic: the result, and conditions under any of which it may be wrong. */
interface ArithmeticRounding {
  readonly rounded: Value;
  readonly doubts: readonly Value[];
}

/**
 * An f32 rounded to bf16 by two multiply-adds, which GPUs do at twice the rate of operations on bits: 65536 x - 65535 x. The
 * second product has 24 bits, so it is rounded to a multiple of 2^16 units in the last place of x, or of 2^15 at a power of two;
 * the first is a multiple already, and so is the difference, the nearest to x. At a tie x is even in its last place, so the
 * second product is even where the difference is. Nothing depends on whether the operations are fused, and adding 0 keeps
 * the sign of -0. A test goes through all significands.
 *
 * It is wrong for huge numbers and, unless the device takes them for zeros, denormal ones. Where numbers from memory of a
 * moderate size can make no huge one, those are tested instead: they are the same for many results.
 */
export function roundToBrainByArithmetic(k: KernelBuilder, x: Value, flushesDenormals: boolean): ArithmeticRounding {
  const c = (value: number) => k.constant("f32", value);
  const most = k.mulAdd(x, c(65535), c(0));
  const difference = k.mulAdd(x, c(65536), k.unary("neg", most));
  const { low, high, assumed } = rangeOf(k, x);
  const isAtLeast = (value: Value, size: number) => k.compare("ge", k.unary("abs", value), c(size));
  const doubts =
    Math.max(-low, high) < MOST_BY_ARITHMETIC
      ? [...assumed].map((load) => isAtLeast(load, MODERATE))
      : [isAtLeast(x, MOST_BY_ARITHMETIC)];
  if (!flushesDenormals) {
    const isBelowNormal = k.compare("lt", k.unary("abs", x), c(2 ** -126));
    doubts.push(k.binary("and", isBelowNormal, k.compare("ne", x, c(0))));
  }
  return { rounded: k.noteRounding(difference, x, "bf16", true), doubts };
}

/** Adds and subtracts 2^13 times the power of two below x: floats of that size are spaced like f16 around x, so this rounds. */
function roundToHalf(k: KernelBuilder, x: Value): Value {
  const word = (value: number) => k.constant("u32", value);
  const bits = k.bitcast("u32", x);
  const power = k.binary("and", bits, word(0x7f800000));
  // Denormal f16 have the spacing of those from 2^-14 on; from 2^16 on any power will do.
  const clamped = k.binary("min", k.binary("max", power, word(0x38800000)), word(0x47800000));
  const coarse = k.bitcast("f32", k.binary("add", clamped, word(13 << 23)));
  const magnitude = k.binary("sub", k.binary("add", k.unary("abs", x), coarse), coarse);
  // From 2^16 on there is only infinity: scaling overflows there.
  const scaled = k.binary("mul", magnitude, k.constant("f32", 2 ** 112));
  const rounded = k.bitcast("u32", k.binary("mul", scaled, k.constant("f32", 2 ** -112)));
  return k.bitcast("f32", k.binary("or", rounded, k.binary("and", bits, word(0x80000000))));
}

/** As roundToHalf; what is larger than the largest number becomes infinity, or NaN where there is none. */
function roundToByte(k: KernelBuilder, x: Value, to: ByteFloat): Value {
  const { fractionBits, minExponent, overflow, nan } = BYTE_FORMATS[to];
  const word = (value: number) => k.constant("u32", value);
  const bits = k.bitcast("u32", x);
  const power = k.binary("and", bits, word(0x7f800000));
  const clamped = k.binary("min", k.binary("max", power, word((minExponent + 127) << 23)), word(0x48000000));
  const coarse = k.bitcast("f32", k.binary("add", clamped, word((23 - fractionBits) << 23)));
  const magnitude = k.binary("sub", k.binary("add", k.unary("abs", x), coarse), coarse);
  const isBeyond = k.compare("gt", magnitude, k.constant("f32", DTYPES[to].max as number));
  const beyond = k.constant("f32", overflow === nan ? Number.NaN : Infinity);
  const rounded = k.bitcast("u32", k.select(isBeyond, beyond, magnitude));
  return k.bitcast("f32", k.binary("or", rounded, k.binary("and", bits, word(0x80000000))));
}

// -------------------------------------------------------------------------------------------------- their bits

/** The bits of a narrow float, which is here as an f32, in a u32. A NaN is a quiet one. */
export function bitsOfNarrow(k: KernelBuilder, x: Value, from: NarrowFloat): Value {
  if (isByteFloat(from)) return bitsOfByte(k, x, from);
  const word = (value: number) => k.constant("u32", value);
  const bits = k.bitcast("u32", x);
  const upper = k.binary("shr", bits, word(16));
  const isNan = k.compare("ne", x, x);
  if (from === "bf16") return k.select(isNan, k.binary("or", upper, word(0x40)), upper);
  const magnitude = k.binary("and", bits, word(0x7fffffff));
  // Change the exponent's bias from 127 to 15; a denormal number is a multiple of the least one.
  const normal = k.binary("shr", k.binary("sub", magnitude, word(112 << 23)), word(13));
  const isSmall = k.compare("lt", magnitude, word(113 << 23));
  const least = k.bitcast("f32", k.select(isSmall, magnitude, word(0)));
  const small = k.convert("u32", k.binary("mul", least, k.constant("f32", 2 ** 24)));
  const fraction = k.binary("shr", k.binary("and", bits, word(0x7fffff)), word(13));
  const nan = k.binary("or", fraction, word(0x7e00));
  const isInfinite = k.compare("eq", magnitude, word(0x7f800000));
  const finite = k.select(isSmall, small, normal);
  const value = k.select(isNan, nan, k.select(isInfinite, word(0x7c00), finite));
  return k.binary("or", k.binary("and", upper, word(0x8000)), value);
}

/** The narrow float with the low of these bits, as an f32. */
export function narrowOfBits(k: KernelBuilder, bits: Value, to: NarrowFloat): Value {
  if (isByteFloat(to)) return byteOfBits(k, bits, to);
  const word = (value: number) => k.constant("u32", value);
  if (to === "bf16") return k.bitcast("f32", k.binary("shl", bits, word(16)));
  const magnitude = k.binary("shl", k.binary("and", bits, word(0x7fff)), word(13));
  const normal = k.binary("add", magnitude, word(112 << 23));
  const small = k.binary("mul", k.convert("f32", k.binary("and", bits, word(0x3ff))), k.constant("f32", 2 ** -24));
  const isSmall = k.compare("lt", magnitude, word(1 << 23));
  const hasValue = k.compare("lt", magnitude, word(31 << 23));
  const finite = k.select(isSmall, k.bitcast("u32", small), normal);
  const value = k.select(hasValue, finite, k.binary("or", magnitude, word(0x7f800000)));
  const sign = k.binary("shl", k.binary("and", bits, word(0x8000)), word(16));
  return k.bitcast("f32", k.binary("or", value, sign));
}

/** The 8 bits of an 8-bit float. Every NaN becomes the same one. */
function bitsOfByte(k: KernelBuilder, x: Value, from: ByteFloat): Value {
  const { fractionBits, minExponent, overflow, nan } = BYTE_FORMATS[from];
  const word = (value: number) => k.constant("u32", value);
  const bits = k.bitcast("u32", x);
  const magnitude = k.binary("and", bits, word(0x7fffffff));
  const normal = k.binary("shr", k.binary("sub", magnitude, word((126 + minExponent) << 23)), word(23 - fractionBits));
  const isSmall = k.compare("lt", magnitude, word((127 + minExponent) << 23));
  const least = k.bitcast("f32", k.select(isSmall, magnitude, word(0)));
  const small = k.convert("u32", k.binary("mul", least, k.constant("f32", 2 ** (fractionBits - minExponent))));
  const isInfinite = k.compare("eq", magnitude, word(0x7f800000));
  const value = k.select(isInfinite, word(overflow), k.select(isSmall, small, normal));
  const sign = k.binary("and", k.binary("shr", bits, word(24)), word(0x80));
  return k.select(k.compare("ne", x, x), word(nan), k.binary("or", sign, value));
}

function byteOfBits(k: KernelBuilder, bits: Value, to: ByteFloat): Value {
  const { fractionBits, minExponent, maxCode } = BYTE_FORMATS[to];
  const word = (value: number) => k.constant("u32", value);
  const code = k.binary("and", bits, word(0x7f));
  const moved = k.binary("shl", code, word(23 - fractionBits));
  const normal = k.binary("add", moved, word((126 + minExponent) << 23));
  const least = k.constant("f32", 2 ** (minExponent - fractionBits));
  const small = k.bitcast("u32", k.binary("mul", k.convert("f32", code), least));
  const finite = k.select(k.compare("lt", code, word(1 << fractionBits)), small, normal);
  // All ones in the exponent of an f32 make infinity of a fraction of zeros, and NaN of others.
  const other = k.binary("or", moved, word(0x7f800000));
  const value = k.select(k.compare("gt", code, word(maxCode)), other, finite);
  const sign = k.binary("shl", k.binary("and", bits, word(0x80)), word(24));
  return k.bitcast("f32", k.binary("or", value, sign));
}
