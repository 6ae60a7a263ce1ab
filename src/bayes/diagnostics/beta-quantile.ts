/**
 * The beta quantile on plain numbers in f64, for standard errors of quantiles: a handful at a time. Distribution functions of tensors, which
 * trace and keep their digits far in the tails, are pumice/learn's.
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

/**
 * The regularised incomplete beta function: the probability that a Beta(a, b) number is below x. @internal for tests: quantiles alone would
 * not show its tails
 */
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

/** The x below which a Beta(a, b) number lies with probability p, by bisection. */
export function betaQuantile(p: number, a: number, b: number): number {
  let [low, high] = [0, 1];
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (betaBelow(middle, a, b) < p) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
