/**
 * The element types of tensors, as one table. Everything that depends on a dtype (sizes, limits, the array that holds
 * it, its name in files) is looked up here, so a new dtype is a new row. promotion.ts decides the dtype of a result, cast.ts
 * converts values between dtypes.
 */
import { DTypeError } from "./errors.js";
import { shown } from "./shown.js";

/** Every dtype, in the order of the promotion table. */
// biome-ignore format: rows by kind
export const DTYPE_NAMES = [
  "bool",
  "u2", "u4", "u8", "u16", "u32", "u64",
  "i2", "i4", "i8", "i16", "i32", "i64",
  "f8e4m3", "f8e5m2", "bf16", "f16", "f32", "f64",
  "c64", "c128",
] as const;

/** The name of a dtype: "f32", "i64", "bool" … */
export type DType = (typeof DTYPE_NAMES)[number];

export type DTypeKind = "bool" | "uint" | "int" | "float" | "complex";

/** A complex number as JavaScript can write it. */
export interface Complex {
  readonly re: number;
  readonly im: number;
}

/** An element as a JavaScript value. */
export type Scalar = number | bigint | boolean | Complex;

/**
 * The array that `data()` returns. bool is 0 or 1 per byte. Integers narrower than a byte come one per entry. Floats
 * narrower than 32 bits come decoded, since JavaScript cannot compute with their bits. Complex numbers are interleaved: real and imaginary part alternate, two entries per element.
 */
interface DataArrays {
  bool: Uint8Array;
  u2: Uint8Array;
  u4: Uint8Array;
  u8: Uint8Array;
  u16: Uint16Array;
  u32: Uint32Array;
  u64: BigUint64Array;
  i2: Int8Array;
  i4: Int8Array;
  i8: Int8Array;
  i16: Int16Array;
  i32: Int32Array;
  i64: BigInt64Array;
  f8e4m3: Float32Array;
  f8e5m2: Float32Array;
  bf16: Float32Array;
  f16: Float32Array;
  f32: Float32Array;
  f64: Float64Array;
  c64: Float32Array;
  c128: Float64Array;
}

/** Dtypes whose elements are narrower than a byte. */
export type PackedDType = "u2" | "u4" | "i2" | "i4";
/** Dtypes that JavaScript has no arrays for: their storage holds bit patterns. */
export type NarrowFloat = "f8e4m3" | "f8e5m2" | "bf16" | "f16";

/**
 * The array over the bytes in memory and in files: as DataArrays, except that narrow floats are their bit patterns, and
 * integers narrower than a byte are packed: the first element of a byte has its lowest bits, as in ONNX. Bits of the last
 * byte beyond the last element are 0.
 */
interface StorageArrays extends Omit<DataArrays, NarrowFloat | PackedDType> {
  u2: Uint8Array;
  u4: Uint8Array;
  i2: Uint8Array;
  i4: Uint8Array;
  f8e4m3: Uint8Array;
  f8e5m2: Uint8Array;
  bf16: Uint16Array;
  f16: Uint16Array;
}

/** The array that `data()` gives for a dtype. */
export type TypedArrayOf<D extends DType = DType> = DataArrays[D];
export type StorageArrayOf<D extends DType = DType> = StorageArrays[D];

/**
 * A dtype that types do not know: that of a bare `Tensor`. Such a tensor fits wherever one of a certain dtype is asked for, and
 * `item()` of it may be used as a number.
 */
// biome-ignore lint/suspicious/noExplicitAny: what is not known must fit everywhere
export type AnyDType = any;

/** The type of an element, by dtype. */
type Scalars = { readonly [D in DType]: ScalarIn<D> };
type ScalarIn<D extends DType> = D extends "bool"
  ? boolean
  : D extends "i64" | "u64"
    ? bigint
    : D extends "c64" | "c128"
      ? Complex
      : number;

/** The type that `item()` returns. */
export type ScalarOf<D extends DType = DType> = Scalars[D];

/** A typed array class that can be laid over a buffer. */
interface ArrayConstructor<A> {
  readonly BYTES_PER_ELEMENT: number;
  new (length: number): A;
  new (buffer: ArrayBufferLike, byteOffset?: number, length?: number): A;
}

interface DTypeInfo<D extends DType = DType> {
  readonly name: D;
  readonly kind: DTypeKind;
  /** Of an element by itself: 1 where several share a byte in tensors (bytes.ts counts those). */
  readonly bytes: number;
  readonly bits: number;
  /** Entries of the data array per element: 2 for complex, else 1. */
  readonly lanes: 1 | 2;
  readonly signed: boolean;
  /** Smallest and largest finite value; of one part for complex. bigint for the 64-bit integers. */
  readonly min: number | bigint;
  readonly max: number | bigint;
  /** Distance from 1 to the next float; 0 for dtypes that are not floats. */
  readonly epsilon: number;
  /** Smallest positive normal float; 0 for dtypes that are not floats. */
  readonly tiny: number;
  /**
   * NumPy's type string, that of the ml_dtypes package for dtypes which NumPy lacks: bf16 is two opaque bytes, f8e4m3 and the
   * integers narrower than a byte are one opaque byte each.
   */
  readonly numpy: string;
  /** The name in safetensors files; undefined where the format has none. */
  readonly safetensors: string | undefined;
  readonly dataArray: ArrayConstructor<TypedArrayOf<D>>;
  readonly storageArray: ArrayConstructor<StorageArrayOf<D>>;
}

/** A row of the table; the other entries are derived from it. */
type Row<D extends DType> = [
  kind: DTypeKind,
  bits: number,
  numpy: string,
  safetensors: string | undefined,
  data: ArrayConstructor<TypedArrayOf<D>>,
  storage?: ArrayConstructor<StorageArrayOf<D>>,
];

// biome-ignore format: a table reads best in rows
const ROWS: { [D in DType]: Row<D> } = {
  bool:   ["bool",    8,   "|b1",  "BOOL",    Uint8Array],
  u2:     ["uint",    2,   "<V1",  undefined, Uint8Array, Uint8Array],
  u4:     ["uint",    4,   "<V1",  undefined, Uint8Array, Uint8Array],
  u8:     ["uint",    8,   "|u1",  "U8",      Uint8Array],
  u16:    ["uint",    16,  "<u2",  "U16",     Uint16Array],
  u32:    ["uint",    32,  "<u4",  "U32",     Uint32Array],
  u64:    ["uint",    64,  "<u8",  "U64",     BigUint64Array],
  i2:     ["int",     2,   "<V1",  undefined, Int8Array, Uint8Array],
  i4:     ["int",     4,   "<V1",  undefined, Int8Array, Uint8Array],
  i8:     ["int",     8,   "|i1",  "I8",      Int8Array],
  i16:    ["int",     16,  "<i2",  "I16",     Int16Array],
  i32:    ["int",     32,  "<i4",  "I32",     Int32Array],
  i64:    ["int",     64,  "<i8",  "I64",     BigInt64Array],
  f8e4m3: ["float",   8,   "<V1",  "F8_E4M3", Float32Array, Uint8Array],
  f8e5m2: ["float",   8,   "<f1",  "F8_E5M2", Float32Array, Uint8Array],
  bf16:   ["float",   16,  "<V2",  "BF16",    Float32Array, Uint16Array],
  f16:    ["float",   16,  "<f2",  "F16",     Float32Array, Uint16Array],
  f32:    ["float",   32,  "<f4",  "F32",     Float32Array],
  f64:    ["float",   64,  "<f8",  "F64",     Float64Array],
  c64:    ["complex", 64,  "<c8",  "C64",     Float32Array],
  c128:   ["complex", 128, "<c16", undefined, Float64Array],
};

/** Bits of the exponent and of the stored fraction of each float format. */
const FLOAT_FORMATS = {
  f8e4m3: [4, 3],
  f8e5m2: [5, 2],
  bf16: [8, 7],
  f16: [5, 10],
  f32: [8, 23],
  f64: [11, 52],
  c64: [8, 23],
  c128: [11, 52],
} as const;

export const DTYPES: { readonly [D in DType]: DTypeInfo<D> } = Object.fromEntries(
  DTYPE_NAMES.map((name) => [name, describe(name)]),
) as unknown as { [D in DType]: DTypeInfo<D> };

function describe(name: DType): DTypeInfo {
  const [kind, bits, numpy, safetensors, dataArray, storageArray = dataArray] = ROWS[name] as Row<DType>;
  return {
    name,
    kind,
    bytes: Math.ceil(bits / 8),
    bits,
    lanes: kind === "complex" ? 2 : 1,
    signed: kind !== "bool" && kind !== "uint",
    ...limits(name, kind, bits),
    numpy,
    safetensors,
    dataArray,
    storageArray: storageArray as ArrayConstructor<StorageArrayOf>,
  };
}

function limits(name: DType, kind: DTypeKind, bits: number): Pick<DTypeInfo, "min" | "max" | "epsilon" | "tiny"> {
  if (kind === "float" || kind === "complex") {
    const [exponent, fraction] = FLOAT_FORMATS[name as keyof typeof FLOAT_FORMATS];
    const bias = 2 ** (exponent - 1) - 1;
    // f8e4m3 has no infinities: its largest exponent is one more, and all ones there are NaN.
    const max = name === "f8e4m3" ? (2 - 2 ** (1 - fraction)) * 2 ** (bias + 1) : (2 - 2 ** -fraction) * 2 ** bias;
    return { min: -max, max, epsilon: 2 ** -fraction, tiny: 2 ** (1 - bias) };
  }
  if (kind === "bool") return { min: 0, max: 1, epsilon: 0, tiny: 0 };
  const magnitude = 2n ** BigInt(kind === "int" ? bits - 1 : bits);
  const [min, max] = [kind === "int" ? -magnitude : 0n, magnitude - 1n];
  return bits === 64 ? { min, max, epsilon: 0, tiny: 0 } : { min: Number(min), max: Number(max), epsilon: 0, tiny: 0 };
}

export function isDType(name: unknown): name is DType {
  return typeof name === "string" && Object.hasOwn(DTYPES, name);
}

/** Names in other libraries that do not follow the rule of `otherName`. */
// biome-ignore format: pairs
const OTHER_NAMES: Readonly<Record<string, DType>> = {
  boolean: "bool", byte: "u8", int: "i32", long: "i64", half: "f16", bfloat16: "bf16", float: "f32", single: "f32",
  double: "f64", complex: "c64", f8_e4m3fn: "f8e4m3", f8_e4m3: "f8e4m3", f8_e5m2: "f8e5m2",
};

/** The dtype that another library's name stands for: "float32" for f32. */
function otherName(name: string): DType | undefined {
  const short = name
    .toLowerCase()
    .replace(/^(?:torch|np|jnp)\./, "")
    .replace(/^(float|uint|int|complex)(?=\d)/, ([letter]) => letter);
  return isDType(short) ? short : Object.hasOwn(OTHER_NAMES, short) ? OTHER_NAMES[short] : undefined;
}

/** The dtype of that name, or a DTypeError that lists them. */
export function checkDType(name: unknown, operation: string): DType {
  if (isDType(name)) return name;
  const meant = typeof name === "string" ? otherName(name) : undefined;
  const remedy = meant ? `write "${meant}"` : `use one of ${DTYPE_NAMES.join(", ")}`;
  throw new DTypeError(`${operation}: ${shown(name)} is not a dtype; ${remedy}.`);
}

export const isInteger = (dtype: DType): boolean => DTYPES[dtype].kind === "int" || DTYPES[dtype].kind === "uint";

/** Whether several elements share a byte of a tensor's memory. */
export const isPacked = (dtype: DType): dtype is PackedDType => DTYPES[dtype].bits < 8;

export const isByteFloat = (dtype: DType): dtype is "f8e4m3" | "f8e5m2" => isFloat(dtype) && DTYPES[dtype].bits === 8;

/** Floats of fewer than 32 bits: computed in f32, and rounded once per operation. */
export const isNarrowFloat = (dtype: DType): dtype is NarrowFloat => isFloat(dtype) && DTYPES[dtype].bits < 32;

/** The dtype of positions among `count` elements: i32 where it suffices, else i64. */
export const positionDType = (count: number): "i32" | "i64" => (count > 2 ** 31 - 1 ? "i64" : "i32");

export const isFloat = (dtype: DType): boolean => DTYPES[dtype].kind === "float";

/** The ends of a dtype's range: -∞ and ∞ of floats that have them, else the ends of the range. */
export const lowestOf = (dtype: DType): number | bigint => (hasInfinity(dtype) ? -Infinity : DTYPES[dtype].min);
export const highestOf = (dtype: DType): number | bigint => (hasInfinity(dtype) ? Infinity : DTYPES[dtype].max);

const hasInfinity = (dtype: DType): boolean => isFloat(dtype) && dtype !== "f8e4m3";

export const isComplex = (dtype: DType): dtype is "c64" | "c128" => DTYPES[dtype].kind === "complex";

/** Throws for complex numbers: they have no order. */
export function checkOrdered(dtype: DType, operation: string): void {
  if (!isComplex(dtype)) return;
  throw new DTypeError(`${operation}: complex numbers have no order; take real(), imag() or abs() of ${dtype} first.`);
}

/** The dtype of a complex number's parts, absolute value and phase; any other dtype itself. */
export function realDType(dtype: DType): DType {
  return dtype === "c64" ? "f32" : dtype === "c128" ? "f64" : dtype;
}

/** The complex dtype whose parts hold this dtype's values: c128 for f64 and c128, else c64. */
export function complexDType(dtype: DType): "c64" | "c128" {
  return dtype === "f64" || dtype === "c128" ? "c128" : "c64";
}

/** The default dtype of JavaScript values: numbers f32, bigints i64, booleans bool. */
export function defaultDType(value: Scalar): DType {
  switch (typeof value) {
    case "number":
      return "f32";
    case "bigint":
      return "i64";
    case "boolean":
      return "bool";
    default:
      return "c64";
  }
}
