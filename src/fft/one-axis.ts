/** Fourier transforms along one axis, as in NumPy: fft, rfft, hfft and their inverses. */
import { checkCount } from "../core/arity.js";
import { complexDType, type DType, realDType } from "../core/dtype.js";
import { type ComplexOf, type RealOf, type Tensor, transformed, zeros } from "../tensor/index.js";
import { asComplex, asTransformable, checkedAxis, checkedLength, type FftOptions, scaleOf } from "./norms.js";

/** Real numbers of the width of a transform's results: integers and narrow floats become f32. */
export type RealPartOf<D extends DType> = RealOf<ComplexOf<D>>;

/** One direction of one kind of transform. */
export interface Direction {
  readonly kind: "complex" | "real" | "half";
  readonly sign: 1 | -1;
  /** The direction that has the factor 1/n unless told. */
  readonly isInverse: boolean;
}

export const DIRECTIONS = {
  fft: { kind: "complex", sign: -1, isInverse: false },
  ifft: { kind: "complex", sign: 1, isInverse: true },
  rfft: { kind: "real", sign: -1, isInverse: false },
  irfft: { kind: "half", sign: 1, isInverse: true },
  hfft: { kind: "half", sign: -1, isInverse: false },
  ihfft: { kind: "real", sign: 1, isInverse: true },
} as const satisfies Record<string, Direction>;

/** A transform along one axis, whose arguments are checked here. */
export function alongAxis(operation: string, x: Tensor, options: FftOptions, direction: Direction): Tensor {
  const { axis, extent } = checkedAxis(operation, x, options);
  const { kind, sign, isInverse } = direction;
  const n = checkedLength(operation, x, options.n ?? (kind === "half" ? 2 * (extent - 1) : extent));
  const floats = asTransformable(operation, x, kind === "real" ? "real" : "any");
  const given = kind === "half" ? asComplex(floats) : floats;
  if (given.size === 0) {
    const shape = x.shape.map((own, i) => (i !== axis ? own : kind === "real" ? Math.floor(n / 2) + 1 : n));
    const real = realDType(given.dtype);
    return zeros(shape, { dtype: kind === "half" ? real : complexDType(real), device: x.device });
  }
  return transformed(given, { kind, axis, length: n, sign, scale: scaleOf(options.norm, n, isInverse) });
}

/**
 * The discrete Fourier transform along an axis: y[k] = Σ x[j] exp(-2πi jk/n). `n` cuts the axis or fills it with zeros, and
 * `norm` says where the factor 1/n goes, as in NumPy. Any length has a fast transform, prime ones too.
 */
export function fft<D extends DType>(x: Tensor<D>, options: FftOptions = {}): Tensor<ComplexOf<D>> {
  checkCount("fft.fft", 2, arguments);
  return alongAxis("fft.fft", x, options, DIRECTIONS.fft) as Tensor<ComplexOf<D>>;
}

/** The inverse of `fft`: x[j] = 1/n Σ y[k] exp(2πi jk/n). */
export function ifft<D extends DType>(x: Tensor<D>, options: FftOptions = {}): Tensor<ComplexOf<D>> {
  checkCount("fft.ifft", 2, arguments);
  return alongAxis("fft.ifft", x, options, DIRECTIONS.ifft) as Tensor<ComplexOf<D>>;
}

/** The first n/2 + 1 numbers of the transform of real numbers; the others are conjugates of these. */
export function rfft<D extends DType>(x: Tensor<D>, options: FftOptions = {}): Tensor<ComplexOf<D>> {
  checkCount("fft.rfft", 2, arguments);
  return alongAxis("fft.rfft", x, options, DIRECTIONS.rfft) as Tensor<ComplexOf<D>>;
}

/** The inverse of `rfft`: n real numbers. n is twice the number of elements less two unless told; give it where it is odd. */
export function irfft<D extends DType>(x: Tensor<D>, options: FftOptions = {}): Tensor<RealPartOf<D>> {
  checkCount("fft.irfft", 2, arguments);
  return alongAxis("fft.irfft", x, options, DIRECTIONS.irfft) as Tensor<RealPartOf<D>>;
}

/** The transform, real, of a signal that has conjugates for its second half and is given without it. */
export function hfft<D extends DType>(x: Tensor<D>, options: FftOptions = {}): Tensor<RealPartOf<D>> {
  checkCount("fft.hfft", 2, arguments);
  return alongAxis("fft.hfft", x, options, DIRECTIONS.hfft) as Tensor<RealPartOf<D>>;
}

/** The inverse of `hfft`. */
export function ihfft<D extends DType>(x: Tensor<D>, options: FftOptions = {}): Tensor<ComplexOf<D>> {
  checkCount("fft.ihfft", 2, arguments);
  return alongAxis("fft.ihfft", x, options, DIRECTIONS.ihfft) as Tensor<ComplexOf<D>>;
}
