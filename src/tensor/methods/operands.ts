/** Shared by the files of methods: one primitive applied, operands brought together, counting along an axis. */
import { DTYPES, type DType, isComplex, positionDType } from "../../core/dtype.js";
import { DTypeError } from "../../core/errors.js";
import { checkBroadcastTo } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import type { ElementwisePrimitive } from "../../graph/primitive.js";
import { iota } from "../../graph/primitives/leaf.js";
import { backendOf, checkOneDevice, derive, floatNode, makeNode, meet, scalarNode } from "../build.js";
import type { Operand, Tensor } from "../tensor.js";
import { isTensor, nodeOrScalar } from "../tensor-checks.js";
import { where } from "./where.js";

/** One object for all: equal parameters are found to be equal at once. */
const NO_PARAMS = {};

/** A primitive of one operand; `asFloat`: integers and booleans become f32 first. */
export function unary<T extends DType>(x: Tensor, primitive: ElementwisePrimitive, asFloat = false): Tensor<T> {
  return x.tensorOf(derive(primitive, asFloat ? floatNode(x.node) : x.node, NO_PARAMS));
}

/** A primitive of two operands, brought together. */
export function binary<T extends DType>(
  x: Tensor,
  primitive: ElementwisePrimitive,
  other: Operand,
  asFloat = false,
): Tensor<T> {
  const operands = meet(primitive.called ?? primitive.name, [x.node, nodeOrScalar(other)]);
  return x.tensorOf(makeNode(primitive, asFloat ? operands.map(floatNode) : operands, NO_PARAMS, operands[0].device));
}

export const isWholeNumber = (value: Operand): value is number | bigint =>
  typeof value === "bigint" || (typeof value === "number" && Number.isInteger(value));

/** Operands, at least one of them a tensor, as tensors of one device, dtype and shape. */
export function met(operation: string, operands: readonly Operand[]): Tensor[] {
  const like = operands.find(isTensor) as Tensor;
  return meet(operation, operands.map(nodeOrScalar)).map((node) => like.tensorOf(node));
}

/** The same, for operations that are defined for real numbers only. */
export function metReals(operation: string, operands: readonly Operand[]): Tensor[] {
  const found = met(operation, operands);
  const [{ dtype }] = found;
  if (DTYPES[dtype as DType].kind !== "bool" && !isComplex(dtype)) return found;
  const remedy = isComplex(dtype) ? "take its real(), imag() or abs()" : "cast it";
  throw new DTypeError(`${operation}: takes real numbers, not ${dtype}; ${remedy} first.`);
}

/** The same as floats: integers and booleans become f32. */
export function metFloats(operation: string, operands: readonly Operand[]): Tensor[] {
  return met(operation, operands).map((x) => asFloat(operation, x));
}

/** The same, or as complex numbers. */
export function metNumbers(operation: string, operands: readonly Operand[]): Tensor[] {
  return met(operation, operands).map((x) => (isComplex(x.dtype) ? x : asFloat(operation, x)));
}

export function asFloat(operation: string, x: Tensor): Tensor {
  const { kind } = DTYPES[x.dtype as DType];
  if (kind === "complex") throw new DTypeError(`${operation}: takes real numbers, not ${x.dtype}.`);
  return kind === "float" ? x : x.cast("f32");
}

/** One number of a dtype, on the device of a tensor. */
export function scalarLike(x: Tensor, value: number | bigint | boolean, dtype: DType = x.dtype): Tensor {
  return x.tensorOf(scalarNode(value, dtype, backendOf(x.node)));
}

/** 0, 1 … count - 1 on the device of a tensor: i32, or i64 where that cannot count so far, which types cannot tell. */
export function countingLike(x: Tensor, count: number): Tensor<"i32"> {
  return x.tensorOf(makeNode(iota, [], { shape: [count], dtype: positionDType(count) }, backendOf(x.node)));
}

/** Each element's position along one axis of a tensor: shaped to broadcast with it. */
export function positionsAlong(x: Tensor, axis: number): Tensor<"i32"> {
  const shape = x.shape.map((extent, i) => (i === axis ? extent : 1));
  return countingLike(x, x.shape[axis]).reshape(shape);
}

/** The result of some steps as a handle of its own, also where the steps changed nothing. */
export const apartFrom = <T extends Tensor>(x: T, result: T): T => (result === x ? (x.again() as T) : result);

/** Values for x: its dtype, its device. A number must fit. */
export function valuesFor(x: Tensor, values: Operand, operation: string): Tensor {
  if (isTensor(values)) {
    checkOneDevice(operation, [x.node, values.node]);
    if (isComplex(values.dtype) && !isComplex(x.dtype)) {
      throw new DTypeError(`${operation}: ${values.dtype} values do not fit ${x.dtype}; take their real() or imag().`);
    }
    return values.cast(x.dtype);
  }
  const [, value] = met(operation, [scalarLike(x, 0), values]);
  if (value.dtype !== x.dtype && x.dtype !== "bool") {
    throw new DTypeError(`${operation}: ${shown(values)} does not fit ${x.dtype}; cast the tensor first.`);
  }
  return value.cast(x.dtype);
}

/** The same stretched to a shape. */
export function broadcastValues(values: Tensor, shape: readonly number[], operation: string): Tensor {
  return values.broadcastTo(checkBroadcastTo(`${operation}, values`, values.shape, shape));
}

/** |x|², which is real. */
export function squaredSize(x: Tensor): Tensor {
  return isComplex(x.dtype) ? x.mul(x.conj()).real() : x.square();
}

/** f(x), which is zero at zero, with no slope there: for roots of sums of squares, whose slope would be NaN. */
export function flatAtZero(x: Tensor, f: (x: Tensor) => Tensor): Tensor {
  // Nobody differentiates it.
  if (x.node.trace === null && !x.node.isAbstract) return f(x);
  const isZero = x.equal(0);
  return where(isZero, 0, f(where(isZero, 1, x)));
}
