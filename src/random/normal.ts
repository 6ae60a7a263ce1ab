/** Normal numbers: the inverse of the distribution function at uniform ones, as JAX makes them. */

import { checkNumber, checkOptions, inOperation } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import { type DType, isFloat } from "../core/dtype.js";
import { ArgumentError, DTypeError } from "../core/errors.js";
import { broadcastShapes, checkShape, type Shape } from "../core/shape.js";
import { shown } from "../core/shown.js";
import { drawn, type Operand, scalarLike, Tensor, where } from "../tensor/index.js";
import { type RandomWords, randomWords, unitFloats } from "./bits.js";
import { checkKey, type Key } from "./key.js";
import { DTYPE, type FloatOptions, stretched } from "./uniform.js";

/** f16 and bf16 have too few uniform numbers to invert; they are made in f32 and rounded. */
export function workDType(dtype: DType, operation: string): "f32" | "f64" {
  if (!isFloat(dtype)) throw new DTypeError(`random.${operation}: ${dtype} is no float; use f16, bf16, f32 or f64.`);
  return dtype === "f64" ? "f64" : "f32";
}

/** The float next to -1, towards 0. */
const aboveMinusOne = { f32: -1 + 2 ** -24, f64: -1 + 2 ** -53 } as const;

export function normalFrom(words: RandomWords, dtype: "f32" | "f64", operation: string): Tensor {
  return unitFloats(words, dtype, operation, 2).add(aboveMinusOne[dtype]).erfInv().mul(Math.SQRT2);
}

/** Normal numbers of mean 0 and variance 1. */
export function normal<D extends DType = "f32">(key: Key, shape: Shape = [], options: FloatOptions<D> = {}): Tensor<D> {
  checkCount("random.normal", 3, arguments);
  checkOptions<FloatOptions>("random.normal", options, DTYPE);
  const dtype: DType = options.dtype ?? "f32";
  const work = workDType(dtype, "normal");
  checkKey(key, "normal");
  return drawn(key, `normal ${dtype} ${checkShape(shape, "random.normal")}`, (from) =>
    normalFrom(randomWords(from as Key, shape, "normal"), work, "normal").cast(dtype),
  ) as Tensor<D>;
}

/**
 * If both bounds lie beyond this on one side, the window is a tail: its distribution function is too close to 0 or 1 to invert.
 */
const TAIL = 1;

/** Beyond this, the series of Q is as exact as floats; below it, erfc is far from zero. */
const FAR = { f32: 10, f64: 20 } as const;

/**
 * log Q(x) + x²/2 for x ≥ TAIL and Q the probability of more than x: it changes slowly, so that differences keep their digits.
 */
function logMills(x: Tensor): Tensor {
  const far = FAR[x.dtype as "f32" | "f64"];
  const near = x.minimum(far);
  // x Q(x)/φ(x) = 1 - 1/x² + 3/x⁴ - 15/x⁶ + …
  const w = x.maximum(far).square().reciprocal();
  let series = w.mul(-15);
  for (let n = 7; n >= 1; n--)
    series = series
      .add(1)
      .mul(w)
      .mul(-(2 * n - 1));
  const beyond = series.log1p().sub(x.maximum(far).log()).sub(LOG_SQRT_2PI);
  return where(x.greater(far), beyond, near.mul(Math.SQRT1_2).erfc().mul(0.5).log().add(near.square().mul(0.5)));
}

const LOG_SQRT_2PI = 0.5 * Math.log(2 * Math.PI);

/**
 * The distance of a normal number of a tail beyond `from`: d with Q(from + d) = (1 - unit) Q(from) + unit Q(to), by
 * Newton's method on log Q. The start is exact but for a part that changes slowly, so that each step doubles the digits.
 */
function tailDistance(unit: Tensor, from: Tensor, to: Tensor): Tensor {
  const start = logMills(from);
  const width = to.sub(from);
  const logRatio = logMills(to)
    .sub(start)
    .sub(width.mul(from.add(width.mul(0.5))));
  const logShare = unit.mul(logRatio.expm1()).log1p();
  let distance = logShare.mul(-2).div(from.square().sub(logShare.mul(2)).sqrt().add(from));
  const steps = unit.dtype === "f64" ? 4 : 3;
  for (let step = 0; step < steps; step++) {
    const slow = logMills(from.add(distance));
    const surplus = slow
      .sub(start)
      .sub(logShare)
      .sub(distance.mul(from.add(distance.mul(0.5))));
    distance = distance.add(surplus.mul(slow.add(LOG_SQRT_2PI).exp())).maximum(0);
  }
  return distance;
}

/**
 * Bounds closer to each other than the third root of a float's precision. Taking the density for exponential between them
 * loses fewer digits than inverting a distribution function that is nearly the same at both.
 */
const NARROW = { f32: 2 ** -8, f64: 2 ** -17 } as const;

/** The distance of a normal number of a narrow window beyond the bound nearer to 0, by the window's width and its middle. */
function narrowDistance(unit: Tensor, width: Tensor, middle: Tensor): Tensor {
  const fall = width.mul(middle.abs());
  const isFlat = fall.equal(0);
  const rate = where(isFlat, 1, fall);
  const share = where(isFlat, unit, unit.mul(rate.neg().expm1()).log1p().neg().div(rate));
  return share.mul(width);
}

/**
 * Standard normal numbers between bounds, and in tails and narrow windows their distance from a bound, which keeps more digits.
 */
interface TruncatedNumbers {
  readonly value: Tensor;
  /** In the upper tail value = low + distance, in the lower one value = high - distance. */
  readonly isUpper: Tensor;
  readonly isLower: Tensor;
  readonly distance: Tensor;
}

/** `width`: high - low, given where the caller knows it more exactly. */
export function truncatedFrom(
  words: RandomWords,
  low: Tensor,
  high: Tensor,
  operation: string,
  width = high.sub(low),
): TruncatedNumbers {
  const dtype = low.dtype as "f32" | "f64";
  const unit = unitFloats(words, dtype, operation);
  const isNarrow = width.less(NARROW[dtype]);
  const middle = where(isNarrow, low.add(high).mul(0.5), 0);
  const isUpper = where(isNarrow, middle.greaterEqual(0), low.greater(TAIL));
  const isLower = where(isNarrow, middle.less(0), high.less(-TAIL));
  // Outside of tails the distance is not used.
  const isTail = isUpper.logicalOr(isLower).logicalAnd(isNarrow.logicalNot());
  const near = where(isUpper, low, high.neg());
  const from = where(isTail, near, TAIL);
  const to = where(isTail, where(isUpper, high, low.neg()), Infinity);
  const distance = where(
    isNarrow,
    narrowDistance(unit, where(isNarrow, width, 0), middle),
    tailDistance(unit, from, to),
  );
  const between = stretched(unit, low.mul(Math.SQRT1_2).erf(), high.mul(Math.SQRT1_2).erf());
  const least = aboveMinusOne[dtype];
  const centre = between.clip(least, -least).erfInv().mul(Math.SQRT2);
  const beyond = near.add(distance);
  const value = where(isUpper, beyond, where(isLower, beyond.neg(), centre)).clip(low, high);
  return { value, isUpper, isLower, distance };
}

/** Normal numbers of mean 0 and variance 1 that lie between low and high; NaN where low is above high. */
export function truncatedNormal<D extends DType = "f32">(
  key: Key,
  low: Operand,
  high: Operand,
  shape?: Shape,
  options: FloatOptions<D> = {},
): Tensor<D> {
  checkCount("random.truncatedNormal", 5, arguments);
  checkOptions<FloatOptions>("random.truncatedNormal", options, DTYPE);
  checkKey(key, "truncatedNormal");
  const dtype: DType = options.dtype ?? "f32";
  const work = workDType(dtype, "truncatedNormal");
  const [from, to] = [low, high].map((bound) =>
    bound instanceof Tensor
      ? bound.cast(work)
      : scalarLike(key, checkNumber("random.truncatedNormal", "a bound that is no tensor", bound as number), work),
  );
  if (!(low instanceof Tensor || high instanceof Tensor) && low > high) {
    throw new ArgumentError(
      `random.truncatedNormal: no number lies between ${shown(low)} and ${shown(high)}; swap them.`,
    );
  }
  const extent = shape ?? broadcastShapes("random.truncatedNormal", from.shape, to.shape);
  const words = randomWords(key, extent, "truncatedNormal");
  return inOperation("random.truncatedNormal", () => {
    const { value } = truncatedFrom(words, from, to, "truncatedNormal");
    return where(from.greater(to), Number.NaN, value).cast(dtype) as Tensor<D>;
  });
}
