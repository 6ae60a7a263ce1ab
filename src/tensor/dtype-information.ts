/**
 * Facts about dtypes and their promotion, under the names of the array API standard: for programs that serve several libraries.
 */
import { checkOptions } from "../core/arguments.js";
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
import { backendFor } from "./devices.js";
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
  return isOfKinds("isDType", checkDType(dtype, "isDType"), kind);
}

function isOfKinds(
  operation: string,
  dtype: DType,
  kind: DTypeGroup | DType | readonly (DTypeGroup | DType)[],
): boolean {
  const { kind: own } = DTYPES[dtype];
  return (Array.isArray(kind) ? kind : [kind]).some((each: unknown) => {
    if (typeof each === "string" && Object.hasOwn(KINDS, each)) {
      return (KINDS[each as DTypeGroup] as readonly DTypeKind[]).includes(own);
    }
    if (typeof each === "string" && Object.hasOwn(DTYPES, each)) return each === dtype;
    throw new ArgumentError(
      `${operation}: ${shown(each)} is neither a dtype nor a kind; kinds are ${Object.keys(KINDS).join(", ")}.`,
    );
  });
}

/** The standard's names of dtypes, and ours. */
const STANDARD_NAMES = {
  bool: "bool",
  int8: "i8",
  int16: "i16",
  int32: "i32",
  int64: "i64",
  uint8: "u8",
  uint16: "u16",
  uint32: "u32",
  uint64: "u64",
  float32: "f32",
  float64: "f64",
  complex64: "c64",
  complex128: "c128",
} as const satisfies Record<string, DType>;

/** The name of a dtype in the array API standard. */
export type StandardDTypeName = keyof typeof STANDARD_NAMES;

/** Options of `dtypes`. */
export interface DTypesOptions {
  /** The device that is to hold them; the default device unless told. */
  readonly device?: string;
  /** A kind of dtypes, or several; all unless told. */
  readonly kind?: DTypeGroup | readonly DTypeGroup[];
}

/** The dtypes that a device has, by their names in the array API standard: `dtypes({ kind: "integral" }).int8` is "i8". */
export function dtypes(options: DTypesOptions = {}): { readonly [Name in StandardDTypeName]?: DType } {
  checkCount("dtypes", 1, arguments);
  checkOptions("dtypes", options, { device: "text", kind: "any" });
  const { device, kind = Object.keys(KINDS) as DTypeGroup[] } = options;
  const { hasDoubles } = backendFor(device, "dtypes");
  const found = Object.entries(STANDARD_NAMES).filter(
    ([, dtype]) => isOfKinds("dtypes", dtype, kind) && (hasDoubles || realDType(dtype) !== "f64"),
  );
  return Object.fromEntries(found);
}

/** The dtypes that tensors have unless told, by kind: f32 for floats, i32 for integers and for positions. */
export function defaultDTypes(options: { readonly device?: string } = {}): DefaultDTypes {
  checkCount("defaultDTypes", 1, arguments);
  checkOptions("defaultDTypes", options, { device: "text" });
  // Checks the name; all devices have the same.
  backendFor(options.device, "defaultDTypes");
  return { "real floating": "f32", "complex floating": "c64", integral: "i32", indexing: "i32" };
}

/** The result of `defaultDTypes`. */
export interface DefaultDTypes {
  readonly "real floating": DType;
  readonly "complex floating": DType;
  readonly integral: DType;
  /** Of positions: those of `argmax`, for instance. */
  readonly indexing: DType;
}

/** What the array API standard leaves to a library: masks as indices, and results whose shape depends on values. Both work. */
export function capabilities(): { readonly "boolean indexing": boolean; readonly "data-dependent shapes": boolean } {
  checkCount("capabilities", 0, arguments);
  return { "boolean indexing": true, "data-dependent shapes": true };
}
