/** Augmentation that moves whole pixels: crops at random places, and flips. Any dtype. */
import { checkNumber, checkOptions, checkWhole } from "../../core/arguments.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { bernoulli, type Key, randint, split } from "../../random/index.js";
import { checkKey } from "../../random/key.js";
import { countingLike, type Tensor, where } from "../../tensor/index.js";
import type { Channels } from "../layers/spatial.js";
import { checkFill, type FillMode, imagesOf, perImage, pixelsAt } from "./pixels.js";

/** Options of `randomCrop`. */
export interface RandomCropOptions {
  /** Pixels around the image that the crop may reach into; 0. */
  readonly padding?: number;
  /** What stands there; "constant". */
  readonly fill?: FillMode;
  /** With "constant": 0. */
  readonly value?: number;
  readonly channels?: Channels;
}

/** Options of `randomFlip`. */
export interface RandomFlipOptions {
  /** "horizontal" swaps left and right, unless told; "vertical" top and bottom. */
  readonly direction?: "horizontal" | "vertical";
  /** 0.5. */
  readonly probability?: number;
  readonly channels?: Channels;
}

/** A part of each image, at a place of its own: `randomCrop(x, key, 32, { padding: 4, fill: "reflect" })`. */
export function randomCrop(
  x: Tensor,
  key: Key,
  size: number | readonly [height: number, width: number],
  options: RandomCropOptions = {},
): Tensor {
  checkKey(key, "randomCrop", "", "the argument key");
  checkOptions("randomCrop", options, { padding: "number", fill: "text", value: "number", channels: "text" });
  const { padding = 0, fill = "constant", value = 0 } = options;
  checkWhole("randomCrop", "the option padding", padding, 0);
  checkFill("randomCrop", fill);
  const images = imagesOf("randomCrop", x, options.channels);
  const [height, width] = typeof size === "number" ? [size, size] : size;
  for (const [extent, whole] of [
    [height, images.height],
    [width, images.width],
  ] as const) {
    checkWhole("randomCrop", "the size", extent as number, 1);
    if ((extent as number) <= whole + 2 * padding) continue;
    throw new ShapeError(`randomCrop: a crop of ${extent} pixels from an image of ${whole} with ${padding} around it.`);
  }
  const [top, left] = split(key, 2).map((own, i) => {
    const free = i === 0 ? images.height - (height as number) : images.width - (width as number);
    return randint(own, [images.count, 1, 1], -padding, free + padding + 1) as Tensor;
  }) as [Tensor, Tensor];
  const rows = top.add(countingLike(x, height as number).reshape([1, height as number, 1]));
  const columns = left.add(countingLike(x, width as number));
  return pixelsAt(x, images, rows, columns, fill, value);
}

/** Each image as it is or turned over, by chance: `randomFlip(x, key)`. */
export function randomFlip(x: Tensor, key: Key, options: RandomFlipOptions = {}): Tensor {
  checkKey(key, "randomFlip", "", "the argument key");
  checkOptions("randomFlip", options, { direction: "text", probability: "number", channels: "text" });
  const { direction = "horizontal" } = options;
  if (direction !== "horizontal" && direction !== "vertical") {
    throw new ArgumentError(`randomFlip: the option direction is "horizontal" or "vertical", not ${shown(direction)}.`);
  }
  const { count, channelAxis } = imagesOf("randomFlip", x, options.channels);
  const axis = (channelAxis === 1 ? 2 : 1) + (direction === "vertical" ? 0 : 1);
  const isTurned = bernoulli(key, checkProbability("randomFlip", options.probability ?? 0.5), [count]);
  return where(perImage(isTurned as Tensor), x.flip(axis), x) as Tensor;
}

export function checkProbability(operation: string, probability: number): number {
  checkNumber(operation, "the option probability", probability);
  if (probability >= 0 && probability <= 1) return probability;
  throw new ArgumentError(`${operation}: the option probability is a number from 0 to 1, not ${shown(probability)}.`);
}
