/** Methods of `Tensor` that give booleans: comparisons, logic, and tests of floats. */
import { checkOptions, type OptionKinds } from "../../core/arguments.js";
import { castScalar } from "../../core/cast.js";
import { DTYPES, type DType, defaultDType, isComplex, isFloat, isInteger, lowestOf } from "../../core/dtype.js";
import { checkScalar, fitsDType } from "../../core/promotion.js";
import type { ElementwisePrimitive } from "../../graph/primitive.js";
import * as E from "../../graph/primitives/elementwise.js";
import { backendOf, makeNode, meet, scalarNode } from "../build.js";
import type { Operand, Tensor } from "../tensor.js";
import { isTensor } from "../tensor-checks.js";
import { binary, isWholeNumber, met, metNumbers, unary } from "./operands.js";
import { where } from "./where.js";

/** Options of `isClose` and `allClose`. */
export interface ClosenessOptions {
  /** Allowed difference as a part of the other value; 1e-5. */
  readonly rtol?: number;
  /** Allowed difference in any case; 1e-8. */
  readonly atol?: number;
  /** Whether NaN is close to NaN. */
  readonly equalNaN?: boolean;
}

const CLOSENESS: OptionKinds<ClosenessOptions> = { rtol: "number", atol: "number", equalNaN: "flag" };

export class ComparisonMethods {
  /** a = b; NaN equals nothing. */
  equal(this: Tensor, other: Operand): Tensor<"bool"> {
    return compared(this, E.equal, other);
  }

  /** a ≠ b. */
  notEqual(this: Tensor, other: Operand): Tensor<"bool"> {
    return compared(this, E.notEqual, other);
  }

  /** a < b. */
  less(this: Tensor, other: Operand): Tensor<"bool"> {
    return compared(this, E.less, other);
  }

  /** a ≤ b. */
  lessEqual(this: Tensor, other: Operand): Tensor<"bool"> {
    return compared(this, E.lessEqual, other);
  }

  /** a > b. */
  greater(this: Tensor, other: Operand): Tensor<"bool"> {
    return compared(this, E.greater, other);
  }

  /** a ≥ b. */
  greaterEqual(this: Tensor, other: Operand): Tensor<"bool"> {
    return compared(this, E.greaterEqual, other);
  }

  /** Whether both differ from zero. */
  logicalAnd(this: Tensor, other: Operand): Tensor<"bool"> {
    return logical(this, E.and, "logicalAnd", other);
  }

  /** Whether either differs from zero. */
  logicalOr(this: Tensor, other: Operand): Tensor<"bool"> {
    return logical(this, E.or, "logicalOr", other);
  }

  /** Whether one of both differs from zero. */
  logicalXor(this: Tensor, other: Operand): Tensor<"bool"> {
    return logical(this, E.xor, "logicalXor", other);
  }

  /** Whether x is zero. */
  logicalNot(this: Tensor): Tensor<"bool"> {
    return unary(this.cast("bool"), E.not);
  }

  /** False for what cannot be NaN: integers and booleans. */
  isNaN(this: Tensor): Tensor<"bool"> {
    return tested(this, E.isNan);
  }

  /** False for what cannot be infinite: integers and booleans. */
  isInf(this: Tensor): Tensor<"bool"> {
    return tested(this, E.isInf);
  }

  /** Neither infinite nor NaN. */
  isFinite(this: Tensor): Tensor<"bool"> {
    if (!isFloat(this.dtype) && !isComplex(this.dtype)) return this.equal(this);
    if (isComplex(this.dtype)) return this.real().isFinite().logicalAnd(this.imag().isFinite());
    // A dtype without infinities cannot be compared with one.
    return lowestOf(this.dtype) === -Infinity ? this.abs().less(Infinity) : this.equal(this);
  }

  /** |a - b| ≤ atol + rtol·|b|; equal infinities are close. Of integers |a - b| is exact. */
  isClose(this: Tensor, other: Operand, options: ClosenessOptions = {}): Tensor<"bool"> {
    return closeness("isClose", this, other, options);
  }

  /** Whether all elements are close: a tensor of one bool. */
  allClose(this: Tensor, other: Operand, options: ClosenessOptions = {}): Tensor<"bool"> {
    return closeness("allClose", this, other, options).all();
  }
}

/** A whole number that an integer dtype does not hold is above all its numbers or below them, as in NumPy 2. */
function compared(x: Tensor, primitive: ElementwisePrimitive, other: Operand): Tensor<"bool"> {
  if (!isInteger(x.dtype) || !isWholeNumber(other) || fitsDType(other, x.dtype)) return binary(x, primitive, other);
  const holds: readonly ElementwisePrimitive[] =
    other > 0 ? [E.less, E.lessEqual, E.notEqual] : [E.greater, E.greaterEqual, E.notEqual];
  return x.tensorOf(scalarNode(holds.includes(primitive), "bool", backendOf(x.node), x.node.shape));
}

function logical(x: Tensor, primitive: ElementwisePrimitive, operation: string, other: Operand): Tensor<"bool"> {
  if (!isTensor(other)) checkScalar(other, operation);
  const right = isTensor(other) ? other.cast("bool").node : castScalar(other, defaultDType(other), "bool");
  const [a, b] = meet(operation, [x.cast("bool").node, right]);
  return x.tensorOf(makeNode(primitive, [a, b], {}, a.device));
}

/** A test of floats; false for the other dtypes. */
function tested(x: Tensor, primitive: ElementwisePrimitive): Tensor<"bool"> {
  const { kind } = DTYPES[x.dtype as DType];
  if (kind === "float" || kind === "complex") return unary(x, primitive);
  return x.tensorOf(scalarNode(false, "bool", backendOf(x.node), x.node.shape));
}

/** Their distance is exact, as an unsigned number; only the tolerance is rounded, to f64 where the device has it. */
function closeIntegers(a: Tensor, b: Tensor, rtol: number, atol: number): Tensor<"bool"> {
  const unsigned = DTYPES[a.dtype as DType].bits === 64 ? "u64" : "u32";
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
  const isNear = a
    .sub(b)
    .abs()
    .lessEqual(b.abs().mul(rtol).add(atol))
    .logicalAnd((isComplex(b.dtype) ? b.abs() : b).isFinite());
  const isSame = a.equal(b).logicalOr(isNear);
  return equalNaN ? isSame.logicalOr(a.notEqual(a).logicalAnd(b.notEqual(b))) : isSame;
}
