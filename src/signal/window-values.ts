/**
 * The values of windows, computed in f64 on the host, as SciPy defines them. A window is a rule for n points from end to end
 * (symmetric); a periodic one is the symmetric window of n + 1 points without the last.
 */

/** The value at point i of n, n ≥ 2; `parameter` as the window takes it. */
type WindowRule = (i: number, n: number, parameter: number) => number;

interface WindowEntry {
  readonly rule: WindowRule;
  /** The name of its parameter, and its value unless told; null where it must be given. */
  readonly parameter?: { readonly name: string; readonly value: number | null };
}

/** Σ (-1)^k a[k] cos(2π k i / (n - 1)). */
const cosines =
  (...weights: readonly number[]): WindowRule =>
  (i, n) => {
    // By the symmetric point in the first half, so that both halves have the same values.
    const at = Math.min(i, n - 1 - i);
    return weights.reduce((sum, a, k) => sum + (k % 2 === 0 ? a : -a) * Math.cos((2 * Math.PI * k * at) / (n - 1)), 0);
  };

/** The modified Bessel function of order 0, by its series: all terms are positive. */
function besselI0(x: number): number {
  const quarter = (x / 2) ** 2;
  let [term, sum] = [1, 1];
  for (let k = 1; term > sum * 1e-17; k++) {
    term *= quarter / (k * k);
    sum += term;
  }
  return sum;
}

/** The distance from the middle, from 0 to 1 at the ends. */
const fromMiddle = (i: number, n: number): number => Math.abs((2 * i) / (n - 1) - 1);

/** The windows by name. */
export const WINDOWS = {
  boxcar: { rule: () => 1 },
  bartlett: { rule: (i, n) => 1 - fromMiddle(i, n) },
  triang: {
    rule: (i, n) => {
      const at = Math.min(i, n - 1 - i);
      return n % 2 === 0 ? (2 * at + 1) / n : (2 * (at + 1)) / (n + 1);
    },
  },
  cosine: { rule: (i, n) => Math.sin((Math.PI / n) * (Math.min(i, n - 1 - i) + 0.5)) },
  hann: { rule: cosines(0.5, 0.5) },
  hamming: { rule: cosines(0.54, 0.46) },
  blackman: { rule: cosines(0.42, 0.5, 0.08) },
  blackmanharris: { rule: cosines(0.35875, 0.48829, 0.14128, 0.01168) },
  nuttall: { rule: cosines(0.3635819, 0.4891775, 0.1365995, 0.0106411) },
  flattop: { rule: cosines(0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368) },
  kaiser: {
    rule: (i, n, beta) => besselI0(beta * Math.sqrt(1 - fromMiddle(i, n) ** 2)) / besselI0(beta),
    parameter: { name: "beta", value: null },
  },
  gaussian: {
    rule: (i, n, std) => Math.exp(-0.5 * ((i - (n - 1) / 2) / std) ** 2),
    parameter: { name: "std", value: null },
  },
  tukey: {
    rule: (i, n, alpha) => {
      const at = Math.min(i, n - 1 - i);
      const width = Math.floor((alpha * (n - 1)) / 2);
      if (alpha <= 0 || at > width) return 1;
      if (alpha >= 1) return cosines(0.5, 0.5)(i, n, 0);
      return 0.5 * (1 + Math.cos(Math.PI * (-1 + (2 * at) / (alpha * (n - 1)))));
    },
    parameter: { name: "alpha", value: 0.5 },
  },
} as const satisfies Record<string, WindowEntry>;

/** The names of windows without parameters. */
export type WindowName = keyof typeof WINDOWS;

export const windowEntry = (name: WindowName): WindowEntry => WINDOWS[name];

/** The value at point i of a window of n points. */
export function windowValue(name: WindowName, i: number, n: number, isSymmetric: boolean, parameter: number): number {
  if (n === 1) return 1;
  return windowEntry(name).rule(i, isSymmetric ? n : n + 1, parameter);
}
