/**
 * Augmentation across images: erased boxes (Zhong et al. 2017), and pairs of images with their labels, blended (mixup, Zhang et al. 2018) or
 * one pasted into the other (cutmix, Yun et al. 2019).
 */
import { checkOptions, checkWhole } from "../../core/arguments.js";
import { isFloat, isInteger } from "../../core/dtype.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { bernoulli, beta, type Key, normal, permutation, split, uniform } from "../../random/index.js";
import { checkKey } from "../../random/key.js";
import { checkTensor, countingLike, type Tensor, where } from "../../tensor/index.js";
import type { Channels } from "../layers/spatial.js";
import { checkProbability } from "./crop-flip.js";
import { checkFloats, type Images, imagesOf, widened, workDType } from "./pixels.js";

/** Options of `randomErasing`. */
export interface RandomErasingOptions {
  /** 0.5. */
  readonly probability?: number;
  /** The box's share of the image, from and to; [0.02, 0.33]. */
  readonly area?: readonly [number, number];
  /** Its height over its width, from and to; [0.3, 3.3]. */
  readonly ratio?: readonly [number, number];
  /** The value inside, 0; or "noise", standard normal. */
  readonly value?: number | "noise";
  readonly channels?: Channels;
}

/** Options of `mixup` and `cutmix`. */
export interface MixOptions {
  /** Shares are drawn from the beta distribution of (alpha, alpha); 0.2 for mixup, 1 for cutmix. */
  readonly alpha?: number;
  /** The number of classes, for labels that are integers. */
  readonly classes?: number;
  readonly channels?: Channels;
}

/** Images, and labels as a distribution over the classes. */
export interface Mixed {
  readonly x: Tensor;
  readonly y: Tensor;
}

/** A box of each image erased, with a probability: `randomErasing(x, key)`. */
export function randomErasing(x: Tensor, key: Key, options: RandomErasingOptions = {}): Tensor {
  const operation = "randomErasing";
  checkKey(key, operation, "", "the argument key");
  checkOptions(operation, options, {
    probability: "number",
    area: "list",
    ratio: "list",
    value: "any",
    channels: "text",
  });
  const { probability = 0.5, area = [0.02, 0.33], ratio = [0.3, 3.3], value = 0 } = options;
  checkProbability(operation, probability);
  for (const [name, [low, high], most] of [
    ["area", area, 1],
    ["ratio", ratio, Infinity],
  ] as const) {
    if (low > 0 && low <= high && high <= most) continue;
    throw new ArgumentError(
      `${operation}: the option ${name} is [from, to], positive and in order, not ${shown([low, high])}.`,
    );
  }
  if (value !== "noise" && typeof value !== "number") {
    throw new ArgumentError(`${operation}: the option value is a number or "noise", not ${shown(value)}.`);
  }
  const images = imagesOf(operation, x, options.channels);
  const { count, height, width } = images;
  const [chosen, ofArea, ofRatio, ofPlace, ofNoise] = split(key, 5) as [Key, Key, Key, Key, Key];
  const dtype = workDType(x);
  const share = uniform(ofArea, [count], { low: area[0], high: area[1], dtype }) as Tensor;
  const form = (
    uniform(ofRatio, [count], { low: Math.log(ratio[0]), high: Math.log(ratio[1]), dtype }) as Tensor
  ).exp();
  const pixels = share.mul(height * width);
  const tall = pixels.mul(form).sqrt().round().minimum(height);
  const wide = pixels.div(form).sqrt().round().minimum(width);
  const places = uniform(ofPlace, [2, count], { dtype }) as Tensor;
  const top = places
    .at(0)
    .mul(tall.neg().add(height + 1))
    .floor();
  const left = places
    .at(1)
    .mul(wide.neg().add(width + 1))
    .floor();
  const isErased = bernoulli(chosen, probability, [count]).reshape([count, 1, 1]) as Tensor;
  const inside = boxOf(x, images, top, left, tall, wide).logicalAnd(isErased) as Tensor;
  const filling = value === "noise" ? (normal(ofNoise, x.shape, { dtype }) as Tensor).cast(x.dtype) : value;
  return where(inside.expandDims(images.channelAxis), filling, x).cast(x.dtype) as Tensor;
}

/** Images blended with others of the batch, and their labels in the same shares: `mixup(x, y, key, { classes: 10 })`. Any shape of x. */
export function mixup(x: Tensor, y: Tensor, key: Key, options: MixOptions = {}): Mixed {
  checkMix("mixup", x, y, key, options);
  checkFloats("mixup", x);
  const [ofShare, ofOthers] = split(key, 2) as [Key, Key];
  const share = drawnShare("mixup", ofShare, x, options.alpha ?? 0.2);
  const others = permutation(ofOthers, x.shape[0] as number) as Tensor;
  const own = share.reshape([-1, ...x.shape.slice(1).map(() => 1)]);
  const wide = widened(x);
  const blended = wide
    .mul(own)
    .add(wide.take(others, { axis: 0 }).mul(own.neg().add(1)))
    .cast(x.dtype) as Tensor;
  return { x: blended, y: mixedLabels("mixup", y, others, share, options.classes) };
}

/** Images with a box of another one of the batch, and labels in the shares of the areas: `cutmix(x, y, key, { classes: 10 })`. */
export function cutmix(x: Tensor, y: Tensor, key: Key, options: MixOptions = {}): Mixed {
  checkMix("cutmix", x, y, key, options);
  const images = imagesOf("cutmix", x, options.channels);
  const { count, height, width } = images;
  const [ofShare, ofOthers, ofPlace] = split(key, 3) as [Key, Key, Key];
  const cut = drawnShare("cutmix", ofShare, x, options.alpha ?? 1)
    .neg()
    .add(1)
    .sqrt();
  const others = permutation(ofOthers, count) as Tensor;
  const places = uniform(ofPlace, [2, count], { dtype: workDType(x) }) as Tensor;
  // The box lies around a pixel, and ends where the image does.
  const [top, tall] = clipped(places.at(0), cut, height);
  const [left, wide] = clipped(places.at(1), cut, width);
  const inside = boxOf(x, images, top, left, tall, wide).expandDims(images.channelAxis) as Tensor;
  const pasted = where(inside, x.take(others, { axis: 0 }), x) as Tensor;
  const share = tall
    .mul(wide)
    .div(height * width)
    .neg()
    .add(1);
  return { x: pasted, y: mixedLabels("cutmix", y, others, share, options.classes) };
}

function checkMix(operation: string, x: Tensor, y: Tensor, key: Key, options: MixOptions): void {
  checkTensor(operation, "the images", x);
  checkTensor(operation, "the labels", y);
  checkKey(key, operation, "", "the argument key");
  checkOptions(operation, options, { alpha: "number", classes: "number", channels: "text" });
  if (x.rank > 0 && y.rank > 0 && x.shape[0] === y.shape[0]) return;
  throw new ShapeError(
    `${operation}: images of ${formatShape(x.shape)} and labels of ${formatShape(y.shape)}; there is a label for each.`,
  );
}

function drawnShare(operation: string, key: Key, x: Tensor, alpha: number): Tensor {
  if (!(alpha > 0 && alpha < Infinity))
    throw new ArgumentError(`${operation}: the option alpha is a positive number, not ${shown(alpha)}.`);
  return beta(key, alpha, alpha, [x.shape[0] as number], { dtype: workDType(x) }) as Tensor;
}

/** From where and how far a box reaches along an axis: `share` of its extent, around a place, cut off at the ends. */
function clipped(place: Tensor, share: Tensor, extent: number): readonly [Tensor, Tensor] {
  const middle = place.mul(extent).floor();
  const half = share.mul(extent).floor().div(2).floor();
  const start = middle.sub(half).maximum(0);
  const end = middle.add(half).minimum(extent);
  return [start, end.sub(start)];
}

/** [batch, height, width]: whether a pixel lies inside its image's box. */
function boxOf(x: Tensor, { height, width }: Images, top: Tensor, left: Tensor, tall: Tensor, wide: Tensor): Tensor {
  const rows = countingLike(x, height).cast(top.dtype).reshape([1, height, 1]) as Tensor;
  const columns = countingLike(x, width).cast(top.dtype) as Tensor;
  const between = (positions: Tensor, from: Tensor, length: Tensor): Tensor => {
    const start = from.reshape([-1, 1, 1]);
    return positions.greaterEqual(start).logicalAnd(positions.less(start.add(length.reshape([-1, 1, 1])))) as Tensor;
  };
  return between(rows, top, tall).logicalAnd(between(columns, left, wide)) as Tensor;
}

/** Class numbers as shares of the classes; NaN for a number that is no class, as the losses have it. */
function sharesOf(y: Tensor, classes: number): Tensor {
  const isClass = y.greaterEqual(0).logicalAnd(y.less(classes)).expandDims(-1);
  const shares = y.oneHot(classes) as Tensor;
  return where(isClass, shares, Number.NaN).cast(shares.dtype) as Tensor;
}

/** Labels in shares: `share` of the own ones, and the rest of the others'. */
function mixedLabels(operation: string, y: Tensor, others: Tensor, share: Tensor, classes: number | undefined): Tensor {
  if (isInteger(y.dtype) && classes === undefined) {
    throw new ArgumentError(`${operation}: labels are integers; give the number of classes, as in { classes: 10 }.`);
  }
  if (classes !== undefined) checkWhole(operation, "the option classes", classes, 1);
  const soft = isInteger(y.dtype) ? sharesOf(y, classes as number) : y;
  if (!isFloat(soft.dtype)) throw new ArgumentError(`${operation}: labels are integers or floats, not ${y.dtype}.`);
  const own = (share.cast(soft.dtype) as Tensor).reshape([-1, ...soft.shape.slice(1).map(() => 1)]);
  return soft.mul(own).add(soft.take(others, { axis: 0 }).mul(own.neg().add(1))) as Tensor;
}
