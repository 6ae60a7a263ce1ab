/**
 * Converts between the three forms of a tensor's elements: JavaScript values, the typed array that `data()` returns, and the
 * bytes on the device or in a file (little-endian, row-major). Aligned bytes are viewed, others copied.
 * Tensor creation and reading, files and printing call this.
 */
import { type ByteFloat, decodeF8Array, encodeF8 } from "./byte-float.js";
import {
  type Complex,
  DTYPES,
  type DType,
  isPacked,
  type Scalar,
  type ScalarOf,
  type StorageArrayOf,
  type TypedArrayOf,
} from "./dtype.js";
import { DTypeError, SizeMismatchError } from "./errors.js";
import { decodeBf16Array, decodeF16Array, encodeBf16, encodeF16 } from "./half.js";
import { packIntegers, unpackIntegers } from "./packed.js";
import { checkScalar, fitsDType } from "./promotion.js";
import { shown } from "./shown.js";

/** The storage array over these bytes; a view when they are aligned, else a copy. */
function storageOf<D extends DType>(bytes: Uint8Array, dtype: D): StorageArrayOf<D> {
  const { storageArray, bytes: size } = DTYPES[dtype];
  if (bytes.byteLength % size !== 0) {
    throw new SizeMismatchError(`${bytes.byteLength} bytes are no whole number of ${dtype} elements of ${size} bytes.`);
  }
  const width = storageArray.BYTES_PER_ELEMENT;
  // Not slice(): that of a Buffer makes a view.
  const aligned = bytes.byteOffset % width === 0 ? bytes : new Uint8Array(bytes);
  return new storageArray(aligned.buffer, aligned.byteOffset, aligned.byteLength / width) as StorageArrayOf<D>;
}

/**
 * The array that `data()` returns for these bytes: narrow floats are decoded, packed integers unpacked, all else is as
 * storageOf. `count`: the elements, where the last byte may hold fewer than fit.
 */
export function dataOf<D extends DType>(bytes: Uint8Array, dtype: D, count?: number): TypedArrayOf<D> {
  const storage = storageOf<DType>(bytes, dtype);
  return decoded(storage, dtype, count ?? (8 * bytes.byteLength) / DTYPES[dtype].bits) as TypedArrayOf<D>;
}

function decoded(storage: StorageArrayOf, dtype: DType, count: number): TypedArrayOf {
  if (isPacked(dtype)) return unpackIntegers(storage as Uint8Array, dtype, count);
  switch (dtype) {
    case "f16":
      return decodeF16Array(storage as Uint16Array);
    case "bf16":
      return decodeBf16Array(storage as Uint16Array);
    case "f8e4m3":
    case "f8e5m2":
      return decodeF8Array(storage as Uint8Array, dtype);
    default:
      return storage;
  }
}

/** The bytes under a typed array, not copied. */
export function viewBytes(array: ArrayBufferView): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/**
 * The bytes of JavaScript values in a dtype. Fractions are dropped on the way to integers, as in NumPy, and floats are
 * rounded; an integer out of range, or NaN for an integer, is a DTypeError.
 */
export function encodeValues(values: ArrayLike<Scalar>, dtype: DType, operation: string): Uint8Array {
  const { storageArray, dataArray, lanes } = DTYPES[dtype];
  const storage = isPacked(dtype) ? new dataArray(values.length) : new storageArray(values.length * lanes);
  const store = writers[dtype] as Writer;
  for (let i = 0; i < values.length; i++) store(storage as Writable, i, values[i], dtype, operation);
  return isPacked(dtype) ? packIntegers(storage as Int8Array, dtype) : viewBytes(storage);
}

type Writable = { [index: number]: number | bigint };
type Writer = (out: Writable, index: number, value: Scalar, dtype: DType, operation: string) => void;

const writeBool: Writer = (out, i, value, dtype, operation) => {
  out[i] = typeof value === "boolean" ? Number(value) : Number(real(value, dtype, operation)) === 0 ? 0 : 1;
};
const writeInt: Writer = (out, i, value, dtype, operation) => {
  out[i] = Number(whole(value, dtype, operation));
};
const writeBigInt: Writer = (out, i, value, dtype, operation) => {
  out[i] = BigInt(whole(value, dtype, operation));
};
const writeFloat: Writer = (out, i, value, dtype, operation) => {
  out[i] = Number(real(value, dtype, operation));
};
const writeF16: Writer = (out, i, value, dtype, operation) => {
  out[i] = encodeF16(Number(real(value, dtype, operation)));
};
const writeBf16: Writer = (out, i, value, dtype, operation) => {
  out[i] = encodeBf16(Number(real(value, dtype, operation)));
};
const writeF8: Writer = (out, i, value, dtype, operation) => {
  out[i] = encodeF8(Number(real(value, dtype, operation)), dtype as ByteFloat);
};
const writeComplex: Writer = (out, i, value, dtype, operation) => {
  const isPair = typeof value === "object" && value !== null;
  out[2 * i] = isPair ? value.re : Number(real(value, dtype, operation));
  out[2 * i + 1] = isPair ? value.im : 0;
};

// biome-ignore format: a table reads best in rows
const writers: { readonly [D in DType]: Writer } = {
  bool: writeBool,
  u2: writeInt, u4: writeInt, u8: writeInt, u16: writeInt, u32: writeInt, u64: writeBigInt,
  i2: writeInt, i4: writeInt, i8: writeInt, i16: writeInt, i32: writeInt, i64: writeBigInt,
  f8e4m3: writeF8, f8e5m2: writeF8, bf16: writeBf16, f16: writeF16, f32: writeFloat, f64: writeFloat,
  c64: writeComplex, c128: writeComplex,
};

function real(value: Scalar, dtype: DType, operation: string): number | bigint {
  if (typeof value === "number" || typeof value === "bigint") return value;
  if (typeof value === "boolean") return Number(value);
  throw new DTypeError(`${operation}: ${shown(value)} is not a value of dtype ${dtype}.`);
}

/**
 * One value in a dtype, by the rules of `encodeValues`: integers drop fractions, and an integer out of range is a
 * DTypeError.
 */
export function scalarIn(value: Scalar, dtype: DType, operation: string): Scalar {
  switch (DTYPES[dtype].kind) {
    case "bool":
      return typeof value === "boolean" ? value : Number(real(value, dtype, operation)) !== 0;
    case "int":
    case "uint":
      return whole(value, dtype, operation);
    case "float":
      return real(value, dtype, operation);
    case "complex":
      checkScalar(value, operation);
      return value;
  }
}

function whole(value: Scalar, dtype: DType, operation: string): number | bigint {
  const number = real(value, dtype, operation);
  const integer = typeof number === "number" ? Math.trunc(number) : number;
  if (fitsDType(integer, dtype)) return integer;
  const { min, max } = DTYPES[dtype];
  throw new DTypeError(`${operation}: ${value} does not fit ${dtype} (${min} to ${max}); choose a wider dtype.`);
}

/** Reads one element of a data array as the value `item()` returns. */
export function elementAt<D extends DType>(data: TypedArrayOf<D>, dtype: D, index: number): ScalarOf<D> {
  const array = data as ArrayLike<number | bigint>;
  switch (DTYPES[dtype].kind) {
    case "bool":
      return (array[index] !== 0) as ScalarOf<D>;
    case "complex":
      return { re: array[2 * index], im: array[2 * index + 1] } as Complex as ScalarOf<D>;
    default:
      return array[index] as ScalarOf<D>;
  }
}
