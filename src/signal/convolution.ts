/**
 * Convolution and correlation of signals with any number of axes: directly, as sums of products, or by Fourier transforms,
 * whichever is faster. Names and modes are SciPy's.
 */
import { checkChoice, checkOptions, inOperation, type OptionKinds } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import { DTYPES, type DType, isComplex } from "../core/dtype.js";
import { ArgumentError, DTypeError, ShapeError } from "../core/errors.js";
import { promote } from "../core/promotion.js";
import { broadcastShapes, formatShape, normalizeAxes, productOf } from "../core/shape.js";
import { type FftnOptions, fftn, ifftn, irfftn, rfftn } from "../fft/index.js";
import {
  type ConvolveMode,
  checkOneDevice,
  checkTensor,
  conv,
  type MeetingOf,
  range,
  type Tensor,
} from "../tensor/index.js";

/** Options of `convolve` and `correlate`. */
export interface ConvolutionOptions {
  /** "full": every overlap (unless told); "same": as many as the first signal, from the middle; "valid": whole overlaps. */
  readonly mode?: ConvolveMode;
  /** "direct", "fft", or "auto" for the faster one (unless told). Integers are summed directly, which is exact. */
  readonly method?: "auto" | "direct" | "fft";
}

const CONVOLUTION: OptionKinds<ConvolutionOptions> = { mode: "text", method: "text" };

const MODES = ["full", "same", "valid"];

/** Operations of a transform, per element and doubling, that cost as much as one product of a direct sum. */
const TRANSFORM_COST = 12;

function checkSignals(operation: string, a: Tensor, b: Tensor, mode: unknown): void {
  checkTensor(operation, "the first signal", a);
  checkTensor(operation, "the second signal", b);
  checkOneDevice(operation, [a.node, b.node]);
  checkChoice(operation, "the option mode", mode, MODES);
  if (a.rank !== b.rank || a.rank === 0 || a.size === 0 || b.size === 0) {
    throw new ShapeError(
      `${operation}: signals of ${formatShape(a.shape)} and ${formatShape(b.shape)}; both have as many axes, and elements.`,
    );
  }
  if (a.dtype === "bool" && b.dtype === "bool")
    throw new DTypeError(`${operation}: takes numbers, not bool; cast one first.`);
}

/** Whether one signal is at least as long as the other along each axis. */
const covers = (a: readonly number[], b: readonly number[]): boolean => a.every((extent, axis) => extent >= b[axis]);

function checkValid(operation: string, a: readonly number[], b: readonly number[]): void {
  if (covers(a, b) || covers(b, a)) return;
  throw new ShapeError(
    `${operation}: signals of ${formatShape(a)} and ${formatShape(b)} overlap nowhere as a whole; with mode "valid" one is at ` +
      "least as long as the other along every axis.",
  );
}

function isByTransform(a: Tensor, b: Tensor, method: ConvolutionOptions["method"]): boolean {
  if (method === "direct" || method === "fft") return method === "fft";
  const { kind } = DTYPES[promote(a.dtype, b.dtype)];
  if (kind !== "float" && kind !== "complex") return false;
  const whole = productOf(a.shape.map((extent, axis) => extent + b.shape[axis] - 1));
  const direct = Math.min(a.size, b.size) * whole;
  return direct > TRANSFORM_COST * whole * Math.log2(2 * whole);
}

/** The convolution of two signals with as many axes: each sum runs over one of them, reversed. */
export function convolve<D extends DType, E extends DType>(
  a: Tensor<D>,
  b: Tensor<E>,
  options: ConvolutionOptions = {},
): Tensor<MeetingOf<D, E>> {
  checkCount("signal.convolve", 3, arguments);
  return convolved("signal.convolve", a, b, options) as Tensor<MeetingOf<D, E>>;
}

/** The correlation of two signals: sums of one times the conjugate of the other, at every distance. */
export function correlate<D extends DType, E extends DType>(
  a: Tensor<D>,
  b: Tensor<E>,
  options: ConvolutionOptions = {},
): Tensor<MeetingOf<D, E>> {
  checkCount("signal.correlate", 3, arguments);
  checkTensor("signal.correlate", "the first signal", a);
  checkTensor("signal.correlate", "the second signal", b);
  const turned = (isComplex(b.dtype) ? b.conj() : b).flip();
  const found = convolved("signal.correlate", a, turned, options);
  return found as Tensor<MeetingOf<D, E>>;
}

function convolved(operation: string, a: Tensor, b: Tensor, options: ConvolutionOptions): Tensor {
  checkOptions(operation, options, CONVOLUTION);
  checkChoice(operation, "the option method", options.method, ["auto", "direct", "fft"]);
  const { mode = "full" } = options;
  checkSignals(operation, a, b, mode);
  if (mode === "valid") checkValid(operation, a.shape, b.shape);
  if (!isByTransform(a, b, options.method)) return directly(operation, a, b, mode);
  return byTransform(operation, a, b, [...a.shape.keys()], mode).cast(promote(a.dtype, b.dtype));
}

/** By the convolution of networks, which does not reverse its kernel. */
function directly(operation: string, a: Tensor, b: Tensor, mode: ConvolveMode): Tensor {
  const isSwapped = mode === "valid" ? !covers(a.shape, b.shape) : a.size < b.size;
  const [long, short] = isSwapped ? [b, a] : [a, b];
  const most = short.shape.map((extent) => extent - 1);
  const padding = most.map((extent): [number, number] => (mode === "valid" ? [0, 0] : [extent, extent]));
  const asOne = (x: Tensor) => x.reshape([1, 1, ...x.shape]);
  const found = inOperation(operation, () => conv(asOne(long), asOne(short.flip()), { padding }));
  const whole = found.reshape(found.shape.slice(2));
  return mode === "same" ? middle(whole, [...a.shape.keys()], a.shape) : whole;
}

/** As many elements of each axis as a shape has, from the middle. */
function middle(x: Tensor, axes: readonly number[], shape: readonly number[]): Tensor {
  return axes.reduce((cut, axis) => {
    const start = Math.floor((x.shape[axis] - shape[axis]) / 2);
    return range(cut, axis, start, start + shape[axis]);
  }, x);
}

/** Options of `fftConvolve` and `oaConvolve`. */
export interface FftConvolveOptions {
  readonly mode?: ConvolveMode;
  /** The axes of the convolution; all unless told. The others broadcast. */
  readonly axes?: number | readonly number[];
}

/** The convolution of two signals by Fourier transforms, along some axes. */
export function fftConvolve<D extends DType, E extends DType>(
  a: Tensor<D>,
  b: Tensor<E>,
  options: FftConvolveOptions = {},
): Tensor<MeetingOf<D, E>> {
  const operation = "signal.fftConvolve";
  checkCount(operation, 3, arguments);
  const { axes, mode } = checkedAlong(operation, a, b, options);
  return byTransform(operation, a, b, axes, mode) as Tensor<MeetingOf<D, E>>;
}

/** The axes and the mode of a convolution along some axes, checked. */
export function checkedAlong(
  operation: string,
  a: Tensor,
  b: Tensor,
  options: FftConvolveOptions,
): { readonly axes: readonly number[]; readonly mode: ConvolveMode } {
  checkOptions(operation, options, { mode: "text", axes: "numbers" });
  const { mode = "full" } = options;
  checkSignals(operation, a, b, mode);
  const axes = normalizeAxes(options.axes, a.rank, operation);
  if (axes.length === 0)
    throw new ArgumentError(`${operation}: there is no axis to convolve along; give at least one.`);
  const along = (x: Tensor) => axes.map((axis) => x.shape[axis]);
  if (mode === "valid") checkValid(operation, along(a), along(b));
  const apart = (x: Tensor) => x.shape.map((extent, axis) => (axes.includes(axis) ? 1 : extent));
  broadcastShapes(operation, apart(a), apart(b));
  return { axes, mode };
}

/** Every overlap of two signals along some axes, of which there are `full` many. */
type Convolved = (a: Tensor, b: Tensor, axes: readonly number[], full: readonly number[]) => Tensor;

/** A convolution by transforms of the whole signals, or in another way, cut as the mode says. */
export function byTransform(
  operation: string,
  a: Tensor,
  b: Tensor,
  axes: readonly number[],
  mode: ConvolveMode,
  convolvedBy: Convolved = asWhole,
): Tensor {
  return inOperation(operation, () => {
    const full = axes.map((axis) => a.shape[axis] + b.shape[axis] - 1);
    const dtype = promote(a.dtype, b.dtype);
    const fine = (x: Tensor) => (dtype === "f64" || dtype === "c128" ? x.cast(isComplex(x.dtype) ? "c128" : "f64") : x);
    const whole = convolvedBy(fine(a), fine(b), axes, full);
    const result = {
      full: whole,
      same: () => middle(whole, axes, a.shape),
      valid: () => wholeOverlaps(whole, axes, a, b),
    };
    const cut = mode === "full" ? result.full : result[mode]();
    return DTYPES[dtype].kind === "float" || DTYPES[dtype].kind === "complex" ? cut.cast(dtype) : cut;
  });
}

const asWhole: Convolved = (a, b, axes, full) => {
  const found = product(a, b, { s: full.map(fastLength), axes });
  return axes.reduce((cut, axis, i) => range(cut, axis, 0, full[i]), found);
};

/** The product of two spectra, transformed back. */
export function product(a: Tensor, b: Tensor, options: FftnOptions): Tensor {
  if (isComplex(a.dtype) || isComplex(b.dtype)) return ifftn(fftn(a, options).mul(fftn(b, options)), options);
  return irfftn(rfftn(a, options).mul(rfftn(b, options)), options);
}

function wholeOverlaps(whole: Tensor, axes: readonly number[], a: Tensor, b: Tensor): Tensor {
  const shape = whole.shape.map((_, axis) => Math.abs(a.shape[axis] - b.shape[axis]) + 1);
  return middle(whole, axes, shape);
}

/** The least even length from a number on that has only the factors 2, 3 and 5. */
export function fastLength(least: number): number {
  if (least <= 2) return least;
  for (let length = least + (least % 2); ; length += 2) {
    let rest = length;
    for (const factor of [2, 3, 5]) while (rest % factor === 0) rest /= factor;
    if (rest === 1) return length;
  }
}
