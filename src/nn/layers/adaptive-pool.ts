/**
 * Pools whose results have a given extent, or none. Adaptive pools divide an axis of n elements into m windows, from ⌊i·n/m⌋ to before
 * ⌈(i + 1)·n/m⌉, as PyTorch does; global pools take the whole axis.
 */
import { checkOptions, type OptionKinds } from "../../core/arguments.js";
import { isNarrowFloat, lowestOf } from "../../core/dtype.js";
import { countingLike, type Tensor, where } from "../../tensor/index.js";
import { type Layer, layer } from "../core/layer.js";
import { checkNorm, normRoot, normTerms } from "./pool.js";
import { type Channels, channelAxes, checkChannels, checkPerAxis, type PerAxis, perAxis } from "./spatial.js";

/** Options of adaptive pools. */
export interface AdaptivePoolOptions {
  readonly channels?: Channels;
}

/** Options of `adaptiveLpPool`. */
export interface AdaptiveLpPoolOptions extends AdaptivePoolOptions {
  /** The p of (Σ|x|ᵖ)^(1/p); 2. */
  readonly norm?: number;
}

/** Options of global pools. */
export interface GlobalPoolOptions {
  readonly channels?: Channels;
  /** Whether the spatial axes stay, with extent 1; false. */
  readonly keepDims?: boolean;
}

/** Options of `globalLpPool`. */
export interface GlobalLpPoolOptions extends GlobalPoolOptions {
  /** The p of (Σ|x|ᵖ)^(1/p); 2. */
  readonly norm?: number;
}

const ADAPTIVE: OptionKinds<AdaptivePoolOptions> = { channels: "text" };
const GLOBAL: OptionKinds<GlobalPoolOptions> = { channels: "text", keepDims: "flag" };

/** Means of windows, so many along each axis: `adaptiveAveragePool(7)`, `adaptiveAveragePool([1, 4])`. */
export function adaptiveAveragePool(size: PerAxis, options: AdaptivePoolOptions = {}): Layer {
  const name = "adaptiveAveragePool";
  checkOptions(name, options, ADAPTIVE);
  return adaptive(name, size, options, (x, axes) => {
    const wide = isNarrowFloat(x.dtype) ? (x.cast("f32") as Tensor) : x;
    return axes.reduce((so, [axis, count]) => pooledAxis(so, axis, count, "mean"), wide).cast(x.dtype) as Tensor;
  });
}

/** Largest elements of windows, so many along each axis. */
export function adaptiveMaxPool(size: PerAxis, options: AdaptivePoolOptions = {}): Layer {
  const name = "adaptiveMaxPool";
  checkOptions(name, options, ADAPTIVE);
  return adaptive(name, size, options, (x, axes) =>
    axes.reduce((so, [axis, count]) => pooledAxis(so, axis, count, "max"), x),
  );
}

/** p-norms of windows, (Σ|x|ᵖ)^(1/p), so many along each axis. */
export function adaptiveLpPool(size: PerAxis, options: AdaptiveLpPoolOptions = {}): Layer {
  const name = "adaptiveLpPool";
  checkOptions(name, options, { ...ADAPTIVE, norm: "number" });
  const { norm = 2 } = options;
  checkNorm(name, norm);
  return adaptive(name, size, options, (x, axes) => {
    const how = norm === Infinity ? "max" : "sum";
    const pooled = axes.reduce((so, [axis, count]) => pooledAxis(so, axis, count, how), normTerms(x, norm));
    return normRoot(pooled, norm, x);
  });
}

/** The mean of each channel: [batch, channels]. */
export function globalAveragePool(options: GlobalPoolOptions = {}): Layer {
  checkOptions("globalAveragePool", options, GLOBAL);
  return global("globalAveragePool", options, (x, over) => x.mean(over));
}

/** The largest element of each channel: [batch, channels]. */
export function globalMaxPool(options: GlobalPoolOptions = {}): Layer {
  checkOptions("globalMaxPool", options, GLOBAL);
  return global("globalMaxPool", options, (x, over) => x.max(over));
}

/** The p-norm of each channel, (Σ|x|ᵖ)^(1/p): [batch, channels]. */
export function globalLpPool(options: GlobalLpPoolOptions = {}): Layer {
  checkOptions("globalLpPool", options, { ...GLOBAL, norm: "number" });
  const { norm = 2 } = options;
  checkNorm("globalLpPool", norm);
  return global("globalLpPool", options, (x, over) => {
    const terms = normTerms(x, norm);
    return normRoot(norm === Infinity ? terms.max(over) : terms.sum(over), norm, x);
  });
}

type Counts = readonly (readonly [axis: number, count: number])[];

function adaptive(
  name: string,
  size: PerAxis,
  options: AdaptivePoolOptions,
  pool: (x: Tensor, axes: Counts) => Tensor,
): Layer {
  checkPerAxis(name, "the number of windows", size);
  checkChannels(name, options.channels);
  return layer(name, { size, ...options }, (_, x: Tensor) => {
    const { spatial } = channelAxes(name, x, options.channels, 1);
    const counts = perAxis(name, "the numbers of windows", size, spatial.length);
    return pool(
      x,
      spatial.map((axis, i) => [axis, counts[i]] as const),
    );
  });
}

function global(
  name: string,
  options: GlobalPoolOptions,
  pool: (x: Tensor, over: { axis: readonly number[]; keepDims: boolean }) => Tensor,
): Layer {
  checkChannels(name, options.channels);
  return layer(name, { ...options }, (_, x: Tensor) => {
    const { spatial } = channelAxes(name, x, options.channels, 1);
    return pool(x, { axis: spatial, keepDims: options.keepDims ?? false });
  });
}

/** One axis in `count` windows. Windows of one length are a reshaped axis; others are gathered, and places beyond their end masked. */
function pooledAxis(x: Tensor, axis: number, count: number, how: "mean" | "sum" | "max"): Tensor {
  const n = x.shape[axis];
  const [before, after] = [x.shape.slice(0, axis), x.shape.slice(axis + 1)];
  if (n % count === 0) {
    const inner = { axis: axis + 1 };
    const parts = x.reshape([...before, count, n / count, ...after]);
    return (how === "max" ? parts.max(inner) : how === "sum" ? parts.sum(inner) : parts.mean(inner)) as Tensor;
  }
  const longest = Math.max(...Array.from({ length: count }, (_, i) => endOf(i, n, count) - startOf(i, n, count)));
  const window = countingLike(x, count).reshape([count, 1]);
  const start = window.mul(n).floorDivide(count);
  const end = window
    .add(1)
    .mul(n)
    .add(count - 1)
    .floorDivide(count);
  const place = start.add(countingLike(x, longest));
  const isInside = place.less(end).reshape([count, longest, ...after.map(() => 1)]);
  const parts = x.take(place.minimum(n - 1), { axis });
  const chosen = where(isInside, parts, how === "max" ? lowestOf(x.dtype) : 0).cast(x.dtype) as Tensor;
  if (how === "max") return chosen.max({ axis: axis + 1 });
  const sums = chosen.sum({ axis: axis + 1 }) as Tensor;
  if (how === "sum") return sums;
  const lengths = end.sub(start).reshape([count, ...after.map(() => 1)]);
  return sums.div(lengths.cast(x.dtype));
}

const startOf = (i: number, n: number, count: number): number => Math.floor((i * n) / count);
const endOf = (i: number, n: number, count: number): number => Math.ceil(((i + 1) * n) / count);
