/**
 * The sums of cosine transforms of types 2 and 3 through Fourier transforms of n real numbers (Makhoul, A fast cosine transform in one
 * and two dimensions, 1980), and those of sine transforms, which are the same with signs that alternate and one order turned.
 * `cosine.ts` calls these; they give Σ x[j] cos(π k (2j + 1) / 2n) and its transpose, times factors.
 */
import { concat, constantsBeside, range, stack, type Tensor, transformed } from "../tensor/index.js";

/** Real factors of the numbers that are read and of those that are written; the key names them among constants. */
export interface Factors {
  before(j: number): number;
  after(k: number): number;
  readonly key: string;
}

/** Every second place of an axis, from the first or the second on. */
const everySecond = (x: Tensor, axis: number, first: 0 | 1): Tensor =>
  x.at(...x.shape.slice(0, axis).map(() => ":" as const), `${first}::2`) as Tensor;

/** The same number for each line of an axis. */
const alongAxis = (line: Tensor, { rank }: Tensor, axis: number): Tensor =>
  line.reshape(Array.from({ length: rank }, (_, i) => (i === axis ? line.size : 1))) as Tensor;

function filled(x: Tensor, axis: number, n: number): Tensor {
  const missing = n - x.shape[axis];
  return missing > 0 ? x.pad(x.shape.map((_, i): [number, number] => [0, i === axis ? missing : 0])) : x;
}

/**
 * Type 2. Of v, the numbers at even places and then those at odd places backwards, the Fourier transform V has the sum at k as
 * the real part of exp(-iπk/2n) V[k]. Of V there is half; the rest are conjugates, and the conjugate product has the same real part.
 */
export function halfCosineSums(given: Tensor, axis: number, n: number, isSine: boolean, factors: Factors): Tensor {
  const x = filled(given, axis, n);
  const odd = everySecond(x, axis, 1).flip(axis);
  const v = concat([everySecond(x, axis, 0), isSine ? odd.neg() : odd], { axis }) as Tensor;
  const half = transformed(v, { kind: "real", axis, length: n, sign: -1, scale: 1 });
  const count = half.shape[axis];
  const whole = concat([half, range(half, axis, 1, n - count + 1).flip(axis)], { axis }) as Tensor;
  const turns = constantsBeside(half, `${factors.key} turns`, n, x.dtype === "f64" ? "c128" : "c64", (k) => {
    const size = factors.after(isSine ? n - 1 - k : k);
    const angle = ((k < count ? -1 : 1) * Math.PI * k) / (2 * n);
    return [size * Math.cos(angle), size * Math.sin(angle)];
  });
  const sums = whole.mul(alongAxis(turns, whole, axis)).real() as Tensor;
  return isSine ? (sums.flip(axis) as Tensor) : sums;
}

/** Type 3, the transpose: the same steps backwards. */
export function halfCosineSumsBack(given: Tensor, axis: number, n: number, isSine: boolean, factors: Factors): Tensor {
  const own = given.shape[axis];
  const before = constantsBeside(given, `${factors.key} before`, own, given.dtype, factors.before);
  const weighed = filled(given.mul(alongAxis(before, given, axis)) as Tensor, axis, n);
  const x = isSine ? weighed.flip(axis) : weighed;
  const count = Math.floor(n / 2) + 1;
  // h[j] = exp(iπj/2n) (x[j] - i x[n - j]) / 2 has the Hermitian spectrum of v; x[0] stands alone.
  const turns = (part: "real" | "mirrored") => {
    const dtype = x.dtype === "f64" ? "c128" : "c64";
    const line = constantsBeside(x, `${factors.key} ${part}`, count, dtype, (j) => {
      const angle = (Math.PI * j) / (2 * n);
      const [c, s] = [Math.cos(angle) / 2, Math.sin(angle) / 2];
      if (part === "real") return j === 0 ? [1, 0] : [c, s];
      return j === 0 ? [0, 0] : [s, -c];
    });
    return alongAxis(line, x, axis);
  };
  const first = range(x, axis, 0, count);
  // x[0] has the weight 0 there.
  const mirrored = concat([range(x, axis, 0, 1), range(x, axis, n - count + 1, n).flip(axis)], { axis }) as Tensor;
  const spectrum = first.mul(turns("real")).add(mirrored.mul(turns("mirrored"))) as Tensor;
  const v = transformed(spectrum, { kind: "half", axis, length: n, sign: 1, scale: 1 });
  const pairs = Math.ceil(n / 2);
  const [even, odd] = [range(v, axis, 0, pairs), range(v.flip(axis) as Tensor, axis, 0, pairs)];
  const together = stack([even, isSine ? odd.neg() : odd] as Tensor[], { axis: axis + 1 });
  const shape = x.shape.map((extent, i) => (i === axis ? 2 * pairs : extent));
  const sums = range(together.reshape(shape) as Tensor, axis, 0, n);
  const after = constantsBeside(x, `${factors.key} after`, n, x.dtype, factors.after);
  return sums.mul(alongAxis(after, x, axis)) as Tensor;
}
