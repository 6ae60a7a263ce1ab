/**
 * Facts about dtypes and their promotion, under the names of the array API standard: for programs that serve several libraries.
 */
import { checkCount } from "../core/arity.js";
import {
  checkDType,
  DTYPES,
  type DType,
  type DTypeKind,
  isComplex,
  isFloat,
  isInteger,
  realDType,
  type Scalar,
} from "../core/dtype.js";
import { ArgumentError, DTypeError } from "../core/errors.js";
import { promote, resultType as resultTypeOf } from "../core/promotion.js";
import { shown } from "../core/shown.js";
import { commonDType } from "./build.js";
import type { Operand, Tensor } from "./tensor.js";
import { isTensor, nodeOrScalar } from "./tensor-checks.js";

/** The limits of a float dtype. */
export interface FloatInfo {
  readonly dtype: DType;
  readonly bits: number;
  /** Distance from 1 to the next larger number. */
  readonly eps: number;
  readonly min: number;
  readonly max: number;
  /** The smallest positive number with all its digits. */
  readonly smallestNormal: number;
}

/** The limits of an integer dtype; bigints for 64 bits. */
export interface IntegerInfo {
  readonly dtype: DType;
  readonly bits: number;
  readonly min: number | bigint;
  readonly max: number | bigint;
}

const dtypeOf = (operation: string, given: DType | Tensor): DType =>
  isTensor(given) ? given.dtype : checkDType(given, operation);

/** The limits of a float dtype, or of a tensor's; of complex numbers those of their parts: `finfo("f16").max`. */
export function finfo(dtype: DType | Tensor): FloatInfo {
  checkCount("finfo", 1, arguments);
  const given = dtypeOf("finfo", dtype);
  if (!isFloat(given) && !isComplex(given)) {
    throw new DTypeError(`finfo: ${given} holds no floats; iinfo() has the limits of integers.`);
  }
  const { name, bits, epsilon, min, max, tiny } = DTYPES[realDType(given)];
  return { dtype: name, bits, eps: epsilon, min: Number(min), max: Number(max), smallestNormal: tiny };
}

/** The limits of an integer dtype, or of a tensor's: `iinfo("u8").max`. */
export function iinfo(dtype: DType | Tensor): IntegerInfo {
  checkCount("iinfo", 1, arguments);
  const given = dtypeOf("iinfo", dtype);
  if (!isInteger(given)) throw new DTypeError(`iinfo: ${given} holds no integers; finfo() has the limits of floats.`);
  const { name, bits, min, max } = DTYPES[given];
  return { dtype: name, bits, min, max };
}

/** The dtype of an operation on these: tensors, dtypes and JavaScript values, which take the dtype of what they meet. */
export function resultType(...operands: readonly (Operand | DType)[]): DType {
  const tensors = operands.filter((operand) => isTensor(operand));
  const others = operands.filter((operand): operand is DType | Scalar => !isTensor(operand));
  const names = others.filter((operand): operand is DType => typeof operand === "string");
  for (const name of names) checkDType(name, "resultType");
  if (names.length > 0) return resultTypeOf([...tensors.map(({ dtype }) => dtype), ...others], "resultType");
  // Numbers given to a jitted function count as JavaScript values.
  return commonDType(
    "resultType",
    operands.map((operand) => nodeOrScalar(operand as Operand)),
  );
}

/** Whether a dtype, or a tensor's, becomes another one by promotion: `canCast("i32", "f32")`, but not back. */
export function canCast(from: DType | Tensor, to: DType): boolean {
  checkCount("canCast", 2, arguments);
  return promote(dtypeOf("canCast", from), checkDType(to, "canCast")) === to;
}

/** Kinds of dtypes, by the standard's names. */
const KINDS = {
  bool: ["bool"],
  "signed integer": ["int"],
  "unsigned integer": ["uint"],
  integral: ["int", "uint"],
  "real floating": ["float"],
  "complex floating": ["complex"],
  numeric: ["int", "uint", "float", "complex"],
} as const satisfies Record<string, readonly DTypeKind[]>;

/** A kind of dtypes: "integral", "real floating" … */
export type DTypeGroup = keyof typeof KINDS;

/** Whether a dtype is of a kind, or of one of several kinds, or one of several dtypes: `isDType("u8", "integral")`. */
export function isDType(dtype: DType, kind: DTypeGroup | DType | readonly (DTypeGroup | DType)[]): boolean {
  checkCount("isDType", 2, arguments);
  const { kind: own } = DTYPES[checkDType(dtype, "isDType")];
  return (Array.isArray(kind) ? kind : [kind]).some((each: unknown) => {
    if (typeof each === "string" && Object.hasOwn(KINDS, each)) {
      return (KINDS[each as DTypeGroup] as readonly DTypeKind[]).includes(own);
    }
    if (typeof each === "string" && Object.hasOwn(DTYPES, each)) return each === dtype;
    throw new ArgumentError(
      `isDType: ${shown(each)} is neither a dtype nor a kind; kinds are ${Object.keys(KINDS).join(", ")}.`,
    );
  });
}
