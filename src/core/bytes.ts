/** Sizes of values in bytes, and the bytes of bools. */
import { DTYPES, type DType } from "./dtype.js";
import { sizeOf } from "./shape.js";

export const bytesOf = ({ shape, dtype }: { readonly shape: readonly number[]; readonly dtype: DType }): number =>
  sizeOf(shape) * DTYPES[dtype].bytes;

/** Bools from outside, made 0 or 1: any other byte than 0 is true, as in NumPy. */
export function tidyBytes(dtype: DType, bytes: Uint8Array): Uint8Array {
  if (dtype !== "bool" || bytes.every((byte) => byte <= 1)) return bytes;
  return bytes.map((byte) => (byte === 0 ? 0 : 1));
}
