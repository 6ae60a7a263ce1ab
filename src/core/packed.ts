/**
 * Integers narrower than a byte, as tensors hold them: the first element of a byte in its lowest bits, as ONNX packs them.
 * Reading and writing tensors and files call this; on devices programs unpack and pack (compiler/rewrite/packed.ts).
 */
import { packedBytes } from "./bytes.js";
import { DTYPES, type PackedDType } from "./dtype.js";

/** The elements, one per entry, of packed bytes. */
export function unpackIntegers(bytes: Uint8Array, dtype: PackedDType, count: number): Int8Array | Uint8Array {
  const { bits, signed, dataArray } = DTYPES[dtype];
  const perByte = 8 / bits;
  // Moving an element to the top of a word and back fills the upper bits: with its sign, or with zeros.
  const up = 32 - bits;
  const elements = new dataArray(count);
  for (let i = 0; i < count; i++) {
    const moved = bytes[Math.floor(i / perByte)] << (up - bits * (i % perByte));
    elements[i] = signed ? moved >> up : moved >>> up;
  }
  return elements;
}

/** Elements packed into bytes; only their low bits are taken. */
export function packIntegers(elements: ArrayLike<number>, dtype: PackedDType): Uint8Array {
  const { bits } = DTYPES[dtype];
  const perByte = 8 / bits;
  const bytes = new Uint8Array(packedBytes(elements.length, dtype));
  const mask = (1 << bits) - 1;
  for (let i = 0; i < elements.length; i++) {
    bytes[Math.floor(i / perByte)] |= (elements[i] & mask) << (bits * (i % perByte));
  }
  return bytes;
}
