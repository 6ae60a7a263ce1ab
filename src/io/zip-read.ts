/**
 * Reads zip files that lie in memory: stored and deflated members, zip64, data descriptors. Nothing in the file is
 * trusted: every offset is checked against the bytes there are, members may not overlap (which is how small files
 * pretend to hold petabytes), and a member is unpacked into at most the size it declares, which in turn cannot exceed
 * what deflate can make of its compressed bytes. npz.ts calls this.
 */
import { promisify } from "node:util";
import { inflateRaw, inflateRawSync, constants as zlib } from "node:zlib";
import { FormatError } from "../core/errors.js";
import { crc32, crc32GivingWay } from "./crc32.js";
import { FIXED, FLAG, IN_ZIP64, METHOD, SIGNATURE, ZIP64_EXTRA } from "./zip-format.js";

export interface ZipEntry {
  readonly name: string;
  readonly method: number;
  readonly crc: number;
  readonly compressedSize: number;
  readonly size: number;
  /** The offset of the member's bytes. */
  readonly dataOffset: number;
}

/** Deflate makes at most 258 bytes of two bits, 1032 to 1. */
const MAX_DEFLATE_RATIO = 1032;

/** Packed bytes that are looked at to see how a member begins. */
const BEGINNING = 4096;

/** The members of a zip file, in the order of its directory. */
export function readZipDirectory(bytes: Uint8Array, what = "zip"): ZipEntry[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { count, offset, size } = findDirectory(view, what);
  const end = offset + size;
  if (count * FIXED.centralHeader > size) {
    throw new FormatError(`${what}: ${count} members do not fit a directory of ${size} bytes.`);
  }
  const entries: ZipEntry[] = [];
  const starts = new Map<number, ZipEntry>();
  const names = new Set<string>();
  let at = offset;
  for (let i = 0; i < count; i++) {
    if (at + FIXED.centralHeader > end || view.getUint32(at, true) !== SIGNATURE.centralHeader) {
      throw new FormatError(`${what}: entry ${i} of the directory is damaged.`);
    }
    const next =
      at +
      FIXED.centralHeader +
      view.getUint16(at + 28, true) +
      view.getUint16(at + 30, true) +
      view.getUint16(at + 32, true);
    if (next > end) throw new FormatError(`${what}: entry ${i} of the directory runs past its end.`);
    const { entry, start } = readEntry(bytes, view, at, offset, what);
    if (names.has(entry.name)) throw new FormatError(`${what}: two members are called "${entry.name}".`);
    if (starts.has(start)) throw new FormatError(`${what}: "${entry.name}" overlaps "${starts.get(start)?.name}".`);
    names.add(entry.name);
    starts.set(start, entry);
    entries.push(entry);
    at = next;
  }
  // Otherwise members beyond the count would be missing without an error.
  if (at !== end) {
    throw new FormatError(
      `${what}: the directory has ${end - at} bytes after its ${count} members; their count or its size is damaged.`,
    );
  }
  checkDisjoint(starts, what);
  return entries;
}

/** Finds the record at the end of the file, behind which only a comment may follow, and its 64-bit version. */
function findDirectory(view: DataView, what: string): { count: number; offset: number; size: number } {
  const last = view.byteLength - FIXED.end;
  for (let at = last; at >= Math.max(0, last - 0xffff); at--) {
    if (view.getUint32(at, true) !== SIGNATURE.end || view.getUint16(at + 20, true) !== last - at) continue;
    const record = readEnd64(view, at, what) ?? {
      disks: view.getUint16(at + 4, true) | view.getUint16(at + 6, true),
      here: view.getUint16(at + 8, true),
      count: view.getUint16(at + 10, true),
      size: view.getUint32(at + 12, true),
      offset: view.getUint32(at + 16, true),
      start: at,
    };
    if (record.disks !== 0 || record.here !== record.count) {
      throw new FormatError(`${what}: a part of a zip file that is split over several.`);
    }
    if (record.offset + record.size > at) throw new FormatError(`${what}: the directory lies outside the file.`);
    if (record.offset + record.size !== record.start) {
      throw new FormatError(
        `${what}: the directory ends at byte ${record.offset + record.size}, and its end record begins at ${record.start}.`,
      );
    }
    return record;
  }
  throw new FormatError(`${what}: not a zip file, or its end is missing.`);
}

function readEnd64(view: DataView, end: number, what: string) {
  const locator = end - FIXED.end64Locator;
  if (locator < 0 || view.getUint32(locator, true) !== SIGNATURE.end64Locator) return undefined;
  const at = readU64(view, locator + 8, what);
  if (at + FIXED.end64 > locator || view.getUint32(at, true) !== SIGNATURE.end64) {
    throw new FormatError(`${what}: the 64-bit end record is damaged.`);
  }
  return {
    disks: view.getUint32(at + 16, true) | view.getUint32(at + 20, true),
    here: readU64(view, at + 24, what),
    count: readU64(view, at + 32, what),
    size: readU64(view, at + 40, what),
    offset: readU64(view, at + 48, what),
    start: at,
  };
}

function readU64(view: DataView, at: number, what: string): number {
  const value = Number(view.getBigUint64(at, true));
  if (value > Number.MAX_SAFE_INTEGER) throw new FormatError(`${what}: the size or offset ${value} is absurd.`);
  return value;
}

/** One directory entry and where its local header starts. `directory` is where the data must end. */
function readEntry(bytes: Uint8Array, view: DataView, at: number, directory: number, what: string) {
  const flags = view.getUint16(at + 8, true);
  const name = readName(bytes, at + FIXED.centralHeader, view.getUint16(at + 28, true), flags);
  const where = `${what}: "${name}"`;
  if (flags & (FLAG.encrypted | FLAG.strongEncryption | FLAG.masked)) throw new FormatError(`${where} is encrypted.`);
  if (flags & FLAG.patched) throw new FormatError(`${where} is a patch, not a file.`);
  const method = view.getUint16(at + 10, true);
  if (method !== METHOD.stored && method !== METHOD.deflate) {
    throw new FormatError(`${where} is compressed by method ${method}; stored and deflate can be read.`);
  }
  const { size, compressedSize, start } = readSizes(view, at, where);
  if (method === METHOD.stored && size !== compressedSize) {
    throw new FormatError(`${where} is stored in ${compressedSize} bytes but claims ${size}.`);
  }
  if (method === METHOD.deflate && size > compressedSize * MAX_DEFLATE_RATIO) {
    throw new FormatError(`${where} claims ${size} bytes, more than its ${compressedSize} compressed ones can hold.`);
  }
  if (start + FIXED.localHeader > directory || view.getUint32(start, true) !== SIGNATURE.localHeader) {
    throw new FormatError(`${where} has no header where the directory says.`);
  }
  const nameLength = view.getUint16(start + 26, true);
  const dataOffset = start + FIXED.localHeader + nameLength + view.getUint16(start + 28, true);
  if (dataOffset + compressedSize > directory) throw new FormatError(`${where} runs past the end of the data.`);
  if (readName(bytes, start + FIXED.localHeader, nameLength, view.getUint16(start + 6, true)) !== name) {
    throw new FormatError(`${where} has another name in its own header.`);
  }
  const entry: ZipEntry = { name, method, crc: view.getUint32(at + 16, true), compressedSize, size, dataOffset };
  return { entry, start };
}

/** Sizes and start of a member; those that do not fit 32 bits stand in the zip64 extra field, in this order. */
function readSizes(view: DataView, at: number, where: string) {
  const fields = [view.getUint32(at + 24, true), view.getUint32(at + 20, true), view.getUint32(at + 42, true)];
  const missing = fields.filter((field) => field === IN_ZIP64.u32).length;
  if (missing > 0) {
    const extra = findExtra(
      view,
      at + FIXED.centralHeader + view.getUint16(at + 28, true),
      view.getUint16(at + 30, true),
    );
    if (!extra || extra.length < missing * 8) throw new FormatError(`${where} lacks its 64-bit sizes.`);
    let from = extra.at;
    for (const [i, field] of fields.entries()) {
      if (field !== IN_ZIP64.u32) continue;
      fields[i] = readU64(view, from, where);
      from += 8;
    }
  }
  const [size, compressedSize, start] = fields;
  return { size, compressedSize, start };
}

function findExtra(view: DataView, start: number, length: number): { at: number; length: number } | undefined {
  for (let at = start; at + 4 <= start + length; at += 4 + view.getUint16(at + 2, true)) {
    const fieldLength = view.getUint16(at + 2, true);
    if (at + 4 + fieldLength > start + length) return undefined;
    if (view.getUint16(at, true) === ZIP64_EXTRA) return { at: at + 4, length: fieldLength };
  }
  return undefined;
}

/** Names not marked as UTF-8 should be in code page 437; in practice they are ASCII or UTF-8 all the same. */
function readName(bytes: Uint8Array, at: number, length: number, flags: number): string {
  const name = Buffer.from(bytes.buffer, bytes.byteOffset + at, length);
  const text = name.toString("utf8");
  return flags & FLAG.utf8 || !text.includes("\ufffd") ? text : name.toString("latin1");
}

function checkDisjoint(starts: ReadonlyMap<number, ZipEntry>, what: string): void {
  let end = 0;
  for (const [start, entry] of [...starts].sort(([a], [b]) => a - b)) {
    if (start < end) throw new FormatError(`${what}: "${entry.name}" overlaps the member before it.`);
    end = entry.dataOffset + entry.compressedSize;
  }
}

const packedBytes = (bytes: Uint8Array, { dataOffset, compressedSize }: ZipEntry): Uint8Array =>
  bytes.subarray(dataOffset, dataOffset + compressedSize);

/**
 * The first bytes of a member, unchecked: all of a stored one, else the unpacked contents of its first few packed bytes,
 * which are 2 KiB or more in files of ordinary programs.
 */
export function beginningOfZipEntry(bytes: Uint8Array, entry: ZipEntry, what = "zip"): Uint8Array {
  const packed = packedBytes(bytes, entry);
  if (entry.method === METHOD.stored) return packed;
  const start = packed.subarray(0, BEGINNING);
  return unpacked(() => inflateRawSync(start, { finishFlush: zlib.Z_SYNC_FLUSH }), entry, what);
}

/** The bytes of a member, checked against its size and checksum. A view of the file when it is stored. */
export function readZipEntry(bytes: Uint8Array, entry: ZipEntry, what = "zip"): Uint8Array {
  const packed = packedBytes(bytes, entry);
  const inflated = () => inflateRawSync(packed, inflateOptions(entry)) as unknown as Inflated;
  const data = entry.method === METHOD.stored ? packed : wholeOf(unpacked(inflated, entry, what), entry, what);
  return checked(data, crc32(data), entry, what);
}

/** The same for long members: zlib unpacks on a thread of its own, and the event loop turns meanwhile. */
export async function readZipEntryGivingWay(bytes: Uint8Array, entry: ZipEntry, what = "zip"): Promise<Uint8Array> {
  const packed = packedBytes(bytes, entry);
  const inflated = async () => {
    const later = inflateLater(packed, inflateOptions(entry));
    const result = await later.catch((cause: unknown) => Promise.reject(notUnpacked(cause, entry, what)));
    return wholeOf(result, entry, what);
  };
  const data = entry.method === METHOD.stored ? packed : await inflated();
  return checked(data, await crc32GivingWay(data), entry, what);
}

function checked(data: Uint8Array, crc: number, entry: ZipEntry, what: string): Uint8Array {
  if (crc !== entry.crc) throw new FormatError(`${what}: "${entry.name}" is damaged: its checksum is wrong.`);
  return data;
}

/** With `info`, Node also tells how much of the input was used; its types do not know. */
interface Inflated {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}

const inflateOptions = ({ size }: ZipEntry) => ({ info: true, maxOutputLength: Math.max(size, 1) });

const inflateLater = promisify(inflateRaw) as unknown as (
  packed: Uint8Array,
  options: ReturnType<typeof inflateOptions>,
) => Promise<Inflated>;

function wholeOf({ buffer, engine }: Inflated, { name, size, compressedSize }: ZipEntry, what: string): Uint8Array {
  if (buffer.length !== size || engine.bytesWritten !== compressedSize) {
    throw new FormatError(`${what}: "${name}" unpacks to ${buffer.length} bytes, not the ${size} it claims.`);
  }
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
}

function unpacked<T>(unpack: () => T, entry: ZipEntry, what: string): T {
  try {
    return unpack();
  } catch (cause) {
    throw notUnpacked(cause, entry, what);
  }
}

const notUnpacked = (cause: unknown, { name }: ZipEntry, what: string): FormatError =>
  new FormatError(`${what}: "${name}" cannot be unpacked: ${(cause as Error).message}.`, { cause });
