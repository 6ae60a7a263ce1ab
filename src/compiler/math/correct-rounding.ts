/**
 * Correctly rounded division and square root on targets whose own are only close.
 *
 * Vulkan lets f32 division be 2.5 ulp off and square root about as much; WebAssembly and JavaScript round correctly,
 * and there these functions are the plain operation. Elsewhere the result is refined: the remainder a - q b (or x - s²)
 * is computed exactly with Dekker's product, one Newton step brings the result next to the true value, and the exact
 * remainder of that then tells which neighbour is nearest. A quotient or root is never halfway between two floats of
 * its own precision, so no ties arise, except when a quotient is rounded again into a denormal (see `divide`).
 *
 * For f32 there is a shorter way. A quotient of 12 bits leaves a remainder that two products give exactly, and with it
 * the quotient is right to a few hundredths of an ulp. The exact remainder then decides which neighbour is nearest; it is
 * computed in 24-bit integers modulo 2^32, which suffices because it is small.
 *
 * `divide` and `squareRoot` take any operands. `divideNormal` is half the work, for library code that knows its
 * operands, and `reciprocalOfUnit` less still.
 */
import type { Pair } from "./error-free.js";
import {
  constants,
  formats,
  isSignSet,
  leadingPart,
  powerOfTwo,
  scaleByPowerOfTwo,
  signWord,
  withSignWord,
} from "./float-parts.js";
import { polynomial } from "./polynomial.js";
import type { FloatType, ScalarOps } from "./scalar-ops.js";

/** x as an exact sum of two parts of at most half the precision: by masking for f32, Veltkamp's splitting for f64. */
function splitInHalf<V>(k: ScalarOps<V>, x: V, type: FloatType): [V, V] {
  if (type === "f32") {
    const high = k.bitcast("f32", k.and(k.bitcast("u32", x), k.constant("u32", 0xfffff000)));
    return [high, k.sub(x, high)];
  }
  const scaled = k.mul(x, k.constant("f64", 2 ** 27 + 1));
  const high = k.sub(scaled, k.sub(scaled, x));
  return [high, k.sub(x, high)];
}

/** target - a * b, exactly, when the product is within a few ulp of the target. */
function exactRemainder<V>(k: ScalarOps<V>, target: V, a: V, b: V, type: FloatType): V {
  const { high, low } = remainderPair(k, target, splitInHalf(k, a, type), splitInHalf(k, b, type), k.mul(a, b));
  return k.sub(high, low);
}

/** The same as high - low, unrounded, from factors already split and their rounded product. */
function remainderPair<V>(k: ScalarOps<V>, target: V, [a1, a2]: [V, V], [b1, b2]: [V, V], product: V): Pair<V> {
  const { add, sub, mul } = k;
  const error = add(add(add(sub(mul(a1, b1), product), mul(a1, b2)), mul(a2, b1)), mul(a2, b2));
  return { high: sub(target, product), low: error };
}

/** The spacing of floats next to a normal x, on the side of zero if `below`; not for x near the end of the range. */
function spacing<V>(k: ScalarOps<V>, x: V, below: V, type: FloatType): V {
  const { precision, fractionBits } = formats[type];
  const inside = k.select(below, k.mul(x, k.constant(type, 1 - 2 ** -precision)), x);
  const exponentMask = k.constant("u32", type === "f32" ? 0x7f800000 : 0x7ff00000);
  const exponent = k.and(signWord(k, inside, type), exponentMask);
  const word = k.sub(exponent, k.constant("u32", (precision - 1) * 2 ** fractionBits));
  return type === "f32" ? k.bitcast("f32", word) : k.fromWords(word, k.constant("u32", 0));
}

/** a / b rounded to nearest, and the sign of what remains, for b > 0 and a nonzero quotient well inside the range. */
function refineQuotient<V>(k: ScalarOps<V>, a: V, b: V, type: FloatType): { quotient: V; remainder: V } {
  const { add, sub, mul, lt, gt, select } = k;
  const c = constants(k, type);
  const guess = k.div(a, b);
  const [b1, b2] = splitInHalf(k, b, type);
  const first = remainderPair(k, a, splitInHalf(k, guess, type), [b1, b2], mul(guess, b));
  const close = add(guess, k.div(sub(first.high, first.low), b));
  // The remainder moves by move * b; a move of a few ulp has a few bits, so both products are exact.
  const move = sub(close, guess);
  const remainder = sub(sub(sub(first.high, mul(move, b1)), first.low), mul(move, b2));
  const isTooFarFromZero = k.xor(lt(remainder, c(0)), lt(close, c(0)));
  const unit = spacing(k, close, isTooFarFromZero, type);
  const half = mul(mul(unit, c(0.5)), b);
  const step = select(gt(remainder, half), unit, select(lt(remainder, k.neg(half)), k.neg(unit), c(0)));
  return { quotient: add(close, step), remainder: sub(remainder, mul(step, b)) };
}

/** A step to the neighbour, as a difference of bits, for a quotient that leaves a remainder of more than half a divisor. */
function stepToNearest<V>(k: ScalarOps<V>, remainder: V, divisor: V): V {
  const i = (value: number) => k.constant("i32", value);
  const twice = k.add(remainder, remainder);
  const isTooLarge = k.lt(twice, k.sub(i(0), divisor));
  return k.select(k.gt(twice, divisor), i(1), k.select(isTooLarge, i(-1), i(0)));
}

/** a / b in f32, all but rounded to nearest, for b from 1 to 2, a quotient from 1/2 to 2, and an estimate of 1 / b. */
function closeQuotient<V>(k: ScalarOps<V>, a: V, b: V, reciprocal: V): V {
  const { add, sub, mul } = k;
  const leading = leadingPart(k, mul(a, reciprocal), "f32");
  const [b1, b2] = splitInHalf(k, b, "f32");
  const remainder = sub(sub(a, mul(leading, b1)), mul(leading, b2));
  return add(leading, mul(remainder, reciprocal));
}

/** 1 / b, correctly rounded, for b from 1 to 2. */
export function reciprocalOfUnit<V>(k: ScalarOps<V>, b: V, type: FloatType): V {
  const one = k.constant(type, 1);
  if (k.usesNative("div", type)) return k.div(one, b);
  if (type === "f64") return k.fused ? fusedReciprocalOfUnit(k, b, k.fused) : wideReciprocalOfUnit(k, b);
  const bits = k.bitcast("i32", closeQuotient(k, one, b, k.div(one, b)));
  // As multiples of 2^-23 and 2^-24. Their product is 2^47 less the remainder, which is all there is modulo 2^32.
  const divisor = k.sub(k.bitcast("i32", b), k.constant("i32", 0x3f000000));
  const quotient = k.sub(bits, k.constant("i32", 0x3e800000));
  const remainder = k.sub(k.constant("i32", 0), k.mul(divisor, quotient));
  return k.bitcast("f32", k.add(bits, stepToNearest(k, remainder, divisor)));
}

/** The f32 with the leading bits of an f64 from 1 to 2, of which this is the high word. */
const singleOfUnit = <V>(k: ScalarOps<V>, word: V): V =>
  // The exponents of both formats are those of 1 or 2: the bits above are shifted out, and 2^30 is their difference.
  k.bitcast("f32", k.add(k.shl(word, k.constant("u32", 3)), k.constant("u32", 0x40000000)));

/** An f32 from 1/2 to 1 as an f64. */
function doubleOfPart<V>(k: ScalarOps<V>, x: V): V {
  const u = (value: number) => k.constant("u32", value);
  const bits = k.bitcast("u32", x);
  return k.fromWords(k.add(k.shr(bits, u(3)), u(0x38000000)), k.shl(bits, u(29)));
}

/**
 * 1 / b in f64, for b from 1 to 2, by Newton's method with fused multiply-adds. The last step starts less than a unit in the last
 * place off and knows the remainder exactly: then it rounds correctly, unless the bits of b are all ones (Markstein 1990).
 */
function fusedReciprocalOfUnit<V>(k: ScalarOps<V>, b: V, fused: NonNullable<ScalarOps<V>["fused"]>): V {
  const c = constants(k, "f64");
  const negated = k.neg(b);
  const guess = doubleOfPart(k, k.div(k.constant("f32", 1), singleOfUnit(k, k.highWord(b))));
  const rest = fused(negated, guess, c(1));
  const close = fused(guess, fused(rest, rest, rest), guess);
  const nearest = fused(close, fused(negated, close, c(1)), close);
  return k.select(k.eq(b, c(2 - 2 ** -52)), c(0.5 + 2 ** -53), nearest);
}

/** 1 / s for s from 1 to 2, to 2^-6.6. */
const reciprocalGuess = [2.1212217807769775, -1.4545549154281616, 0.32323434948921204] as const;

/**
 * 1 / b in f64, for b from 1 to 2. The leading bits of b make an f32, whose reciprocal y, by Newton's method, has 24 bits and
 * is right to 20. So y times b is exact as a product with the high word and one with the rest, but for 2^-74, and what 1
 * exceeds it by, r, gives 1 / b = y (1 + r + r² + r³) as y and a small rest, right to 2^-71. Adding the two rounds
 * correctly, unless the sum is that near to halfway between two floats.
 */
function wideReciprocalOfUnit<V>(k: ScalarOps<V>, b: V): V {
  const { add, sub, mul } = k;
  const [c, single] = [constants(k, "f64"), constants(k, "f32")];
  const u = (value: number) => k.constant("u32", value);
  const word = k.highWord(b);
  const s = singleOfUnit(k, word);
  const newton = (y: V) => add(y, mul(y, sub(single(1), mul(s, y))));
  const guess = polynomial(k, s, reciprocalGuess, "f32");
  const y = doubleOfPart(k, newton(newton(guess)));
  const high = k.fromWords(word, u(0));
  const r = sub(sub(c(1), mul(high, y)), mul(sub(b, high), y));
  const rest = mul(y, mul(r, add(c(1), mul(r, add(c(1), r)))));
  const sum = add(y, rest);
  const lost = sub(rest, sub(sum, y));
  // Within 2^-70 of 2^-54, by the high word: GPUs have fewer units for f64 than for integers.
  const size = k.and(k.highWord(lost), u(0x7fffffff));
  const isNearHalf = k.lt(sub(size, u(0x3c8fffe0)), u(0x31));
  return k.rarely(isNearHalf, sum, () => divideNormal(k, c(1), b, "f64"));
}

/** The bits of a / b in f32, correctly rounded, where a, b and the quotient are normal numbers; b is not zero. */
function quotientBits<V>(k: ScalarOps<V>, a: V, b: V): V {
  const { add, sub, and, or } = k;
  const i = (value: number) => k.constant("i32", value);
  const [x, y] = [k.bitcast("i32", a), k.bitcast("i32", b)];
  const [fraction, hidden, exponent] = [i(0x007fffff), i(0x00800000), i(0x7f800000)];
  const dividend = or(and(x, fraction), hidden);
  const divisor = or(and(y, fraction), hidden);
  const isLess = k.lt(dividend, divisor);
  const double = k.select(isLess, hidden, i(0));
  // Both as numbers from 1 to 2, but for a dividend that is doubled, so that the quotient is from 1 to 2 as well.
  const unit = k.bitcast("f32", or(divisor, i(0x3f000000)));
  const scaled = k.bitcast("f32", add(or(dividend, i(0x3f000000)), double));
  const bits = k.bitcast("i32", closeQuotient(k, scaled, unit, k.div(k.constant("f32", 1), unit)));
  const whole = k.select(isLess, add(dividend, dividend), dividend);
  const product = k.mul(sub(bits, i(0x3f000000)), divisor);
  const remainder = sub(k.shl(whole, k.constant("u32", 23)), product);
  const rounded = add(bits, stepToNearest(k, remainder, divisor));
  const scale = sub(sub(and(x, exponent), and(y, exponent)), double);
  return or(add(rounded, scale), and(k.xor(x, y), i(-0x80000000)));
}

/** Whether `quotientBits` holds: a, b and a / b are normal numbers, not at the very ends of the range. */
function hasPlainQuotient<V>(k: ScalarOps<V>, a: V, b: V): V {
  const u = (value: number) => k.constant("u32", value);
  const [x, y] = [k.bitcast("u32", a), k.bitcast("u32", b)];
  const isNormal = (bits: V) => k.lt(k.sub(k.and(bits, u(0x7fffffff)), u(0x00800000)), u(0x7f000000));
  const difference = k.sub(k.and(x, u(0x7f800000)), k.and(y, u(0x7f800000)));
  const isInside = k.lt(k.add(difference, u(125 * 2 ** 23)), u(251 * 2 ** 23));
  return k.and(k.and(isNormal(x), isNormal(y)), isInside);
}

/**
 * a / b for operands far from the ends of the range. For a smaller dividend or a larger divisor the result is exact if b is 1,
 * and otherwise only close, which is enough where it is too small to affect the caller's result.
 */
export function divideNormal<V>(k: ScalarOps<V>, a: V, b: V, type: FloatType): V {
  if (k.usesNative("div", type)) return k.div(a, b);
  const { select, lt } = k;
  const c = constants(k, type);
  const [smallest, largest] = type === "f32" ? [2 ** -70, 2 ** 70] : [2 ** -700, 2 ** 700];
  const divisor = k.abs(b);
  const quotient =
    type === "f32"
      ? k.bitcast("f32", quotientBits(k, a, b))
      : refineQuotient(k, select(lt(b, c(0)), k.neg(a), a), divisor, type).quotient;
  // NaN is not inside.
  const isInside = k.and(k.ge(k.abs(a), c(smallest)), k.le(divisor, c(largest)));
  return select(isInside, quotient, select(k.eq(b, c(1)), a, k.div(a, b)));
}

/** |x| as 2^exponent * significand with the significand in [1, 2); x may be denormal but not zero, infinite or NaN. */
function normalize<V>(k: ScalarOps<V>, x: V, type: FloatType): { exponent: V; significand: V } {
  const { bias, fractionBits, precision, smallestNormal } = formats[type];
  const c = constants(k, type);
  const i = (value: number) => k.constant("i32", value);
  const magnitude = k.abs(x);
  const isDenormal = k.lt(magnitude, c(smallestNormal));
  const normal = k.select(isDenormal, k.mul(magnitude, c(2 ** precision)), magnitude);
  const word = k.bitcast("i32", signWord(k, normal, type));
  const field = k.shr(word, k.constant("u32", fractionBits));
  const exponent = k.sub(field, k.select(isDenormal, i(bias + precision), i(bias)));
  const atOne = k.or(k.and(word, i(2 ** fractionBits - 1)), i(bias * 2 ** fractionBits));
  return { exponent, significand: withSignWord(k, normal, k.bitcast("u32", atOne), type) };
}

export function divide<V>(k: ScalarOps<V>, a: V, b: V, type: FloatType): V {
  if (k.usesNative("div", type)) return k.div(a, b);
  if (type === "f64") return divideAny(k, a, b, type);
  const plain = k.bitcast("f32", quotientBits(k, a, b));
  return k.rarely(k.not(hasPlainQuotient(k, a, b)), plain, () => divideAny(k, a, b, type));
}

/** a / b for any operands, denormal ones and denormal quotients included. */
export function divideAny<V>(k: ScalarOps<V>, a: V, b: V, type: FloatType): V {
  const { add, mul, eq, lt, gt, select, and } = k;
  const c = constants(k, type);
  const i = (value: number) => k.constant("i32", value);
  const { bias, precision } = formats[type];

  const numerator = normalize(k, a, type);
  const denominator = normalize(k, b, type);
  const isLess = lt(numerator.significand, denominator.significand);
  const scaled = select(isLess, mul(numerator.significand, c(2)), numerator.significand);
  const { quotient, remainder } = refineQuotient(k, scaled, denominator.significand, type);
  const difference = k.sub(numerator.exponent, denominator.exponent);
  const exponent = k.sub(difference, select(isLess, i(1), i(0)));
  const limit = bias + precision + 9;
  const bounded = select(gt(exponent, i(limit)), i(limit), select(lt(exponent, i(-limit)), i(-limit), exponent));
  const rounded = scaleByPowerOfTwo(k, quotient, bounded, type);

  // A denormal result was rounded twice. That is wrong only if the first result was halfway between two denormals
  // while the true quotient was not; the remainder then says on which side it lies.
  const lowest = 1 - bias - (precision - 1);
  const lost = k.sub(quotient, scaleByPowerOfTwo(k, rounded, k.sub(i(0), bounded), type));
  const half = powerOfTwo(k, k.sub(i(lowest - 1), bounded), type);
  const isTooLow = and(eq(lost, half), gt(remainder, c(0)));
  const isTooHigh = and(eq(lost, k.neg(half)), lt(remainder, c(0)));
  const isDenormal = lt(exponent, i(1 - bias));
  const correction = select(isTooLow, c(2 ** lowest), select(isTooHigh, c(-(2 ** lowest)), c(0)));
  const magnitude = select(isDenormal, add(rounded, correction), rounded);
  const isNegative = k.xor(isSignSet(k, a, type), isSignSet(k, b, type));
  const signed = select(isNegative, k.neg(magnitude), magnitude);

  const ordinary = (x: V) => and(k.ne(x, c(0)), lt(k.abs(x), c(Infinity)));
  // Zeros, infinities and NaN: the plain operation is exact there once the other operand is 1. (A GPU that multiplies by a
  // reciprocal takes an infinity divided by a number near the largest for infinity times zero.)
  const unit = (x: V) => select(ordinary(x), select(isSignSet(k, x, type), c(-1), c(1)), x);
  return select(and(ordinary(a), ordinary(b)), signed, k.div(unit(a), unit(b)));
}

export function squareRoot<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  if (k.usesNative("sqrt", type)) return k.sqrt(x);
  if (type === "f64") return squareRootOfAny(k, x, type);
  const u = (value: number) => k.constant("u32", value);
  const isPlain = k.lt(k.sub(k.bitcast("u32", x), u(0x00800000)), u(0x7f000000));
  return k.rarely(k.not(isPlain), squareRootOfNormal(k, x), () => squareRootOfAny(k, x, type));
}

/** The root of a positive, normal f32, as `quotientBits` does it. */
function squareRootOfNormal<V>(k: ScalarOps<V>, x: V): V {
  const { add, sub, mul, or, select } = k;
  const i = (value: number) => k.constant("i32", value);
  const bits = k.bitcast("i32", x);
  // x = 2^(2 half) m with m in [1, 4), of which `whole` are the multiples of 2^-23.
  const exponent = k.shr(sub(bits, i(0x3f800000)), k.constant("u32", 23));
  const isOdd = k.ne(k.and(exponent, i(1)), i(0));
  const fraction = or(k.and(bits, i(0x007fffff)), i(0x00800000));
  const whole = select(isOdd, add(fraction, fraction), fraction);
  const m = k.bitcast("f32", add(or(fraction, i(0x3f000000)), select(isOdd, i(0x00800000), i(0))));
  const guess = k.sqrt(m);
  const leading = leadingPart(k, guess, "f32");
  const rest = mul(sub(m, mul(leading, leading)), k.div(k.constant("f32", 1), add(leading, guess)));
  const close = k.bitcast("i32", add(leading, rest));
  const root = sub(close, i(0x3f000000));
  // The root is nearer to the next float when m exceeds root² + root, in units of the last place of root².
  const remainder = sub(k.shl(whole, k.constant("u32", 23)), mul(root, root));
  const step = select(k.gt(remainder, root), i(1), select(k.le(remainder, sub(i(0), root)), i(-1), i(0)));
  const half = k.shr(exponent, k.constant("u32", 1));
  return k.bitcast("f32", add(add(close, step), k.shl(half, k.constant("u32", 23))));
}

function squareRootOfAny<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  const { add, mul, lt, gt, le, select } = k;
  const c = constants(k, type);
  const { precision } = formats[type];

  // x = 2^(2 half) m with m in [1, 4), so that the root lies in [1, 2) with a constant spacing.
  const { exponent, significand } = normalize(k, x, type);
  const half = k.shr(exponent, k.constant("u32", 1));
  const isOdd = k.ne(k.and(exponent, k.constant("i32", 1)), k.constant("i32", 0));
  const m = select(isOdd, mul(significand, c(2)), significand);
  const guess = k.sqrt(m);
  const close = add(guess, k.div(exactRemainder(k, m, guess, guess, type), add(guess, guess)));
  const remainder = exactRemainder(k, m, close, close, type);
  // The root exceeds close + unit/2 when m > close² + unit close + unit²/4; in multiples of unit² both sides but the
  // last term are integers, so the quarter only settles equality.
  const unit = 2 ** (1 - precision);
  const margin = mul(close, c(unit));
  const step = select(gt(remainder, margin), c(unit), select(le(remainder, k.neg(margin)), c(-unit), c(0)));
  const root = mul(add(close, step), powerOfTwo(k, half, type));
  return select(k.and(gt(x, c(0)), lt(x, c(Infinity))), root, k.sqrt(x));
}
