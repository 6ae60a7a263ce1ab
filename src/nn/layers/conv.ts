/**
 * Convolutions over one to three spatial axes, by the rank of the input: plain, transposed, depthwise and separable. Weights are
 * [filters, channels / groups, …kernel], and as in PyTorch and ONNX [channels, filters / groups, …kernel] where transposed.
 */
import { checkOptions, checkWhole, type OptionKinds } from "../../core/arguments.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { sizeOf } from "../../core/shape.js";
import type { Padding, Tensor } from "../../tensor/index.js";
import type { Initializer } from "../core/initializer.js";
import { type Layer, layer } from "../core/layer.js";
import type { Scope } from "../core/scope.js";
import { zeros } from "../initializers/constants.js";
import { glorotUniform } from "../initializers/random.js";
import {
  alongChannel,
  type Channels,
  channelAxes,
  checkChannels,
  checkPadding,
  checkPerAxis,
  checkWindowsFit,
  layoutOf,
  type PerAxis,
  perAxis,
} from "./spatial.js";

/** Options that all convolutions share. */
interface SharedOptions {
  /** Distance between windows; 1. */
  readonly stride?: PerAxis;
  /** "valid", "same", a number, or for each axis a number or [before, after]; "valid". */
  readonly padding?: Padding;
  /** Distance between the elements that a kernel looks at; 1. */
  readonly dilation?: PerAxis;
  readonly channels?: Channels;
  /** Whether a number is added to each filter's results; true. */
  readonly useBias?: boolean;
  readonly weights?: Initializer;
  readonly biases?: Initializer;
}

/** Options of `conv`. */
export interface ConvLayerOptions extends SharedOptions {
  /** Channels in groups, each of which has filters of its own; 1. */
  readonly groups?: number;
}

/** Options of `convTranspose`. */
export interface ConvTransposeOptions extends ConvLayerOptions {
  /** Places that are added at the end of each axis, where several inputs' extents lead to the same; 0. */
  readonly outputPadding?: PerAxis;
}

/** Options of `depthwiseConv`. */
export interface DepthwiseConvOptions extends SharedOptions {
  /** Filters for each channel; 1. */
  readonly multiplier?: number;
}

/** Options of `separableConv`. */
export interface SeparableConvOptions extends DepthwiseConvOptions {
  /** First values of the second step's weights. */
  readonly pointwise?: Initializer;
}

// biome-ignore format: a row for each kind
const SHARED: OptionKinds<SharedOptions> = {
  stride: "numbers", dilation: "numbers", padding: "any", channels: "text",
  useBias: "flag", weights: "function", biases: "function",
};
const CONV: OptionKinds<ConvLayerOptions> = { ...SHARED, groups: "number" };
const TRANSPOSE: OptionKinds<ConvTransposeOptions> = { ...CONV, outputPadding: "numbers" };
const DEPTHWISE: OptionKinds<DepthwiseConvOptions> = { ...SHARED, multiplier: "number" };
const SEPARABLE: OptionKinds<SeparableConvOptions> = { ...DEPTHWISE, pointwise: "function" };

function checkShared(operation: string, kernel: PerAxis, options: SharedOptions): void {
  checkPerAxis(operation, "the size of the kernel", kernel);
  checkPerAxis(operation, "stride", options.stride ?? 1);
  checkPerAxis(operation, "dilation", options.dilation ?? 1);
  checkPadding(operation, options.padding);
  checkChannels(operation, options.channels);
}

/** Convolution: `conv(32, 3, { stride: 2, padding: "same" })`. A list is a kernel with an extent for each axis: `conv(32, [5, 3])`. */
export function conv(filters: number, kernel: PerAxis, options: ConvLayerOptions = {}): Layer {
  checkWhole("conv", "the number of filters", filters, 1);
  checkOptions("conv", options, CONV);
  checkShared("conv", kernel, options);
  const groups = checkGroups("conv", filters, options.groups);
  const { weights = glorotUniform } = options;
  return layer("conv", { filters, kernel, ...options }, (scope, x: Tensor) => {
    const { count, spatial } = axesOf("conv", x, options);
    const inner = groupedChannels("conv", count, groups);
    const sizes = perAxis("conv", "a kernel of", kernel, spatial.length);
    const places = sizeOf(sizes);
    const fans = { fanIn: inner * places, fanOut: filters * places };
    const w = scope.parameter("weights", [filters, inner, ...sizes], weights, fans);
    return withBias(scope, convolved(scope, x, w, options, groups), filters, options);
  });
}

/**
 * The transpose of a convolution, which leads from its results back to inputs of their shape: `convTranspose(16, 2, { stride: 2 })`
 * doubles extents. With padding "same" they become `stride` times those of the input.
 */
export function convTranspose(filters: number, kernel: PerAxis, options: ConvTransposeOptions = {}): Layer {
  const name = "convTranspose";
  checkWhole(name, "the number of filters", filters, 1);
  checkOptions(name, options, TRANSPOSE);
  checkShared(name, kernel, options);
  checkPerAxis(name, "outputPadding", options.outputPadding ?? 0, 0);
  const groups = checkGroups(name, filters, options.groups);
  const { weights = glorotUniform } = options;
  return layer(name, { filters, kernel, ...options }, (scope, x: Tensor) => {
    const { count, spatial } = axesOf(name, x, options);
    const inner = groupedChannels(name, count, groups);
    const sizes = perAxis(name, "a kernel of", kernel, spatial.length);
    const places = sizeOf(sizes);
    const fans = { fanIn: inner * places, fanOut: (filters / groups) * places };
    const w = scope.parameter("weights", [count, filters / groups, ...sizes], weights, fans);
    scope.countMultiplyAdds(sizeOf(x.shape) * (filters / groups) * places);
    const result = x.conv(turned(w, groups), {
      inputDilation: options.stride,
      kernelDilation: options.dilation,
      padding: transposedPadding(sizes, options),
      featureGroups: groups,
      inputLayout: layoutOf(x, options.channels),
    });
    return withBias(scope, result, filters, options);
  });
}

/** Each channel with filters of its own: `depthwiseConv(3, { padding: "same" })`. Results are channels × multiplier. */
export function depthwiseConv(kernel: PerAxis, options: DepthwiseConvOptions = {}): Layer {
  const name = "depthwiseConv";
  checkOptions(name, options, DEPTHWISE);
  checkShared(name, kernel, options);
  const multiplier = checkWhole(name, "the multiplier", options.multiplier ?? 1, 1);
  return layer(name, { kernel, ...options }, (scope, x: Tensor) => {
    const result = depthwise(name, scope, x, kernel, multiplier, options);
    return withBias(scope, result, axesOf(name, x, options).count * multiplier, options);
  });
}

/** A depthwise convolution and then one of a single place, which mixes the channels: `separableConv(64, 3)`. */
export function separableConv(filters: number, kernel: PerAxis, options: SeparableConvOptions = {}): Layer {
  const name = "separableConv";
  checkWhole(name, "the number of filters", filters, 1);
  checkOptions(name, options, SEPARABLE);
  checkShared(name, kernel, options);
  const multiplier = checkWhole(name, "the multiplier", options.multiplier ?? 1, 1);
  const { pointwise = glorotUniform } = options;
  return layer(name, { filters, kernel, ...options }, (scope, x: Tensor) => {
    const between = depthwise(name, scope, x, kernel, multiplier, options);
    const { count, spatial } = axesOf(name, between, options);
    const fans = { fanIn: count, fanOut: filters };
    const w = scope.parameter("pointwise", [filters, count, ...spatial.map(() => 1)], pointwise, fans);
    const mixed = convolved(scope, between, w, { channels: options.channels }, 1);
    return withBias(scope, mixed, filters, options);
  });
}

function depthwise(
  name: string,
  scope: Scope,
  x: Tensor,
  kernel: PerAxis,
  multiplier: number,
  options: DepthwiseConvOptions,
): Tensor {
  const { count, spatial } = axesOf(name, x, options);
  const sizes = perAxis(name, "a kernel of", kernel, spatial.length);
  const places = sizeOf(sizes);
  const fans = { fanIn: places, fanOut: multiplier * places };
  const w = scope.parameter("weights", [count * multiplier, 1, ...sizes], options.weights ?? glorotUniform, fans);
  return convolved(scope, x, w, options, count);
}

/** The core's convolution with a layer's options. */
function convolved(scope: Scope, x: Tensor, w: Tensor, options: SharedOptions, groups: number): Tensor {
  const { dilation = 1, padding = "valid" } = options;
  const { spatial } = axesOf(scope.kind, x, options);
  checkWindowsFit(scope.kind, "a kernel", x, spatial, { sizes: w.shape.slice(2), dilation, padding });
  const result = x.conv(w, {
    stride: options.stride,
    padding: options.padding,
    kernelDilation: options.dilation,
    featureGroups: groups,
    inputLayout: layoutOf(x, options.channels),
  });
  scope.countMultiplyAdds(sizeOf(result.shape) * sizeOf(w.shape.slice(1)));
  return result;
}

function withBias(scope: Scope, result: Tensor, filters: number, options: SharedOptions): Tensor {
  if (options.useBias === false) return result;
  const biases = scope.parameter("biases", [filters], options.biases ?? zeros);
  return result.add(alongChannel(biases, result, options.channels === "last" ? result.rank - 1 : 1));
}

function axesOf(operation: string, x: Tensor, { channels }: SharedOptions) {
  const axes = channelAxes(operation, x, channels, 1);
  if (axes.spatial.length <= 3) return axes;
  throw new ShapeError(`${operation} takes one to three spatial axes, but the input has ${axes.spatial.length}.`);
}

function checkGroups(operation: string, filters: number, groups = 1): number {
  checkWhole(operation, "the number of groups", groups, 1);
  if (filters % groups === 0) return groups;
  throw new ArgumentError(`${operation}: ${filters} filters do not divide into ${groups} groups.`);
}

function groupedChannels(operation: string, channels: number, groups: number): number {
  if (channels % groups === 0) return channels / groups;
  throw new ShapeError(`${operation}: the input has ${channels} channels, which do not divide into ${groups} groups.`);
}

/** [channels, filters / groups, …kernel] → the kernel of the plain convolution, [filters, channels / groups, …kernel] from end to end. */
function turned(w: Tensor, groups: number): Tensor {
  const [channels, filters, ...sizes] = w.shape as [number, number, ...number[]];
  const places = sizes.map((_, i) => 3 + i);
  const swapped = w
    .reshape([groups, channels / groups, filters, ...sizes])
    .transpose([0, 2, 1, ...places])
    .reshape([groups * filters, channels / groups, ...sizes]);
  return swapped.flip(sizes.map((_, i) => 2 + i));
}

/** The padding of the plain convolution over the spread input. */
function transposedPadding(sizes: readonly number[], options: ConvTransposeOptions): [number, number][] {
  const { padding = "valid", outputPadding = 0 } = options;
  const name = "convTranspose";
  const count = sizes.length;
  const strides = perAxis(name, "stride", options.stride ?? 1, count);
  const dilations = perAxis(name, "dilation", options.dilation ?? 1, count);
  const extra = perAxis(name, "outputPadding", outputPadding, count);
  if (Array.isArray(padding) && padding.length !== count) {
    throw new ShapeError(`${name}: padding for ${padding.length} axes, but the input has ${count} spatial ones.`);
  }
  return sizes.map((size, i) => {
    const reach = (size - 1) * dilations[i] + 1;
    if (extra[i] > 0 && extra[i] >= Math.max(strides[i], dilations[i])) {
      throw new ArgumentError(
        `${name}: outputPadding of ${extra[i]}; it is less than the stride, ${strides[i]}, or the dilation, ${dilations[i]}.`,
      );
    }
    const [before, after] = cutOff(padding, i, reach, strides[i]);
    return [reach - 1 - before, reach - 1 - after + extra[i]];
  });
}

/** Places that padding cuts off the result of a transposed convolution, at each end of an axis. */
function cutOff(padding: Padding, axis: number, reach: number, stride: number): readonly [number, number] {
  if (padding === "valid") return [0, 0];
  if (padding === "same") {
    const total = reach - stride;
    const before = Math.max(0, Math.floor(total / 2));
    return [before, total - before];
  }
  const each = typeof padding === "number" ? padding : padding[axis];
  return typeof each === "number" ? [each, each] : each;
}
