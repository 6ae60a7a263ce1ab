/** What users hand to `tensor()`: which dtype a typed array has, and what shape nested arrays have. */
import type { DType, Scalar } from "../core/dtype.js";
import { ArgumentError, ShapeError } from "../core/errors.js";
import { isScalar } from "../core/promotion.js";
import { remedyForTensor, shown } from "../core/shown.js";

/** Typed arrays say their dtype; a Uint8ClampedArray is u8. */
export function dtypeOfTypedArray(array: ArrayBufferView): DType {
  const name = (array as Uint8Array)[Symbol.toStringTag] as string;
  const found: Record<string, DType> = {
    Int8Array: "i8",
    Int16Array: "i16",
    Int32Array: "i32",
    BigInt64Array: "i64",
    Uint8Array: "u8",
    Uint8ClampedArray: "u8",
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

/** More axes than anyone means: an array that holds itself has no end. */
const MAX_RANK = 64;

/** Nested arrays as a flat list and a shape; ragged ones throw, and so does what is no number. */
export function flattenNested(nested: unknown, operation: string): { values: Scalar[]; shape: number[] } {
  const shape: number[] = [];
  for (let level = nested; Array.isArray(level); level = level[0]) {
    shape.push(level.length);
    if (shape.length > MAX_RANK) throw new ShapeError(`${operation}: arrays nested more than ${MAX_RANK} deep.`);
  }
  const values: Scalar[] = [];
  const walk = (level: unknown, axis: number) => {
    if (!Array.isArray(level)) {
      if (axis !== shape.length) {
        throw new ShapeError(
          `${operation}: ragged arrays: ${shown(level)} at axis ${axis}, where the first is a row of ${shape[axis]}.`,
        );
      }
      if (!isScalar(level)) {
        throw new ArgumentError(
          `${operation}: ${shown(level)} is no value; values are numbers, bigints, booleans or { re, im }, ` +
            `one of them or lists of them, to any depth.${remedyForTensor(level)}`,
        );
      }
      values.push(level);
      return;
    }
    if (axis >= shape.length || level.length !== shape[axis]) {
      throw new ShapeError(
        `${operation}: ragged arrays: a row of ${level.length} at axis ${axis}, where the first ` +
          `${axis >= shape.length ? "is a number" : `has ${shape[axis]}`}.`,
      );
    }
    for (const part of level) walk(part, axis + 1);
  };
  walk(nested, 0);
  return { values, shape };
}
