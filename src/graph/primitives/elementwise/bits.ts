/** Elementwise operations on the bits of integers and bools. */
import { DTYPES, type DType } from "../../../core/dtype.js";
import type { ElementOps } from "../../element-ops.js";
import { BITS, elementwise, INTEGER } from "./entry.js";

export const and = elementwise("and", 2, {
  called: "bitwiseAnd",
  kinds: BITS,
  oracle: (a, b) => a & b,
  lower: (k, [a, b]) => k.and(a, b),
});
export const or = elementwise("or", 2, {
  called: "bitwiseOr",
  kinds: BITS,
  oracle: (a, b) => a | b,
  lower: (k, [a, b]) => k.or(a, b),
});
export const xor = elementwise("xor", 2, {
  called: "bitwiseXor",
  kinds: BITS,
  oracle: (a, b) => a ^ b,
  lower: (k, [a, b]) => k.xor(a, b),
});
export const not = elementwise("not", 1, { called: "bitwiseNot", kinds: BITS, lower: (k, [x]) => k.not(x) });
export const shiftLeft = elementwise("shiftLeft", 2, {
  called: "leftShift",
  kinds: INTEGER,
  lower: (k, [a, b]) => k.shift("left", a, b),
});
export const shiftRight = elementwise("shiftRight", 2, {
  called: "rightShift",
  kinds: INTEGER,
  lower: (k, [a, b]) => k.shift("right", a, b),
});
/** The number of ones among the bits. */
export const popcount = elementwise("popcount", 1, { kinds: INTEGER, cost: 12, lower: (k, [x]) => countOnes(k, x) });
/** The number of bits before the first one; all of them for 0. */
export const countLeadingZeros = elementwise("countLeadingZeros", 1, {
  kinds: INTEGER,
  cost: 24,
  lower: (k, [x]) => {
    // Fill all bits below the highest one; the remaining zeros are the leading zeros.
    let filled = asUnsigned(k, x);
    const dtype = k.dtypeOf(filled);
    for (let distance = 1; distance < DTYPES[dtype].bits; distance *= 2) {
      filled = k.or(filled, k.shift("right", filled, k.constant(dtype, distance)));
    }
    return k.cast(countOnes(k, k.not(filled)), k.dtypeOf(x));
  },
});

/** The same bits as an unsigned integer, so that right shifts insert zeros. */
function asUnsigned<V>(k: ElementOps<V>, x: V): V {
  const dtype = k.dtypeOf(x);
  return DTYPES[dtype].kind === "int" ? k.cast(x, dtype.replace("i", "u") as DType) : x;
}

/** Sums of neighbouring bits, then of pairs, then of fours; a product adds up the bytes (Warren, Hacker's Delight, 5-1). */
function countOnes<V>(k: ElementOps<V>, x: V): V {
  const own = asUnsigned(k, x);
  const bits = DTYPES[k.dtypeOf(own)].bits < 8 ? k.cast(own, "u8") : own;
  const dtype = k.dtypeOf(bits);
  const width = DTYPES[dtype].bits;
  const repeated = (byte: bigint) => {
    let value = byte;
    for (let at = 8; at < width; at += 8) value = (value << 8n) | byte;
    return k.constant(dtype, width === 64 ? value : Number(value));
  };
  const right = (value: V, distance: number) => k.shift("right", value, k.constant(dtype, distance));
  const pairs = k.sub(bits, k.and(right(bits, 1), repeated(0x55n)));
  const fours = k.add(k.and(pairs, repeated(0x33n)), k.and(right(pairs, 2), repeated(0x33n)));
  const bytes = k.and(k.add(fours, right(fours, 4)), repeated(0x0fn));
  return k.cast(right(k.mul(bytes, repeated(0x01n)), width - 8), k.dtypeOf(x));
}
