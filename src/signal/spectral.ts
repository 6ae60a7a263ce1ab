/**
 * Spectra of segments of a signal: stft, its inverse, and the estimates of power that average them (welch, csd, coherence,
 * periodogram). Conventions and defaults are SciPy's.
 */
import { checkChoice, checkNumber, checkOptions, checkWhole, type OptionKinds } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import { type DType, isComplex, realDType } from "../core/dtype.js";
import { ArgumentError, ShapeError } from "../core/errors.js";
import { formatShape, normalizeAxis } from "../core/shape.js";
import { fft, fftfreq, ifft, irfft, rfft, rfftfreq } from "../fft/index.js";
import {
  arange,
  checkTensor,
  complex,
  concat,
  constantsBeside,
  framed,
  joinedFrames,
  type Tensor,
  where,
} from "../tensor/index.js";
import { detrended, type Trend } from "./trends.js";
import { scaledWindow, type WindowChoice, type WindowScale } from "./windows.js";

/** Options of every window. */
export interface SegmentOptions {
  /** The sampling rate; 1 unless told. */
  readonly fs?: number;
  readonly window?: WindowChoice;
  /** Elements of a segment. */
  readonly nperseg?: number;
  /** Elements that neighbouring segments share; half of them unless told. */
  readonly noverlap?: number;
  /** The length of the transforms; more than a segment fills it with zeros. */
  readonly nfft?: number;
  /** The trend that is taken from each segment. */
  readonly detrend?: Trend | false;
  /** Half of the spectrum, of real signals (true unless told), or all of it. */
  readonly returnOnesided?: boolean;
  /** The axis of time; the last unless told. */
  readonly axis?: number;
}

const SEGMENTS: OptionKinds<SegmentOptions> = {
  fs: "number",
  window: "any",
  nperseg: "number",
  noverlap: "number",
  nfft: "number",
  detrend: "any",
  returnOnesided: "flag",
  axis: "number",
};

/** Options of `stft`. */
export interface StftOptions extends SegmentOptions {
  /** The continuation of the signal at both ends, for half a segment, which centres the first segment on its first element. */
  readonly boundary?: "zeros" | "even" | "odd" | "constant" | false;
  /** Fill the end with zeros to a whole number of segments; true unless told. */
  readonly padded?: boolean;
  /** "spectrum" divides by the window's sum, "psd" by the root of its power. */
  readonly scaling?: "spectrum" | "psd";
}

const STFT: OptionKinds<StftOptions> = { ...SEGMENTS, boundary: "any", padded: "flag", scaling: "text" };

/** A short-time Fourier transform, with its frequencies and times. */
export interface Stft<C extends DType = DType> {
  readonly frequencies: Tensor<"f32" | "f64">;
  readonly times: Tensor<"f32" | "f64">;
  /** [.., frequencies, times] */
  readonly values: Tensor<C>;
}

/** Segments as a signal is cut, with everything decided. */
interface Cutting {
  readonly fs: number;
  readonly length: number;
  readonly hop: number;
  readonly nfft: number;
  readonly isOnesided: boolean;
  readonly trend: Trend | false;
  readonly window: WindowChoice;
}

function cuttingOf(
  operation: string,
  extent: number,
  options: SegmentOptions,
  isReal: boolean,
  trend: Trend | false,
): Cutting {
  const { fs = 1, window = "hann" } = options;
  checkNumber(operation, "the option fs", fs);
  if (!(fs > 0 && Number.isFinite(fs)))
    throw new ArgumentError(`${operation}: the sampling rate fs is ${fs}; it is positive.`);
  const wanted = options.nperseg ?? (typeof window === "object" && "size" in window ? (window as Tensor).size : 256);
  const length = Math.min(checkWhole(operation, "the option nperseg", wanted, 1), extent);
  const overlap = checkWhole(operation, "the option noverlap", options.noverlap ?? Math.floor(length / 2), 0);
  if (overlap >= length) {
    throw new ArgumentError(`${operation}: noverlap is ${overlap}; it is less than nperseg, ${length} here.`);
  }
  const nfft = checkWhole(operation, "the option nfft", options.nfft ?? length, 1);
  if (nfft < length) throw new ArgumentError(`${operation}: nfft is ${nfft}; it is at least nperseg, ${length} here.`);
  const chosen = options.detrend ?? trend;
  if (chosen !== false) checkChoice(operation, "the option detrend", chosen, ["constant", "linear"]);
  const isOnesided = options.returnOnesided !== false && isReal;
  return { fs, length, hop: length - overlap, nfft, isOnesided, trend: chosen, window };
}

/** The signal with time last, as floats. */
function timeLast(operation: string, x: Tensor, axis = -1): Tensor {
  checkTensor(operation, "the signal", x);
  if (x.rank === 0) throw new ShapeError(`${operation}: a scalar has no axis of time.`);
  const at = normalizeAxis(axis, x.rank, operation);
  const floats = isComplex(x.dtype) || x.dtype === "f64" ? x : x.cast("f32");
  if (floats.shape[at] === 0) throw new ShapeError(`${operation}: the signal ${formatShape(x.shape)} has no elements.`);
  return floats.moveAxis(at, -1);
}

/** [.., n] → [.., segments, frequencies]. */
function spectra(operation: string, x: Tensor, cutting: Cutting, scale: WindowScale): Tensor {
  const { length, hop, nfft, isOnesided, trend, window } = cutting;
  const frames = framed(x, length, hop);
  const level = trend === false ? frames : detrended(frames, trend);
  const seen = level.mul(scaledWindow(operation, x, window, length, scale));
  return isOnesided ? rfft(seen, { n: nfft }) : fft(seen, { n: nfft });
}

/** The dtype of frequencies and times beside values: as exact as those are. */
const realBeside = ({ dtype }: Tensor) => realDType(dtype) as "f32" | "f64";

const frequenciesOf = ({ nfft, fs, isOnesided }: Cutting, values: Tensor): Tensor<"f32" | "f64"> => {
  const options = { d: 1 / fs, device: values.device, dtype: realBeside(values) };
  return isOnesided ? rfftfreq(nfft, options) : fftfreq(nfft, options);
};

/**
 * The Fourier transforms of short segments of a signal: `signal.stft(x, { fs: 16000, nperseg: 512 })`. The segments overlap by
 * half, under a Hann window, unless told. `istft` with the same options inverts it.
 */
export function stft(x: Tensor, options: StftOptions = {}): Stft<"c64" | "c128"> {
  const operation = "signal.stft";
  checkCount(operation, 2, arguments);
  checkOptions(operation, options, STFT);
  checkChoice(operation, "the option scaling", options.scaling, ["spectrum", "psd"]);
  const signal = timeLast(operation, x, options.axis);
  const extent = signal.shape.at(-1) as number;
  const cutting = cuttingOf(operation, extent, options, !isComplex(signal.dtype), false);
  const { length, hop, fs } = cutting;
  const { boundary = "zeros", padded = true, scaling = "spectrum" } = options;
  const half = boundary === false ? 0 : Math.floor(length / 2);
  const longer = extended(operation, signal, boundary, half);
  const total = longer.shape.at(-1) as number;
  const missing = padded ? (hop - ((total - length) % hop)) % hop : 0;
  const whole = missing > 0 ? longer.pad(longer.shape.map((_, i) => [0, i === longer.rank - 1 ? missing : 0])) : longer;
  const scale: WindowScale = scaling === "spectrum" ? { by: "sum" } : { by: "squares", fs };
  const values = spectra(operation, whole, cutting, scale).mT as Tensor<"c64" | "c128">;
  const first = boundary === false ? length / 2 : 0;
  const count = values.shape.at(-1) as number;
  return {
    frequencies: frequenciesOf(cutting, values),
    times: timesOf(values, count, first, hop, fs),
    values,
  };
}

/** `count` times, `hop` samples apart. */
const timesOf = (values: Tensor, count: number, first: number, hop: number, fs: number): Tensor<"f32" | "f64"> =>
  arange(count, { dtype: realBeside(values), device: values.device })
    .mul(hop)
    .add(first)
    .div(fs) as Tensor<"f32" | "f64">;

/** The signal with `by` more elements at both ends. */
function extended(operation: string, x: Tensor, how: StftOptions["boundary"], by: number): Tensor {
  if (how === false || by === 0) return x;
  checkChoice(operation, "the option boundary", how, ["zeros", "even", "odd", "constant"]);
  const amounts = x.shape.map((_, i): [number, number] => (i === x.rank - 1 ? [by, by] : [0, 0]));
  if (how === "zeros") return x.pad(amounts);
  if (how === "constant") return x.pad(amounts, { mode: "edge" });
  const mirrored = x.pad(amounts, { mode: "reflect" });
  if (how === "even") return mirrored;
  const n = x.shape.at(-1) as number;
  const end = (at: string) => x.at("...", at as ":1").mul(2);
  const left = end(":1").sub(mirrored.at("...", `:${by}`));
  const right = end("-1:").sub(mirrored.at("...", `${by + n}:`));
  return concat([left, x, right], { axis: -1 });
}

/** Options of `istft`. */
export interface IstftOptions extends Pick<StftOptions, "fs" | "window" | "nperseg" | "noverlap" | "nfft" | "scaling"> {
  /** Whether the transform has half of the spectrum; true unless told. */
  readonly inputOnesided?: boolean;
  /** Whether the signal went on at both ends, so that half a segment is cut off there; true unless told. */
  readonly boundary?: boolean;
}

const ISTFT: OptionKinds<IstftOptions> = {
  fs: "number",
  window: "any",
  nperseg: "number",
  noverlap: "number",
  nfft: "number",
  scaling: "text",
  inputOnesided: "flag",
  boundary: "flag",
};

/** If windows add up to less than this, nothing can be recovered. */
const NOTHING = 1e-10;

/** The signal whose transform by `stft` with the same options is z, [.., frequencies, times]. */
export function istft(
  z: Tensor,
  options: IstftOptions = {},
): { readonly times: Tensor<"f32" | "f64">; readonly values: Tensor } {
  const operation = "signal.istft";
  checkCount(operation, 2, arguments);
  checkOptions(operation, options, ISTFT);
  checkChoice(operation, "the option scaling", options.scaling, ["spectrum", "psd"]);
  checkTensor(operation, "the transform", z);
  if (z.rank < 2 || z.size === 0) {
    throw new ShapeError(`${operation}: ${formatShape(z.shape)} is no transform; it is [.., frequencies, times].`);
  }
  const { fs = 1, inputOnesided = true, boundary = true, scaling = "spectrum", window = "hann" } = options;
  const rows = z.shape.at(-2) as number;
  const widest = inputOnesided ? 2 * (rows - 1) : rows;
  const nperseg = checkWhole(operation, "the option nperseg", options.nperseg ?? widest, 1);
  const nfft = options.nfft ?? (inputOnesided && nperseg === widest + 1 ? nperseg : widest);
  const given = {
    ...(options.noverlap === undefined ? {} : { noverlap: options.noverlap }),
    window,
    fs,
    nfft,
    nperseg,
  };
  const { length, hop } = cuttingOf(operation, nperseg, given, inputOnesided, false);
  const spectrum = z.mT;
  const frames = inputOnesided ? irfft(spectrum, { n: nfft }) : ifft(spectrum, { n: nfft });
  const segments = nfft > length ? frames.at("...", `:${length}`) : frames;
  const plain = scaledWindow(operation, segments, window, length, { by: "nothing" });
  const by: WindowScale = scaling === "spectrum" ? { by: "sum" } : { by: "squares", fs };
  // The divisor of the window, as the ratio of the two windows' squares: one sum of known numbers.
  const factor = plain
    .square()
    .sum()
    .div(plain.mul(scaledWindow(operation, segments, window, length, by)).sum());
  const count = z.shape.at(-1) as number;
  const sum = joinedFrames(segments.mul(plain), hop);
  const reached = joinedFrames(plain.square().broadcastTo([count, length]), hop);
  const whole = sum.mul(factor).div(where(reached.greater(NOTHING), reached, 1));
  const half = boundary ? Math.floor(length / 2) : 0;
  const total = whole.shape.at(-1) as number;
  const values = half > 0 ? whole.at("...", `${half}:${total - half}`) : whole;
  return { times: timesOf(values, values.shape.at(-1) as number, 0, 1, fs), values };
}

/** Options of power spectra of segments. */
export interface PowerOptions extends SegmentOptions {
  /** "density": power over frequency; "spectrum": power. */
  readonly scaling?: "density" | "spectrum";
  /** "mean" of the segments (unless told), or "median", which single loud segments do not move. */
  readonly average?: "mean" | "median";
}

const POWER: OptionKinds<PowerOptions> = { ...SEGMENTS, scaling: "text", average: "text" };

/** Power by frequency. */
export interface PowerSpectrum<D extends DType = DType> {
  readonly frequencies: Tensor<"f32" | "f64">;
  readonly values: Tensor<D>;
}

function crossPower(operation: string, x: Tensor, y: Tensor, options: PowerOptions): PowerSpectrum {
  checkOptions(operation, options, POWER);
  checkChoice(operation, "the option scaling", options.scaling, ["density", "spectrum"]);
  checkChoice(operation, "the option average", options.average, ["mean", "median"]);
  const isSame = x === y;
  const left = timeLast(operation, x, options.axis);
  const right = isSame ? left : timeLast(operation, y, options.axis);
  const extent = left.shape.at(-1) as number;
  if (right.shape.at(-1) !== extent) {
    throw new ShapeError(
      `${operation}: signals of ${formatShape(x.shape)} and ${formatShape(y.shape)}; both have the same length.`,
    );
  }
  const isReal = !isComplex(left.dtype) && !isComplex(right.dtype);
  const cutting = cuttingOf(operation, extent, options, isReal, "constant");
  const { nfft, isOnesided } = cutting;
  const scale: WindowScale = options.scaling === "spectrum" ? { by: "sum" } : { by: "squares", fs: cutting.fs };
  const a = spectra(operation, left, cutting, scale);
  const product = isSame ? a.mul(a.conj()).real() : a.conj().mul(spectra(operation, right, cutting, scale));
  const mean = options.average === "median" ? medianOf(product) : product.mean({ axis: -2 });
  const last = nfft % 2 === 0 ? nfft / 2 : nfft;
  const doubled = (i: number) => (i === 0 || i === last ? 1 : 2);
  const values = isOnesided ? mean.mul(weights(mean, `doubled but for ${last}`, doubled)) : mean;
  return { frequencies: frequenciesOf(cutting, values), values: values.moveAxis(-1, options.axis ?? -1) };
}

/**
 * The median over segments, of the parts of complex numbers, divided by its bias: the expected median of n exponential
 * variables of mean 1, 1 - 1/2 + 1/3 - … (Allen et al. 2012).
 */
function medianOf(power: Tensor): Tensor {
  const count = power.shape.at(-2) as number;
  let bias = 1;
  for (let k = 2; k < count; k += 2) bias += 1 / (k + 1) - 1 / k;
  const median = (x: Tensor) => x.median({ axis: -2 }) as Tensor;
  const found = isComplex(power.dtype) ? complex(median(power.real()), median(power.imag())) : median(power);
  return found.div(bias);
}

/** Numbers for the last axis of a tensor. */
function weights(x: Tensor, key: string, at: (i: number) => number): Tensor {
  const dtype = x.dtype === "f64" || x.dtype === "c128" ? "f64" : "f32";
  return constantsBeside(x, key, x.shape.at(-1) as number, dtype, at);
}

/** Welch's estimate of the power at each frequency: the mean over segments that overlap by half, each without its mean. */
export function welch(x: Tensor, options: PowerOptions = {}): PowerSpectrum {
  checkCount("signal.welch", 2, arguments);
  return crossPower("signal.welch", x, x, options);
}

/** The cross power of two signals at each frequency: `welch` of the conjugate of one spectrum times the other. */
export function csd(x: Tensor, y: Tensor, options: PowerOptions = {}): PowerSpectrum {
  checkCount("signal.csd", 3, arguments);
  checkTensor("signal.csd", "the other signal", y);
  return crossPower("signal.csd", x, y === x ? y.again() : y, options);
}

/** How far two signals are linearly related at each frequency: |Pxy|² / (Pxx Pyy), from 0 to 1. */
export function coherence(x: Tensor, y: Tensor, options: SegmentOptions = {}): PowerSpectrum {
  const operation = "signal.coherence";
  checkCount(operation, 3, arguments);
  checkOptions(operation, options, SEGMENTS);
  checkTensor(operation, "the other signal", y);
  const both = crossPower(operation, x, y === x ? y.again() : y, options);
  const own = crossPower(operation, x, x, options).values.mul(crossPower(operation, y, y, options).values);
  const power = isComplex(both.values.dtype) ? both.values.mul(both.values.conj()).real() : both.values.square();
  return { frequencies: both.frequencies, values: power.div(own) };
}

/** Options of `periodogram`. */
export interface PeriodogramOptions extends Omit<PowerOptions, "nperseg" | "noverlap" | "average"> {}

const { nperseg: _, noverlap: __, average: ___, ...PERIODOGRAM } = POWER;

/** The power at each frequency of a signal as a whole. */
export function periodogram(x: Tensor, options: PeriodogramOptions = {}): PowerSpectrum {
  const operation = "signal.periodogram";
  checkCount(operation, 2, arguments);
  checkOptions(operation, options, PERIODOGRAM);
  const signal = timeLast(operation, x, options.axis);
  const extent = signal.shape.at(-1) as number;
  const length = Math.min(extent, checkWhole(operation, "the option nfft", options.nfft ?? extent, 1));
  const cut = length < extent ? signal.at("...", `:${length}`) : signal;
  const { axis = -1, ...rest } = options;
  const found = crossPower(operation, cut, cut, { window: "boxcar", ...rest, nperseg: length, noverlap: 0 });
  return { frequencies: found.frequencies, values: found.values.moveAxis(-1, axis) };
}
