/**
 * Small Fourier transforms in registers, of any length whose code is still short: each prime factor by its definition with
 * symmetric pairs, products of them by Cooley and Tukey with known roots.
 */
import type { ComplexOps, ComplexValue } from "./complex-values.js";

/** X[k] = Σ x[j] exp(sign · 2πi jk/n). */
export function smallDft(ops: ComplexOps, x: readonly ComplexValue[], sign: 1 | -1): ComplexValue[] {
  const n = x.length;
  if (n === 1) return [...x];
  if (n === 2) return [ops.add(x[0], x[1]), ops.sub(x[0], x[1])];
  if (n === 4) return fourfold(ops, x, sign);
  const factor = n % 4 === 0 ? 4 : smallestFactor(n);
  return factor === n ? prime(ops, x, sign) : composite(ops, x, sign, factor);
}

function smallestFactor(n: number): number {
  let factor = 2;
  while (n % factor !== 0) factor++;
  return factor;
}

function fourfold(ops: ComplexOps, [a, b, c, d]: readonly ComplexValue[], sign: 1 | -1): ComplexValue[] {
  const [even, evenDifference] = [ops.add(a, c), ops.sub(a, c)];
  const [odd, oddDifference] = [ops.add(b, d), ops.sub(b, d)];
  return [
    ops.add(even, odd),
    ops.addTurned(evenDifference, oddDifference, sign),
    ops.sub(even, odd),
    ops.addTurned(evenDifference, oddDifference, sign === 1 ? -1 : 1),
  ];
}

/** x[j] and x[n - j] meet conjugate roots, so their sum meets a cosine and their difference a sine. */
function prime(ops: ComplexOps, x: readonly ComplexValue[], sign: 1 | -1): ComplexValue[] {
  const n = x.length;
  const pairs = (n - 1) / 2;
  const sums = Array.from({ length: pairs }, (_, j) => ops.add(x[j + 1], x[n - 1 - j]));
  const differences = Array.from({ length: pairs }, (_, j) => ops.sub(x[j + 1], x[n - 1 - j]));
  const result: ComplexValue[] = [sums.reduce((total, each) => ops.add(total, each), x[0])];
  for (let k = 1; k <= pairs; k++) {
    const angle = (j: number) => (2 * Math.PI * (((j + 1) * k) % n)) / n;
    const even = sums.reduce((total, each, j) => ops.addScaled(total, each, Math.cos(angle(j))), x[0]);
    const [first, ...others] = differences;
    const odd = others.reduce(
      (total, each, j) => ops.addScaled(total, each, Math.sin(angle(j + 1))),
      ops.scaled(first, Math.sin(angle(0))),
    );
    result[k] = ops.addTurned(even, odd, sign);
    result[n - k] = ops.addTurned(even, odd, sign === 1 ? -1 : 1);
  }
  return result;
}

/** Columns of `rows` elements, roots between them, then rows. */
function composite(ops: ComplexOps, x: readonly ComplexValue[], sign: 1 | -1, rows: number): ComplexValue[] {
  const n = x.length;
  const columns = n / rows;
  const inner = Array.from({ length: columns }, (_, j) => {
    const column = Array.from({ length: rows }, (_, i) => x[i * columns + j]);
    return smallDft(ops, column, sign).map((value, k) => ops.rotated(value, sign * j * k, n));
  });
  const result: ComplexValue[] = [];
  for (let k = 0; k < rows; k++) {
    const row = inner.map((column) => column[k]);
    smallDft(ops, row, sign).forEach((value, m) => {
      result[k + rows * m] = value;
    });
  }
  return result;
}
