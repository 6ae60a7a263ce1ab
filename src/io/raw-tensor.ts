/**
 * A tensor as the file formats see it: a dtype, a shape, and the elements as bytes (little-endian, row-major). A codec turns
 * files into these and back without knowing of tensors or devices; it never copies bytes that can be viewed. The checks on
 * sizes that every format needs are here.
 */
import { tensorBytes } from "../core/bytes.js";
import type { DType } from "../core/dtype.js";
import { FormatError, SizeMismatchError } from "../core/errors.js";
import { checkShape, formatShape, productOf, type Shape, sizeOf } from "../core/shape.js";

export interface RawTensor {
  readonly dtype: DType;
  readonly shape: Shape;
  readonly bytes: Uint8Array;
}

/** The number of bytes that a shape from a file needs. Impossible sizes are a FormatError. */
export function fileByteLength(shape: Shape, bitsPerElement: number, what: string): number {
  for (const size of shape) {
    if (Number.isSafeInteger(size) && size >= 0) continue;
    throw new FormatError(`${what}: shape ${formatShape(shape)} has the size ${size}.`);
  }
  const count = shape.includes(0) ? 0 : productOf(shape);
  const bytes = count * (bitsPerElement / 8);
  // Only elements narrower than a byte can leave a fraction, which is exact in binary.
  if (bytes > Number.MAX_SAFE_INTEGER || (bitsPerElement < 8 && count > Number.MAX_SAFE_INTEGER / 8)) {
    throw new FormatError(`${what}: shape ${formatShape(shape)} needs more bytes than can be counted exactly.`);
  }
  if (!Number.isInteger(bytes)) {
    throw new FormatError(`${what}: ${formatShape(shape)} elements of ${bitsPerElement} bits fill no whole bytes.`);
  }
  return bytes;
}

/** A tensor about to be written, when its bytes fill its shape. */
export function checkRaw(tensor: RawTensor, operation: string): RawTensor {
  checkShape(tensor.shape, operation);
  sizeOf(tensor.shape, operation);
  const expected = tensorBytes(tensor);
  if (tensor.bytes.byteLength === expected) return tensor;
  throw new SizeMismatchError(
    `${operation}: ${tensor.dtype} of shape ${formatShape(tensor.shape)} takes ${expected} bytes, ` +
      `not ${tensor.bytes.byteLength}.`,
  );
}

/** The chunks as one array. */
export function concatBytes(chunks: Iterable<Uint8Array>): Uint8Array {
  const list = [...chunks];
  const whole = new Uint8Array(list.reduce((length, chunk) => length + chunk.byteLength, 0));
  let at = 0;
  for (const chunk of list) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}
