/** Divisions with remainder, comparisons within a tolerance, and other functions of two numbers. */
import { type DType, isComplex, isFloat, isInteger } from "../../core/dtype.js";
import { DTypeError } from "../../core/errors.js";
import * as E from "../../graph/primitives/elementwise.js";
import { backendOf, makeNode } from "../build.js";
import { Tensor, where } from "../tensor.js";
import { met, metFloats, metNumbers, scalarLike } from "./operands.js";

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
    remainder(other: Operand): Tensor;
    /** Another name of `remainder`. */
    mod(other: Operand): Tensor;
    /** The remainder with the sign of the dividend, as C's fmod. Exact, also for huge quotients. */
    fmod(other: Operand): Tensor;
    /** The quotient rounded down, as Python's //. Integers: by zero gives zero. */
    floorDivide(other: Operand): Tensor;
    /** log(exp(a) + exp(b)), without overflow. */
    logaddexp(other: Operand): Tensor;
    /** √(a² + b²), without overflow. */
    hypot(other: Operand): Tensor;
    /** The angle of the point (x, this), from -π to π: `y.atan2(x)`. */
    atan2(x: Operand): Tensor;
    /** The quotient rounded towards zero, of integers; by zero gives zero. */
    quotient(other: Operand): Tensor;
    /** Neither infinite nor NaN. */
    isFinite(): Tensor<"bool">;
    /** |a - b| ≤ atol + rtol·|b|; equal infinities are close. */
    isClose(other: Operand, options?: ClosenessOptions): Tensor<"bool">;
    /** Whether all elements are close: a tensor of one bool. */
    allClose(other: Operand, options?: ClosenessOptions): Tensor<"bool">;
  }
}

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

/** As CPython and NumPy do it: the exact remainder makes the quotient of the rest nearly whole, so rounding is safe. */
function floorDivideFloats(a: Tensor, b: Tensor): Tensor {
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

Tensor.prototype.remainder = function (other) {
  const [a, b] = met("remainder", [this, other]);
  return remainder(a, b);
};

Tensor.prototype.mod = Tensor.prototype.remainder;

Tensor.prototype.fmod = function (other) {
  const [a, b] = met("fmod", [this, other]);
  return divided(a, b, E.rem);
};

Tensor.prototype.floorDivide = function (other) {
  const [a, b] = met("floorDivide", [this, other]);
  return isFloat(a.dtype) ? floorDivideFloats(a, b) : floorDivideIntegers(a, b);
};

Tensor.prototype.logaddexp = function (other) {
  const [a, b] = metFloats("logaddexp", [this, other]);
  return divided(a, b, E.logaddexp);
};

Tensor.prototype.hypot = function (other) {
  const [a, b] = metFloats("hypot", [this, other]);
  return divided(a, b, E.hypot);
};

Tensor.prototype.atan2 = function (x) {
  const [a, b] = metFloats("atan2", [this, x]);
  return divided(a, b, E.atan2);
};

Tensor.prototype.quotient = function (other) {
  const [a, b] = met("quotient", [this, other]);
  if (!isInteger(a.dtype)) throw new DTypeError(`quotient: takes integers, not ${a.dtype}; use div(…).trunc().`);
  return divided(a, b, E.quotient);
};

Tensor.prototype.isFinite = function () {
  if (!isFloat(this.dtype) && !isComplex(this.dtype)) return this.equal(this);
  if (isComplex(this.dtype)) return this.real().isFinite().logicalAnd(this.imag().isFinite());
  return this.abs().less(Infinity);
};

Tensor.prototype.isClose = function (other, { rtol = 1e-5, atol = 1e-8, equalNaN = false } = {}) {
  const [a, b] = metNumbers("isClose", [this, other]);
  const isNear = a.sub(b).abs().lessEqual(b.abs().mul(rtol).add(atol)).logicalAnd(b.abs().less(Infinity));
  const isSame = a.equal(b).logicalOr(isNear);
  return equalNaN ? isSame.logicalOr(a.notEqual(a).logicalAnd(b.notEqual(b))) : isSame;
};

Tensor.prototype.allClose = function (other, options) {
  return this.isClose(other, options).all();
};
