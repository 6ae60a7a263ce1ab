/**
 * NumPy's .npz format: a zip file with one .npy per array, under the array's name. `readNpz` unpacks an array when it
 * is asked for, `decodeNpz` all of them; `npzChunks` writes an archive of any size piece by piece, `encodeNpz` in one.
 * The io namespace calls this.
 */
import { ArgumentError, FormatError } from "../core/errors.js";
import { formatShape } from "../core/shape.js";
import { decodeNpy, encodeNpyHeader, parseNpyHeader, rowMajor } from "./npy.js";
import { checkRaw, concatBytes, type RawTensor } from "./raw-tensor.js";
import { beginningOfZipEntry, readZipDirectory, readZipEntry, type ZipEntry } from "./zip-read.js";
import { type ZipOptions, zipChunks } from "./zip-write.js";

const SUFFIX = ".npy";
const DEFAULT_LIMIT = 2 ** 32;

export interface NpzReadOptions {
  /** Unpack at most this many bytes; 4 GiB unless said otherwise. */
  readonly maxBytes?: number;
}

export interface NpzArchive {
  readonly names: readonly string[];
  /** What all arrays together take when unpacked. */
  readonly byteLength: number;
  /** The array of that name, row-major. */
  read(name: string): RawTensor;
}

/** Opens an archive that lies in memory. Members that are no .npy files are passed over. */
export function readNpz(bytes: Uint8Array, options: NpzReadOptions = {}, what = "npz"): NpzArchive {
  const maxBytes = options.maxBytes ?? DEFAULT_LIMIT;
  const entries = new Map<string, ZipEntry>();
  for (const entry of readZipDirectory(bytes, what)) {
    if (entry.name.endsWith(SUFFIX)) entries.set(entry.name.slice(0, -SUFFIX.length), entry);
  }
  return {
    names: [...entries.keys()],
    byteLength: [...entries.values()].reduce((sum, entry) => sum + entry.size, 0),
    read(name) {
      const entry = entries.get(name);
      if (!entry) throw new ArgumentError(`${what}: no array "${name}"; there are ${listed(entries.keys())}.`);
      checkLimit(entry.size, maxBytes, `${what}: "${name}"`);
      checkHoldsArray(bytes, entry, what, name);
      return rowMajor(decodeNpy(readZipEntry(bytes, entry, what), `${what}: "${name}"`));
    },
  };
}

/**
 * An array says itself how many bytes it takes, so a member that claims others is refused before it is unpacked: a few
 * kilobytes can unpack to megabytes of nothing behind a small array.
 */
function checkHoldsArray(bytes: Uint8Array, entry: ZipEntry, what: string, name: string): void {
  const where = `${what}: "${name}"`;
  const { dtype, shape, dataOffset, byteLength } = parseNpyHeader(beginningOfZipEntry(bytes, entry, what), where);
  const needed = dataOffset + byteLength;
  if (entry.size === needed) return;
  throw new FormatError(
    `${where} holds ${entry.size} bytes, but its array of ${dtype}${formatShape(shape)} takes ${needed}.`,
  );
}

/** All arrays of an archive, row-major, each unpacked in its turn. */
export function* npzArrays(
  bytes: Uint8Array,
  options: NpzReadOptions = {},
  what = "npz",
): Generator<[name: string, array: RawTensor], void> {
  const archive = readNpz(bytes, options, what);
  checkLimit(archive.byteLength, options.maxBytes ?? DEFAULT_LIMIT, `${what}: the archive`);
  for (const name of archive.names) yield [name, archive.read(name)];
}

/** All arrays of an archive, row-major, by name. */
export function decodeNpz(bytes: Uint8Array, options: NpzReadOptions = {}, what = "npz"): Map<string, RawTensor> {
  return new Map(npzArrays(bytes, options, what));
}

function checkLimit(size: number, maxBytes: number, what: string): void {
  if (size <= maxBytes) return;
  throw new FormatError(
    `${what} unpacks to ${size} bytes, more than maxBytes, ${maxBytes}; raise it if you trust the file.`,
  );
}

function listed(names: Iterable<string>): string {
  const all = [...names];
  const shown = all.slice(0, 8).map((name) => `"${name}"`);
  return all.length === 0 ? "none" : shown.join(", ") + (all.length > 8 ? ` and ${all.length - 8} more` : "");
}

/** The pieces of an archive, to be written one after the other. */
export function* npzChunks(
  arrays: Iterable<readonly [name: string, tensor: RawTensor]>,
  options: ZipOptions = {},
): Generator<Uint8Array, void> {
  yield* zipChunks(members(arrays), options);
}

function* members(arrays: Iterable<readonly [name: string, tensor: RawTensor]>) {
  for (const [name, tensor] of arrays) {
    const { dtype, shape, bytes } = checkRaw(tensor, `npz: "${name}"`);
    yield { name: name + SUFFIX, chunks: [encodeNpyHeader(dtype, shape), bytes] };
  }
}

/** A whole archive. */
export function encodeNpz(
  arrays: Iterable<readonly [name: string, tensor: RawTensor]>,
  options: ZipOptions = {},
): Uint8Array {
  return concatBytes(npzChunks(arrays, options));
}
