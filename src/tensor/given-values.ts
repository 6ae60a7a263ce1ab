/** Values as users give them: the dtype of a typed array, the shape of nested arrays, and a node that holds either. */
import type { DType, Scalar } from "../core/dtype.js";
import { ArgumentError, ShapeError } from "../core/errors.js";
import { isScalar, resultType } from "../core/promotion.js";
import { checkShape, formatShape, type Shape, sizeOf } from "../core/shape.js";
import { remedyForTensor, shown } from "../core/shown.js";
import { encodeValues, viewBytes } from "../core/storage.js";
import type { Node } from "../graph/node.js";
import type { Backend } from "../runtime/backend.js";
import { castNode, storedNode } from "./build.js";
import { isTensor } from "./tensor-checks.js";

/** Typed arrays say their dtype; a Uint8ClampedArray is u8. */
function dtypeOfTypedArray(array: ArrayBufferView): DType {
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

/** The most axes. An array that contains itself would have infinitely many. */
const MAX_RANK = 64;

/** Nested arrays as a flat list and a shape; ragged ones and values that are no numbers throw. */
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

/** Numbers of the last call, as f32 and as bytes: a small tensor in a loop is made faster than lists of its values are. */
const scratch = new Float32Array(64);
const scratchBytes: Uint8Array[] = [];

/** Writes one number, or a row or rows of a few numbers, to the scratch; null if the values are anything else. */
function fewNumbers(values: unknown): { readonly bytes: Uint8Array; readonly shape: Shape } | null {
  const shape: number[] = [];
  let count = 0;
  if (typeof values === "number") scratch[count++] = values;
  else if (Array.isArray(values)) {
    shape.push(values.length);
    const isTable = Array.isArray(values[0]);
    if (isTable) shape.push(values[0].length);
    if (sizeOf(shape) > scratch.length) return null;
    for (let i = 0; i < values.length; i++) {
      const row: unknown = values[i];
      if (isTable) {
        if (!Array.isArray(row) || row.length !== shape[1]) return null;
        for (let j = 0; j < row.length; j++) {
          if (typeof row[j] !== "number") return null;
          scratch[count++] = row[j];
        }
      } else if (typeof row === "number") scratch[count++] = row;
      else return null;
    }
  } else return null;
  scratchBytes[count] ??= new Uint8Array(scratch.buffer, 0, count * scratch.BYTES_PER_ELEMENT);
  return { bytes: scratchBytes[count], shape };
}

/** A node over values that a user gave: a typed array, nested arrays or one value. Errors name the operation "tensor". */
export function valuesNode(
  backend: Backend,
  values: unknown,
  options: { readonly dtype?: DType; readonly shape?: Shape },
): Node {
  if (ArrayBuffer.isView(values)) {
    const own = dtypeOfTypedArray(values);
    const shape = shapeFor((values as unknown as Uint8Array).length, options.shape);
    return castNode(storedNode(backend, viewBytes(values), shape, own), options.dtype ?? own);
  }
  if (!options.shape && (options.dtype ?? "f32") === "f32") {
    const few = fewNumbers(values);
    if (few) return storedNode(backend, few.bytes, few.shape, "f32");
  }
  checkNoTensor(values);
  const flat = flattenNested(values, "tensor");
  const shape = options.shape ? shapeFor(flat.values.length, options.shape) : flat.shape;
  const dtype = options.dtype ?? (flat.values.every(isNumber) ? "f32" : resultType(flat.values, "tensor"));
  return storedNode(backend, encodeValues(flat.values, dtype, "tensor"), shape, dtype);
}

const isNumber = (value: unknown): boolean => typeof value === "number";

/** The shape of so many values: one axis of them unless told. */
function shapeFor(count: number, shape: Shape = [count]): Shape {
  if (sizeOf(checkShape(shape, "tensor")) === count) return shape;
  throw new ShapeError(`tensor: ${count} values for the shape ${formatShape(shape)}.`);
}

function checkNoTensor(values: unknown): void {
  if (isTensor(values)) {
    throw new ArgumentError(
      "tensor: this is a tensor already; cast() gives it another dtype, to() another device, reshape() another shape.",
    );
  }
  if (Array.isArray(values) && isTensor(values[0])) {
    throw new ArgumentError("tensor: a list of tensors becomes one with stack(), or with concat().");
  }
}
