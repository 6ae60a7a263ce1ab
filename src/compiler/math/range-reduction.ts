/**
 * |x| modulo pi/2 for every finite x, by the method of Payne and Hanek (1983) in 32-bit integers.
 *
 * With |x| = m 2^e, m an integer, only a window of the bits of 2/pi matters: those above it contribute multiples of 4
 * to m 2^e (2/pi), whole turns, and those below nothing visible. The product of m with the window, kept modulo 4 by the
 * natural wrap-around of the words, holds the quadrant in its top two bits and the fraction of a quadrant below. The
 * window is long enough for the f32 and f64 values nearest to a multiple of pi/2 (about 2^-29 and 2^-61 away; Muller,
 * Elementary Functions, ch. 11), so no accuracy is lost however large x is.
 *
 * The window slides over the bits of 2/pi by selects, a binary digit of its position at a time. There is no cheaper
 * path for small x, since both would have to be computed; below pi/4 x is left alone.
 */
import { fastTwoSum, type Pair, twoProduct } from "./error-free.js";
import { constants, formats, signWord } from "./float-parts.js";
import type { FloatType, ScalarOps } from "./scalar-ops.js";
import { addColumns, mulHigh, splitWord } from "./wide-integer.js";

/** The binary digits of 2/pi after the point, 32 to a word. */
const twoOverPi = [
  0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561, 0xb7246e3a,
  0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41,
  0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf,
  0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08,
  0x56033046,
] as const;

/** pi/2 as a pair of floats. */
export const halfPi = {
  f32: { high: 1.5707963705062866, low: -4.371138828673793e-8 },
  f64: { high: 1.5707963267948966, low: 6.123233995736766e-17 },
} as const;

/** Words of the fixed-point result (2 integer bits, then 62 or 126 of fraction) and of the integer m. */
const reductions = {
  f32: { resultWords: 2, mantissaWords: 1 },
  f64: { resultWords: 4, mantissaWords: 2 },
} as const;

/** `count` consecutive words of `table` from `index` (at most `largest`) on. */
function wordsAt<V>(k: ScalarOps<V>, table: readonly V[], index: V, largest: number, count: number): V[] {
  let words = [...table];
  let limit = largest;
  for (let step = 2 ** Math.floor(Math.log2(largest)); step >= 1; step /= 2) {
    const isSet = k.ne(k.and(index, k.constant("u32", step)), k.constant("u32", 0));
    const remaining = Math.min(limit, step - 1);
    // With this digit set the rest of the index is at most limit - step, which bounds the words it can reach.
    words = words
      .slice(0, remaining + count)
      .map((word, i) => (i < limit - step + count ? k.select(isSet, words[i + step], word) : word));
    limit = remaining;
  }
  return words;
}

/** The 32 bits that start `distance` (0 to 31) bits into `first` and run on into `second`. */
function funnel<V>(k: ScalarOps<V>, first: V, second: V, distance: V, complement: V): V {
  // Shifting right by 32 - distance in two steps, because a shift by 32 is undefined.
  const tail = k.shr(k.shr(second, k.constant("u32", 1)), complement);
  return k.or(k.shl(first, distance), tail);
}

/** |x| (2/pi) modulo 4 as words of a fixed-point number, for pi/4 < |x| < infinity. */
function turns<V>(k: ScalarOps<V>, x: V, type: FloatType): V[] {
  const { bias, fractionBits, precision } = formats[type];
  const { resultWords, mantissaWords } = reductions[type];
  const u = (value: number) => k.constant("u32", value);
  const word = k.and(signWord(k, x, type), u(0x7fffffff));
  const topLimb = k.or(k.and(word, u(2 ** fractionBits - 1)), u(2 ** fractionBits));
  const limbs = (type === "f32" ? [topLimb] : [k.lowWord(x), topLimb]).map((limb) => splitWord(k, limb));

  // Leading zero words stand for the digits before the point, which small exponents reach.
  const zeroWords = mantissaWords;
  const windowWords = resultWords + mantissaWords;
  const start = 32 * zeroWords - precision - 1 - bias;
  const position = k.bitcast("u32", k.add(k.bitcast("i32", k.shr(word, u(fractionBits))), k.constant("i32", start)));
  const largestIndex = Math.floor((bias + 32 * zeroWords - precision - 1) / 32);
  const table = [...new Array(zeroWords).fill(0), ...twoOverPi]
    .slice(0, largestIndex + windowWords + 1)
    .map((value) => u(value));
  const aligned = wordsAt(k, table, k.shr(position, u(5)), largestIndex, windowWords + 1);
  const distance = k.and(position, u(31));
  const complement = k.xor(distance, u(31));
  const window = aligned
    .slice(0, windowWords)
    .map((first, i) => splitWord(k, funnel(k, first, aligned[i + 1], distance, complement)));

  const columns: V[][] = Array.from({ length: resultWords }, () => []);
  limbs.forEach((limb, l) => {
    window.forEach((digit, j) => {
      if (j - l >= 0 && j - l < resultWords) columns[j - l].push(k.mul(limb.word, digit.word));
      if (j - l >= 1 && j - l <= resultWords) columns[j - l - 1].push(mulHigh(k, limb, digit));
    });
  });
  return addColumns(k, columns);
}

/** A magnitude below 1/2, given as the words of a fixed-point number with 2 integer bits, as a pair of floats. */
function fractionToFloat<V>(k: ScalarOps<V>, words: readonly V[], type: FloatType): Pair<V> {
  const { add, mul } = k;
  const scaled = (word: V, weight: number) => mul(k.convert(type, word), k.constant(type, 2 ** weight));
  if (type === "f32") {
    // 61 bits as 24 + 24 + 13, each exact in a float: next to a multiple of pi/2 only the last two are left.
    const u = (value: number) => k.constant("u32", value);
    const top = scaled(k.and(words[0], u(0x1fffffe0)), -30);
    const middle = scaled(k.or(k.shl(k.and(words[0], u(0x1f)), u(19)), k.shr(words[1], u(13))), -49);
    const { high, low } = fastTwoSum(k, top, middle);
    return { high, low: add(low, scaled(k.and(words[1], u(0x1fff)), -62)) };
  }
  const top = fastTwoSum(k, scaled(words[0], -30), scaled(words[1], -62));
  return fastTwoSum(k, top.high, add(top.low, add(scaled(words[2], -94), scaled(words[3], -126))));
}

/** |x| = quadrant pi/2 + high + low, with the quadrant (u32) modulo 4 and |high| <= pi/4; x finite. */
export function reduceByHalfPi<V>(k: ScalarOps<V>, x: V, type: FloatType): Pair<V> & { readonly quadrant: V } {
  const { add, mul, select } = k;
  const c = constants(k, type);
  const u = (value: number) => k.constant("u32", value);
  const words = turns(k, x, type);
  const nearest = k.shr(add(words[0], u(2 ** 29)), u(30));
  const signed = k.bitcast("i32", k.sub(words[0], k.shl(nearest, u(30))));
  // The magnitude by one's complement: off by one in the last bit, far below what shows.
  const sign = k.bitcast("u32", k.shr(signed, u(31)));
  const magnitudes = [k.bitcast("u32", signed), ...words.slice(1)].map((word) => k.xor(word, sign));
  const fraction = fractionToFloat(k, magnitudes, type);

  const isNegative = k.lt(signed, k.constant("i32", 0));
  const { high, low } = halfPi[type];
  const halfPiHigh = select(isNegative, c(-high), c(high));
  const halfPiLow = select(isNegative, c(-low), c(low));
  const product = twoProduct(k, fraction.high, halfPiHigh, type);
  const rest = add(product.low, add(mul(fraction.high, halfPiLow), mul(fraction.low, halfPiHigh)));
  const angle = fastTwoSum(k, product.high, rest);

  const magnitude = k.abs(x);
  const isSmall = k.le(magnitude, c(Math.PI / 4));
  return {
    quadrant: select(isSmall, u(0), nearest),
    high: select(isSmall, magnitude, angle.high),
    low: select(isSmall, c(0), angle.low),
  };
}
