/**
 * pow, with the special cases of C99 (annex F.9.4.4).
 *
 * |x|^y = exp(y log|x|). An error in y log|x| becomes a relative error of the result, and the product reaches 104 (f32)
 * or 745 (f64), so the logarithm is computed as a pair of floats with 10 bits more than the type:
 *
 *   |x| = 2^n z, z from 0.71 to 1.46 falls into one of 8 (f32) or 16 (f64) intervals, each with a short constant c near
 *   1/z, so that r = z c - 1 is exact as a pair and small; then log|x| = n ln 2 - log c + r - r²/2 + r³ Q(r).
 *
 * Everything down to r²/2 is summed with its rounding errors; r³ Q(r) is small enough to be rounded. No division is
 * needed. The scheme is that of table-driven logarithms (Tang 1990; also in musl's pow), with the interval picked
 * by selects in place of a table in memory. The interval around z = 1 has c = 1, which keeps the relative error small
 * where the logarithm passes zero.
 */
import { fastTwoSum, type Pair, twoProduct } from "./error-free.js";
import { clampForExp, expParts, ln2 } from "./exponential.js";
import { constants, formats, isSignSet, leadingPart, scaleByPowers, signWord, withSignWord } from "./float-parts.js";
import { polynomial } from "./polynomial.js";
import type { FloatType, ScalarOps } from "./scalar-ops.js";

interface LogTable {
  /** Sign word of the lowest z; the intervals divide the span of one exponent evenly, and one is centred on 1. */
  readonly start: number;
  /** The short constants c near 1/z, at most 8 bits each. */
  readonly reciprocals: readonly number[];
  /** -log c in two parts; n ln2.high + high is exact for every exponent n. */
  readonly high: readonly number[];
  readonly low: readonly number[];
  /** (log1p(r) - r + r²/2) / r³, with log1p(r) right to 2^-36.7 (f32) and 2^-68.5 (f64) of r. */
  readonly coefficients: readonly number[];
}

const logTables: Readonly<Record<FloatType, LogTable>> = {
  f32: {
    start: 0x3f355555,
    reciprocals: [1.359375, 1.25, 1.15625, 1.078125, 1, 0.90625, 0.8125, 0.734375],
    high: [
      -0.3070220947265625, -0.22314453125, -0.1451873779296875, -0.075225830078125, 0, 0.0984344482421875,
      0.2076416015625, 0.3087310791015625,
    ],
    low: [
      -2.940568349362075e-6, 9.799357902442336e-7, 5.368085189602718e-6, 2.4088405374743013e-6, 0, 5.624571065019903e-6,
      -2.2367842554983845e-6, 4.402548050769682e-6,
    ],
    coefficients: [
      0.3333333432674408, -0.24999940395355225, 0.1999923139810562, -0.16724179685115814, 0.1445629596710205,
    ],
  },
  f64: {
    start: 0x3fe75555,
    reciprocals: [
      1.34375, 1.2890625, 1.2421875, 1.1953125, 1.1484375, 1.109375, 1.0703125, 1.0390625, 1, 0.953125, 0.8984375,
      0.8515625, 0.8046875, 0.765625, 0.734375, 0.703125,
    ],
    high: [
      -0.2954642128938758, -0.2539152099811872, -0.21687393830052315, -0.1784076574726896, -0.13840232285929233,
      -0.10379679368179495, -0.06795066190852594, -0.03831886430225495, 0, 0.04800921918649692, 0.10709813555649816,
      0.16068238169054894, 0.21730127568980606, 0.2670627852489815, 0.3087354816498191, 0.3522205935892089,
    ],
    low: [
      3.993416384387844e-14, 2.2377349871059472e-13, -9.120937249914984e-14, -1.2869017157588258e-13,
      1.7319034406422305e-13, 1.5138730947129065e-13, 1.8195060030168815e-14, 1.1835213242119903e-13, 0,
      -1.3631313165192278e-13, -1.310635651080399e-13, -7.547106028244807e-14, 1.7533358800917323e-13,
      6.371947269815667e-14, -2.0585154795158916e-13, 1.432244935083401e-13,
    ],
    coefficients: [
      0.3333333333333333, -0.24999999999999586, 0.20000000000041598, -0.16666666670588878, 0.14285714086150372,
      -0.12499987312189693, 0.11111447584247004, -0.10017163999882846, 0.08910504563097281,
    ],
  },
};

/** The table entry that the bools, lowest bit first, point at. */
function lookUp<V>(k: ScalarOps<V>, bits: readonly V[], table: readonly number[], type: FloatType): V {
  let entries = table.map((value) => k.constant(type, value));
  for (const bit of bits) {
    const next: V[] = [];
    for (let i = 0; i < entries.length; i += 2) next.push(k.select(bit, entries[i + 1], entries[i]));
    entries = next;
  }
  return entries[0];
}

/** log x for positive, finite x as a pair; relative error about 2^-34 (f32) and 2^-63 (f64). */
function logPair<V>(k: ScalarOps<V>, x: V, type: FloatType): Pair<V> {
  const { add, sub, mul } = k;
  const c = constants(k, type);
  const table = logTables[type];
  const { fractionBits, precision, smallestNormal } = formats[type];
  const isDenormal = k.lt(x, c(smallestNormal));
  const normal = k.select(isDenormal, mul(x, c(2 ** precision)), x);

  const start = k.constant("i32", table.start);
  const shift = k.constant("u32", fractionBits);
  const bits = k.bitcast("i32", signWord(k, normal, type));
  const offset = k.sub(bits, start);
  const exponent = k.shr(offset, shift);
  const z = withSignWord(k, normal, k.bitcast("u32", k.sub(bits, k.shl(exponent, shift))), type);
  const count = k.convert(type, exponent);
  const n = k.select(isDenormal, sub(count, c(precision)), count);
  const indexBits = Math.log2(table.reciprocals.length);
  const interval = Array.from({ length: indexBits }, (_, bit) => {
    const mask = k.constant("i32", 1 << (fractionBits - indexBits + bit));
    return k.ne(k.and(offset, mask), k.constant("i32", 0));
  });

  // z c - 1: each half of z times a constant of 8 bits is exact.
  const reciprocal = lookUp(k, interval, table.reciprocals, type);
  const leading = leadingPart(k, z, type);
  const r = fastTwoSum(k, sub(mul(leading, reciprocal), c(1)), mul(sub(z, leading), reciprocal));

  const base = add(mul(n, c(ln2[type].high)), lookUp(k, interval, table.high, type));
  const first = fastTwoSum(k, base, r.high);
  const rLeading = leadingPart(k, r.high, type);
  const halfLeading = mul(rLeading, c(0.5));
  const second = fastTwoSum(k, first.high, k.neg(mul(halfLeading, rLeading)));
  const squareRest = mul(mul(sub(r.high, rLeading), c(0.5)), add(r.high, rLeading));

  const baseLow = add(mul(n, c(ln2[type].low)), lookUp(k, interval, table.low, type));
  const rLow = sub(r.low, mul(r.low, r.high));
  const cube = mul(mul(mul(r.high, r.high), r.high), polynomial(k, r.high, table.coefficients, type));
  const low = add(add(add(first.low, second.low), add(baseLow, rLow)), sub(cube, squareRest));
  return fastTwoSum(k, second.high, low);
}

export function pow<V>(k: ScalarOps<V>, x: V, y: V, type: FloatType): V {
  const { select, and, or, eq, ne, lt } = k;
  const c = constants(k, type);
  const [zero, one, infinity] = [c(0), c(1), c(Infinity)];
  const magnitude = k.abs(x);

  // Beyond this |y| every base but ±1 overflows or vanishes; the bound keeps the product finite.
  const bound = type === "f32" ? 2 ** 33 : 2 ** 65;
  const boundedBelow = select(k.gt(y, c(bound)), c(bound), y);
  const exponent = select(lt(y, c(-bound)), c(-bound), boundedBelow);

  const logarithm = logPair(k, magnitude, type);
  const product = twoProduct(k, exponent, logarithm.high, type);
  const low = k.add(product.low, k.mul(exponent, logarithm.low));
  // If the product was clamped, its rounding error may be huge, and no longer matters.
  const clamped = clampForExp(k, product.high, type);
  const parts = expParts(k, clamped, type, select(eq(clamped, product.high), low, zero));
  const finite = scaleByPowers(k, parts.significand, parts.powers);

  const isZero = eq(magnitude, zero);
  const isNegativePower = lt(y, zero);
  const atEnds = select(k.xor(isZero, isNegativePower), zero, infinity);
  const positive = select(or(isZero, eq(magnitude, infinity)), atEnds, finite);

  const half = k.mul(y, c(0.5));
  const isInteger = eq(k.trunc(y), y);
  const isOdd = and(isInteger, ne(k.trunc(half), half));
  const signed = select(and(isSignSet(k, x, type), isOdd), k.neg(positive), positive);

  const isFiniteNegative = and(lt(x, zero), k.gt(x, c(-Infinity)));
  const real = select(and(isFiniteNegative, k.not(isInteger)), c(NaN), signed);
  const numeric = select(or(ne(x, x), ne(y, y)), c(NaN), real);
  return select(or(eq(x, one), eq(y, zero)), one, numeric);
}
