/** Between the bytes on a device and the arrays users see. */
import { castScalar } from "../core/cast.js";
import {
  DTYPES,
  type DType,
  defaultDType,
  isComplex,
  type Scalar,
  type StorageArrayOf,
  type TypedArrayOf,
} from "../core/dtype.js";
import { ArgumentError, ShapeError } from "../core/errors.js";
import { decodeBf16Array, decodeF16Array, encodeBf16Array, encodeF16Array } from "../core/half.js";

/** Bytes as the dtype's data array; f16 and bf16 are decoded. */
export function decodeArray(dtype: DType, bytes: Uint8Array): TypedArrayOf {
  const { storageArray, bytes: width, lanes } = DTYPES[dtype];
  const stored = new storageArray(bytes.buffer, bytes.byteOffset, (bytes.byteLength / width) * lanes);
  if (dtype === "f16") return decodeF16Array(stored as Uint16Array);
  if (dtype === "bf16") return decodeBf16Array(stored as Uint16Array);
  return stored as TypedArrayOf;
}

/** Values as the bytes of a dtype. */
export function encodeArray(dtype: DType, values: readonly Scalar[]): Uint8Array {
  const { storageArray, lanes, kind } = DTYPES[dtype];
  const converted = values.map((value) =>
    castScalar(value, defaultDType(value) === "f32" ? "f64" : defaultDType(value), dtype),
  );
  if (dtype === "f16") return bytesOf(encodeF16Array(converted as number[]));
  if (dtype === "bf16") return bytesOf(encodeBf16Array(converted as number[]));
  const out = new storageArray(values.length * lanes) as StorageArrayOf;
  converted.forEach((value, i) => {
    if (isComplex(dtype) && typeof value === "object") {
      out[2 * i] = value.re;
      out[2 * i + 1] = value.im;
    } else out[i] = kind === "bool" ? (value ? 1 : 0) : (value as number);
  });
  return bytesOf(out);
}

const bytesOf = (array: ArrayBufferView): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

/** Typed arrays say their dtype; a Uint8ClampedArray is u8. */
export function dtypeOfTypedArray(array: ArrayBufferView): DType {
  const name = array.constructor.name;
  const found: Record<string, DType> = {
    Int8Array: "i8",
    Int16Array: "i16",
    Int32Array: "i32",
    BigInt64Array: "i64",
    Uint8Array: "u8",
    Uint8ClampedArray: "u8",
    Buffer: "u8",
    Uint16Array: "u16",
    Uint32Array: "u32",
    BigUint64Array: "u64",
    Float32Array: "f32",
    Float64Array: "f64",
  };
  const dtype = found[name];
  if (!dtype) throw new ArgumentError(`tensor: a ${name} has no dtype; give a typed array or nested arrays.`);
  return dtype;
}

/** Nested arrays as a flat list and a shape; ragged ones throw. */
export function flattenNested(nested: unknown): { values: Scalar[]; shape: number[] } {
  const shape: number[] = [];
  for (let level = nested; Array.isArray(level); level = level[0]) shape.push(level.length);
  const values: Scalar[] = [];
  const walk = (level: unknown, axis: number) => {
    if (!Array.isArray(level)) {
      if (axis !== shape.length) throw new ShapeError(`tensor: nested arrays of different depth at axis ${axis}.`);
      values.push(level as Scalar);
      return;
    }
    if (axis >= shape.length || level.length !== shape[axis]) {
      throw new ShapeError(
        `tensor: ragged arrays: a row of ${level.length} at axis ${axis}, where the first has ${shape[axis]}.`,
      );
    }
    for (const part of level) walk(part, axis + 1);
  };
  walk(nested, 0);
  return { values, shape };
}
