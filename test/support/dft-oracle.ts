/** The discrete Fourier transform by its definition, in f64 with exact angles: what transforms are compared with. */

export interface ComplexList {
  readonly re: Float64Array;
  readonly im: Float64Array;
}

/** Σ x[j] exp(sign · 2πi jk/n) for each k. */
export function dftByDefinition(x: ComplexList, sign: 1 | -1): ComplexList {
  const n = x.re.length;
  const [re, im] = [new Float64Array(n), new Float64Array(n)];
  const cos = Float64Array.from({ length: n }, (_, k) => Math.cos((2 * Math.PI * k) / n));
  const sin = Float64Array.from({ length: n }, (_, k) => sign * Math.sin((2 * Math.PI * k) / n));
  for (let k = 0; k < n; k++) {
    let [a, b] = [0, 0];
    for (let j = 0, turn = 0; j < n; j++, turn = (turn + k) % n) {
      a += x.re[j]! * cos[turn]! - x.im[j]! * sin[turn]!;
      b += x.re[j]! * sin[turn]! + x.im[j]! * cos[turn]!;
    }
    re[k] = a;
    im[k] = b;
  }
  return { re, im };
}

/** One number of the transform, where all would take too long. */
export function dftAt(x: ComplexList, k: number, sign: 1 | -1): { readonly re: number; readonly im: number } {
  const n = x.re.length;
  let [re, im] = [0, 0];
  for (let j = 0, turn = 0; j < n; j++, turn = (turn + k) % n) {
    const angle = (sign * 2 * Math.PI * turn) / n;
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    re += x.re[j]! * c - x.im[j]! * s;
    im += x.re[j]! * s + x.im[j]! * c;
  }
  return { re, im };
}
