/**
 * The constants of a discrete Fourier transform (dft-plan.ts says which and where), computed in f64: each is right to the last
 * bit or nearly so, because angles are reduced exactly, as whole numbers, before a sine is taken.
 */
import type { DftFloat, DftPlan } from "./dft-plan.js";

/** Real and imaginary parts by turns. */
export function dftTable(plan: DftPlan, dtype: DftFloat): Float32Array | Float64Array {
  const { length, computed, passes, radices, isChirp, table } = plan;
  const values = dtype === "f32" ? new Float32Array(2 * table.size) : new Float64Array(2 * table.size);
  const put = (at: number, [re, im]: readonly [number, number]) => {
    values[2 * at] = re;
    values[2 * at + 1] = im;
  };
  for (const [pass, start] of table.roots) {
    let at = start;
    for (const { radix, done } of stagesAfterFirst(radices.get(pass) as readonly number[])) {
      for (let j = 1; j < radix; j++) for (let k = 0; k < done; k++) put(at++, root(j * k, done * radix));
    }
  }
  if (passes.length > 1) {
    const { step, order } = table;
    for (let k = 0; k < step; k++) put(table.fine + k, root(k, order));
    for (let k = 0; k * step < order; k++) put(table.coarse + k, root(k * step, order));
  }
  const { halves } = table;
  if (halves !== null) for (let k = 0; 2 * k <= length; k++) put(halves + k, root(k, 2 * length));
  if (isChirp) {
    for (let k = 0; k < length; k++) put(table.chirp + k, chirpAt(k, length));
    const { re, im } = chirpFilter(length, computed);
    for (let k = 0; k < computed; k++) put(table.filter + k, [re[k], im[k]]);
  }
  return values;
}

/** The stages of a pass that multiply by roots, and the product of the radices before each. */
function stagesAfterFirst(radices: readonly number[]): { readonly radix: number; readonly done: number }[] {
  let done = 1;
  const stages = radices.map((radix) => {
    done *= radix;
    return { radix, done: done / radix };
  });
  return stages.slice(1);
}

/** exp(-2πi k/n), by symmetry from an angle of at most an eighth of a turn. */
function root(k: number, n: number): readonly [number, number] {
  const eighths = Math.floor((8 * k) / n);
  const [folded, isSwapped] = eighths % 2 === 0 ? [8 * k - eighths * n, false] : [(eighths + 1) * n - 8 * k, true];
  const angle = (Math.PI / 4) * (folded / n);
  const [near, far] = isSwapped ? [Math.sin(angle), Math.cos(angle)] : [Math.cos(angle), Math.sin(angle)];
  // The cosine and sine in the first octant of each quarter, or in the second with both swapped.
  switch (eighths >> 1) {
    case 0:
      return [near, -far];
    case 1:
      return [-far, -near];
    case 2:
      return [-near, far];
    default:
      return [far, near];
  }
}

/** exp(-πi k²/n). The square is reduced exactly: it may exceed 2^53. */
function chirpAt(k: number, n: number): readonly [number, number] {
  const square = k < 2 ** 26 ? (k * k) % (2 * n) : Number((BigInt(k) * BigInt(k)) % BigInt(2 * n));
  return root(square, 2 * n);
}

interface Parts {
  readonly re: Float64Array;
  readonly im: Float64Array;
}

const partsOf = (length: number): Parts => ({ re: new Float64Array(length), im: new Float64Array(length) });

/** The transform of the chirp's conjugate, wrapped around, divided by the length. */
function chirpFilter(length: number, computed: number): Parts {
  const { re, im } = partsOf(computed);
  for (let k = 0; k < length; k++) {
    const [c, s] = chirpAt(k, length);
    for (const at of k === 0 ? [0] : [k, computed - k]) {
      re[at] = c / computed;
      im[at] = -s / computed;
    }
  }
  return transform({ re, im });
}

/** The transform of a length with factors 2, 3 and 5: one Stockham pass for each factor. */
function transform(given: Parts): Parts {
  const n = given.re.length;
  const roots = partsOf(n);
  for (let k = 0; k < n; k++) [roots.re[k], roots.im[k]] = root(k, n);
  let from = given;
  let to = partsOf(n);
  for (let done = 1; done < n; ) {
    const factor = [5, 3, 2].find((each) => (n / done) % each === 0) as number;
    const apart = n / factor;
    for (let b = 0; b < apart; b++) {
      const k = b % done;
      const first = (b - k) * factor + k;
      for (let out = 0; out < factor; out++) {
        let [sumRe, sumIm] = [0, 0];
        for (let j = 0; j < factor; j++) {
          const turn = (j * (k + out * done) * (apart / done)) % n;
          const at = b + j * apart;
          const [c, s, x, y] = [roots.re[turn], roots.im[turn], from.re[at], from.im[at]];
          sumRe += x * c - y * s;
          sumIm += x * s + y * c;
        }
        to.re[first + out * done] = sumRe;
        to.im[first + out * done] = sumIm;
      }
    }
    [from, to] = [to, from];
    done *= factor;
  }
  return from;
}
