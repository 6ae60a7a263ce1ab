/** Methods of `Tensor`: division with remainder. */
import { type DType, isFloat, isInteger, isNarrowFloat } from "../../core/dtype.js";
import { DTypeError } from "../../core/errors.js";
import * as E from "../../graph/primitives/elementwise.js";
import { backendOf, makeNode } from "../build.js";
import type { Meeting } from "../result-dtypes.js";
import type { Operand, Tensor } from "../tensor.js";
import { met, metReals, scalarLike } from "./operands.js";
import { where } from "./where.js";

export class DivisionMethods<D extends DType> {
  /** The remainder with the sign of the divisor, as Python's %. Exact. Integers: by zero gives zero. */
  remainder<O extends Operand>(this: Tensor, other: O): Tensor<Meeting<D, O>> {
    const [a, b] = metReals("remainder", [this, other]);
    return remainder(a, b) as Tensor<Meeting<D, O>>;
  }

  /** Another name of `remainder`. */
  mod<O extends Operand>(this: Tensor, other: O): Tensor<Meeting<D, O>> {
    const [a, b] = metReals("mod", [this, other]);
    return remainder(a, b) as Tensor<Meeting<D, O>>;
  }

  /** The remainder with the sign of the dividend, as C's fmod. Exact, also for huge quotients. */
  fmod<O extends Operand>(this: Tensor, other: O): Tensor<Meeting<D, O>> {
    const [a, b] = metReals("fmod", [this, other]);
    return divided(a, b, E.rem);
  }

  /** The quotient rounded down, as Python's //. Integers: by zero gives zero. */
  floorDivide<O extends Operand>(this: Tensor, other: O): Tensor<Meeting<D, O>> {
    const [a, b] = metReals("floorDivide", [this, other]);
    return (isFloat(a.dtype) ? floorDivideFloats(a, b) : floorDivideIntegers(a, b)) as Tensor<Meeting<D, O>>;
  }

  /** The quotient rounded towards zero, of integers; by zero gives zero. */
  quotient<O extends Operand>(this: Tensor, other: O): Tensor<Meeting<D, O>> {
    const [a, b] = metIntegers("quotient", [this, other]);
    return divided(a, b, E.quotient);
  }
}

function divided<T extends DType>(a: Tensor, b: Tensor, primitive: typeof E.rem): Tensor<T> {
  return a.tensorOf(makeNode(primitive, [a.node, b.node], {}, backendOf(a.node)));
}

function metIntegers(operation: string, operands: readonly Operand[]): Tensor[] {
  const found = met(operation, operands);
  const [{ dtype }] = found;
  if (isInteger(dtype)) return found;
  throw new DTypeError(`${operation}: takes integers, not ${dtype}; use div(…).trunc().`);
}

const differentSigns = (a: Tensor, b: Tensor): Tensor => a.less(0).logicalXor(b.less(0));

/** 1 / y tells the sign of a zero. */
const hasMinus = (y: Tensor): Tensor => scalarLike(y, 1).div(y).less(0).logicalOr(y.less(0));

/** Zero with the sign of y. */
const zeroWithSignOf = (y: Tensor): Tensor => where(hasMinus(y), scalarLike(y, -0), scalarLike(y, 0));

/** x, of which zeros get the sign of y. The slope is 1 there too: 0 + x is 0 and -(0 - x) is -0, whichever zero x is. */
const withSignAtZero = (x: Tensor, y: Tensor): Tensor => {
  const zero = scalarLike(x, 0);
  return where(x.equal(0), where(hasMinus(y), zero.sub(x).neg(), zero.add(x)), x);
};

function remainder(a: Tensor, b: Tensor): Tensor {
  const rest = divided(a, b, E.rem);
  const moved = where(rest.notEqual(0).logicalAnd(differentSigns(rest, b)), rest.add(b), rest);
  return isFloat(a.dtype) ? withSignAtZero(moved, b) : moved;
}

/**
 * As CPython and NumPy do it: the exact remainder makes the quotient of the rest nearly whole, so rounding is safe. With the
 * few bits of f16 and bf16 it is not, so they are divided in f32.
 */
function floorDivideFloats(a: Tensor, b: Tensor): Tensor {
  if (isNarrowFloat(a.dtype)) return floorDivideFloats(a.cast("f32"), b.cast("f32")).cast(a.dtype);
  const rest = divided(a, b, E.rem);
  const quotient = a.sub(rest).div(b);
  const lowered = where(rest.notEqual(0).logicalAnd(differentSigns(rest, b)), quotient.sub(1), quotient);
  const whole = lowered.floor();
  const nearest = where(lowered.sub(whole).greater(0.5), whole.add(1), whole);
  const ratio = a.div(b);
  const signed = where(nearest.equal(0), zeroWithSignOf(ratio), nearest);
  return where(b.equal(0), ratio, signed);
}

function floorDivideIntegers(a: Tensor, b: Tensor): Tensor {
  const rest = divided(a, b, E.rem);
  const quotient = divided(a, b, E.quotient);
  return where(rest.notEqual(0).logicalAnd(differentSigns(rest, b)), quotient.sub(1), quotient);
}
