/** Rounding to a number of decimals, for the method `round`. Halves go to the even neighbour. */
import { checkOptions, checkWhole } from "../../core/arguments.js";
import { DTYPES, type DType, isComplex, isInteger, isNarrowFloat } from "../../core/dtype.js";
import * as E from "../../graph/primitives/elementwise.js";
import { backendOf, makeNode } from "../build.js";
import type { Tensor } from "../tensor.js";
import { scalarLike, unary } from "./operands.js";
import { where } from "./where.js";

/** Options of `round`. */
export interface RoundOptions {
  /** Digits kept after the decimal point; 0 unless told. Negative ones round to tens, hundreds … */
  readonly decimals?: number;
}

export function roundedTo(x: Tensor, options: RoundOptions): Tensor {
  checkOptions("round", options, { decimals: "number" });
  const decimals = checkWhole("round", "the option decimals", options.decimals ?? 0);
  if (isComplex(x.dtype)) {
    const [re, im] = [roundedTo(x.real(), options), roundedTo(x.imag(), options)];
    return x.tensorOf(makeNode(E.complex, [re.node, im.node], {}, backendOf(x.node)));
  }
  if (isInteger(x.dtype) || x.dtype === "bool") {
    return decimals >= 0 || x.dtype === "bool" ? x.again() : roundedIntegers(x, 10n ** BigInt(Math.min(-decimals, 40)));
  }
  if (decimals === 0) return unary(x, E.round);
  // Powers of ten soon leave the range of 16 bits.
  if (isNarrowFloat(x.dtype)) return roundedFloats(x.cast("f32"), decimals).cast(x.dtype);
  return roundedFloats(x, decimals);
}

/** As NumPy: scaled, rounded and scaled back. Numbers too large to be scaled have no digit to round, and stay. */
function roundedFloats(x: Tensor, decimals: number): Tensor {
  const power = 10 ** Math.abs(decimals);
  const fits = power <= Number(DTYPES[x.dtype as DType].max);
  if (decimals < 0) return fits ? unary(x.div(power), E.round).mul(power) : x.mul(0);
  if (!fits) return x.again();
  const scaled = x.mul(power);
  return where(scaled.isFinite(), unary(scaled, E.round).div(power), x);
}

/** Exactly, to a multiple of a power of ten. A multiple that the dtype does not hold wraps around. */
function roundedIntegers(x: Tensor, power: bigint): Tensor {
  const { bits, signed, max } = DTYPES[x.dtype as DType];
  const wide: DType = bits >= 32 ? x.dtype : signed ? "i32" : "u32";
  // Half of such a power is more than any number of the dtype; only of the widest may it be less, and then the result wraps.
  if (power > BigInt(DTYPES[wide].max) || power > 2n * BigInt(max) + 1n) return scalarLike(x, 0).broadcastTo(x.shape);
  const value = x.cast(wide);
  const rest = value.remainder(power);
  const below = value.sub(rest);
  const isOdd = below.quotient(power).bitwiseAnd(1).equal(1);
  const half = power / 2n;
  const isUp = rest.greater(half).logicalOr(rest.equal(half).logicalAnd(isOdd));
  return where(isUp, below.add(power), below).cast(x.dtype);
}
