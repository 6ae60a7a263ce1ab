/** Exponential and Gumbel numbers, and choices among weighted alternatives. Equal to JAX's up to the rounding of log. */

import { checkOptions, inOperation } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import type { DType } from "../core/dtype.js";
import { DTYPES } from "../core/dtype.js";
import { ShapeError } from "../core/errors.js";
import { checkShape, formatShape, normalizeAxis, type Shape, sameShape } from "../core/shape.js";
import { asFloat, checkTensor, drawn, type Tensor } from "../tensor/index.js";
import { randomWords, unitFloats } from "./bits.js";
import { checkKey, type Key } from "./key.js";
import { workDType } from "./normal.js";
import { DTYPE, type FloatOptions, stretched } from "./uniform.js";

/** Exponential numbers of mean 1. */
export function exponential<D extends DType = "f32">(
  key: Key,
  shape: Shape = [],
  options: FloatOptions<D> = {},
): Tensor<D> {
  checkCount("random.exponential", 3, arguments);
  checkOptions<FloatOptions>("random.exponential", options, DTYPE);
  const dtype: DType = options.dtype ?? "f32";
  const unit = unitFloats(randomWords(key, shape, "exponential"), workDType(dtype, "exponential"), "exponential");
  return unit.neg().log1p().neg().cast(dtype) as Tensor<D>;
}

/** Gumbel numbers: the distribution of the largest of many. */
export function gumbel<D extends DType = "f32">(key: Key, shape: Shape = [], options: FloatOptions<D> = {}): Tensor<D> {
  checkCount("random.gumbel", 3, arguments);
  checkOptions<FloatOptions>("random.gumbel", options, DTYPE);
  const dtype: DType = options.dtype ?? "f32";
  const work = workDType(dtype, "gumbel");
  checkKey(key, "gumbel");
  return drawn(key, `gumbel ${dtype} ${checkShape(shape, "random.gumbel")}`, (from) => {
    const unit = unitFloats(randomWords(from as Key, shape, "gumbel"), work, "gumbel");
    return stretched(unit, DTYPES[work].tiny, 1).log().neg().log().neg().cast(dtype);
  }) as Tensor<D>;
}

/**
 * Positions along an axis (the last), drawn with probabilities in proportion to exp(logits). `shape` is that of the
 * result and ends with the other axes of the logits.
 */
export function categorical(
  key: Key,
  logits: Tensor,
  options: { readonly axis?: number; readonly shape?: Shape } = {},
): Tensor<"i32"> {
  checkCount("random.categorical", 3, arguments);
  checkOptions("random.categorical", options, { axis: "number", shape: "any" });
  checkKey(key, "categorical");
  checkTensor("random.categorical", "the logits", logits);
  const scores = asFloat("random.categorical", logits);
  const axis = normalizeAxis(options.axis ?? -1, scores.rank, "random.categorical");
  const others = scores.shape.filter((_, i) => i !== axis);
  const shape = checkShape(options.shape ?? others, "random.categorical");
  const leading = shape.slice(0, shape.length - others.length);
  if (shape.length < others.length || !sameShape(shape.slice(leading.length), others)) {
    throw new ShapeError(
      `random.categorical: the result's shape ${formatShape(shape)} must end with the other axes of the logits, ` +
        `${formatShape(others)}.`,
    );
  }
  return inOperation("random.categorical", () => {
    const noise = gumbel(key, [...leading, ...scores.shape], { dtype: scores.dtype });
    return noise.add(scores).argmax({ axis: leading.length + axis });
  });
}
