/** Values as bytes: how many they take, and which bytes a bool may be. */
import { DTYPES, type DType } from "./dtype.js";
import { sizeOf } from "./shape.js";

export const bytesOf = ({ shape, dtype }: { readonly shape: readonly number[]; readonly dtype: DType }): number =>
  sizeOf(shape) * DTYPES[dtype].bytes;

/** Bytes of a bool from outside may be anything but must be 0 or 1 here: any but 0 is true, as in NumPy. */
export function tidyBytes(dtype: DType, bytes: Uint8Array): Uint8Array {
  if (dtype !== "bool" || bytes.every((byte) => byte <= 1)) return bytes;
  return bytes.map((byte) => (byte === 0 ? 0 : 1));
}
