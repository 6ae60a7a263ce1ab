/** Methods of `Tensor`: arithmetic of numbers, their extremes, signs and rounding. */
import { inOperation } from "../../core/arguments.js";
import { DTYPES, type DType, isComplex, isInteger } from "../../core/dtype.js";
import { DTypeError } from "../../core/errors.js";
import { fitsDType } from "../../core/promotion.js";
import type { ElementwisePrimitive } from "../../graph/primitive.js";
import * as E from "../../graph/primitives/elementwise.js";
import { backendOf, floatNode, makeNode, meet, scalarNode } from "../build.js";
import type { FloatOf, Meeting, PowerOf, RealOf } from "../result-dtypes.js";
import type { Operand, Tensor } from "../tensor.js";
import { isTensor, nodeOrScalar } from "../tensor-checks.js";
import { complexFunctions } from "./complex-functions.js";
import { binary, isWholeNumber, unary } from "./operands.js";
import { type RoundOptions, roundedTo } from "./rounding.js";

/** One end of a range, which may be open. */
type Bound = Operand | null | undefined;
/** The dtype of numbers of dtype D after clipping at a bound, or at none. */
type Bounded<D extends DType, B> = B extends Operand ? Meeting<D, B> : D;

export class ArithmeticMethods<D extends DType> {
  /** a + b, with broadcasting: `x.add(1)`, `x.add(y)`. */
  add<O extends Operand>(this: Tensor, other: O): Tensor<Meeting<D, O>> {
    return binary(this, E.add, other);
  }

  /** a - b. */
  sub<O extends Operand>(this: Tensor, other: O): Tensor<Meeting<D, O>> {
    return binary(this, E.sub, other);
  }

  /** a · b, element by element; `matmul` is the product of matrices. */
  mul<O extends Operand>(this: Tensor, other: O): Tensor<Meeting<D, O>> {
    return binary(this, E.mul, other);
  }

  /** True division: integers become floats first. */
  div<O extends Operand>(this: Tensor, other: O): Tensor<FloatOf<Meeting<D, O>>> {
    return binary(this, E.div, other, true);
  }

  /**
   * To the power of a number or a tensor. Integers to the power of integers are integers, which wrap around, as in NumPy.
   * A negative number is no exponent for them, since the result would be a fraction; in a tensor of exponents it gives 0.
   */
  pow<O extends Operand>(this: Tensor, other: O): Tensor<PowerOf<Meeting<D, O>>> {
    const { kind } = DTYPES[this.dtype as DType];
    if (kind !== "float" && kind !== "complex" && isNegativeWhole(other)) {
      throw new DTypeError(`pow: ${this.dtype} to the power ${other} is a fraction; cast it to a float first.`);
    }
    const [base, exponent] = meet("pow", [this.node, nodeOrScalar(other)]);
    if (!isInteger(base.dtype)) {
      return this.tensorOf(makeNode(E.pow, [floatNode(base), floatNode(exponent)], {}, base.device));
    }
    if (!isTensor(other) && (other as number) <= UNROLLED_POWER)
      return wholePower(this.tensorOf(base), BigInt(other as number));
    return this.tensorOf(makeNode(E.integerPower, [base, exponent], {}, base.device));
  }

  /** The larger of two; NaN wins. Of booleans: whether either is true. */
  maximum<O extends Operand>(this: Tensor, other: O): Tensor<Meeting<D, O>> {
    return binary(this, isBoolWith(this, other) ? E.or : E.maximum, other);
  }

  /** The smaller of two; NaN wins. Of booleans: whether both are true. */
  minimum<O extends Operand>(this: Tensor, other: O): Tensor<Meeting<D, O>> {
    return binary(this, isBoolWith(this, other) ? E.and : E.minimum, other);
  }

  /**
   * At least `low` and at most `high`; null or nothing leaves a side open. Whole numbers that an integer dtype does not
   * hold bound it where it ends.
   */
  clip<L extends Bound = null, H extends Bound = null>(
    this: Tensor,
    low?: L,
    high?: H,
  ): Tensor<Bounded<Bounded<D, L>, H>> {
    const bounded = inOperation("clip", () => {
      const raised: Tensor = low == null ? this : this.maximum<Operand>(withinDType(low, this.dtype));
      return high == null ? raised : raised.minimum<Operand>(withinDType(high, raised.dtype));
    });
    return (bounded === this ? this.again() : bounded) as Tensor<Bounded<Bounded<D, L>, H>>;
  }

  /** -x. */
  neg(this: Tensor): Tensor<D> {
    return unary(this, E.neg);
  }

  /** The absolute value; of a complex number √(re² + im²), a real number. */
  abs(this: Tensor): Tensor<RealOf<D>> {
    return unary(this, E.abs);
  }

  /** -1, 0 or 1; of a complex number z / |z|. */
  sign(this: Tensor): Tensor<D> {
    if (isComplex(this.dtype)) return complexFunctions.sign(this) as Tensor<D>;
    return unary(this, E.sign);
  }

  /** x². */
  square(this: Tensor): Tensor<D> {
    return unary(this, E.square);
  }

  /** 1/x. */
  reciprocal(this: Tensor): Tensor<FloatOf<D>> {
    return unary(this, E.reciprocal, true);
  }

  /** Rounded down; integers as they are. */
  floor(this: Tensor): Tensor<D> {
    return rounded(this, E.floor);
  }

  /** Rounded up; integers as they are. */
  ceil(this: Tensor): Tensor<D> {
    return rounded(this, E.ceil);
  }

  /** Rounded towards zero; integers as they are. */
  trunc(this: Tensor): Tensor<D> {
    return rounded(this, E.trunc);
  }

  /**
   * Rounded to the nearest whole number, halves to the even one; integers as they are. `round({ decimals: 2 })` keeps two
   * digits after the point, `round({ decimals: -2 })` rounds to hundreds, integers too.
   */
  round(this: Tensor, options: RoundOptions = {}): Tensor<D> {
    return roundedTo(this, options) as Tensor<D>;
  }

  /** The number itself where it is positive, else 0. The slope at 0 is 0. */
  relu(this: Tensor): Tensor<D> {
    return unary(this, E.relu);
  }
}

function isBoolWith(x: Tensor, other: Operand): boolean {
  return x.dtype === "bool" && (isTensor(other) ? other.dtype === "bool" : typeof other === "boolean");
}

/** Integers and booleans are whole already. */
function rounded<D extends DType>(x: Tensor, primitive: ElementwisePrimitive): Tensor<D> {
  return isInteger(x.dtype) || x.dtype === "bool" ? x.tensorOf(x.node) : unary(x, primitive);
}

const isNegativeWhole = (x: Operand): boolean => isWholeNumber(x) && x < 0;

/** Powers that are written out as products. Larger ones are data, so that one program serves them all. */
const UNROLLED_POWER = 4;

/** Integers to a power that is known, by repeated squaring. */
function wholePower<D extends DType>(x: Tensor, exponent: bigint): Tensor<D> {
  if (exponent === 0n) return x.tensorOf(scalarNode(1, x.dtype, backendOf(x.node), x.node.shape));
  if (exponent === 1n) return x as Tensor<D>;
  const root = wholePower(x, exponent / 2n);
  const square = root.mul(root);
  return (exponent % 2n === 1n ? square.mul(x) : square) as Tensor<D>;
}

/** A bound as a dtype holds it: a whole number outside the dtype's range becomes the end of the range. */
function withinDType(bound: Operand, dtype: DType): Operand {
  if (!isInteger(dtype) || !isWholeNumber(bound) || fitsDType(bound, dtype)) return bound;
  const { min, max } = DTYPES[dtype];
  return bound < min ? min : max;
}
