/** Layers that move elements and compute nothing: flatten, reshape, transpose, pad. The first axis is the batch. */
import { checkOptions, checkWhole } from "../../core/arguments.js";
import type { Scalar } from "../../core/dtype.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape, sizeOf } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import type { PadMode, Tensor } from "../../tensor/index.js";
import { type Layer, layer } from "../core/layer.js";
import { type Channels, channelAxes, checkChannels, checkPadding } from "./spatial.js";

/** All axes but the first as one: [batch, features]. */
export function flatten(): Layer {
  return layer("flatten", {}, (_, x: Tensor) => {
    if (x.rank === 0) throw new ShapeError("flatten takes tensors with at least one axis, but the input is a scalar.");
    return x.reshape([x.shape[0], sizeOf(x.shape.slice(1))]);
  });
}

/** Each example in another shape, without the batch: `reshape([7, 7, 16])`. One extent may be -1: what is left. */
export function reshape(shape: readonly number[]): Layer {
  const isShape = Array.isArray(shape) && shape.every((extent) => Number.isSafeInteger(extent) && extent >= -1);
  if (!isShape || shape.filter((extent) => extent === -1).length > 1) {
    throw new ArgumentError(
      `reshape: the shape of an example is a list of extents, one of which may be -1; not ${shown(shape)}.`,
    );
  }
  return layer("reshape", { shape }, (_, x: Tensor) => {
    if (x.rank === 0) throw new ShapeError("reshape takes tensors with at least one axis, but the input is a scalar.");
    const elements = sizeOf(x.shape.slice(1));
    const known = sizeOf(shape.filter((extent) => extent !== -1));
    const extents = shape.map((extent) => (extent === -1 ? elements / known : extent));
    if (sizeOf(extents) !== elements || !extents.every(Number.isSafeInteger)) {
      throw new ShapeError(
        `reshape: examples of ${formatShape(x.shape.slice(1))} have ${elements} elements, which do not make ${formatShape(shape)}.`,
      );
    }
    return x.reshape([x.shape[0], ...extents]);
  });
}

/** Axes in another order, the batch included: `transpose([0, 2, 1])`. */
export function transpose(order: readonly number[]): Layer {
  const isOrder = Array.isArray(order) && order.every(Number.isSafeInteger);
  if (!isOrder)
    throw new ArgumentError(`transpose: the order is a list of axes, as in [0, 2, 1], not ${shown(order)}.`);
  return layer("transpose", { order }, (_, x: Tensor) => x.transpose(order));
}

/** Options of `pad`. */
export interface PadLayerOptions {
  /** "constant" unless told; or "edge", "reflect", "symmetric", "wrap". */
  readonly mode?: PadMode;
  /** With mode "constant": 0 unless told. */
  readonly value?: Scalar;
  readonly channels?: Channels;
}

/** Surrounds the spatial axes: `pad(1)`, or with [before, after] for each, `pad([[1, 1], [0, 2]])`. */
export function pad(
  amounts: number | readonly (number | readonly [number, number])[],
  options: PadLayerOptions = {},
): Layer {
  if (typeof amounts === "number") checkWhole("pad", "the amount", amounts);
  else if (!Array.isArray(amounts))
    throw new ArgumentError(`pad: amounts are a number or a list, not ${shown(amounts)}.`);
  checkPadding("pad", amounts);
  checkOptions("pad", options, { mode: "text", value: "any", channels: "text" });
  const { channels, ...how } = options;
  checkChannels("pad", channels);
  return layer("pad", { amounts, ...options }, (_, x: Tensor) => {
    const { spatial } = channelAxes("pad", x, channels, 1);
    const list = typeof amounts === "number" ? spatial.map(() => amounts) : amounts;
    if (list.length !== spatial.length) {
      throw new ShapeError(`pad: amounts for ${list.length} axes, but the input has ${spatial.length} spatial ones.`);
    }
    const pairs = x.shape.map((_, axis): readonly [number, number] => {
      const each = spatial.includes(axis) ? list[spatial.indexOf(axis)] : 0;
      return typeof each === "number" ? [each, each] : each;
    });
    return x.pad(pairs, how);
  });
}
