/** Bytes from users for the buffers of either engine, and new memory for bytes that are read. */
import { ArgumentError } from "../core/errors.js";

/** Anything that is bytes. */
export type ByteSource = ArrayBuffer | SharedArrayBuffer | ArrayBufferView;

export function asBytes(source: ByteSource): Uint8Array {
  if (source instanceof Uint8Array) return source;
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  if (source instanceof ArrayBuffer || source instanceof SharedArrayBuffer) return new Uint8Array(source);
  throw new ArgumentError(`Expected bytes (a typed array, DataView or ArrayBuffer), got ${describe(source)}.`);
}

/** So few bytes are made faster with zeros than without. */
const FEW_BYTES = 1024;

/**
 * Uninitialised bytes, for callers that overwrite all of them. Zeroing would write new memory first, on the calling thread.
 */
export function unwrittenBytes(byteLength: number): Uint8Array<ArrayBuffer> {
  if (byteLength <= FEW_BYTES) return new Uint8Array(byteLength);
  return new Uint8Array(Buffer.allocUnsafeSlow(byteLength).buffer as ArrayBuffer);
}

export const describe = (value: unknown): string =>
  value === null ? "null" : typeof value === "object" ? "an object" : typeof value;
