/** Pools over sliding windows of the spatial axes: the largest, the mean, the p-norm, and the blurred samples of Zhang (2019). */
import { checkOptions, checkWhole, type OptionKinds } from "../../core/arguments.js";
import { isNarrowFloat } from "../../core/dtype.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { constantsBeside, ones, type Padding, type Tensor, where } from "../../tensor/index.js";
import { type Layer, layer } from "../core/layer.js";
import {
  type Channels,
  channelAxes,
  checkChannels,
  checkPadding,
  checkPerAxis,
  checkPoolPadding,
  checkWindowsFit,
  layoutOf,
  type PerAxis,
  perAxis,
} from "./spatial.js";

/** Options of `maxPool`. */
export interface PoolOptions {
  /** Distance between windows; their size. */
  readonly stride?: PerAxis;
  /** "valid", "same", a number, or for each axis a number or [before, after]; "valid". */
  readonly padding?: Padding;
  /** Distance between the elements of a window; 1. */
  readonly dilation?: PerAxis;
  readonly channels?: Channels;
}

/** Options of `averagePool`. */
export interface AveragePoolOptions extends PoolOptions {
  /** Whether padding counts as elements of value 0; true. Otherwise a window's mean is that of the elements inside. */
  readonly countPadding?: boolean;
}

/** Options of `lpPool`. */
export interface LpPoolOptions extends PoolOptions {
  /** The p of (Σ|x|ᵖ)^(1/p); 2. */
  readonly norm?: number;
}

/** Options of `blurPool`. */
export interface BlurPoolOptions {
  /** Distance between samples; 2. */
  readonly stride?: PerAxis;
  /** The extent of the filter of binomial coefficients; 3. */
  readonly size?: number;
  readonly channels?: Channels;
}

// biome-ignore format: one row
const POOL: OptionKinds<PoolOptions> = { stride: "numbers", padding: "any", dilation: "numbers", channels: "text" };

function checkPool(operation: string, size: PerAxis, options: PoolOptions): void {
  checkPerAxis(operation, "the size of the window", size);
  if (options.stride !== undefined) checkPerAxis(operation, "stride", options.stride);
  checkPerAxis(operation, "dilation", options.dilation ?? 1);
  checkPadding(operation, options.padding);
  checkPoolPadding(operation, size, options.dilation ?? 1, options.padding ?? "valid");
  checkChannels(operation, options.channels);
}

/** A window's arguments for the core's window methods. */
function windowsOn(operation: string, x: Tensor, size: PerAxis, options: PoolOptions) {
  const { spatial } = channelAxes(operation, x, options.channels, 1);
  const of = (what: string, value: PerAxis) => perAxis(operation, what, value, spatial.length);
  const sizes = of("a window of", size);
  const { stride = size, dilation = 1, padding = "valid" } = options;
  checkWindowsFit(operation, "a window", x, spatial, { sizes, dilation, padding });
  return [sizes, { axis: spatial, stride: of("stride", stride), dilation: of("dilation", dilation), padding }] as const;
}

/** The largest element of each window: `maxPool(2)`. */
export function maxPool(size: PerAxis, options: PoolOptions = {}): Layer {
  checkOptions("maxPool", options, POOL);
  checkPool("maxPool", size, options);
  return layer("maxPool", { size, ...options }, (_, x: Tensor) =>
    x.windowMax(...windowsOn("maxPool", x, size, options)),
  );
}

/** The mean of each window: `averagePool(2)`. */
export function averagePool(size: PerAxis, options: AveragePoolOptions = {}): Layer {
  checkOptions("averagePool", options, { ...POOL, countPadding: "flag" });
  checkPool("averagePool", size, options);
  const { countPadding = true } = options;
  return layer("averagePool", { size, ...options }, (_, x: Tensor) => {
    const [sizes, windows] = windowsOn("averagePool", x, size, options);
    if (countPadding || windows.padding === "valid") return x.windowMean(sizes, windows);
    const inside = ones(
      x.shape.map((extent, axis) => (windows.axis.includes(axis) ? extent : 1)),
      { device: x.device },
    );
    const sums = x.windowSum(sizes, windows);
    return sums.div(inside.windowSum(sizes, windows)).cast(x.dtype) as Tensor;
  });
}

/** The p-norm of each window, (Σ|x|ᵖ)^(1/p): `lpPool(2, { norm: 3 })`. */
export function lpPool(size: PerAxis, options: LpPoolOptions = {}): Layer {
  checkOptions("lpPool", options, { ...POOL, norm: "number" });
  checkPool("lpPool", size, options);
  const { norm = 2 } = options;
  checkNorm("lpPool", norm);
  return layer("lpPool", { size, ...options }, (_, x: Tensor) => {
    const [sizes, windows] = windowsOn("lpPool", x, size, options);
    const terms = normTerms(x, norm);
    return normRoot(norm === Infinity ? terms.windowMax(sizes, windows) : terms.windowSum(sizes, windows), norm, x);
  });
}

/**
 * Samples of the blurred input: each channel is filtered with binomial coefficients before it is sampled, so that shifted inputs
 * give shifted results (Zhang 2019): `blurPool({ stride: 2 })`. Edges are mirrored.
 */
export function blurPool(options: BlurPoolOptions = {}): Layer {
  checkOptions("blurPool", options, { stride: "numbers", size: "number", channels: "text" });
  const { stride = 2, size = 3, channels } = options;
  checkPerAxis("blurPool", "stride", stride);
  checkWhole("blurPool", "the size of the filter", size, 1);
  checkChannels("blurPool", channels);
  return layer("blurPool", { ...options }, (_, x: Tensor) => {
    const { spatial, count } = channelAxes("blurPool", x, channels, 1);
    const strides = perAxis("blurPool", "stride", stride, spatial.length);
    const before = Math.floor((size - 1) / 2);
    const amounts = x.shape.map((_, axis): [number, number] =>
      spatial.includes(axis) ? [before, size - 1 - before] : [0, 0],
    );
    const around = size === 1 ? x : x.pad(amounts, { mode: "reflect" });
    return around.conv(blurKernel(x, size, spatial.length, count), {
      stride: strides,
      featureGroups: count,
      inputLayout: layoutOf(x, channels),
    });
  });
}

/** [channels, 1, …]: binomial coefficients, with the sum 1, along each axis. */
function blurKernel(x: Tensor, size: number, axes: number, channels: number): Tensor {
  const row = Array.from({ length: size }, () => 1);
  for (let i = 1; i < size; i++) row[i] = (row[i - 1] * (size - i)) / i;
  const share = (i: number) => row[i] / 2 ** (size - 1);
  const at = (place: number): number =>
    Array.from({ length: axes }, (_, axis) => share(Math.floor(place / size ** axis) % size)).reduce(
      (a, b) => a * b,
      1,
    );
  const wide = x.dtype === "f64" ? "f64" : "f32";
  const kernel = constantsBeside(x, `blur of ${size} along ${axes}`, size ** axes, wide, at);
  const sizes = new Array<number>(axes).fill(size);
  return (kernel.cast(x.dtype) as Tensor).reshape([1, 1, ...sizes]).broadcastTo([channels, 1, ...sizes]);
}

export function checkNorm(operation: string, norm: number): void {
  if (norm > 0) return;
  throw new ArgumentError(`${operation}: the option norm is a number greater than 0, not ${shown(norm)}.`);
}

/** |x|ᵖ, in f32 where the input is narrower: the terms of a p-norm. */
export function normTerms(x: Tensor, norm: number): Tensor {
  const wide = isNarrowFloat(x.dtype) ? (x.cast("f32") as Tensor) : x;
  if (norm === 2) return wide.square();
  const sizes = wide.abs();
  return norm === 1 || norm === Infinity ? sizes : sizes.pow(norm);
}

/** The root of a sum of terms, in the input's dtype. The slope at zero is zero. */
export function normRoot(sum: Tensor, norm: number, { dtype }: Tensor): Tensor {
  if (norm === 1 || norm === Infinity) return sum.cast(dtype) as Tensor;
  const isNone = sum.equal(0);
  const positive = where(isNone, 1, sum);
  const root = norm === 2 ? positive.sqrt() : positive.pow(1 / norm);
  return where(isNone, 0, root).cast(dtype) as Tensor;
}
