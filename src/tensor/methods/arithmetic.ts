/** Divisions with remainder, comparisons within a tolerance, and other functions of two numbers. */
import { checkOptions, type OptionKinds } from "../../core/arguments.js";
import { DTYPES, type DType, isComplex, isFloat, isInteger } from "../../core/dtype.js";
import { DTypeError } from "../../core/errors.js";
import * as E from "../../graph/primitives/elementwise.js";
import { backendOf, makeNode } from "../build.js";
import type { FloatOf, Meeting } from "../result-dtypes.js";
import { type Operand, Tensor, where } from "../tensor.js";
import { met, metFloats, metNumbers, metReals, scalarLike } from "./operands.js";

export interface ClosenessOptions {
  /** Allowed difference as a part of the other value; 1e-5. */
  readonly rtol?: number;
  /** Allowed difference in any case; 1e-8. */
  readonly atol?: number;
  /** Whether NaN is close to NaN. */
  readonly equalNaN?: boolean;
}

declare module "../tensor.js" {
  interface Tensor<D extends DType = DType> {
    /** The remainder with the sign of the divisor, as Python's %. Exact. Integers: by zero gives zero. */
    remainder<O extends Operand>(other: O): Tensor<Meeting<D, O>>;
    /** Another name of `remainder`. */
    mod<O extends Operand>(other: O): Tensor<Meeting<D, O>>;
    /** The remainder with the sign of the dividend, as C's fmod. Exact, also for huge quotients. */
    fmod<O extends Operand>(other: O): Tensor<Meeting<D, O>>;
    /** The quotient rounded down, as Python's //. Integers: by zero gives zero. */
    floorDivide<O extends Operand>(other: O): Tensor<Meeting<D, O>>;
    /** log(exp(a) + exp(b)), without overflow. */
    logaddexp<O extends Operand>(other: O): Tensor<FloatOf<Meeting<D, O>>>;
    /** √(a² + b²), without overflow. */
    hypot<O extends Operand>(other: O): Tensor<FloatOf<Meeting<D, O>>>;
    /** The angle of the point (x, this), from -π to π: `y.atan2(x)`. */
    atan2<O extends Operand>(x: O): Tensor<FloatOf<Meeting<D, O>>>;
    /** The quotient rounded towards zero, of integers; by zero gives zero. */
    quotient<O extends Operand>(other: O): Tensor<Meeting<D, O>>;
    /** Neither infinite nor NaN. */
    isFinite(): Tensor<"bool">;
    /** |a - b| ≤ atol + rtol·|b|; equal infinities are close. Of integers |a - b| is exact. */
    isClose(other: Operand, options?: ClosenessOptions): Tensor<"bool">;
    /** Whether all elements are close: a tensor of one bool. */
    allClose(other: Operand, options?: ClosenessOptions): Tensor<"bool">;
  }
}

const CLOSENESS: OptionKinds<ClosenessOptions> = { rtol: "number", atol: "number", equalNaN: "flag" };

const divided = (a: Tensor, b: Tensor, primitive: typeof E.rem): Tensor =>
  new Tensor(makeNode(primitive, [a.node, b.node], {}, backendOf(a.node)));

const differentSigns = (a: Tensor, b: Tensor): Tensor => a.less(0).logicalXor(b.less(0));

/** |x| with the sign of y, for x that is zero: a zero takes the sign through a division that keeps it. */
const zeroWithSignOf = (y: Tensor): Tensor => {
  const isNegative = scalarLike(y, 1).div(y).less(0).logicalOr(y.less(0));
  return where(isNegative, scalarLike(y, -0), scalarLike(y, 0));
};

function remainder(a: Tensor, b: Tensor): Tensor {
  const rest = divided(a, b, E.rem);
  const moved = where(rest.notEqual(0).logicalAnd(differentSigns(rest, b)), rest.add(b), rest);
  return isFloat(a.dtype) ? where(moved.equal(0), zeroWithSignOf(b), moved) : moved;
}

/**
 * As CPython and NumPy do it: the exact remainder makes the quotient of the rest nearly whole, so rounding is safe. With the
 * few bits of f16 and bf16 it is not, so they are divided in f32.
 */
function floorDivideFloats(a: Tensor, b: Tensor): Tensor {
  if (DTYPES[a.dtype].bits === 16) return floorDivideFloats(a.cast("f32"), b.cast("f32")).cast(a.dtype);
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

const floorDivide = (a: Tensor, b: Tensor): Tensor =>
  isFloat(a.dtype) ? floorDivideFloats(a, b) : floorDivideIntegers(a, b);

/** A method of two operands, of which `bring` makes tensors that go together. */
const method = (operation: string, bring: typeof met, apply: (a: Tensor, b: Tensor) => Tensor) =>
  // biome-ignore lint/suspicious/noExplicitAny: the dtype depends on the operands, as the declarations above say
  function (this: Tensor, other: Operand): Tensor<any> {
    const [a, b] = bring(operation, [this, other]);
    return apply(a, b);
  };

const metIntegers: typeof met = (operation, operands) => {
  const found = met(operation, operands);
  const [{ dtype }] = found;
  if (isInteger(dtype)) return found;
  throw new DTypeError(`${operation}: takes integers, not ${dtype}; use div(…).trunc().`);
};

Tensor.prototype.remainder = method("remainder", metReals, remainder);
Tensor.prototype.mod = method("mod", metReals, remainder);
Tensor.prototype.fmod = method("fmod", metReals, (a, b) => divided(a, b, E.rem));
Tensor.prototype.floorDivide = method("floorDivide", metReals, floorDivide);
Tensor.prototype.quotient = method("quotient", metIntegers, (a, b) => divided(a, b, E.quotient));
Tensor.prototype.logaddexp = method("logaddexp", metFloats, (a, b) => divided(a, b, E.logaddexp));
Tensor.prototype.hypot = method("hypot", metFloats, (a, b) => divided(a, b, E.hypot));
Tensor.prototype.atan2 = method("atan2", metFloats, (a, b) => divided(a, b, E.atan2));

Tensor.prototype.isFinite = function () {
  if (!isFloat(this.dtype) && !isComplex(this.dtype)) return this.equal(this);
  if (isComplex(this.dtype)) return this.real().isFinite().logicalAnd(this.imag().isFinite());
  return this.abs().less(Infinity);
};

Tensor.prototype.isClose = function (other, options = {}) {
  return closeness("isClose", this, other, options);
};

/** Their distance is exact, as an unsigned number; only the tolerance is rounded, to f64 where the device has it. */
function closeIntegers(a: Tensor, b: Tensor, rtol: number, atol: number): Tensor<"bool"> {
  const unsigned = DTYPES[a.dtype].bits === 64 ? "u64" : "u32";
  const [from, to] = [a.cast(unsigned), b.cast(unsigned)];
  const distance = where(a.less(b), to.sub(from), from.sub(to));
  const fine = backendOf(a.node).hasDoubles ? "f64" : "f32";
  return distance.cast(fine).lessEqual(b.cast(fine).abs().mul(rtol).add(atol)).logicalOr(distance.equal(0));
}

function closeness(operation: string, x: Tensor, other: Operand, options: ClosenessOptions): Tensor<"bool"> {
  checkOptions(operation, options, CLOSENESS);
  const { rtol = 1e-5, atol = 1e-8, equalNaN = false } = options;
  const operands = met(operation, [x, other]);
  if (isInteger(operands[0].dtype)) return closeIntegers(operands[0], operands[1], rtol, atol);
  const [a, b] = metNumbers(operation, operands);
  const isNear = a.sub(b).abs().lessEqual(b.abs().mul(rtol).add(atol)).logicalAnd(b.abs().less(Infinity));
  const isSame = a.equal(b).logicalOr(isNear);
  return equalNaN ? isSame.logicalOr(a.notEqual(a).logicalAnd(b.notEqual(b))) : isSame;
}

Tensor.prototype.allClose = function (other, options = {}) {
  return closeness("allClose", this, other, options).all();
};
