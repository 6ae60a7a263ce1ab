/** Methods of `Tensor`: the bits of integers; of booleans, logic. */
import type { DType } from "../../core/dtype.js";
import * as E from "../../graph/primitives/elementwise.js";
import type { Meeting } from "../result-dtypes.js";
import type { Operand, Tensor } from "../tensor.js";
import { binary, unary } from "./operands.js";

export class BitMethods<D extends DType> {
  /** The bits that both have. */
  bitwiseAnd<O extends Operand>(this: Tensor, other: O): Tensor<Meeting<D, O>> {
    return binary(this, E.and, other);
  }

  /** The bits that either has. */
  bitwiseOr<O extends Operand>(this: Tensor, other: O): Tensor<Meeting<D, O>> {
    return binary(this, E.or, other);
  }

  /** The bits that one of both has. */
  bitwiseXor<O extends Operand>(this: Tensor, other: O): Tensor<Meeting<D, O>> {
    return binary(this, E.xor, other);
  }

  /** All bits the other way round. */
  bitwiseNot(this: Tensor): Tensor<D> {
    return unary(this, E.not);
  }

  /** The bits moved up. */
  leftShift<O extends Operand>(this: Tensor, other: O): Tensor<Meeting<D, O>> {
    return binary(this, E.shiftLeft, other);
  }

  /** The bits moved down; of signed integers the sign bit is repeated. */
  rightShift<O extends Operand>(this: Tensor, other: O): Tensor<Meeting<D, O>> {
    return binary(this, E.shiftRight, other);
  }

  /** The number of ones among the bits of each integer. */
  popcount(this: Tensor): Tensor<D> {
    return unary(this, E.popcount);
  }

  /** The number of zero bits before the first one; the width for 0. */
  countLeadingZeros(this: Tensor): Tensor<D> {
    return unary(this, E.countLeadingZeros);
  }
}
