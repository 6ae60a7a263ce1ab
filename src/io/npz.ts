/**
 * NumPy's .npz format: a zip file with one .npy per array, under the array's name. `npzArraysGivingWay` unpacks one array
 * after the other, `npzChunksGivingWay` gives the pieces of a whole archive. The io namespace calls this.
 */
import { FormatError } from "../core/errors.js";
import { formatShape } from "../core/shape.js";
import { decodeNpy, encodeNpyHeader, npyBytes, parseNpyHeader, rowMajor } from "./npy.js";
import { checkRaw, concatBytes, type RawTensor } from "./raw-tensor.js";
import {
  beginningOfZipEntry,
  readZipDirectory,
  readZipEntry,
  readZipEntryGivingWay,
  type ZipEntry,
} from "./zip-read.js";
import { packedGivingWay, type ZipMember, type ZipOptions, zipChunks } from "./zip-write.js";

const SUFFIX = ".npy";
const DEFAULT_LIMIT = 2 ** 32;

export interface NpzReadOptions {
  /** Unpack at most this many bytes; 4 GiB unless said otherwise. */
  readonly maxBytes?: number;
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

/** Larger arrays are packed and unpacked on threads of zlib, smaller ones in place. */
const LARGE = 1024 * 1024;

/** The arrays of an archive by name. Members that are no .npy files are skipped. */
function arraysIn(bytes: Uint8Array, options: NpzReadOptions, what: string): ReadonlyMap<string, ZipEntry> {
  const entries = new Map<string, ZipEntry>();
  for (const entry of readZipDirectory(bytes, what)) {
    if (entry.name.endsWith(SUFFIX)) entries.set(entry.name.slice(0, -SUFFIX.length), entry);
  }
  checkLimit([...entries.values()], options.maxBytes ?? DEFAULT_LIMIT, what);
  return entries;
}

const decoded = (data: Uint8Array, name: string, what: string): RawTensor =>
  rowMajor(decodeNpy(data, `${what}: "${name}"`));

/**
 * All arrays of an archive in memory, row-major, each unpacked in its turn.
 * @internal for tests: unpacks in place
 */
export function* npzArrays(
  bytes: Uint8Array,
  options: NpzReadOptions = {},
  what = "npz",
): Generator<[name: string, array: RawTensor], void> {
  for (const [name, entry] of arraysIn(bytes, options, what)) {
    checkHoldsArray(bytes, entry, what, name);
    yield [name, decoded(readZipEntry(bytes, entry, what), name, what)];
  }
}

/** The same; the event loop turns while large arrays are unpacked. */
export async function* npzArraysGivingWay(
  bytes: Uint8Array,
  options: NpzReadOptions,
  what: string,
): AsyncGenerator<[name: string, array: RawTensor], void> {
  for (const [name, entry] of arraysIn(bytes, options, what)) {
    checkHoldsArray(bytes, entry, what, name);
    const read = entry.size > LARGE ? readZipEntryGivingWay : readZipEntry;
    yield [name, decoded(await read(bytes, entry, what), name, what)];
  }
}

function checkLimit(entries: readonly ZipEntry[], maxBytes: number, what: string): void {
  const size = entries.reduce((sum, entry) => sum + entry.size, 0);
  if (size <= maxBytes) return;
  throw new FormatError(
    `${what}: the archive unpacks to ${size} bytes, more than maxBytes, ${maxBytes}; raise it if you trust the file.`,
  );
}

/**
 * The pieces of an archive, to be written one after the other.
 * @internal for tests: the data of a tensor is a piece, not a copy
 */
export function* npzChunks(
  arrays: Iterable<readonly [name: string, tensor: RawTensor]>,
  options: ZipOptions = {},
): Generator<Uint8Array, void> {
  yield* zipChunks(members(arrays), options);
}

function* members(arrays: Iterable<readonly [name: string, tensor: RawTensor]>) {
  for (const [name, tensor] of arrays) {
    const raw = checkRaw(tensor, `npz: "${name}"`);
    yield { name: name + SUFFIX, chunks: [encodeNpyHeader(raw.dtype, raw.shape), npyBytes(raw)] };
  }
}

/** The pieces of an archive; the event loop turns while large arrays are packed. */
export async function* npzChunksGivingWay(
  arrays: Iterable<readonly [name: string, tensor: RawTensor]>,
  options: ZipOptions,
): AsyncGenerator<Uint8Array, void> {
  const packed: ZipMember[] = [];
  for (const member of members(arrays)) {
    const isLarge = member.chunks.reduce((sum, { length }) => sum + length, 0) > LARGE;
    packed.push(
      isLarge ? { ...member, packed: await packedGivingWay(member.chunks, options.compress ?? false) } : member,
    );
  }
  yield* zipChunks(packed, options);
}

/**
 * A whole archive.
 * @internal for tests: packs in place
 */
export function encodeNpz(
  arrays: Iterable<readonly [name: string, tensor: RawTensor]>,
  options: ZipOptions = {},
): Uint8Array {
  return concatBytes(npzChunks(arrays, options));
}
