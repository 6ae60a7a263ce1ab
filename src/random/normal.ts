/** Normal numbers: the inverse of the distribution function at uniform ones, as JAX makes them. */
import { checkNumber, checkOptions, inOperation } from "../core/arguments.js";
import { type DType, isFloat } from "../core/dtype.js";
import { DTypeError } from "../core/errors.js";
import { broadcastShapes, type Shape } from "../core/shape.js";
import { scalarLike } from "../tensor/methods/operands.js";
import { type Operand, Tensor } from "../tensor/tensor.js";
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
  const unit = unitFloats(words, dtype, operation);
  return stretched(unit, aboveMinusOne[dtype], 1).erfInv().mul(Math.SQRT2);
}

/** Normal numbers of mean 0 and variance 1. */
export function normal<D extends DType = "f32">(key: Key, shape: Shape = [], options: FloatOptions<D> = {}): Tensor<D> {
  checkOptions<FloatOptions>("random.normal", options, DTYPE);
  const dtype: DType = options.dtype ?? "f32";
  const work = workDType(dtype, "normal");
  return normalFrom(randomWords(key, shape, "normal"), work, "normal").cast(dtype) as Tensor<D>;
}

/**
 * Normal numbers of mean 0 and variance 1 that lie between low and high. Bounds beyond 5 on the same side leave few
 * distinct numbers in f32; use f64 there.
 */
export function truncatedNormal<D extends DType = "f32">(
  key: Key,
  low: Operand,
  high: Operand,
  shape?: Shape,
  options: FloatOptions<D> = {},
): Tensor<D> {
  checkOptions<FloatOptions>("random.truncatedNormal", options, DTYPE);
  checkKey(key, "truncatedNormal");
  const dtype: DType = options.dtype ?? "f32";
  const work = workDType(dtype, "truncatedNormal");
  const [from, to] = [low, high].map((bound) =>
    bound instanceof Tensor
      ? bound.cast(work)
      : scalarLike(key, checkNumber("random.truncatedNormal", "a bound that is no tensor", bound as number), work),
  );
  const extent = shape ?? broadcastShapes("random.truncatedNormal", from.shape, to.shape);
  const unit = unitFloats(randomWords(key, extent, "truncatedNormal"), work, "truncatedNormal");
  return inOperation("random.truncatedNormal", () => {
    const between = stretched(unit, from.mul(Math.SQRT1_2).erf(), to.mul(Math.SQRT1_2).erf());
    return between.erfInv().mul(Math.SQRT2).clip(from, to).cast(dtype) as Tensor<D>;
  });
}
