/** What users may give as bytes, to buffers of either engine, and room for what they are given. */
import { ArgumentError } from "../core/errors.js";

/** Anything that is bytes. */
export type ByteSource = ArrayBuffer | SharedArrayBuffer | ArrayBufferView;

export function asBytes(source: ByteSource): Uint8Array {
  if (source instanceof Uint8Array) return source;
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  if (source instanceof ArrayBuffer || source instanceof SharedArrayBuffer) return new Uint8Array(source);
  throw new ArgumentError(`Expected bytes (a typed array, DataView or ArrayBuffer), got ${describe(source)}.`);
}

/**
 * Bytes with anything in them, for whoever writes all of them at once: zeros would be written first, and memory that is new to
 * the process touched, by the thread that asks.
 */
export function unwrittenBytes(byteLength: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.allocUnsafeSlow(byteLength).buffer as ArrayBuffer);
}

export const describe = (value: unknown): string =>
  value === null ? "null" : typeof value === "object" ? "an object" : typeof value;
