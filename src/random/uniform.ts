/** Uniform floats, integers and coin tosses. Equal to JAX's for the same key, except randint of less than 32 bits. */

import { checkNumber, checkOptions, inOperation } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import { roundTo } from "../core/cast.js";
import { DTYPES, type DType, isFloat, isInteger } from "../core/dtype.js";
import { ArgumentError, DTypeError } from "../core/errors.js";
import { checkShape, type Shape } from "../core/shape.js";
import { shown } from "../core/shown.js";
import { drawn, type Operand, Tensor } from "../tensor/index.js";
import { bits, randomWords, unitFloats } from "./bits.js";
import { checkKey, type Key, split } from "./key.js";

export interface FloatOptions<D extends DType = DType> {
  /** A float dtype; f32 unless told. */
  readonly dtype?: D;
}

/** The options that every distribution takes. */
export const DTYPE = { dtype: "dtype" } as const;

interface UniformOptions<D extends DType = DType> extends FloatOptions<D> {
  /** Smallest value, included; 0. */
  readonly low?: Operand;
  /** Largest value, excluded (rounding may reach it when low is not 0); 1. */
  readonly high?: Operand;
}

/** Evenly distributed floats from low to high. */
export function uniform<D extends DType = "f32">(
  key: Key,
  shape: Shape = [],
  options: UniformOptions<D> = {},
): Tensor<D> {
  checkCount("random.uniform", 3, arguments);
  checkOptions<UniformOptions>("random.uniform", options, { ...DTYPE, low: "any", high: "any" });
  const dtype = options.dtype ?? "f32";
  checkKey(key, "uniform");
  const unit = drawn(key, `uniform ${dtype} ${checkShape(shape, "random.uniform")}`, (from) =>
    unitFloats(randomWords(from as Key, shape, "uniform"), dtype, "uniform"),
  );
  return inOperation("random.uniform", () => stretched(unit, options.low ?? 0, options.high ?? 1)) as Tensor<D>;
}

/** From [0, 1) to [low, high), in the dtype of the unit floats. */
export function stretched(unit: Tensor, low: Operand, high: Operand): Tensor {
  if (low === 0 && high === 1) return unit;
  const { dtype } = unit;
  const [from, to] = [low, high].map((bound) => (bound instanceof Tensor ? bound.cast(dtype) : rounded(bound, dtype)));
  const width =
    from instanceof Tensor ? (to instanceof Tensor ? to : from.mul(0).add(to)).sub(from) : widthFrom(from, to, dtype);
  return unit.mul(width).add(from).maximum(from);
}

function widthFrom(from: number, to: Tensor | number, dtype: DType): Operand {
  return to instanceof Tensor ? to.sub(from) : roundTo(dtype, to - from);
}

function rounded(bound: Operand, dtype: DType): number {
  if (typeof bound !== "number") throw new ArgumentError("random.uniform: bounds are numbers or tensors.");
  return roundTo(dtype, bound);
}

/** true with probability p (0.5); p broadcasts to the shape, which is its own unless told. */
export function bernoulli(key: Key, p: number | Tensor = 0.5, shape?: Shape): Tensor<"bool"> {
  checkCount("random.bernoulli", 3, arguments);
  const dtype = p instanceof Tensor && isFloat(p.dtype) ? p.dtype : "f32";
  const extent = shape ?? (p instanceof Tensor ? p.shape : []);
  if (!(p instanceof Tensor)) checkNumber("random.bernoulli", "the probability", p);
  return inOperation("random.bernoulli", () =>
    uniform(key, extent, { dtype }).less(p instanceof Tensor ? p.cast(dtype) : p),
  );
}

/**
 * Whole numbers from low to high - 1. As in JAX, twice the bits of the dtype are reduced by remainder, so that the bias
 * towards small numbers is at most 2^-32 of a number's probability up to 2^16 numbers and (high - low) / 2^32 above.
 */
export function randint<D extends DType = "i32">(
  key: Key,
  shape: Shape,
  low: number | bigint,
  high: number | bigint,
  options: { readonly dtype?: D } = {},
): Tensor<D> {
  checkCount("random.randint", 5, arguments);
  checkOptions<{ readonly dtype?: DType }>("random.randint", options, DTYPE);
  checkKey(key, "randint");
  checkShape(shape, "random.randint");
  const dtype: DType = options.dtype ?? "i32";
  if (!isInteger(dtype)) throw new DTypeError(`random.randint: ${dtype} is no integer; use uniform for floats.`);
  const { min, max } = DTYPES[dtype];
  const areWhole = [low, high].every((bound) => typeof bound === "bigint" || Number.isSafeInteger(bound));
  if (!areWhole || !(low < high) || low < min || BigInt(high) > BigInt(max) + 1n) {
    throw new ArgumentError(
      `random.randint: from ${shown(low)} to below ${shown(high)} of ${dtype}; low is less than high, and both are ` +
        `whole numbers within ${min} to ${max}.`,
    );
  }
  const wide = DTYPES[dtype].bits === 64 ? "u64" : "u32";
  const modulus = wide === "u64" ? 2n ** 64n : 2n ** 32n;
  const span = BigInt(high) - BigInt(low);
  const [upperKey, lowerKey] = split(key);
  const lower = bits(lowerKey, shape, { dtype: wide });
  const offset = span === modulus ? lower : folded(bits(upperKey, shape, { dtype: wide }), lower, span, modulus);
  return offset.cast(dtype).add(low) as Tensor<D>;
}

/** (upper · 2^width + lower) mod span, with products that wrap at the width. */
function folded(upper: Tensor, lower: Tensor, span: bigint, modulus: bigint): Tensor {
  const half = modulus === 2n ** 64n ? 2n ** 32n : 2n ** 16n;
  const root = half % span;
  const factor = ((root * root) % modulus) % span;
  return upper.fmod(span).mul(factor).add(lower.fmod(span)).fmod(span);
}
