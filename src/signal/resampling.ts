/** Signals changed in the domain of frequencies: other sampling rates, and the analytic signal. */
import { checkOptions, checkWhole } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import { type DType, isComplex } from "../core/dtype.js";
import { DTypeError, ShapeError } from "../core/errors.js";
import { formatShape, normalizeAxis } from "../core/shape.js";
import { fft, ifft, ifftshift, irfft, rfft } from "../fft/index.js";
import {
  type ComplexOf,
  checkTensor,
  concat,
  constantsBeside,
  type FloatOf,
  isTensor,
  range,
  type Tensor,
  zeros,
} from "../tensor/index.js";
import { scaledWindow, type WindowChoice } from "./windows.js";

/** Options of `resample`. */
export interface ResampleOptions {
  /** The axis of time; the first unless told, as in SciPy. */
  readonly axis?: number;
  /** A factor of the spectrum, none unless told: a window with its middle at frequency 0, or values by frequency, 0 first. */
  readonly window?: WindowChoice;
}

/** A periodic signal at `count` places instead of its own, by its Fourier transform: `signal.resample(x, 2 * x.size)`. */
export function resample<D extends DType>(
  x: Tensor<D>,
  count: number,
  options: ResampleOptions = {},
): Tensor<FloatOf<D>> {
  const operation = "signal.resample";
  checkCount(operation, 3, arguments);
  checkTensor(operation, "the signal", x);
  checkOptions(operation, options, { axis: "number", window: "any" });
  checkWhole(operation, "the number of places", count, 1);
  if (x.size === 0) throw new ShapeError(`${operation}: the signal ${formatShape(x.shape)} has no elements.`);
  const axis = normalizeAxis(options.axis ?? 0, x.rank, operation);
  const own = x.shape[axis];
  const scale = count / own;
  const { window } = options;
  const shaped = (spectrum: Tensor) =>
    window === undefined ? spectrum : windowed(operation, x, spectrum, axis, window);
  const time = isComplex(x.dtype)
    ? complexAt(shaped(fft(x, { axis })), axis, count)
    : realAt(shaped(rfft(x, { axis })), x.shape[axis], axis, count);
  const found = time.mul(scale);
  return (x.dtype === "f16" || x.dtype === "bf16" ? found.cast(x.dtype) : found) as Tensor<FloatOf<D>>;
}

/** The spectrum of x times a window. Both signs of a frequency of real numbers have the mean of their factors. */
function windowed(operation: string, x: Tensor, spectrum: Tensor, axis: number, window: WindowChoice): Tensor {
  const values = scaledWindow(operation, x, window, x.shape[axis], { by: "nothing" });
  const factors = isTensor(window) ? values : ifftshift(values);
  const both = isComplex(x.dtype) ? factors : factors.add(factors.flip(0).roll(1)).mul(0.5);
  const kept = range(both, 0, 0, spectrum.shape[axis]);
  return spectrum.mul(kept.reshape(x.shape.map((_, i) => (i === axis ? kept.size : 1))));
}

/** The frequency that both signs share has its double where the signal loses places, and its half where it gains some. */
function realAt(spectrum: Tensor, own: number, axis: number, count: number): Tensor {
  const least = Math.min(own, count);
  const half = Math.floor(least / 2) + 1;
  const kept = range(spectrum, axis, 0, half);
  const isShared = least % 2 === 0 && count !== own;
  return irfft(isShared ? withLast(kept, axis, half, count < own ? 2 : 0.5) : kept, { axis, n: count });
}

function withLast(x: Tensor, axis: number, count: number, factor: number): Tensor {
  const dtype = x.dtype === "c128" ? "f64" : "f32";
  const line = constantsBeside(x, `last ${factor}`, count, dtype, (i) => (i === count - 1 ? factor : 1));
  return x.mul(line.reshape(x.shape.map((_, i) => (i === axis ? count : 1))));
}

function complexAt(all: Tensor, axis: number, count: number): Tensor {
  const own = all.shape[axis];
  if (own === count) return ifft(all, { axis });
  const least = Math.min(own, count);
  const isEven = least % 2 === 0;
  const positive = Math.floor((least + 1) / 2);
  const negative = least - positive - (isEven ? 1 : 0);
  const part = (start: number, end: number) => range(all, axis, start, end);
  const nothing = (extent: number) =>
    zeros(
      all.shape.map((each, i) => (i === axis ? extent : each)),
      { dtype: all.dtype, device: all.device },
    );
  // The frequency of both signs: together where there are fewer places, half each where there are more.
  const shared = isEven ? part(least / 2, least / 2 + 1) : null;
  const other = isEven ? part(own - least / 2, own - least / 2 + 1) : null;
  const low = part(0, positive);
  const high = part(own - negative, own);
  const parts =
    count < own
      ? [low, ...(shared && other ? [shared.add(other)] : []), high]
      : shared
        ? [low, shared.mul(0.5), nothing(count - least - 1), shared.mul(0.5), high]
        : [low, nothing(count - least), high];
  const present = parts.filter((each) => each.shape[axis] > 0);
  return ifft(concat(present, { axis }), { axis });
}

/** Options of `hilbert`. */
export interface HilbertOptions {
  /** The length of the transform: the axis is cut to it, or filled with zeros. */
  readonly n?: number;
  /** The axis of time; the last unless told. */
  readonly axis?: number;
}

/** The analytic signal: x, with its Hilbert transform for imaginary part. Its absolute value is the envelope. */
export function hilbert<D extends DType>(x: Tensor<D>, options: HilbertOptions = {}): Tensor<ComplexOf<D>> {
  const operation = "signal.hilbert";
  checkCount(operation, 2, arguments);
  checkTensor(operation, "the signal", x);
  checkOptions(operation, options, { n: "number", axis: "number" });
  if (isComplex(x.dtype)) throw new DTypeError(`${operation}: takes real numbers, not ${x.dtype}.`);
  const axis = normalizeAxis(options.axis ?? -1, x.rank, operation);
  const n = checkWhole(operation, "the option n", options.n ?? x.shape[axis], 1);
  const spectrum = fft(x, { n, axis }) as Tensor;
  const dtype = spectrum.dtype === "c128" ? "f64" : "f32";
  const isOwn = (k: number) => k === 0 || 2 * k === n;
  const line = constantsBeside(x, "positive", n, dtype, (k) => (isOwn(k) ? 1 : 2 * k < n ? 2 : 0));
  const positive = spectrum.mul(line.reshape(x.shape.map((_, i) => (i === axis ? n : 1))));
  return ifft(positive, { axis }) as Tensor<ComplexOf<D>>;
}
