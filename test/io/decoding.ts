/**
 * Whole files in memory, decoded and encoded at once. The library reads .npz arrays one by one, and reads and writes
 * .safetensors files by parts.
 */
import { tidyBytes } from "../../src/core/bytes.js";
import { type NpzReadOptions, npzArrays } from "../../src/io/npz.js";
import { checkRaw, concatBytes, type RawTensor } from "../../src/io/raw-tensor.js";
import {
  dtypeOf,
  headerLength,
  layoutSafetensors,
  PREFIX_BYTES,
  parseSafetensorsHeader,
} from "../../src/io/safetensors.js";

/** All arrays of an archive, row-major, by name. */
export function decodeNpz(bytes: Uint8Array, options: NpzReadOptions = {}): Map<string, RawTensor> {
  return new Map(npzArrays(bytes, options));
}

/** The tensors of a file that lies in memory; their bytes are views of it. */
export function decodeSafetensors(
  bytes: Uint8Array,
  what = "safetensors",
): { tensors: Map<string, RawTensor>; metadata: ReadonlyMap<string, string> } {
  const length = headerLength(bytes.subarray(0, PREFIX_BYTES), bytes.length, what);
  const data = bytes.subarray(PREFIX_BYTES + length);
  const header = parseSafetensorsHeader(bytes.subarray(PREFIX_BYTES, PREFIX_BYTES + length), data.length, what);
  const tensors = new Map<string, RawTensor>();
  for (const entry of header.entries.values()) {
    const dtype = dtypeOf(entry, what);
    const stored = data.subarray(entry.offset, entry.offset + entry.byteLength);
    tensors.set(entry.name, { dtype, shape: entry.shape, bytes: tidyBytes(dtype, stored) });
  }
  return { tensors, metadata: header.metadata };
}

/** A whole file of tensors. */
export function encodeSafetensors(
  tensors: Iterable<readonly [name: string, tensor: RawTensor]>,
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array {
  const list = [...tensors].map(([name, tensor]) => ({ name, ...checkRaw(tensor, `safetensors: "${name}"`) }));
  const { start, order } = layoutSafetensors(list, metadata);
  return concatBytes([start, ...order.map(({ bytes }) => bytes)]);
}
