/**
 * How likely an empirical distribution function is so far from the true one, or from another, when nothing is going on: Smirnov's sum, Durbin's
 * matrix, and paths of two samples. In doubles on the host; upper tails are sums of positive terms, so that they keep their digits.
 */
import type { Alternative } from "./results.js";

/** Stirling's series in 1/z², from the last coefficient. */
const STIRLING = [1 / 156, -691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12];

/** log n! - ((n + 1/2) log n - n + log √2π) of a whole number. */
function factorialError(n: number): number {
  if (n >= 16) return STIRLING.reduce((sum, coefficient) => sum / (n * n) + coefficient, 0) / n;
  let factorial = 1;
  for (let i = 2; i <= n; i++) factorial *= i;
  return Math.log(factorial) - (n + 0.5) * Math.log(n) + n - 0.5 * Math.log(2 * Math.PI);
}

/** P(D⁺ ≥ d) of n observations, by the sum of Smirnov, Birnbaum and Tingey. */
function above(d: number, n: number): number {
  if (d <= 0) return 1;
  if (d >= 1) return 0;
  const whole = factorialError(n);
  let sum = (1 - d) ** n;
  for (let j = 1; j < n * (1 - d); j++) {
    // Binomial chances at j / n, moved to the probability j / n + d: the logarithms are no larger than n d.
    const moved = j * Math.log1p((n * d) / j) + (n - j) * Math.log1p((-n * d) / (n - j));
    const errors = whole - factorialError(j) - factorialError(n - j);
    sum += (d / (j / n + d)) * Math.sqrt(n / (2 * Math.PI * j * (n - j))) * Math.exp(moved + errors);
  }
  return sum;
}

/** Paths that leave on both sides are e^(-6 n d²) of all that leave: too rare to count beyond this n d², or to matter beside the next error. */
const FAR = 5;
const FAR_OF_MANY = 3;

/** Matrices with more rows take too long. */
const MOST_ROWS = 150;

/** P(D ≥ d) of n observations: D is the largest distance, or that on one side, of their distribution function from the true one. */
export function kolmogorovChance(d: number, n: number, alternative: Alternative): number {
  if (alternative !== "twoSided" || Number.isNaN(d)) return above(d, n);
  if (2 * n * d <= 1) return 1;
  const rows = 2 * Math.ceil(n * d) - 1;
  const isExact = rows <= MOST_ROWS;
  if (d >= 0.5 || n * d * d > (isExact ? FAR : FAR_OF_MANY)) return Math.min(1, 2 * above(d, n));
  return 1 - (isExact ? durbin(d, n, rows) : pelzGood(d, n));
}

/** P(D < d) by Durbin's matrix (Marsaglia, Tsang & Wang 2003): n! / nⁿ of the middle of its n-th power. */
function durbin(d: number, n: number, rows: number): number {
  const k = (rows + 1) / 2;
  const h = k - n * d;
  const inverse = [1];
  for (let i = 1; i <= rows; i++) inverse.push((inverse[i - 1] as number) / i);
  const matrix = new Float64Array(rows * rows);
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j <= Math.min(i + 1, rows - 1); j++) {
      let entry = 1;
      if (j === 0) entry -= h ** (i + 1);
      if (i === rows - 1) entry -= h ** (rows - j);
      if (j === 0 && i === rows - 1) entry += Math.max(0, 2 * h - 1) ** rows;
      matrix[i * rows + j] = entry * (inverse[i - j + 1] as number);
    }
  }
  const { row, exponent } = powerRow(matrix, rows, n, k - 1);
  // The factors of n! / nⁿ one by one, and the exponent when it is needed: neither leaves the doubles by itself.
  let [chance, left] = [row[k - 1] as number, exponent];
  for (let i = 1; i <= n; i++) {
    chance *= i / n;
    while (chance < 1e-140 && left > 0) {
      chance *= 2 ** Math.min(left, 400);
      left -= Math.min(left, 400);
    }
  }
  return chance * 2 ** left;
}

/** One row of a power of a matrix, as numbers times a power of two. */
function powerRow(
  matrix: Float64Array,
  rows: number,
  power: number,
  at: number,
): { readonly row: Float64Array; readonly exponent: number } {
  let square = { values: matrix, exponent: 0 };
  let row = new Float64Array(rows);
  row[at] = 1;
  let exponent = 0;
  for (let left = power; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) {
      row = product(row, square.values, rows);
      exponent += square.exponent + scaled(row);
    }
    if (left > 1) {
      const values = product(square.values, square.values, rows);
      square = { values, exponent: 2 * square.exponent + scaled(values) };
    }
  }
  return { row, exponent };
}

/** Rows times a square matrix. */
function product(a: Float64Array, b: Float64Array, order: number): Float64Array<ArrayBuffer> {
  const result = new Float64Array(a.length);
  for (let start = 0; start < a.length; start += order) {
    for (let k = 0; k < order; k++) {
      const factor = a[start + k] as number;
      if (factor === 0) continue;
      for (let j = 0; j < order; j++) {
        result[start + j] = (result[start + j] as number) + factor * (b[k * order + j] as number);
      }
    }
  }
  return result;
}

/** Divides numbers by the power of two above the largest; gives its exponent. */
function scaled(values: Float64Array): number {
  const exponent = Math.ceil(Math.log2(values.reduce((most, each) => Math.max(most, each), 0)));
  values.forEach((each, i) => {
    values[i] = each * 2 ** -exponent;
  });
  return exponent;
}

/** P(D < d) for many observations: Kolmogorov's distribution and three more terms in 1/√n (Pelz & Good 1976). */
function pelzGood(d: number, n: number): number {
  const z = Math.sqrt(n) * d;
  const [z2, pi2] = [z * z, Math.PI ** 2];
  const [z4, z6] = [z2 * z2, z2 ** 3];
  let [first, second, third, fourth] = [0, 0, 0, 0];
  for (let k = 1; k <= Math.ceil((16 * z) / Math.PI); k++) {
    const [m2, s2] = [(2 * k - 1) ** 2, k * k];
    const q = Math.exp((-pi2 * m2) / (8 * z2));
    const whole = pi2 * s2 * Math.exp((-pi2 * s2) / (2 * z2));
    const u = pi2 * m2;
    first += q;
    second += q * (u / 4 - z2);
    third += q * (6 * z6 + 2 * z4 + ((2 * z4 - 5 * z2) * u) / 4 + ((1 - 2 * z2) * u * u) / 16);
    third -= 2 * z4 * whole;
    fourth += q * (((5 - 30 * z2) * u ** 3) / 64 + ((212 * z4 - 60 * z2) * u * u) / 16);
    fourth += q * (((135 * z4 - 96 * z6) * u) / 4 - 30 * z6 - 90 * z4 * z4);
    fourth += 30 * z4 * (3 * z2 - pi2 * s2) * whole;
  }
  const terms = [first / z, second / (6 * z4), third / (72 * z6 * z), fourth / (6480 * z6 * z4)];
  return Math.sqrt(2 * Math.PI) * terms.reduceRight((sum, term) => sum / Math.sqrt(n) + term, 0);
}

/**
 * The chance that a path of m steps to the right and n upwards, all orders alike, passes a place [i, j] where `isOutside` holds. The last
 * step to a place comes from the left with the chance i / (i + j).
 */
export function pathChance(m: number, n: number, isOutside: (i: number, j: number) => boolean): number {
  const chances = new Float64Array(n + 1);
  for (let i = 0; i <= m; i++) {
    for (let j = 0; j <= n; j++) {
      const share = i + j === 0 ? 1 : i / (i + j);
      const below = j === 0 ? 0 : (chances[j - 1] as number);
      chances[j] = isOutside(i, j) ? 1 : share * (chances[j] as number) + (1 - share) * below;
    }
  }
  return chances[n] as number;
}
