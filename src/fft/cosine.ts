/**
 * Cosine and sine transforms of types 1 to 4, as in SciPy. Each sums x[j] times the cosine or sine of
 * π (p j + a)(q k + b) / d, which is a Fourier transform of 2d/(pq) numbers with weights before and after it. Types 2 and 3 go
 * through one of n real numbers instead (half-cosine.ts).
 */
import { checkChoice, checkOptions, type OptionKinds } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import type { DType } from "../core/dtype.js";
import { ArgumentError, ShapeError } from "../core/errors.js";
import { constantsBeside, range, type Tensor, transformed } from "../tensor/index.js";
import { type Factors, halfCosineSums, halfCosineSumsBack } from "./half-cosine.js";
import { asTransformable, checkedAxis, type FftNorm, scaleOf } from "./norms.js";
import type { RealPartOf } from "./one-axis.js";

/** The types of cosine and sine transforms, numbered as in SciPy. */
export type TransformType = 1 | 2 | 3 | 4;

/** Options of `dct`, `dst` and their inverses. */
export interface DctOptions {
  /** The type, 1 to 4; 2 unless told. */
  readonly type?: TransformType;
  /** The length: the axis is cut to it, or filled with zeros. */
  readonly n?: number;
  /** The axis; the last unless told. */
  readonly axis?: number;
  readonly norm?: FftNorm;
}

const DCT: OptionKinds<DctOptions> = { type: "number", n: "number", axis: "number", norm: "text" };

type Wave = "cosine" | "sine";

/** The angles of a type: π (p j + a)(q k + b) / d. */
interface Angles {
  readonly p: number;
  readonly a: number;
  readonly q: number;
  readonly b: number;
  d(n: number): number;
}

const ANGLES: Readonly<Record<Wave, Readonly<Record<TransformType, Angles>>>> = {
  cosine: {
    1: { p: 1, a: 0, q: 1, b: 0, d: (n) => n - 1 },
    2: { p: 2, a: 1, q: 1, b: 0, d: (n) => 2 * n },
    3: { p: 1, a: 0, q: 2, b: 1, d: (n) => 2 * n },
    4: { p: 2, a: 1, q: 2, b: 1, d: (n) => 4 * n },
  },
  sine: {
    1: { p: 1, a: 1, q: 1, b: 1, d: (n) => n + 1 },
    2: { p: 2, a: 1, q: 1, b: 1, d: (n) => 2 * n },
    3: { p: 1, a: 1, q: 2, b: 1, d: (n) => 2 * n },
    4: { p: 2, a: 1, q: 2, b: 1, d: (n) => 4 * n },
  },
};

/** Elements that are their own mirror image: sums count them once where they count others twice. */
function ends(wave: Wave, type: TransformType, n: number): { readonly read: number[]; readonly written: number[] } {
  if (wave === "cosine" && type === 1) return { read: [0, n - 1], written: [0, n - 1] };
  const end = wave === "cosine" ? 0 : n - 1;
  return { read: type === 3 ? [end] : [], written: type === 2 ? [end] : [] };
}

const INVERSE: Readonly<Record<TransformType, TransformType>> = { 1: 1, 2: 3, 3: 2, 4: 4 };

function waves(operation: string, x: Tensor, options: DctOptions, wave: Wave, isInverse: boolean): Tensor {
  checkOptions(operation, options, DCT);
  const { type = 2, ...rest } = options;
  checkChoice(operation, "the option type", String(type), ["1", "2", "3", "4"]);
  const { axis, extent } = checkedAxis(operation, x, rest);
  const n = options.n ?? extent;
  const least = wave === "cosine" && type === 1 ? 2 : 1;
  if (n < least) throw new ShapeError(`${operation}: type ${type} takes ${least} elements or more, not ${n}.`);
  const given = asTransformable(operation, x, "real");
  if (given.size === 0) throw new ArgumentError(`${operation}: there are no elements to transform.`);
  const cut = extent > n ? range(given, axis, 0, n) : given;
  return sums(cut, axis, n, wave, isInverse ? INVERSE[type] : type, options.norm, isInverse);
}

/** The sums of a type, with the factors of a norm. */
function sums(
  x: Tensor,
  axis: number,
  n: number,
  wave: Wave,
  type: TransformType,
  norm: FftNorm | undefined,
  isInverse: boolean,
): Tensor {
  const { p, q, d } = ANGLES[wave][type];
  const scale = 2 * scaleOf(norm, (2 * d(n)) / (p * q), isInverse);
  const isOrtho = norm === "ortho";
  const { read, written } = ends(wave, type, n);
  const factors: Factors = {
    before: (j) => (read.includes(j) ? (isOrtho ? Math.SQRT1_2 : 0.5) : 1),
    after: (k) => scale * (isOrtho && written.includes(k) ? Math.SQRT1_2 : 1),
    key: `${wave} ${type} ${n} ${norm ?? "backward"} ${isInverse}`,
  };
  if (type === 2) return halfCosineSums(x, axis, n, wave === "sine", factors);
  if (type === 3) return halfCosineSumsBack(x, axis, n, wave === "sine", factors);
  return byWholeWaves(x, axis, n, wave, type, factors);
}

/** By a Fourier transform of complex numbers over a whole period of the waves. */
function byWholeWaves(x: Tensor, axis: number, n: number, wave: Wave, type: TransformType, factors: Factors): Tensor {
  const { p, a, q, b, d } = ANGLES[wave][type];
  const denominator = d(n);
  const unit = (numerator: number, size: number): [number, number] => {
    const angle = (Math.PI * (numerator % (2 * denominator))) / denominator;
    // A sine is the real part of -i·exp(i angle).
    return [size * Math.cos(angle), size * Math.sin(angle)];
  };
  const before = (j: number) => unit(p * j * b, factors.before(j));
  const after = (k: number): [number, number] => {
    const [c, s] = unit(a * (q * k + b), factors.after(k));
    return wave === "cosine" ? [c, s] : [s, -c];
  };
  const weights = (name: string, of: (at: number) => readonly [number, number], count: number) => {
    const dtype = x.dtype === "f64" ? "c128" : "c64";
    const line = constantsBeside(x, `${factors.key} ${name}`, count, dtype, of);
    return line.reshape(x.shape.map((_, i) => (i === axis ? count : 1)));
  };
  const own = x.shape[axis];
  const isPlain = b === 0 && Array.from({ length: own }, (_, j) => factors.before(j)).every((each) => each === 1);
  const given = isPlain ? x : x.mul(weights("before", before, own));
  const whole = transformed(given, { kind: "complex", axis, length: (2 * denominator) / (p * q), sign: 1, scale: 1 });
  return range(whole, axis, 0, n)
    .mul(weights("after", after, n))
    .real();
}

/**
 * The discrete cosine transform of a type, 2 unless told: y[k] = 2 Σ x[j] cos(π k (2j + 1) / 2n). Norms and types are SciPy's;
 * with "ortho" the matrix is orthogonal.
 */
export function dct<D extends DType>(x: Tensor<D>, options: DctOptions = {}): Tensor<RealPartOf<D>> {
  checkCount("fft.dct", 2, arguments);
  return waves("fft.dct", x, options, "cosine", false) as Tensor<RealPartOf<D>>;
}

/** The inverse of `dct` of the same type and norm. */
export function idct<D extends DType>(x: Tensor<D>, options: DctOptions = {}): Tensor<RealPartOf<D>> {
  checkCount("fft.idct", 2, arguments);
  return waves("fft.idct", x, options, "cosine", true) as Tensor<RealPartOf<D>>;
}

/** The discrete sine transform of a type, 2 unless told: y[k] = 2 Σ x[j] sin(π (k + 1)(2j + 1) / 2n). */
export function dst<D extends DType>(x: Tensor<D>, options: DctOptions = {}): Tensor<RealPartOf<D>> {
  checkCount("fft.dst", 2, arguments);
  return waves("fft.dst", x, options, "sine", false) as Tensor<RealPartOf<D>>;
}

/** The inverse of `dst` of the same type and norm. */
export function idst<D extends DType>(x: Tensor<D>, options: DctOptions = {}): Tensor<RealPartOf<D>> {
  checkCount("fft.idst", 2, arguments);
  return waves("fft.idst", x, options, "sine", true) as Tensor<RealPartOf<D>>;
}
