/**
 * Layers that shift and scale to mean 0 and variance 1: over the batch, over features, over groups of channels; and the scaling
 * alone (RMS). Statistics of narrow floats are computed in f32, and so are the last steps; the result has the input's dtype.
 */
import { checkOptions, checkWhole, type OptionKinds } from "../../core/arguments.js";
import { type DType, isFloat, isNarrowFloat } from "../../core/dtype.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { normalizeAxes, type Shape, sizeOf } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import type { Tensor } from "../../tensor/index.js";
import { customGradient } from "../../transforms/custom.js";
import type { Initializer } from "../core/initializer.js";
import { type Layer, layer } from "../core/layer.js";
import type { Scope } from "../core/scope.js";
import { ones, zeros } from "../initializers/constants.js";
import { alongChannel, type Channels, channelAxes, checkChannels } from "./spatial.js";

/** Options that all norms share. */
interface SharedOptions {
  /** Added to the variance; 1e-5. */
  readonly eps?: number;
  /** Whether results are multiplied by a trained number for each feature; true. */
  readonly useScale?: boolean;
  /** Whether a trained number for each feature is added; true. */
  readonly useBias?: boolean;
  readonly scale?: Initializer;
  readonly biases?: Initializer;
}

/** Options of `batchNorm`. */
export interface BatchNormOptions extends SharedOptions {
  /** The share of the old running statistics in the new ones; 0.9. (PyTorch's momentum is the share of the batch.) */
  readonly momentum?: number;
  readonly channels?: Channels;
}

/** Options of `groupNorm` and `instanceNorm`. */
export interface GroupNormOptions extends SharedOptions {
  readonly channels?: Channels;
}

/** Options of `layerNorm`. */
export interface LayerNormOptions extends SharedOptions {
  /** The axes of features; the last. */
  readonly axis?: number | readonly number[];
}

/** Options of `rmsNorm`. */
export interface RmsNormOptions {
  /** The axes of features; the last. */
  readonly axis?: number | readonly number[];
  /** Added to the mean square; 1e-6. */
  readonly eps?: number;
  readonly useScale?: boolean;
  readonly scale?: Initializer;
}

// biome-ignore format: one row
const SHARED: OptionKinds<SharedOptions> = { eps: "number", useScale: "flag", useBias: "flag", scale: "function", biases: "function" };

/**
 * Channels to mean 0 and variance 1 over the batch and the spatial axes: `batchNorm()`. Training takes the statistics of the batch,
 * and keeps running ones as state (`applyWithState`), which are used otherwise. The running variance is that of a sample, with n - 1.
 */
export function batchNorm(options: BatchNormOptions = {}): Layer {
  checkOptions("batchNorm", options, { ...SHARED, momentum: "number", channels: "text" });
  const { momentum = 0.9, eps = 1e-5 } = options;
  checkEps("batchNorm", eps);
  checkChannels("batchNorm", options.channels);
  if (!(momentum >= 0 && momentum <= 1)) {
    throw new ArgumentError(`batchNorm: the option momentum is a number from 0 to 1, not ${shown(momentum)}.`);
  }
  return layer("batchNorm", { ...options }, (scope, input: Tensor) => {
    const { channel, count, spatial } = channelAxes("batchNorm", input, options.channels);
    const x = widened("batchNorm", input);
    const axis = [0, ...spatial];
    const running = {
      mean: scope.state("mean", [count], inWide(zeros)),
      variance: scope.state("variance", [count], inWide(ones)),
    };
    const n = sizeOf(axis.map((each) => x.shape[each]));
    const isOfBatch = scope.isTraining && n > 0;
    const around = (vector: Tensor) => alongChannel(vector, x, channel);
    const { scale, biases } = affine(scope, [count], x.dtype, options);
    if (!isOfBatch) {
      const [mean, variance] = [running.mean, running.variance].map((each) => each.cast(x.dtype) as Tensor);
      const result = x.sub(around(mean)).mul(around(scaled(variance.add(eps).rsqrt(), scale)));
      return finished(biases ? result.add(around(biases)) : result, input);
    }
    const mean = x.mean({ axis, keepDims: true });
    const variance = x.sub(mean).square().mean({ axis, keepDims: true });
    const mixed = (old: Tensor, batch: Tensor) =>
      old.mul(momentum).add(
        batch
          .reshape([count])
          .cast(old.dtype)
          .mul(1 - momentum),
      ) as Tensor;
    scope.setState("mean", mixed(running.mean, mean));
    scope.setState("variance", mixed(running.variance, variance.mul(n / Math.max(1, n - 1))));
    const [gain, shift] = [scale, biases].map((each) => each?.reshape(mean.shape));
    return finished(normalizedByBatch({ x, mean, variance, gain, shift }, axis, eps), input);
  });
}

/** Operands of a norm; vectors over the channels have the axes of x. */
interface Normalized {
  readonly x: Tensor;
  /** Those of x itself: the gradient counts on it. */
  readonly mean: Tensor;
  readonly variance: Tensor;
  readonly gain: Tensor | undefined;
  readonly shift: Tensor | undefined;
}

/**
 * (x - mean) / √(variance + eps) · gain + shift with its gradient in closed form (Ioffe & Szegedy 2015). Derived step by step, the
 * gradient would go over the elements once more for the mean's part in the variance, which is zero.
 */
function normalizedByBatch(operands: Normalized, axis: readonly number[], eps: number): Tensor {
  const given = Object.fromEntries(Object.entries(operands).filter(([, each]) => each !== undefined));
  const n = sizeOf(axis.map((each) => operands.x.shape[each]));
  const run = customGradient(
    ({ x, mean, variance, gain, shift }: Normalized) => {
      const result = x.sub(mean).mul(scaled(variance.add(eps).rsqrt(), gain));
      return shift ? result.add(shift) : result;
    },
    {
      vjp(slope, _, { x, mean, variance, gain, shift }) {
        const centred = x.sub(mean);
        const inverse = variance.add(eps).rsqrt();
        const [total, along] = [slope, slope.mul(centred)].map((each) => each.sum({ axis, keepDims: true }));
        const factor = scaled(inverse, gain);
        const slopeOfX = slope
          .mul(factor)
          .sub(centred.mul(along.mul(inverse.square()).mul(factor).div(n)))
          .sub(total.mul(factor).div(n));
        const ofOthers = { ...(gain && { gain: along.mul(inverse) }), ...(shift && { shift: total }) };
        return [{ x: slopeOfX, mean: null, variance: null, ...ofOthers }];
      },
    },
  );
  return run(given as unknown as Normalized);
}

/** Features of each position to mean 0 and variance 1: `layerNorm()`, or over several axes, `layerNorm({ axis: [-2, -1] })`. */
export function layerNorm(options: LayerNormOptions = {}): Layer {
  checkOptions("layerNorm", options, { ...SHARED, axis: "numbers" });
  const { eps = 1e-5 } = options;
  checkEps("layerNorm", eps);
  return layer("layerNorm", { ...options }, (scope, input: Tensor) => {
    const x = widened("layerNorm", input);
    const axes = featureAxes("layerNorm", x, options.axis);
    const { scale, biases } = affine(scope, axes.shape, x.dtype, options);
    const result = scaled(standardized(x, axes.axis, eps), scale?.reshape(axes.among));
    return finished(biases ? result.add(biases.reshape(axes.among)) : result, input);
  });
}

/** Channels in groups, each group of each example to mean 0 and variance 1 (Wu & He 2018): `groupNorm(8)`. */
export function groupNorm(groups: number, options: GroupNormOptions = {}): Layer {
  checkWhole("groupNorm", "the number of groups", groups, 1);
  checkOptions("groupNorm", options, { ...SHARED, channels: "text" });
  checkGroupOptions("groupNorm", options);
  return layer("groupNorm", { groups, ...options }, (scope, x: Tensor) =>
    grouped("groupNorm", scope, x, groups, options),
  );
}

/** Each channel of each example to mean 0 and variance 1: `instanceNorm()`. */
export function instanceNorm(options: GroupNormOptions = {}): Layer {
  checkOptions("instanceNorm", options, { ...SHARED, channels: "text" });
  checkGroupOptions("instanceNorm", options);
  return layer("instanceNorm", { ...options }, (scope, x: Tensor) => {
    const { count } = channelAxes("instanceNorm", x, options.channels, 1);
    return grouped("instanceNorm", scope, x, count, options);
  });
}

/** Features of each position divided by the root of their mean square (Zhang & Sennrich 2019): `rmsNorm()`. */
export function rmsNorm(options: RmsNormOptions = {}): Layer {
  checkOptions("rmsNorm", options, { axis: "numbers", eps: "number", useScale: "flag", scale: "function" });
  const { eps = 1e-6 } = options;
  checkEps("rmsNorm", eps);
  return layer("rmsNorm", { ...options }, (scope, input: Tensor) => {
    const x = widened("rmsNorm", input);
    const { axis, shape, among } = featureAxes("rmsNorm", x, options.axis);
    const { scale } = affine(scope, shape, x.dtype, { ...options, useBias: false });
    const meanSquare = x.square().mean({ axis, keepDims: true });
    return finished(scaled(x.mul(meanSquare.add(eps).rsqrt()), scale?.reshape(among)), input);
  });
}

function grouped(name: string, scope: Scope, input: Tensor, groups: number, options: GroupNormOptions): Tensor {
  const { channel, count } = channelAxes(name, input, options.channels);
  if (count % groups !== 0) {
    throw new ShapeError(`${name}: the input has ${count} channels, which do not divide into ${groups} groups.`);
  }
  const x = widened(name, input);
  const { shape, axis, spread } = groupsOf(x, channel, groups);
  const { scale, biases } = affine(scope, [count], x.dtype, options);
  const result = scaled(standardized(x.reshape(shape), axis, options.eps ?? 1e-5), scale && spread(scale));
  return finished((biases ? result.add(spread(biases)) : result).reshape(x.shape), input);
}

/**
 * The shape in which groups are apart, the axes of a group, and vectors over the channels in that shape. A group of channels that come
 * first is one axis: a row, which is read once.
 */
function groupsOf(x: Tensor, channel: number, groups: number) {
  const [batch, ...rest] = x.shape;
  const count = x.shape[channel];
  if (channel === 1) {
    const shape = [batch, groups, sizeOf(rest) / groups];
    const spread = (vector: Tensor) =>
      vector
        .reshape([count, 1])
        .broadcastTo([count, sizeOf(rest) / count])
        .reshape(shape.slice(1));
    return { shape, axis: [2], spread };
  }
  const shape = [...x.shape.slice(0, channel), groups, count / groups];
  const axis = shape.map((_, i) => i).filter((i) => i !== 0 && i !== channel);
  return { shape, axis, spread: (vector: Tensor) => vector.reshape([groups, count / groups]) };
}

function standardized(x: Tensor, axis: readonly number[], eps: number): Tensor {
  const centred = x.sub(x.mean({ axis, keepDims: true }));
  return centred.mul(centred.square().mean({ axis, keepDims: true }).add(eps).rsqrt());
}

/** The trained factor and summand of a norm, in the dtype of its arithmetic. */
function affine(scope: Scope, shape: Shape, dtype: DType, options: SharedOptions) {
  const { useScale = true, useBias = true, scale = ones, biases = zeros } = options;
  return {
    scale: useScale ? scope.parameter("scale", shape, scale, { dtype }) : undefined,
    biases: useBias ? scope.parameter("biases", shape, biases, { dtype }) : undefined,
  };
}

const scaled = (x: Tensor, scale: Tensor | undefined): Tensor => (scale ? x.mul(scale) : x);

/** The input in the dtype of the statistics. */
function widened(operation: string, x: Tensor): Tensor {
  if (!isFloat(x.dtype)) {
    throw new ArgumentError(`${operation} takes floating-point numbers, but the input is ${x.dtype}; cast it first.`);
  }
  return isNarrowFloat(x.dtype) ? (x.cast("f32") as Tensor) : x;
}

/** Running statistics are f32 also where parameters are narrower. */
const inWide =
  (initializer: Initializer): Initializer =>
  (key, shape, info) =>
    initializer(key, shape, { ...info, dtype: isNarrowFloat(info.dtype) ? "f32" : info.dtype });

const finished = (result: Tensor, input: Tensor): Tensor =>
  result.dtype === input.dtype ? result : (result.cast(input.dtype) as Tensor);

/** The axes of features, their shape, and that shape among the input's axes. */
function featureAxes(operation: string, x: Tensor, given: number | readonly number[] = -1) {
  const axis = normalizeAxes(given, x.rank, operation);
  const sorted = [...axis].sort((a, b) => a - b);
  return {
    axis: sorted,
    shape: sorted.map((each) => x.shape[each]),
    among: x.shape.map((extent, each) => (sorted.includes(each) ? extent : 1)),
  };
}

function checkGroupOptions(operation: string, { eps = 1e-5, channels }: GroupNormOptions): void {
  checkEps(operation, eps);
  checkChannels(operation, channels);
}

function checkEps(operation: string, eps: number): void {
  if (eps >= 0 && eps < Infinity) return;
  throw new ArgumentError(`${operation}: the option eps is a number from 0 on, not ${shown(eps)}.`);
}
