/**
 * Writes zip files, piece by piece, so that an archive may be larger than memory: stored or deflated, with the 64-bit
 * records where sizes, offsets or the number of members need them. All dates are the format's first day, so equal
 * contents make equal files. npz.ts calls this.
 */
import { promisify } from "node:util";
import { deflateRaw, deflateRawSync } from "node:zlib";
import { ArgumentError } from "../core/errors.js";
import { crc32, crc32GivingWay } from "./crc32.js";
import { concatBytes } from "./raw-tensor.js";
import { FIXED, FLAG, IN_ZIP64, METHOD, SIGNATURE, ZIP64_EXTRA } from "./zip-format.js";

export interface ZipMember {
  readonly name: string;
  /** The contents, in pieces that follow one another. */
  readonly chunks: readonly Uint8Array[];
  /** As they stand in the file, if that is known; otherwise they are packed as the file is written. */
  readonly packed?: Packed;
}

/** Contents as they stand in a file. */
interface Packed {
  readonly crc: number;
  readonly data: readonly Uint8Array[];
}

export interface ZipOptions {
  /** Deflate the members; off, they are stored. */
  readonly compress?: boolean;
  /** "always" writes the 64-bit records even where nothing needs them. */
  readonly zip64?: "auto" | "always";
}

/** 1 January 1980, and no time. */
const DOS_DATE = 0x0021;

/** Made on Unix by version 4.5; a regular file that its owner may write and everyone read. */
const MADE_BY = (3 << 8) | 45;
const ATTRIBUTES = 0o100644 * 0x10000;

/** The directory entry of a member that was written. */
interface Written {
  readonly name: Buffer;
  readonly flags: number;
  readonly method: number;
  readonly crc: number;
  readonly compressedSize: number;
  readonly size: number;
  readonly start: number;
}

/** The pieces of a zip file, to be written one after the other. */
export function* zipChunks(members: Iterable<ZipMember>, options: ZipOptions = {}): Generator<Uint8Array, void> {
  const always = options.zip64 === "always";
  const directory: Written[] = [];
  const names = new Set<string>();
  let at = 0;
  for (const member of members) {
    if (names.has(member.name)) throw new ArgumentError(`zip: two members are called "${member.name}".`);
    names.add(member.name);
    const { entry, data } = packMember(member, at, options.compress ?? false);
    directory.push(entry);
    const header = localHeader(entry, always);
    for (const chunk of [header, ...data]) yield chunk;
    at += header.length + entry.compressedSize;
  }
  let size = 0;
  for (const entry of directory) {
    const header = centralHeader(entry, always);
    size += header.length;
    yield header;
  }
  yield endRecords(directory.length, size, at, always);
}

const deflated = promisify(deflateRaw) as (bytes: Uint8Array) => Promise<Buffer>;

/** Long contents, packed by the threads of zlib: the event loop turns meanwhile. */
export async function packedGivingWay(chunks: readonly Uint8Array[], compress: boolean): Promise<Packed> {
  let crc = 0;
  for (const chunk of chunks) crc = await crc32GivingWay(chunk, crc);
  return { crc, data: compress ? [await deflated(concatBytes(chunks))] : chunks };
}

/** Short contents, packed in place. */
const packedNow = (chunks: readonly Uint8Array[], compress: boolean): Packed => ({
  crc: chunks.reduce((crc, chunk) => crc32(chunk, crc), 0),
  data: compress ? [deflateRawSync(concatBytes(chunks))] : chunks,
});

function packMember(
  { name, chunks, packed }: ZipMember,
  start: number,
  compress: boolean,
): { entry: Written; data: readonly Uint8Array[] } {
  const encoded = Buffer.from(name, "utf8");
  if (encoded.length > 0xffff) throw new ArgumentError(`zip: a name of ${encoded.length} bytes is too long.`);
  const { crc, data } = packed ?? packedNow(chunks, compress);
  const lengthOf = (list: readonly Uint8Array[]) => list.reduce((sum, chunk) => sum + chunk.length, 0);
  const entry: Written = {
    name: encoded,
    flags: encoded.length === name.length ? 0 : FLAG.utf8,
    method: compress ? METHOD.deflate : METHOD.stored,
    crc,
    compressedSize: lengthOf(data),
    size: lengthOf(chunks),
    start,
  };
  return { entry, data };
}

/** The extra field that holds the given values, or nothing when there are none. */
function zip64Extra(values: readonly number[]): Buffer {
  if (values.length === 0) return Buffer.alloc(0);
  const extra = Buffer.alloc(4 + 8 * values.length);
  extra.writeUInt16LE(ZIP64_EXTRA, 0);
  extra.writeUInt16LE(8 * values.length, 2);
  for (const [i, value] of values.entries()) extra.writeBigUInt64LE(BigInt(value), 4 + 8 * i);
  return extra;
}

const exceeds32 = (value: number) => value >= IN_ZIP64.u32;

function localHeader(entry: Written, always: boolean): Buffer {
  const wide = always || exceeds32(entry.size) || exceeds32(entry.compressedSize);
  // The local header must hold both sizes or none.
  const extra = zip64Extra(wide ? [entry.size, entry.compressedSize] : []);
  const header = Buffer.alloc(FIXED.localHeader);
  header.writeUInt32LE(SIGNATURE.localHeader, 0);
  writeCommon(header, 4, entry, wide, extra.length);
  return Buffer.concat([header, entry.name, extra]);
}

function centralHeader(entry: Written, always: boolean): Buffer {
  const wide = always || exceeds32(entry.size) || exceeds32(entry.compressedSize);
  const far = always || exceeds32(entry.start);
  const extra = zip64Extra([...(wide ? [entry.size, entry.compressedSize] : []), ...(far ? [entry.start] : [])]);
  const header = Buffer.alloc(FIXED.centralHeader);
  header.writeUInt32LE(SIGNATURE.centralHeader, 0);
  header.writeUInt16LE(MADE_BY, 4);
  writeCommon(header, 6, entry, wide || far, extra.length, wide);
  header.writeUInt32LE(ATTRIBUTES, 38);
  header.writeUInt32LE(far ? IN_ZIP64.u32 : entry.start, 42);
  return Buffer.concat([header, entry.name, extra]);
}

/** The fields that both headers have in the same order, from the version on. */
function writeCommon(
  header: Buffer,
  at: number,
  entry: Written,
  needs45: boolean,
  extra: number,
  wide = needs45,
): void {
  header.writeUInt16LE(needs45 ? 45 : 20, at);
  header.writeUInt16LE(entry.flags, at + 2);
  header.writeUInt16LE(entry.method, at + 4);
  header.writeUInt16LE(0, at + 6);
  header.writeUInt16LE(DOS_DATE, at + 8);
  header.writeUInt32LE(entry.crc, at + 10);
  header.writeUInt32LE(wide ? IN_ZIP64.u32 : entry.compressedSize, at + 14);
  header.writeUInt32LE(wide ? IN_ZIP64.u32 : entry.size, at + 18);
  header.writeUInt16LE(entry.name.length, at + 22);
  header.writeUInt16LE(extra, at + 24);
}

function endRecords(count: number, size: number, offset: number, always: boolean): Buffer {
  const wide = always || count >= IN_ZIP64.u16 || exceeds32(size) || exceeds32(offset);
  const end = Buffer.alloc(FIXED.end);
  end.writeUInt32LE(SIGNATURE.end, 0);
  end.writeUInt16LE(wide ? IN_ZIP64.u16 : count, 8);
  end.writeUInt16LE(wide ? IN_ZIP64.u16 : count, 10);
  end.writeUInt32LE(wide ? IN_ZIP64.u32 : size, 12);
  end.writeUInt32LE(wide ? IN_ZIP64.u32 : offset, 16);
  if (!wide) return end;

  const end64 = Buffer.alloc(FIXED.end64);
  end64.writeUInt32LE(SIGNATURE.end64, 0);
  end64.writeBigUInt64LE(BigInt(FIXED.end64 - 12), 4);
  end64.writeUInt16LE(MADE_BY, 12);
  end64.writeUInt16LE(45, 14);
  end64.writeBigUInt64LE(BigInt(count), 24);
  end64.writeBigUInt64LE(BigInt(count), 32);
  end64.writeBigUInt64LE(BigInt(size), 40);
  end64.writeBigUInt64LE(BigInt(offset), 48);
  const locator = Buffer.alloc(FIXED.end64Locator);
  locator.writeUInt32LE(SIGNATURE.end64Locator, 0);
  locator.writeBigUInt64LE(BigInt(offset + size), 8);
  locator.writeUInt32LE(1, 16);
  return Buffer.concat([end64, locator, end]);
}
