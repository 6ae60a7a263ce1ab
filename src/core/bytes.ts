/** Sizes of values in bytes, and bytes from outside made those that a dtype has. */
import { DTYPES, type DType } from "./dtype.js";
import { sizeOf } from "./shape.js";

interface Sized {
  readonly shape: readonly number[];
  readonly dtype: DType;
}

/** The bytes of a value between the kernels of a program, where no two elements share a byte. */
export const bytesOf = ({ shape, dtype }: Sized): number => sizeOf(shape) * DTYPES[dtype].bytes;

/** The bytes of a tensor, on a device and in files: elements narrower than a byte are packed. */
export const tensorBytes = ({ shape, dtype }: Sized): number => packedBytes(sizeOf(shape), dtype);

export const packedBytes = (count: number, dtype: DType): number => Math.ceil((count * DTYPES[dtype].bits) / 8);

/**
 * Bytes from outside as tensors have them. Bools are 0 or 1: any other byte than 0 is true, as in NumPy. The bits of the
 * last byte that no element has are 0.
 */
export function tidyBytes(dtype: DType, bytes: Uint8Array, count = bytes.length): Uint8Array {
  const used = (count * DTYPES[dtype].bits) % 8;
  if (used > 0) {
    const tidy = new Uint8Array(bytes);
    tidy[tidy.length - 1] &= (1 << used) - 1;
    return tidy;
  }
  if (dtype !== "bool" || bytes.every((byte) => byte <= 1)) return bytes;
  return bytes.map((byte) => (byte === 0 ? 0 : 1));
}
