/**
 * Augmentation of colours: brightness, contrast, saturation and hue, greys, noise, and normalising. Images are floats from 0 to `range`.
 * Factors mean what they mean in torchvision; each is one number, or one for each image.
 */
import { checkNumber, checkOptions, type OptionKinds } from "../../core/arguments.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { bernoulli, type Key, normal, split, uniform } from "../../random/index.js";
import { checkKey } from "../../random/key.js";
import { concat, isTensor, type Tensor, tensor, where } from "../../tensor/index.js";
import type { Channels } from "../layers/spatial.js";
import { checkProbability } from "./crop-flip.js";
import { checkFloats, imagesOf, perImage, widened, workDType } from "./pixels.js";

/** Options of functions of colours. */
export interface ColorOptions {
  /** The value of white; 1. Results are cut off at 0 and there. */
  readonly range?: number;
  readonly channels?: Channels;
}

/** Options of `colorJitter`. */
export interface ColorJitterOptions extends ColorOptions {
  /** Factors of brightness, contrast and saturation are drawn from 1 - b to 1 + b, at least 0; 0. */
  readonly brightness?: number;
  readonly contrast?: number;
  readonly saturation?: number;
  /** Hues move by up to this share of the circle, 0.5 at most; 0. */
  readonly hue?: number;
}

/** Options of `normalize`. */
export interface NormalizeOptions {
  /** Subtracted from each channel. */
  readonly mean: number | readonly number[];
  /** Each channel is divided by it. */
  readonly deviation: number | readonly number[];
  readonly channels?: Channels;
}

const COLOR: OptionKinds<ColorOptions> = { range: "number", channels: "text" };

/** One factor for all images, or a tensor with one for each. */
type Factor = number | Tensor;

/** Shares of red, green and blue in a grey (ITU-R BT.601), as torchvision has them. */
const GREY = [0.2989, 0.587, 0.114] as const;

/** All values times a factor. */
export function adjustBrightness(x: Tensor, factor: Factor, options: ColorOptions = {}): Tensor {
  return adjusted("adjustBrightness", x, options, (wide) => wide.mul(factorOf("adjustBrightness", factor, x)));
}

/** Distances from the mean grey of the image, times a factor. */
export function adjustContrast(x: Tensor, factor: Factor, options: ColorOptions = {}): Tensor {
  return adjusted("adjustContrast", x, options, (wide, axis) => {
    const grey = axis.channels === 3 ? greyOf(wide, axis.channelAxis) : wide;
    const mean = grey.mean({ axis: [1, 2, 3], keepDims: true });
    return blended(wide, mean, factorOf("adjustContrast", factor, x));
  });
}

/** Distances from the grey of each pixel, times a factor: 0 is an image of greys. */
export function adjustSaturation(x: Tensor, factor: Factor, options: ColorOptions = {}): Tensor {
  return adjusted("adjustSaturation", x, options, (wide, axis) => {
    checkColors("adjustSaturation", x, axis.channels);
    return blended(wide, greyOf(wide, axis.channelAxis), factorOf("adjustSaturation", factor, x));
  });
}

/** Hues moved by a share of the circle, from -0.5 to 0.5: a third turns red into green. */
export function adjustHue(x: Tensor, share: Factor, options: ColorOptions = {}): Tensor {
  const { range = 1 } = options;
  return adjusted("adjustHue", x, options, (wide, axis) => {
    checkColors("adjustHue", x, axis.channels);
    return turnedHues(wide.div(range), factorOf("adjustHue", share, x), axis.channelAxis).mul(range);
  });
}

/** Brightness, contrast, saturation and hue of each image changed at random, in this order: `colorJitter(x, key, { brightness: 0.2 })`. */
export function colorJitter(x: Tensor, key: Key, options: ColorJitterOptions): Tensor {
  const operation = "colorJitter";
  checkKey(key, operation, "", "the argument key");
  checkOptions(operation, options, {
    ...COLOR,
    brightness: "number",
    contrast: "number",
    saturation: "number",
    hue: "number",
  });
  const { brightness = 0, contrast = 0, saturation = 0, hue = 0, ...colors } = options;
  const { count } = imagesOf(operation, x, options.channels);
  checkFloats(operation, x);
  if (!(hue >= 0 && hue <= 0.5))
    throw new ArgumentError(`${operation}: the option hue is from 0 to 0.5, not ${shown(hue)}.`);
  const keys = split(key, 4);
  const drawn = (i: number, low: number, high: number): Tensor =>
    uniform(keys[i] as Key, [count], { low, high, dtype: workDType(x) }) as Tensor;
  const around = (i: number, name: string, by: number): Tensor => {
    if (!(by >= 0 && by < Infinity))
      throw new ArgumentError(`${operation}: the option ${name} is a number from 0 on, not ${shown(by)}.`);
    return drawn(i, Math.max(0, 1 - by), 1 + by);
  };
  let result = x;
  if (brightness !== 0) result = adjustBrightness(result, around(0, "brightness", brightness), colors);
  if (contrast !== 0) result = adjustContrast(result, around(1, "contrast", contrast), colors);
  if (saturation !== 0) result = adjustSaturation(result, around(2, "saturation", saturation), colors);
  if (hue !== 0) result = adjustHue(result, drawn(3, -hue, hue), colors);
  return result;
}

/** Greys of three equal channels in the place of colours. */
export function grayscale(x: Tensor, options: { readonly channels?: Channels } = {}): Tensor {
  checkOptions("grayscale", options, { channels: "text" });
  return adjusted(
    "grayscale",
    x,
    options,
    (wide, axis) => {
      checkColors("grayscale", x, axis.channels);
      return greyOf(wide, axis.channelAxis).broadcastTo(wide.shape);
    },
    false,
  );
}

/** Each image as greys with a probability, 0.1 unless told. */
export function randomGrayscale(
  x: Tensor,
  key: Key,
  options: { readonly probability?: number; readonly channels?: Channels } = {},
): Tensor {
  checkKey(key, "randomGrayscale", "", "the argument key");
  checkOptions("randomGrayscale", options, { probability: "number", channels: "text" });
  const { probability = 0.1, ...rest } = options;
  const { count } = imagesOf("randomGrayscale", x, options.channels);
  const isGrey = bernoulli(key, checkProbability("randomGrayscale", probability), [count]) as Tensor;
  return where(perImage(isGrey), grayscale(x, rest), x) as Tensor;
}

/** Normal noise added to every value; the standard deviation is 0.1 unless told. Any shape. */
export function gaussianNoise(x: Tensor, key: Key, options: { readonly deviation?: number } = {}): Tensor {
  checkKey(key, "gaussianNoise", "", "the argument key");
  checkOptions("gaussianNoise", options, { deviation: "number" });
  checkFloats("gaussianNoise", x);
  const noise = normal(key, x.shape, { dtype: workDType(x) }).mul(options.deviation ?? 0.1) as Tensor;
  return widened(x).add(noise).cast(x.dtype) as Tensor;
}

/** Channels less their mean, over their deviation: `normalize(x, { mean: [0.5, 0.5, 0.5], deviation: [0.2, 0.2, 0.2] })`. */
export function normalize(x: Tensor, options: NormalizeOptions): Tensor {
  checkOptions("normalize", options, { mean: "numbers", deviation: "numbers", channels: "text" });
  const { channels, channelAxis } = imagesOf("normalize", x, options.channels);
  checkFloats("normalize", x);
  const along = (name: "mean" | "deviation"): Tensor => {
    const given = options[name];
    const list = typeof given === "number" ? new Array<number>(channels).fill(given) : given;
    if (list?.length !== channels) {
      throw new ShapeError(
        `normalize: the option ${name} is ${shown(given)}; it is a number, or one for each of ${channels} channels.`,
      );
    }
    const values = tensor([...list], { dtype: workDType(x), device: x.device }) as Tensor;
    return channelAxis === 1 ? values.reshape([channels, 1, 1]) : values;
  };
  return widened(x).sub(along("mean")).div(along("deviation")).cast(x.dtype) as Tensor;
}

function adjusted(
  operation: string,
  x: Tensor,
  options: ColorOptions,
  change: (wide: Tensor, axis: ReturnType<typeof imagesOf>) => Tensor,
  isCut = true,
): Tensor {
  checkOptions(operation, options, COLOR);
  const images = imagesOf(operation, x, options.channels);
  checkFloats(operation, x);
  const result = change(widened(x), images);
  return (isCut ? result.maximum(0).minimum(options.range ?? 1) : result).cast(x.dtype) as Tensor;
}

function factorOf(operation: string, factor: Factor, x: Tensor): Factor {
  if (!isTensor(factor)) return checkNumber(operation, "the factor", factor);
  if (factor.rank === 1 && factor.shape[0] === x.shape[0]) return perImage(factor);
  throw new ShapeError(
    `${operation}: factors of ${formatShape(factor.shape)} for ${x.shape[0]} images; give one for each.`,
  );
}

function checkColors(operation: string, x: Tensor, channels: number): void {
  if (channels === 3) return;
  throw new ShapeError(
    `${operation} takes images of three channels, red, green and blue, but the input is ${formatShape(x.shape)}.`,
  );
}

/** a times the factor, and b for the rest. */
const blended = (a: Tensor, b: Tensor, factor: Factor): Tensor => a.sub(b).mul(factor).add(b);

/** The channels, each with an axis of extent 1. */
function channelsOf(x: Tensor, axis: 1 | 3): readonly [Tensor, Tensor, Tensor] {
  return x.split(3, { axis }) as unknown as readonly [Tensor, Tensor, Tensor];
}

function greyOf(x: Tensor, axis: 1 | 3): Tensor {
  const [red, green, blue] = channelsOf(x, axis);
  return red.mul(GREY[0]).add(green.mul(GREY[1])).add(blue.mul(GREY[2]));
}

/**
 * Colours with their hue moved, by way of the hexcone (Smith 1978): the hue h from 0 to 6, the largest channel v and the span c give back
 * v - c · max(0, min(k, 4 - k, 1)), where k = (n + h) mod 6 and n is 5, 3, 1 for red, green, blue.
 */
function turnedHues(x: Tensor, share: Factor, axis: 1 | 3): Tensor {
  const [red, green, blue] = channelsOf(x, axis);
  const value = red.maximum(green).maximum(blue);
  const span = value.sub(red.minimum(green).minimum(blue));
  const unit = where(span.equal(0), 1, span) as Tensor;
  const ofGreen = blue.sub(red).div(unit).add(2);
  const ofBlue = red.sub(green).div(unit).add(4);
  const hue = where(value.equal(red), green.sub(blue).div(unit), where(value.equal(green), ofGreen, ofBlue)) as Tensor;
  const moved = hue.add(isTensor(share) ? share.mul(6) : share * 6);
  const back = (n: number): Tensor => {
    const k = moved.add(n).remainder(6);
    return value.sub(span.mul(k.minimum(k.neg().add(4)).minimum(1).maximum(0)));
  };
  return concat([back(5), back(3), back(1)], { axis }) as Tensor;
}
