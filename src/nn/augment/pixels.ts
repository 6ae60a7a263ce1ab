/**
 * Images in a batch: their axes, and pixels at any position, also outside of the image. Crops, rotations and the rest are positions that
 * are computed on the device; the pixels are then read there by one kernel.
 */
import { checkChoice } from "../../core/arguments.js";
import { isFloat, isNarrowFloat } from "../../core/dtype.js";
import { DTypeError, ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { checkTensor, countingLike, type Tensor, where } from "../../tensor/index.js";
import type { Channels } from "../layers/spatial.js";

/** What stands outside of an image: a value, its edge, or the image again: mirrored at the last pixel, behind it, or repeated. */
export type FillMode = "constant" | "edge" | "reflect" | "symmetric" | "wrap";

const FILL_MODES = ["constant", "edge", "reflect", "symmetric", "wrap"];

export const checkFill = (operation: string, fill: FillMode | undefined): void =>
  checkChoice(operation, "the option fill", fill, FILL_MODES);

/** The extents of a batch of images. */
export interface Images {
  readonly count: number;
  readonly channels: number;
  readonly height: number;
  readonly width: number;
  readonly channelAxis: 1 | 3;
}

/** The axes of a batch: [batch, channels, height, width], or with channels last. */
export function imagesOf(operation: string, x: Tensor, channels: Channels = "first"): Images {
  checkTensor(operation, "the images", x);
  checkChoice(operation, "the option channels", channels, ["first", "last"]);
  if (x.rank !== 4) {
    const example = channels === "first" ? "[batch, channels, height, width]" : "[batch, height, width, channels]";
    throw new ShapeError(`${operation} takes images ${example}, but the input is ${formatShape(x.shape)}.`);
  }
  const [count, a, b, c] = x.shape as [number, number, number, number];
  return channels === "first"
    ? { count, channels: a, height: b, width: c, channelAxis: 1 }
    : { count, channels: c, height: a, width: b, channelAxis: 3 };
}

/** Throws on images that are no floats: their arithmetic would round. */
export function checkFloats(operation: string, x: Tensor): void {
  if (isFloat(x.dtype)) return;
  throw new DTypeError(
    `${operation} takes floating-point images, but the input is ${x.dtype}; x.cast("f32").div(255) makes them.`,
  );
}

/** The dtype of positions and sums: f32, and f64 for images of it. */
export const workDType = ({ dtype }: Tensor): "f32" | "f64" => (dtype === "f64" ? "f64" : "f32");

/** A number for each image, shaped to broadcast with the images. */
export const perImage = (values: Tensor): Tensor => values.reshape([-1, 1, 1, 1]);

/** The image in the dtype of its sums. */
export const widened = (x: Tensor): Tensor => (isNarrowFloat(x.dtype) ? (x.cast("f32") as Tensor) : x);

/** Pixels at whole positions, rows and columns that broadcast to [batch, height, width]; `fill` says what stands outside. */
export function pixelsAt(
  x: Tensor,
  images: Images,
  rows: Tensor,
  columns: Tensor,
  fill: FillMode = "constant",
  value = 0,
): Tensor {
  const { count, channels, height, width, channelAxis } = images;
  const isFirst = channelAxis === 1;
  const [row, column] = [within(rows, height, fill), within(columns, width, fill)];
  const image = countingLike(x, count).reshape([count, 1, 1]);
  const channel = countingLike(x, channels).reshape(isFirst ? [channels, 1, 1] : [channels]);
  const spread = (index: Tensor): Tensor => index.expandDims(channelAxis);
  // Row-major places in [batch, channels, height, width], or in [batch, height, width, channels].
  const place = isFirst
    ? spread(image).mul(channels).add(channel).mul(height).add(spread(row)).mul(width).add(spread(column))
    : spread(image.mul(height).add(row).mul(width).add(column)).mul(channels).add(channel);
  const found = x.reshape([-1]).take(place as Tensor);
  if (fill !== "constant") return found;
  const isInside = rows
    .greaterEqual(0)
    .logicalAnd(rows.less(height))
    .logicalAnd(columns.greaterEqual(0))
    .logicalAnd(columns.less(width));
  return where(spread(isInside as Tensor), found, value).cast(x.dtype) as Tensor;
}

/** A position inside the image for each position. */
function within(position: Tensor, extent: number, fill: FillMode): Tensor {
  switch (fill) {
    case "constant":
    case "edge":
      return position.maximum(0).minimum(extent - 1);
    case "wrap":
      return position.remainder(extent);
    case "reflect": {
      if (extent === 1) return position.mul(0);
      const there = position.remainder(2 * (extent - 1));
      return there.minimum(there.neg().add(2 * (extent - 1)));
    }
    case "symmetric": {
      const there = position.remainder(2 * extent);
      return there.minimum(there.neg().add(2 * extent - 1));
    }
  }
}
