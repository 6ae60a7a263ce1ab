/** Gauss and Legendre's quadrature: sums that are integrals over (-1, 1) of all polynomials up to a high degree. */

/** `count` nodes and their weights, by Newton's method on the Legendre polynomial. */
export function gaussLegendre(count: number): {
  readonly nodes: readonly number[];
  readonly weights: readonly number[];
} {
  const found = Array.from({ length: count }, (_, i) => {
    let x = Math.cos((Math.PI * (i + 0.75)) / (count + 0.5));
    let slope = 1;
    for (let step = 0; step < 8; step++) {
      let [before, now] = [1, x];
      for (let n = 2; n <= count; n++) [before, now] = [now, ((2 * n - 1) * x * now - (n - 1) * before) / n];
      slope = (count * (x * now - before)) / (x * x - 1);
      x -= now / slope;
    }
    return { x, weight: 2 / ((1 - x * x) * slope * slope) };
  });
  return { nodes: found.map(({ x }) => x), weights: found.map(({ weight }) => weight) };
}
