/**
 * Tails of the classical distributions on plain numbers in f64: log Γ and the regularised incomplete beta and gamma functions. Standard
 * errors of quantiles (bayes) and p values (learn) are made of them, a handful at a time.
 */

/** Bernoulli numbers B2, B4 … over 2k(2k-1): Stirling's series. */
const STIRLING = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156];

/**
 * log Γ of a positive number: Stirling's series beyond 15, and Γ(x + 1) = x Γ(x) to get there. @internal for tests: its error
 * would hide in the tails
 */
export function logGamma(x: number): number {
  let product = 1;
  let z = x;
  while (z < 15) product *= z++;
  const square = 1 / (z * z);
  const series = STIRLING.reduceRight((sum, term) => sum * square + term, 0) / z;
  return (z - 0.5) * Math.log(z) - z + 0.5 * Math.log(2 * Math.PI) + series - Math.log(product);
}

const awayFromZero = (value: number): number => (Math.abs(value) < 1e-300 ? 1e-300 : value);

/** The regularised incomplete beta function: the probability that a Beta(a, b) number is below x. */
export function betaBelow(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  // The continued fraction converges fast on this side of the mean only.
  if (x > (a + 1) / (a + b + 2)) return 1 - betaBelow(1 - x, b, a);
  const scale = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x));
  return (scale * betaFraction(x, a, b)) / a;
}

/** The continued fraction of the incomplete beta function, by Lentz's method. */
function betaFraction(x: number, a: number, b: number): number {
  let c = 1;
  let d = 1 / awayFromZero(1 - ((a + b) * x) / (a + 1));
  let result = d;
  // It takes about √max(a, b) terms.
  for (let m = 1; m < 100_000; m++) {
    for (const term of [
      (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m)),
      (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1)),
    ]) {
      d = 1 / awayFromZero(1 + term * d);
      c = awayFromZero(1 + term / c);
      result *= d * c;
    }
    if (Math.abs(d * c - 1) < 1e-15) break;
  }
  return result;
}

/**
 * The regularised upper incomplete gamma function: the probability that a Gamma(a, 1) number is above x. @internal for tests: for any a,
 * where χ² has halves
 */
export function gammaAbove(x: number, a: number): number {
  if (x <= 0) return 1;
  if (x === Number.POSITIVE_INFINITY) return 0;
  const scale = Math.exp(a * Math.log(x) - x - logGamma(a));
  return x < a + 1 ? 1 - scale * gammaSeries(x, a) : scale * gammaFraction(x, a);
}

/** Σ xⁿ / (a (a + 1) … (a + n)): converges fast below the mean. */
function gammaSeries(x: number, a: number): number {
  let term = 1 / a;
  let sum = term;
  for (let n = 1; n < 100_000 && term > sum * 1e-17; n++) {
    term *= x / (a + n);
    sum += term;
  }
  return sum;
}

/** The continued fraction above the mean, by Lentz's method. */
function gammaFraction(x: number, a: number): number {
  let b = x + 1 - a;
  let c = 1e300;
  let d = 1 / awayFromZero(b);
  let result = d;
  for (let n = 1; n < 100_000; n++) {
    const term = -n * (n - a);
    b += 2;
    d = 1 / awayFromZero(term * d + b);
    c = awayFromZero(b + term / c);
    result *= d * c;
    if (Math.abs(d * c - 1) < 1e-15) break;
  }
  return result;
}

/** The probability that an F number of these degrees of freedom is above f. */
export const fAbove = (f: number, above: number, below: number): number =>
  Number.isNaN(f) ? Number.NaN : betaBelow(below / (below + above * f), below / 2, above / 2);

/** The probability that a χ² number of these degrees of freedom is above x. */
export const chi2Above = (x: number, degrees: number): number =>
  Number.isNaN(x) ? Number.NaN : gammaAbove(x / 2, degrees / 2);
