/** Fourier transforms along several axes, one after another: fftn, rfftn, hfftn, their inverses, and the forms for two axes. */
import { checkOptions, checkWhole, type OptionKinds } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import type { DType } from "../core/dtype.js";
import { ArgumentError, ShapeError } from "../core/errors.js";
import { normalizeAxes } from "../core/shape.js";
import { apartFrom, type ComplexOf, checkTensor, type Tensor } from "../tensor/index.js";
import { asComplex, asTransformable, checkNorm, type FftNorm } from "./norms.js";
import { alongAxis, DIRECTIONS, type Direction, type RealPartOf } from "./one-axis.js";

/** Options of transforms along several axes. */
export interface FftnOptions {
  /** The lengths, one for each axis: axes are cut to them, or filled with zeros. */
  readonly s?: readonly number[];
  /** The axes; unless told all, or as many of the last as there are lengths. */
  readonly axes?: readonly number[];
  readonly norm?: FftNorm;
}

const FFTN: OptionKinds<FftnOptions> = { s: "list", axes: "list", norm: "text" };

interface Axes {
  readonly axes: readonly number[];
  readonly lengths: readonly (number | undefined)[];
}

function checkedAxes(operation: string, x: Tensor, options: FftnOptions): Axes {
  checkTensor(operation, "the operand", x);
  checkOptions(operation, options, FFTN);
  checkNorm(operation, options.norm);
  const { s } = options;
  for (const length of s ?? []) checkWhole(operation, "a length in s", length, 1);
  if (s && !options.axes && s.length > x.rank) {
    throw new ShapeError(`${operation}: ${s.length} lengths for a tensor of ${x.rank} axes; give one for each axis.`);
  }
  const last = s && Array.from({ length: s.length }, (_, i) => x.rank - s.length + i);
  const axes = normalizeAxes(options.axes ?? last, x.rank, operation);
  if (s && s.length !== axes.length) {
    throw new ArgumentError(`${operation}: ${s.length} lengths for ${axes.length} axes; give one for each.`);
  }
  return { axes, lengths: axes.map((_, i) => s?.[i]) };
}

/** One axis after the other, the last first. */
function alongAll(
  operation: string,
  x: Tensor,
  { axes, lengths }: Axes,
  norm: FftNorm | undefined,
  to: Direction,
): Tensor {
  return axes.reduceRight((done, axis, i) => {
    const n = lengths[i];
    return alongAxis(operation, done, { axis, norm: norm ?? "backward", ...(n === undefined ? {} : { n }) }, to);
  }, x);
}

const without = ({ axes, lengths }: Axes): Axes => ({ axes: axes.slice(0, -1), lengths: lengths.slice(0, -1) });
const only = ({ axes, lengths }: Axes): Axes => ({ axes: axes.slice(-1), lengths: lengths.slice(-1) });

function complexForm(operation: string, x: Tensor, options: FftnOptions, direction: Direction): Tensor {
  const axes = checkedAxes(operation, x, options);
  const given = asTransformable(operation, x, "any");
  if (axes.axes.length === 0) return apartFrom(x, asComplex(given));
  return alongAll(operation, given, axes, options.norm, direction);
}

/** The directions of the last axis and of the others. */
interface Ways {
  readonly last: Direction;
  readonly others: Direction;
}

const FORWARD: Ways = { last: DIRECTIONS.rfft, others: DIRECTIONS.fft };
const BACK: Ways = { last: DIRECTIONS.irfft, others: DIRECTIONS.ifft };
const HERMITIAN: Ways = { last: DIRECTIONS.hfft, others: DIRECTIONS.fft };
const HERMITIAN_BACK: Ways = { last: DIRECTIONS.ihfft, others: DIRECTIONS.ifft };

/** Of real numbers: the last axis first, which keeps half of its spectrum. */
function realForm(operation: string, x: Tensor, options: FftnOptions, { last, others }: Ways): Tensor {
  const axes = someAxes(operation, x, options);
  const half = alongAll(operation, x, only(axes), options.norm, last);
  return alongAll(operation, half, without(axes), options.norm, others);
}

/** To real numbers: the last axis, of which half is given, comes last. */
function toRealForm(operation: string, x: Tensor, options: FftnOptions, { last, others }: Ways): Tensor {
  const axes = someAxes(operation, x, options);
  const half = alongAll(operation, asTransformable(operation, x, "any"), without(axes), options.norm, others);
  return alongAll(operation, half, only(axes), options.norm, last);
}

function someAxes(operation: string, x: Tensor, options: FftnOptions): Axes {
  const axes = checkedAxes(operation, x, options);
  if (axes.axes.length > 0) return axes;
  throw new ShapeError(`${operation}: there is no axis to transform; give at least one.`);
}

/** The last two axes, which the forms for two axes take unless told. */
const inPlane = (options: FftnOptions): FftnOptions =>
  typeof options === "object" && options !== null && options.axes === undefined
    ? { ...options, axes: [-2, -1] }
    : options;

/** The Fourier transform along several axes: all, or those in `axes`. */
export function fftn<D extends DType>(x: Tensor<D>, options: FftnOptions = {}): Tensor<ComplexOf<D>> {
  checkCount("fft.fftn", 2, arguments);
  return complexForm("fft.fftn", x, options, DIRECTIONS.fft) as Tensor<ComplexOf<D>>;
}

/** The inverse of `fftn`. */
export function ifftn<D extends DType>(x: Tensor<D>, options: FftnOptions = {}): Tensor<ComplexOf<D>> {
  checkCount("fft.ifftn", 2, arguments);
  return complexForm("fft.ifftn", x, options, DIRECTIONS.ifft) as Tensor<ComplexOf<D>>;
}

/** The transform of real numbers along several axes; the last one keeps n/2 + 1 numbers. */
export function rfftn<D extends DType>(x: Tensor<D>, options: FftnOptions = {}): Tensor<ComplexOf<D>> {
  checkCount("fft.rfftn", 2, arguments);
  return realForm("fft.rfftn", x, options, FORWARD) as Tensor<ComplexOf<D>>;
}

/** The inverse of `rfftn`; give `s` where the last length is odd. */
export function irfftn<D extends DType>(x: Tensor<D>, options: FftnOptions = {}): Tensor<RealPartOf<D>> {
  checkCount("fft.irfftn", 2, arguments);
  return toRealForm("fft.irfftn", x, options, BACK) as Tensor<RealPartOf<D>>;
}

/** The Fourier transform along two axes: the last two unless told. */
export function fft2<D extends DType>(x: Tensor<D>, options: FftnOptions = {}): Tensor<ComplexOf<D>> {
  checkCount("fft.fft2", 2, arguments);
  return complexForm("fft.fft2", x, inPlane(options), DIRECTIONS.fft) as Tensor<ComplexOf<D>>;
}

/** The inverse of `fft2`. */
export function ifft2<D extends DType>(x: Tensor<D>, options: FftnOptions = {}): Tensor<ComplexOf<D>> {
  checkCount("fft.ifft2", 2, arguments);
  return complexForm("fft.ifft2", x, inPlane(options), DIRECTIONS.ifft) as Tensor<ComplexOf<D>>;
}

/** The transform of real numbers along two axes. */
export function rfft2<D extends DType>(x: Tensor<D>, options: FftnOptions = {}): Tensor<ComplexOf<D>> {
  checkCount("fft.rfft2", 2, arguments);
  return realForm("fft.rfft2", x, inPlane(options), FORWARD) as Tensor<ComplexOf<D>>;
}

/** The inverse of `rfft2`. */
export function irfft2<D extends DType>(x: Tensor<D>, options: FftnOptions = {}): Tensor<RealPartOf<D>> {
  checkCount("fft.irfft2", 2, arguments);
  return toRealForm("fft.irfft2", x, inPlane(options), BACK) as Tensor<RealPartOf<D>>;
}

/** The transform, real, along several axes of a signal that has conjugates for its other half, and is given without it. */
export function hfftn<D extends DType>(x: Tensor<D>, options: FftnOptions = {}): Tensor<RealPartOf<D>> {
  checkCount("fft.hfftn", 2, arguments);
  return toRealForm("fft.hfftn", x, options, HERMITIAN) as Tensor<RealPartOf<D>>;
}

/** The inverse of `hfftn`. */
export function ihfftn<D extends DType>(x: Tensor<D>, options: FftnOptions = {}): Tensor<ComplexOf<D>> {
  checkCount("fft.ihfftn", 2, arguments);
  return realForm("fft.ihfftn", x, options, HERMITIAN_BACK) as Tensor<ComplexOf<D>>;
}

/** `hfftn` along two axes: the last two unless told. */
export function hfft2<D extends DType>(x: Tensor<D>, options: FftnOptions = {}): Tensor<RealPartOf<D>> {
  checkCount("fft.hfft2", 2, arguments);
  return toRealForm("fft.hfft2", x, inPlane(options), HERMITIAN) as Tensor<RealPartOf<D>>;
}

/** The inverse of `hfft2`. */
export function ihfft2<D extends DType>(x: Tensor<D>, options: FftnOptions = {}): Tensor<ComplexOf<D>> {
  checkCount("fft.ihfft2", 2, arguments);
  return realForm("fft.ihfft2", x, inPlane(options), HERMITIAN_BACK) as Tensor<ComplexOf<D>>;
}
