/**
 * cbrt, hypot and rsqrt.
 *
 * rsqrt, f32: half the exponent and a linear guess by one subtraction of bits, to 3.5% (Lomont 2003); then y (1 + e (a + b e))
 * with e = 1 - x y², a and b fitted, and one Newton step. It takes neither a division nor a root, whose corrections
 * would cost four times as much. Powers of four come out exactly. f64 is the quotient.
 *
 * cbrt: with |x| = 2^(3n) m and m from 0.35 to 2.83, a polynomial and one Newton (f32) or Halley (f64) step give y
 * close to m^(-1/3). t = m y², cut to half the precision, has an exact cube as a sum of two products, so the remainder
 * m - t³ is exact too, and with d = (m - t³) y² / 3 the root is t + d + d² y. No division. (Cutting t first is Kahan's
 * idea.)
 *
 * hypot: sqrt(a² + b²) after scaling by a power of two away from overflow and underflow; the three roundings under the
 * root are halved by it.
 */
import { divide, squareRoot } from "./correct-rounding.js";
import { constants, formats, leadingPart, powerOfTwo, splitExponent, withSignOf } from "./float-parts.js";
import { polynomial } from "./polynomial.js";
import type { FloatType, ScalarOps } from "./scalar-ops.js";

/** m^(-1/3) on [sqrt(1/2), sqrt(2)), to 2^-11.9 and 2^-14.7. */
const reciprocalCoefficients = {
  f32: [1.7305264472961426, -1.2851842641830444, 0.7128115892410278, -0.1583741158246994],
  f64: [1.8743575411947415, -1.8611863261734634, 1.5603602484617969, -0.701782410929042, 0.12822734378567005],
} as const;

/** (1 / sqrt(1 - e) - 1) / e for e from -0.0692 to 0.0677, to 2^-15.2 after multiplication by e. */
const [linear, quadratic] = [0.5010955929756165, 0.3757551908493042];

/** 1 / sqrt(x) of a positive, normal f32. */
function rsqrtOfNormal<V>(k: ScalarOps<V>, x: V): V {
  const { add, sub, mul } = k;
  const c = constants(k, "f32");
  const half = k.shr(k.bitcast("u32", x), k.constant("u32", 1));
  const guess = k.bitcast("f32", sub(k.constant("u32", 0x5f3759df), half));
  // Times x first: the square of a guess may be denormal.
  const lack = sub(c(1), mul(mul(x, guess), guess));
  const close = add(guess, mul(mul(guess, lack), add(mul(c(quadratic), lack), c(linear))));
  const rest = sub(c(1), mul(mul(x, close), close));
  return add(close, mul(mul(close, c(0.5)), rest));
}

function rsqrtOfAny<V>(k: ScalarOps<V>, x: V): V {
  const c = constants(k, "f32");
  const isDenormal = k.lt(x, c(formats.f32.smallestNormal));
  const normal = rsqrtOfNormal(k, k.select(isDenormal, k.mul(x, c(2 ** 24)), x));
  const root = k.select(isDenormal, k.mul(normal, c(2 ** 12)), normal);
  const atEnds = k.select(k.eq(x, c(0)), k.div(c(1), x), k.select(k.eq(x, c(Infinity)), c(0), c(Number.NaN)));
  return k.select(k.and(k.gt(x, c(0)), k.lt(x, c(Infinity))), root, atEnds);
}

export function rsqrt<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  if (type === "f64") return divide(k, k.constant(type, 1), squareRoot(k, x, type), type);
  // CPUs divide by themselves, and a branch would keep them from computing vectors.
  if (k.usesNative("div", type)) return rsqrtOfAny(k, x);
  const u = (value: number) => k.constant("u32", value);
  const isPlain = k.lt(k.sub(k.bitcast("u32", x), u(0x00800000)), u(0x7f000000));
  return k.rarely(k.not(isPlain), rsqrtOfNormal(k, x), () => rsqrtOfAny(k, x));
}

export function cbrt<V>(k: ScalarOps<V>, x: V, type: FloatType): V {
  const { add, sub, mul, select } = k;
  const c = constants(k, type);
  const { smallestNormal } = formats[type];
  const magnitude = k.abs(x);
  // A multiple of 3, so that the root's exponent moves by a whole number.
  const lift = type === "f32" ? 24 : 54;
  const isDenormal = k.lt(magnitude, c(smallestNormal));
  const normal = select(isDenormal, mul(magnitude, c(2 ** lift)), magnitude);
  const { exponent, significand } = splitExponent(k, normal, type);
  const count = k.convert(type, exponent);
  const third = k.roundEven(mul(count, c(1 / 3)));
  const left = sub(count, mul(third, c(3)));
  const byExponent = (down: number, up: number) =>
    select(k.lt(left, c(0)), c(down), select(k.gt(left, c(0)), c(up), c(1)));
  const m = mul(significand, byExponent(0.5, 2));

  const guess = mul(
    polynomial(k, significand, reciprocalCoefficients[type], type),
    byExponent(2 ** (1 / 3), 2 ** (-1 / 3)),
  );
  const error = sub(c(1), mul(mul(m, guess), mul(guess, guess)));
  const step = type === "f32" ? mul(error, c(1 / 3)) : mul(error, add(c(1 / 3), mul(error, c(2 / 9))));
  const y = add(guess, mul(guess, step));

  const ySquare = mul(y, y);
  const t = leadingPart(k, mul(m, ySquare), type);
  const square = mul(t, t);
  const squareLeading = leadingPart(k, square, type);
  const remainder = sub(sub(m, mul(squareLeading, t)), mul(sub(square, squareLeading), t));
  const correction = mul(mul(remainder, ySquare), c(1 / 3));
  const root = add(t, add(correction, mul(mul(correction, correction), y)));

  const scale = k.sub(k.convert("i32", third), select(isDenormal, k.constant("i32", lift / 3), k.constant("i32", 0)));
  const result = mul(root, powerOfTwo(k, scale, type));
  const isOrdinary = k.and(k.gt(magnitude, c(0)), k.lt(magnitude, c(Infinity)));
  return select(isOrdinary, withSignOf(k, result, x, type), x);
}

/** Limits beyond which the square overflows or loses bits to underflow, and the factors that prevent it. */
export const hypotScales = {
  f32: { large: 2 ** 62, down: 2 ** -66, small: 2 ** -40, up: 2 ** 90 },
  f64: { large: 2 ** 500, down: 2 ** -550, small: 2 ** -450, up: 2 ** 600 },
} as const;

export function hypot<V>(k: ScalarOps<V>, x: V, y: V, type: FloatType): V {
  const { add, mul, select, gt, eq, or } = k;
  const c = constants(k, type);
  const { large, down, small, up } = hypotScales[type];
  const [a, b] = [k.abs(x), k.abs(y)];
  const larger = select(gt(a, b), a, b);
  const isLarge = gt(larger, c(large));
  const isSmall = k.lt(larger, c(small));
  const scale = select(isLarge, c(down), select(isSmall, c(up), c(1)));
  const unscale = select(isLarge, c(1 / down), select(isSmall, c(1 / up), c(1)));
  const [p, q] = [mul(a, scale), mul(b, scale)];
  const result = mul(squareRoot(k, add(mul(p, p), mul(q, q)), type), unscale);
  // An infinite side wins, even over NaN.
  return select(or(eq(a, c(Infinity)), eq(b, c(Infinity))), c(Infinity), result);
}
