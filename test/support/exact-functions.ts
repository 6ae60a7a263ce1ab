/**
 * The functions of the math library to hundreds of bits, by series and definitions in whole numbers: an oracle over the
 * whole range of f64, denormals included. Slow, and without cases for NaN and infinities: those are in tables.
 *
 * A fixed-point number is a bigint in units of 2^-BITS, so 1/2^1074 still has 126 bits.
 */
import { parts, real } from "./exact-math.js";
import type { Real } from "./floats.js";

const BITS = 1200;
const SCALE = BigInt(BITS);
const ONE = 1n << SCALE;
const HALF = ONE >> 1n;

const shifted = (m: bigint, by: number): bigint => (by >= 0 ? m << BigInt(by) : m >> BigInt(-by));

/** A double as it is: no bit is lost. */
export function fixed(x: number): bigint {
  const { significand, exponent } = parts(x);
  return shifted(significand, exponent + BITS);
}

export const toReal = (m: bigint): Real => real(m, -BITS);
const times = (a: bigint, b: bigint): bigint => (a * b) >> SCALE;
const over = (a: bigint, b: bigint): bigint => (a << SCALE) / b;
const magnitudeOf = (m: bigint): bigint => (m < 0n ? -m : m);
const signed = (sign: bigint, m: bigint): bigint => (sign < 0n ? -m : m);

/** The whole root of a whole number, by Newton's method from above. */
function wholeRoot(m: bigint, degree: bigint): bigint {
  if (m === 0n) return 0n;
  let y = 1n << (BigInt(m.toString(2).length) / degree + 1n);
  for (;;) {
    const next = ((degree - 1n) * y + m / y ** (degree - 1n)) / degree;
    if (next >= y) return y;
    y = next;
  }
}

const squareRoot = (m: bigint): bigint => wholeRoot(m << SCALE, 2n);

/** atan of 1/n, in units of 2^-bits. */
function inverseTangent(n: bigint, bits: bigint): bigint {
  let [power, sum] = [(1n << bits) / n, 0n];
  for (let i = 1n; power !== 0n; i += 2n, power = -power / (n * n)) sum += power / i;
  return sum;
}

/** pi by Machin's formula. */
const piTo = (bits: bigint): bigint => 16n * inverseTangent(5n, bits) - 4n * inverseTangent(239n, bits);
const PI = piTo(SCALE);

/** log 2 = 2 atanh(1/3). */
const LN2 = ((): bigint => {
  let [power, sum] = [ONE / 3n, 0n];
  for (let i = 1n; power !== 0n; i += 2n, power /= 9n) sum += power / i;
  return 2n * sum;
})();

/** The sum of terms, each of which follows from the one before. */
function series(first: bigint, next: (term: bigint, i: bigint) => bigint): bigint {
  let [term, sum] = [first, first];
  for (let i = 1n; term !== 0n && term !== -1n; i++) {
    term = next(term, i);
    sum += term;
  }
  return sum;
}

/** exp as fixed point × 2^n. */
function expOf(x: bigint): { readonly m: bigint; readonly n: number } {
  const n = (2n * x + signed(x, LN2)) / (2n * LN2);
  const small = (x - n * LN2) >> 16n;
  let m = series(ONE, (term, i) => times(term, small) / i);
  for (let i = 0; i < 16; i++) m = times(m, m);
  return { m, n: Number(n) };
}

const expFixed = (x: bigint): bigint => {
  const { m, n } = expOf(x);
  return shifted(m, n);
};

/** log of a positive number, by three cubic steps from a double. */
function logFixed(x: bigint): bigint {
  const n = x.toString(2).length - BITS;
  const m = shifted(x, -n);
  let y = fixed(Math.log(Number(m >> BigInt(BITS - 60)) / 2 ** 60));
  for (let i = 0; i < 3; i++) {
    const e = expFixed(y);
    y += over(2n * (m - e), m + e);
  }
  return y + BigInt(n) * LN2;
}

// -------------------------------------------------------------------------------------------------- exponentials

export const exp = (x: number): Real => {
  const { m, n } = expOf(fixed(x));
  return real(m, n - BITS);
};
export const exp2 = (x: number): Real => {
  const { m, n } = expOf(times(fixed(x), LN2));
  return real(m, n - BITS);
};
/** Without the subtraction for tiny x, whose square is below the unit. */
export const expm1 = (x: number): Real => toReal(Math.abs(x) < 2 ** -600 ? fixed(x) : expFixed(fixed(x)) - ONE);
export const log = (x: number): Real => toReal(logFixed(fixed(x)));
export const log2 = (x: number): Real => toReal(over(logFixed(fixed(x)), LN2));
export const log10 = (x: number): Real => toReal(over(logFixed(fixed(x)), logFixed(10n * ONE)));
export const log1p = (x: number): Real => toReal(Math.abs(x) < 2 ** -600 ? fixed(x) : logFixed(ONE + fixed(x)));
export const pow = (x: number, y: number): Real => {
  const { m, n } = expOf(times(logFixed(fixed(x)), fixed(y)));
  return real(m, n - BITS);
};

const pairOfExps = (x: number) => [expFixed(fixed(x)), expFixed(-fixed(x))] as const;
export const sinh = (x: number): Real => {
  const [up, down] = pairOfExps(x);
  return toReal(Math.abs(x) < 2 ** -600 ? fixed(x) : (up - down) / 2n);
};
export const cosh = (x: number): Real => {
  const [up, down] = pairOfExps(x);
  return toReal((up + down) / 2n);
};
export const tanh = (x: number): Real => {
  const [up, down] = pairOfExps(x);
  return toReal(Math.abs(x) < 2 ** -600 ? fixed(x) : over(up - down, up + down));
};
export const sigmoid = (x: number): Real => {
  // Below zero the result may be tiny: exp keeps its bits.
  if (x > 0) return toReal(over(ONE, ONE + expFixed(-fixed(x))));
  const { m, n } = expOf(fixed(x));
  return real(over(m, ONE + shifted(m, n)), n - BITS);
};
export const softplus = (x: number): Real => {
  const { m, n } = expOf(fixed(x));
  // log1p(e) is e, to more bits than asked for.
  return n < -600 ? real(m, n - BITS) : toReal(logFixed(ONE + shifted(m, n)));
};

export const asinh = (x: number): Real => {
  const y = magnitudeOf(fixed(x));
  if (Math.abs(x) < 2 ** -500) return toReal(fixed(x));
  return toReal(signed(fixed(x), logFixed(y + squareRoot(times(y, y) + ONE))));
};
export const acosh = (x: number): Real => {
  const y = fixed(x);
  return toReal(logFixed(y + squareRoot(times(y, y) - ONE)));
};
export const atanh = (x: number): Real => {
  const y = fixed(x);
  return toReal(Math.abs(x) < 2 ** -500 ? y : logFixed(over(ONE + y, ONE - y)) / 2n);
};

// -------------------------------------------------------------------------------------------------- angles

/** Bits for whole turns of the largest doubles, beyond those of the result. */
const WIDE = 2400;
const WIDE_PI = piTo(BigInt(WIDE));

/** x less the nearest multiple of pi/2, and which of the four quadrants that multiple is. */
export function quarterTurns(x: number): { readonly quadrant: number; readonly angle: bigint } {
  const { significand, exponent } = parts(x);
  const wide = shifted(significand, exponent + WIDE);
  const quarter = WIDE_PI / 2n;
  const count = (2n * wide + signed(wide, quarter)) / (2n * quarter);
  return {
    quadrant: Number(((count % 4n) + 4n) % 4n),
    angle: shifted(wide - count * quarter, BITS - WIDE),
  };
}

function sineAndCosine(x: number): readonly [bigint, bigint] {
  const { quadrant, angle } = quarterTurns(x);
  const square = times(angle, angle);
  const sine = series(angle, (term, i) => -times(term, square) / (2n * i * (2n * i + 1n)));
  const cosine = series(ONE, (term, i) => -times(term, square) / (2n * i * (2n * i - 1n)));
  const turned = [
    [sine, cosine],
    [cosine, -sine],
    [-sine, -cosine],
    [-cosine, sine],
  ] as const;
  return turned[quadrant]!;
}

export const sin = (x: number): Real => toReal(sineAndCosine(x)[0]);
export const cos = (x: number): Real => toReal(sineAndCosine(x)[1]);
export const tan = (x: number): Real => toReal(over(...sineAndCosine(x)));

/** atan of y / x for positive numbers, by halving the angle until its series is short. */
function angleOf(y: bigint, x: bigint): bigint {
  if (y > x) return PI / 2n - angleOf(x, y);
  let t = over(y, x);
  const halvings = 6;
  for (let i = 0; i < halvings; i++) t = over(t, ONE + squareRoot(ONE + times(t, t)));
  const square = times(t, t);
  let [power, sum] = [t, 0n];
  for (let i = 1n; power !== 0n && power !== -1n; i += 2n, power = -times(power, square)) sum += power / i;
  return sum << BigInt(halvings);
}

export const atan = (x: number): Real => toReal(signed(fixed(x), angleOf(magnitudeOf(fixed(x)), ONE)));
export const atan2 = (y: number, x: number): Real => {
  const angle = angleOf(magnitudeOf(fixed(y)), magnitudeOf(fixed(x)));
  return toReal(signed(fixed(y), x < 0 ? PI - angle : angle));
};
const arcsine = (x: number): bigint => {
  const y = fixed(x);
  return signed(y, angleOf(magnitudeOf(y), squareRoot(ONE - times(y, y))));
};
export const asin = (x: number): Real => toReal(arcsine(x));
export const acos = (x: number): Real => toReal(PI / 2n - arcsine(x));

// -------------------------------------------------------------------------------------------------- roots

export const cbrt = (x: number): Real => toReal(signed(fixed(x), wholeRoot(magnitudeOf(fixed(x)) << (2n * SCALE), 3n)));
export const hypot = (x: number, y: number): Real => toReal(wholeRoot(fixed(x) ** 2n + fixed(y) ** 2n, 2n));
/** The root first, scaled up: the reciprocal of a small one would keep few of its digits. */
export const rsqrt = (x: number): Real => toReal(over(ONE << SCALE, wholeRoot(fixed(x) << (3n * SCALE), 2n)));

// -------------------------------------------------------------------------------------------------- error function

/** For |x| up to 12: the terms grow to exp(x²) before they fall. */
function errorFunction(x: bigint): bigint {
  const square = times(x, x);
  let [power, sum] = [x, 0n];
  for (let i = 0n; power !== 0n && power !== -1n; i++, power = -times(power, square) / i) sum += power / (2n * i + 1n);
  return over(2n * sum, squareRoot(PI));
}
export const erf = (x: number): Real => toReal(errorFunction(fixed(x)));
export const erfc = (x: number): Real => toReal(ONE - errorFunction(fixed(x)));
/** By Newton's method from a guess. */
export function erfInv(y: number, guess: number): Real {
  let x = fixed(guess);
  for (let i = 0; i < 8; i++) {
    const slope = over(2n * expFixed(-times(x, x)), squareRoot(PI));
    x -= over(errorFunction(x) - fixed(y), slope);
  }
  return toReal(x);
}

// -------------------------------------------------------------------------------------------------- gamma

/** Terms of the expansions at infinity, and where these are used: they are then right to 2^-280. */
const [TERMS, FAR] = [40, 60];

/** B(2), B(4) … as fixed point, by their recurrence in fractions over one denominator. */
const BERNOULLI = ((): bigint[] => {
  const all: [bigint, bigint][] = [[1n, 1n]];
  const choose = (n: number, k: number): bigint => {
    let c = 1n;
    for (let i = 0; i < k; i++) c = (c * BigInt(n - i)) / BigInt(i + 1);
    return c;
  };
  for (let n = 1; n <= 2 * TERMS; n++) {
    let [top, bottom] = [0n, 1n];
    for (let k = 0; k < n; k++) {
      const [a, b] = all[k]!;
      if (a === 0n) continue;
      top = top * b + choose(n + 1, k) * a * bottom;
      bottom *= b;
      let [p, q] = [magnitudeOf(top), bottom];
      while (q !== 0n) [p, q] = [q, p % q];
      [top, bottom] = [top / p, bottom / p];
    }
    all.push([-top, bottom * BigInt(n + 1)]);
  }
  return Array.from({ length: TERMS }, (_, k) => {
    const [a, b] = all[2 * k + 2]!;
    return (a << SCALE) / b;
  });
})();

/** x raised by steps of 1 until it is far out, and the numbers on the way. */
function steppedUp(x: number): { readonly far: bigint; readonly passed: bigint[] } {
  let far = fixed(x);
  const passed: bigint[] = [];
  for (; far < BigInt(FAR) * ONE; far += ONE) passed.push(far);
  return { far, passed };
}

/** Sums coefficient(k) B(2k) / x^(2k + shift) for k from 1 on. */
function expansion(x: bigint, shift: number, coefficient: (k: bigint) => readonly [bigint, bigint]): bigint {
  const square = times(x, x);
  let power = ONE;
  for (let i = 0; i < 2 + shift; i++) power = over(power, x);
  let sum = 0n;
  for (let k = 1; k <= TERMS && power !== 0n; k++, power = over(power, square)) {
    const [top, bottom] = coefficient(BigInt(k));
    sum += (times(BERNOULLI[k - 1]!, power) * top) / bottom;
  }
  return sum;
}

export function lgamma(x: number): Real {
  const { far, passed } = steppedUp(x);
  const stirling = times(far - HALF, logFixed(far)) - far + logFixed(2n * PI) / 2n;
  const tail = expansion(far, -1, (k) => [1n, 2n * k * (2n * k - 1n)]);
  const product = passed.reduce((p, each) => times(p, magnitudeOf(each)), ONE);
  return toReal(stirling + tail - (passed.length > 0 ? logFixed(product) : 0n));
}

export function digamma(x: number): Real {
  const { far, passed } = steppedUp(x);
  const tail = expansion(far, 0, (k) => [-1n, 2n * k]);
  return toReal(passed.reduce((sum, each) => sum - over(ONE, each), logFixed(far) - over(ONE, 2n * far) + tail));
}

export function trigamma(x: number): Real {
  const { far, passed } = steppedUp(x);
  const tail = expansion(far, 1, () => [1n, 1n]);
  const inverse = over(ONE, far);
  const start = inverse + times(inverse, inverse) / 2n + tail;
  return toReal(passed.reduce((sum, each) => sum + over(ONE, times(each, each)), start));
}
