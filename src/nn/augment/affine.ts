/**
 * Augmentation by affine maps: rotation, zoom, shift and shear, each image by one of its own. A result's pixel is read from the place in
 * the image that the map leads to, between four pixels by their nearness, or from the nearest.
 */
import { checkChoice, checkOptions, type OptionKinds } from "../../core/arguments.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { type Key, split, uniform } from "../../random/index.js";
import { checkKey } from "../../random/key.js";
import { checkTensor, countingLike, stack, type Tensor } from "../../tensor/index.js";
import type { Channels } from "../layers/spatial.js";
import {
  checkFill,
  checkFloats,
  type FillMode,
  type Images,
  imagesOf,
  pixelsAt,
  widened,
  workDType,
} from "./pixels.js";

/** How pixels are read. */
export interface SamplingOptions {
  /** "bilinear" unless told. */
  readonly method?: "bilinear" | "nearest";
  /** What stands outside of the image; "constant". */
  readonly fill?: FillMode;
  /** With "constant": 0. */
  readonly value?: number;
  readonly channels?: Channels;
}

/** A number, or the two ends of the range that it is drawn from. */
export type Range = number | readonly [low: number, high: number];

/** Options of `randomAffine`. */
export interface RandomAffineOptions extends SamplingOptions {
  /** Degrees, against the clock; a number d is the range from -d to d. 0. */
  readonly degrees?: Range;
  /** The factor of the size: above 1 the image grows. A number is both ends. 1. */
  readonly zoom?: Range;
  /** Shifts down and to the right, in shares of the height and of the width; a number s is the range from -s to s, for both. 0. */
  readonly shift?: number | readonly [down: Range, right: Range];
  /** Degrees by which columns lean; a number d is the range from -d to d. 0. */
  readonly shear?: Range;
}

const SAMPLING: OptionKinds<SamplingOptions> = { method: "text", fill: "text", value: "number", channels: "text" };

function checkSampling(operation: string, { method, fill }: SamplingOptions): void {
  checkChoice(operation, "the option method", method, ["bilinear", "nearest"]);
  checkFill(operation, fill);
}

/**
 * Images by affine maps, `maps` [batch, 2, 3]: the result's pixel at (row, column), counted from the middle, is the image's at
 * map · (row, column, 1).
 */
export function affine(x: Tensor, maps: Tensor, options: SamplingOptions = {}): Tensor {
  checkOptions("affine", options, SAMPLING);
  checkSampling("affine", options);
  checkTensor("affine", "the maps", maps);
  const images = imagesOf("affine", x, options.channels);
  if (maps.rank !== 3 || maps.shape[0] !== images.count || maps.shape[1] !== 2 || maps.shape[2] !== 3) {
    throw new ShapeError(
      `affine: maps of ${formatShape(maps.shape)}; ${images.count} images take [${images.count}, 2, 3].`,
    );
  }
  checkFloats("affine", x);
  return mapped(x, images, maps, options);
}

/** Each image turned around its middle, by an angle of its own: `randomRotation(x, key, 15)` from -15 to 15 degrees. */
export function randomRotation(x: Tensor, key: Key, degrees: Range, options: SamplingOptions = {}): Tensor {
  checkOptions("randomRotation", options, SAMPLING);
  return drawnAffine("randomRotation", x, key, { ...options, degrees });
}

/** Each image larger or smaller by a factor of its own: `randomZoom(x, key, [0.8, 1.2])`. */
export function randomZoom(x: Tensor, key: Key, zoom: Range, options: SamplingOptions = {}): Tensor {
  checkOptions("randomZoom", options, SAMPLING);
  return drawnAffine("randomZoom", x, key, { ...options, zoom });
}

/** Each image moved, by shares of its height and width: `randomShift(x, key, 0.1)`. */
export function randomShift(
  x: Tensor,
  key: Key,
  shift: NonNullable<RandomAffineOptions["shift"]>,
  options: SamplingOptions = {},
): Tensor {
  checkOptions("randomShift", options, SAMPLING);
  return drawnAffine("randomShift", x, key, { ...options, shift });
}

/** Rotation, zoom, shift and shear at once, with one reading of pixels: `randomAffine(x, key, { degrees: 10, zoom: [0.9, 1.1] })`. */
export function randomAffine(x: Tensor, key: Key, options: RandomAffineOptions): Tensor {
  checkOptions("randomAffine", options, { ...SAMPLING, degrees: "any", zoom: "any", shift: "any", shear: "any" });
  return drawnAffine("randomAffine", x, key, options);
}

function drawnAffine(operation: string, x: Tensor, key: Key, options: RandomAffineOptions): Tensor {
  checkKey(key, operation, "", "the argument key");
  checkSampling(operation, options);
  const images = imagesOf(operation, x, options.channels);
  checkFloats(operation, x);
  const { degrees = 0, zoom = 1, shift = 0, shear = 0 } = options;
  const [down, right] = typeof shift === "number" ? [shift, shift] : shift;
  const dtype = workDType(x);
  const keys = split(key, 5);
  const drawn = (i: number, name: string, range: Range, isAround = true): Tensor => {
    const [low, high] = ends(operation, name, range, isAround);
    const unit = uniform(keys[i] as Key, [images.count], { dtype }) as Tensor;
    return unit.mul(high - low).add(low);
  };
  const turn = drawn(0, "degrees", degrees).mul(Math.PI / 180);
  const lean = drawn(1, "shear", shear)
    .mul(Math.PI / 180)
    .tan();
  const size = drawn(2, "zoom", zoom, false);
  const by = [
    drawn(3, "shift", down as Range).mul(images.height),
    drawn(4, "shift", right as Range).mul(images.width),
  ] as const;
  return mapped(x, images, inverse(turn, lean, size, by), options);
}

/** The ends of a range. `isAround`: a number is the range around zero. */
function ends(operation: string, name: string, range: Range, isAround: boolean): readonly [number, number] {
  const isNumber = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value);
  const pair = typeof range === "number" ? ([isAround ? -range : range, range] as const) : range;
  const isPair = Array.isArray(pair) && pair.length === 2 && pair.every(isNumber);
  if (isPair && (name !== "zoom" || (pair[0] as number) > 0)) return pair as readonly [number, number];
  const what = name === "zoom" ? "a positive number or the ends of a range of them" : "a number or [low, high]";
  throw new ArgumentError(`${operation}: ${name} is ${what}, not ${shown(range)}.`);
}

/**
 * The maps from results to images. An image is first zoomed, then sheared, turned and shifted; rows count downwards, so that a turn against
 * the clock leads from (row, column) to (row · cos - column · sin, column · cos + row · sin).
 */
function inverse(turn: Tensor, lean: Tensor, size: Tensor, [down, right]: readonly [Tensor, Tensor]): Tensor {
  const [cos, sin] = [turn.cos(), turn.sin()];
  const back = (value: Tensor): Tensor => value.div(size);
  // Without the turn, a result's row is cos · row + sin · column, its column cos · column - sin · row; then the shear is undone.
  const rowFrom = [cos, sin] as const;
  const columnFrom = [sin.neg().sub(lean.mul(cos)), cos.sub(lean.mul(sin))] as const;
  const line = ([a, b]: readonly [Tensor, Tensor]): Tensor => {
    const constant = a.mul(down).add(b.mul(right)).neg();
    return stack([a, b, constant].map(back), { axis: 1 }) as Tensor;
  };
  return stack([line(rowFrom), line(columnFrom)], { axis: 1 }) as Tensor;
}

function mapped(x: Tensor, images: Images, maps: Tensor, options: SamplingOptions): Tensor {
  const { height, width } = images;
  const { method = "bilinear", fill = "constant", value = 0 } = options;
  const dtype = workDType(x);
  const at = (line: number, term: number): Tensor =>
    (maps.at(":", line, term).cast(dtype) as Tensor).reshape([-1, 1, 1]);
  const row = (countingLike(x, height).cast(dtype) as Tensor).sub((height - 1) / 2).reshape([1, height, 1]);
  const column = (countingLike(x, width).cast(dtype) as Tensor).sub((width - 1) / 2);
  const place = (line: number, middle: number): Tensor =>
    at(line, 0).mul(row).add(at(line, 1).mul(column)).add(at(line, 2)).add(middle);
  const [y, z] = [place(0, (height - 1) / 2), place(1, (width - 1) / 2)];
  const read = (rows: Tensor, columns: Tensor): Tensor => pixelsAt(x, images, whole(rows), whole(columns), fill, value);
  if (method === "nearest") return read(y.add(0.5).floor(), z.add(0.5).floor());
  const [top, left] = [y.floor(), z.floor()];
  const spread = (share: Tensor): Tensor => share.expandDims(images.channelAxis);
  const [low, near] = [spread(y.sub(top)), spread(z.sub(left))];
  const between = (a: Tensor, b: Tensor, share: Tensor): Tensor => a.add(b.sub(a).mul(share));
  const line = (rows: Tensor): Tensor => between(widened(read(rows, left)), widened(read(rows, left.add(1))), near);
  return between(line(top), line(top.add(1)), low).cast(x.dtype) as Tensor;
}

/** Positions as integers. Those far outside of any image would not fit. */
const whole = (position: Tensor): Tensor => position.maximum(-1e9).minimum(1e9).cast("i32") as Tensor;
