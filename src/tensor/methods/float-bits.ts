/** Methods of `Tensor` that look at floats as they are stored: the sign bit, the neighbours of a number, NaN and infinity. */
import { checkOptions, type OptionKinds } from "../../core/arguments.js";
import { DTYPES, type DType, isComplex, isFloat } from "../../core/dtype.js";
import * as E from "../../graph/primitives/elementwise.js";
import { backendOf, derive, makeNode, scalarNode } from "../build.js";
import type { FloatOf, Meeting } from "../result-dtypes.js";
import type { Operand, Tensor } from "../tensor.js";
import { asFloat, metFloats, scalarLike } from "./operands.js";
import { orderKey } from "./ordering.js";
import { where } from "./where.js";

/** Replacements for `nanToNum`. */
export interface NanToNumOptions {
  /** For NaN; 0 unless told. */
  readonly nan?: number;
  /** For infinity; the largest number of the dtype unless told. */
  readonly posinf?: number;
  /** For -infinity; the smallest number of the dtype unless told. */
  readonly neginf?: number;
}

const NAN_TO_NUM: OptionKinds<NanToNumOptions> = { nan: "number", posinf: "number", neginf: "number" };

export class FloatBitMethods<D extends DType> {
  /** Whether the sign is a minus: true also for -0 and for a NaN with the sign bit. */
  signbit(this: Tensor): Tensor<"bool"> {
    const { kind } = DTYPES[this.dtype as DType];
    if (kind === "int") return this.less(0);
    if (kind !== "float" && kind !== "complex") {
      return this.tensorOf(scalarNode(false, "bool", backendOf(this.node), this.node.shape));
    }
    return isNegative(asFloat("signbit", this));
  }

  /** The size of this with the sign of the other, which -0 has too. The slope is 1 or -1. */
  copysign<O extends Operand>(this: Tensor, other: O): Tensor<FloatOf<Meeting<D, O>>> {
    const [x, y] = metFloats("copysign", [this, other]);
    return where(isNegative(x).equal(isNegative(y)), x, x.neg()) as Tensor<FloatOf<Meeting<D, O>>>;
  }

  /** The next number of the dtype in the direction of the other; the other where both are equal. Its slope is 0. */
  nextAfter<O extends Operand>(this: Tensor, other: O): Tensor<FloatOf<Meeting<D, O>>> {
    const [x, y] = metFloats("nextAfter", [this, other]);
    return neighbour(x, y) as Tensor<FloatOf<Meeting<D, O>>>;
  }

  /** NaN and infinities replaced by numbers: `x.nanToNum({ nan: -1, posinf: 9, neginf: -9 })`. Integers as they are. */
  nanToNum(this: Tensor, options: NanToNumOptions = {}): Tensor<D> {
    checkOptions("nanToNum", options, NAN_TO_NUM);
    return replaced(this, options) as Tensor<D>;
  }
}

const bitsOf = (x: Tensor, dtype: DType): Tensor => x.tensorOf(derive(E.bitcast, x.node, { dtype }));

/** The sign bit of floats is that of whole numbers of the same bits. */
const isNegative = (x: Tensor): Tensor<"bool"> => bitsOf(x, `i${DTYPES[x.dtype as DType].bits}` as DType).less(0);

/** Bits of one sign rise as the size does, so the neighbours of a number are one bit pattern before and after. */
function neighbour(x: Tensor, y: Tensor): Tensor {
  const { bits } = DTYPES[x.dtype as DType];
  const unsigned = `u${bits}` as DType;
  const signBit = 1n << BigInt(bits - 1);
  const pattern = bitsOf(x, unsigned);
  // Keys, not floats, are compared: devices may take subnormal numbers for zero.
  const [from, to] = [x, y].map((value) => orderKey("nextAfter", value, false));
  const isUp = from.less(to);
  const isZero = pattern.bitwiseAnd(signBit - 1n).equal(0);
  const isOutwards = isUp.logicalXor(pattern.greaterEqual(signBit));
  const next = where(isOutwards, pattern.add(1), pattern.sub(1));
  const least = where(isUp, scalarLike(x, 1, unsigned), scalarLike(x, signBit + 1n, unsigned));
  const moved = bitsOf(where(isZero, least, next), x.dtype);
  const isEitherNaN = x.isNaN().logicalOr(y.isNaN());
  return where(isEitherNaN, Number.NaN, where(from.equal(to), y, moved));
}

function replaced(x: Tensor, options: NanToNumOptions): Tensor {
  if (isComplex(x.dtype)) {
    const parts = [x.real(), x.imag()].map((part) => replaced(part, options).node);
    return x.tensorOf(makeNode(E.complex, parts, {}, backendOf(x.node)));
  }
  if (!isFloat(x.dtype)) return x.again();
  const { min, max } = DTYPES[x.dtype as DType];
  const { nan = 0, posinf = Number(max), neginf = Number(min) } = options;
  const finite = where(x.equal(Infinity), posinf, where(x.equal(-Infinity), neginf, x));
  return where(x.isNaN(), nan, finite);
}
