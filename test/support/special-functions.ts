/**
 * The special functions JavaScript lacks, by textbook series and recurrences in doubles: slow, plain, and sharing nothing
 * with the library. Good to about 1e-13 relative (absolute next to a zero), which is far below an ulp of f32.
 */

const SQRT_PI = Math.sqrt(Math.PI);

/** 2/√π Σ (-1)^n x^(2n+1) / (n! (2n+1)), written with positive terms: e^(-x²) Σ 2^n x^(2n+1) / (1·3·5…(2n+1)). */
function erfSeries(x: number): number {
  let term = x;
  let sum = x;
  for (let n = 1; n < 300 && term !== 0; n++) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return (2 / SQRT_PI) * Math.exp(-x * x) * sum;
}

/** Laplace's continued fraction, for x of 2 and more. */
function erfcFraction(x: number): number {
  let fraction = 0;
  for (let n = 120; n >= 1; n--) fraction = n / 2 / (x + fraction);
  return Math.exp(-x * x) / SQRT_PI / (x + fraction);
}

export function erf(x: number): number {
  if (Number.isNaN(x)) return x;
  if (Math.abs(x) >= 6) return Math.sign(x);
  return Math.abs(x) < 2.5 ? erfSeries(x) : Math.sign(x) * (1 - erfcFraction(Math.abs(x)));
}

export function erfc(x: number): number {
  if (Number.isNaN(x)) return x;
  if (x < 0.5) return 1 - erf(x);
  return x < 2 ? 1 - erfSeries(x) : erfcFraction(x);
}

/** Newton's method on erf, or on erfc where erf is nearly 1. */
export function erfInv(y: number): number {
  if (Number.isNaN(y) || Math.abs(y) > 1) return Number.NaN;
  if (Math.abs(y) === 1) return y * Infinity;
  if (Math.abs(y) < 1e-20) return (y * SQRT_PI) / 2;
  const target = Math.abs(y);
  const l = Math.log(1 - target * target);
  const a = 2 / (Math.PI * 0.147) + l / 2;
  let x = Math.sqrt(Math.sqrt(a * a - l / 0.147) - a);
  for (let i = 0; i < 6; i++) {
    const error = target < 0.9 ? erf(x) - target : 1 - target - erfc(x);
    x -= (error * SQRT_PI * Math.exp(x * x)) / 2;
  }
  return Math.sign(y) * x;
}

/** Bernoulli numbers B2, B4 … over 2k(2k-1), and over 2k. */
const BERNOULLI = [1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6];

/** log Γ of positive numbers: Stirling's series beyond 15, and Γ(x + 1) = x Γ(x) to get there. */
export function lgamma(x: number): number {
  if (Number.isNaN(x)) return x;
  if (x === Infinity || x === 0) return Infinity;
  let product = 1;
  let z = x;
  while (z < 15) product *= z++;
  let series = 0;
  for (let k = BERNOULLI.length; k >= 1; k--) series = (series + BERNOULLI[k - 1]! / (2 * k * (2 * k - 1))) / (z * z);
  const stirling = (z - 0.5) * Math.log(z) - z + Math.log(2 * Math.PI) / 2 + series * z;
  return stirling - Math.log(product);
}

/** The derivative of log Γ, of positive numbers. */
export function digamma(x: number): number {
  if (Number.isNaN(x) || x === Infinity) return x;
  let shift = 0;
  let z = x;
  while (z < 15) shift += 1 / z++;
  let series = 0;
  for (let k = BERNOULLI.length; k >= 1; k--) series = (series + BERNOULLI[k - 1]! / (2 * k)) / (z * z);
  return Math.log(z) - 0.5 / z - series - shift;
}

/** The derivative of digamma, of positive numbers. */
export function trigamma(x: number): number {
  if (Number.isNaN(x)) return x;
  if (x === Infinity) return 0;
  let shift = 0;
  let z = x;
  for (; z < 15; z++) shift += 1 / z ** 2;
  let series = 0;
  for (let k = BERNOULLI.length; k >= 1; k--) series = (series + BERNOULLI[k - 1]!) / (z * z);
  return 1 / z + 0.5 / z ** 2 + series / z + shift;
}
