/**
 * The safetensors format: the length of a JSON header, the header (names, dtypes, shapes, byte ranges), the data. The
 * rules are those of the reference implementation: ranges follow one another without gap or overlap from the first byte
 * of the data to the last, each exactly as long as its dtype and shape need, and no name comes twice. A header that
 * breaks one is a FormatError before anything is read or allocated by it. safetensors-file.ts reads by parts, the io
 * namespace wraps both.
 */
import { tensorBytes } from "../core/bytes.js";
import { DTYPE_NAMES, DTYPES, type DType, isPacked } from "../core/dtype.js";
import { ArgumentError, DTypeError, FormatError } from "../core/errors.js";
import { formatShape, type Shape } from "../core/shape.js";
import { fileByteLength } from "./raw-tensor.js";
import { type JsonValue, parseStrictJson } from "./strict-json.js";

/** The limit of the reference implementation. */
const MAX_HEADER_BYTES = 100_000_000;

/** Bytes before the header: its length. */
export const PREFIX_BYTES = 8;

const METADATA = "__metadata__";

/** The names a file may use, and the bits of an element. Some have no dtype here; their bytes can still be read. */
const BITS = new Map<string, number>([
  ...DTYPE_NAMES.flatMap((name): [string, number][] => {
    const { safetensors, bits } = DTYPES[name];
    return safetensors ? [[safetensors, bits]] : [];
  }),
  ...["F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"].map((name): [string, number] => [name, 8]),
  ["F6_E2M3", 6],
  ["F6_E3M2", 6],
  ["F4", 4],
]);

const BY_NAME = new Map<string, DType>(
  DTYPE_NAMES.flatMap((name): [string, DType][] => {
    const { safetensors } = DTYPES[name];
    return safetensors ? [[safetensors, name]] : [];
  }),
);

export interface SafetensorsEntry {
  readonly name: string;
  /** Undefined where Pumice has no counterpart, as for the 4-bit floats. */
  readonly dtype: DType | undefined;
  /** The dtype as the file calls it. */
  readonly storedAs: string;
  readonly shape: Shape;
  /** The offset of the bytes from the start of the data. */
  readonly offset: number;
  readonly byteLength: number;
}

export interface SafetensorsHeader {
  /** By name, in the order of the data. */
  readonly entries: ReadonlyMap<string, SafetensorsEntry>;
  readonly metadata: ReadonlyMap<string, string>;
  /** The offset of the data in the file. */
  readonly dataOffset: number;
}

/** The length of the header, from the first bytes of a file. */
export function headerLength(prefix: Uint8Array, fileLength: number, what: string): number {
  if (prefix.length < PREFIX_BYTES) throw new FormatError(`${what}: the file is shorter than its header's length.`);
  const length = new DataView(prefix.buffer, prefix.byteOffset, PREFIX_BYTES).getBigUint64(0, true);
  if (length > MAX_HEADER_BYTES) {
    throw new FormatError(
      `${what}: the header claims ${length} bytes, more than ${MAX_HEADER_BYTES}; not safetensors?`,
    );
  }
  const available = fileLength - PREFIX_BYTES;
  if (length > available) {
    throw new FormatError(`${what}: the header claims ${length} bytes, but ${available} follow its length.`);
  }
  return Number(length);
}

/** Reads and checks a header, given how many bytes of data follow it. */
export function parseSafetensorsHeader(
  header: Uint8Array,
  dataLength: number,
  what = "safetensors",
): SafetensorsHeader {
  if (header[0] !== 0x7b) throw new FormatError(`${what}: the header does not begin with {.`);
  const json = parseStrictJson(decodeUtf8(header, what), 4, what);
  if (!isObject(json)) throw new FormatError(`${what}: the header is no JSON object.`);
  const entries: SafetensorsEntry[] = [];
  let metadata: ReadonlyMap<string, string> = new Map();
  for (const [name, value] of json) {
    if (name === METADATA) metadata = readMetadata(value, what);
    else entries.push(readEntry(name, value, `${what}: "${name}"`));
  }
  // Empty tensors share their offset with what follows.
  entries.sort((a, b) => a.offset - b.offset || a.byteLength - b.byteLength);
  checkCoverage(entries, dataLength, what);
  return {
    entries: new Map(entries.map((entry) => [entry.name, entry])),
    metadata,
    dataOffset: PREFIX_BYTES + header.length,
  };
}

function decodeUtf8(bytes: Uint8Array, what: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new FormatError(`${what}: the header is not UTF-8.`, { cause });
  }
}

function isObject(value: JsonValue | undefined): value is ReadonlyMap<string, JsonValue> {
  return value instanceof Map;
}

function readMetadata(value: JsonValue, what: string): ReadonlyMap<string, string> {
  if (!isObject(value)) throw new FormatError(`${what}: ${METADATA} is no JSON object.`);
  for (const [key, text] of value) {
    if (typeof text !== "string") throw new FormatError(`${what}: the metadata "${key}" is no string.`);
  }
  return value as ReadonlyMap<string, string>;
}

function readEntry(name: string, value: JsonValue, where: string): SafetensorsEntry {
  if (!isObject(value)) throw new FormatError(`${where} is not described by a JSON object.`);
  const storedAs = value.get("dtype");
  const bits = typeof storedAs === "string" ? BITS.get(storedAs) : undefined;
  if (typeof storedAs !== "string" || bits === undefined) {
    const shown = typeof storedAs === "string" ? `"${storedAs}"` : "missing or no string";
    throw new FormatError(`${where}: the dtype is ${shown}; known are ${[...BITS.keys()].join(", ")}.`);
  }
  const shape = readIntegers(value.get("shape"), "shape", where);
  const offsets = readIntegers(value.get("data_offsets"), "data_offsets", where);
  const [begin, end] = offsets;
  if (offsets.length !== 2 || begin > end) {
    throw new FormatError(`${where}: data_offsets must be a begin and an end after it, not [${offsets.join(", ")}].`);
  }
  const byteLength = fileByteLength(shape, bits, where);
  if (end - begin !== byteLength) {
    throw new FormatError(
      `${where}: ${storedAs} of shape ${formatShape(shape)} takes ${byteLength} bytes, ` +
        `its offsets span ${end - begin}.`,
    );
  }
  return { name, dtype: BY_NAME.get(storedAs), storedAs, shape, offset: begin, byteLength };
}

function readIntegers(value: JsonValue | undefined, field: string, where: string): number[] {
  if (!Array.isArray(value)) throw new FormatError(`${where}: ${field} is missing or no list.`);
  return value.map((item: JsonValue) => {
    if (typeof item === "number" && Number.isSafeInteger(item) && item >= 0) return item + 0; // no -0
    throw new FormatError(`${where}: ${field} holds ${JSON.stringify(item)}, which is no size or offset.`);
  });
}

function checkCoverage(entries: readonly SafetensorsEntry[], dataLength: number, what: string): void {
  let end = 0;
  for (const { name, offset, byteLength } of entries) {
    if (offset + byteLength > dataLength) {
      throw new FormatError(
        `${what}: "${name}" ends at byte ${offset + byteLength} of the data, which has ${dataLength}; ` +
          "the file is cut short.",
      );
    }
    if (offset < end) throw new FormatError(`${what}: "${name}" overlaps the tensor before it.`);
    if (offset > end) throw new FormatError(`${what}: ${offset - end} bytes before "${name}" belong to no tensor.`);
    end = offset + byteLength;
  }
  if (end !== dataLength) throw new FormatError(`${what}: ${dataLength - end} bytes at the end belong to no tensor.`);
}

/** The dtype of an entry, or an error when Pumice has none for it. */
export function dtypeOf(entry: SafetensorsEntry, what: string): DType {
  if (entry.dtype) return entry.dtype;
  throw new DTypeError(
    `${what}: "${entry.name}" is ${entry.storedAs}, for which there is no dtype; ` +
      "io.openSafetensors(path) gives a file whose readBytes(name) gives its bytes.",
  );
}

/** A tensor that is about to be written, without its elements. */
export interface TensorToWrite {
  readonly name: string;
  readonly dtype: DType;
  readonly shape: Shape;
}

/**
 * The first bytes of a file of these tensors, up to the elements, and the order in which the elements follow. They follow without
 * gaps, so that the writer needs to hold one tensor at a time.
 */
export function layoutSafetensors<T extends TensorToWrite>(
  tensors: Iterable<T>,
  metadata: Readonly<Record<string, string>> = {},
  last: TensorToWrite | null = null,
): { readonly start: Uint8Array; readonly order: readonly T[] } {
  const order = [...tensors];
  // Wide elements first keeps every tensor aligned to its elements; then by name, as the reference implementation does.
  order.sort((a, b) => DTYPES[b.dtype].bytes - DTYPES[a.dtype].bytes || (a.name < b.name ? -1 : 1));
  const header = new Map<string, unknown>();
  if (Object.keys(metadata).length > 0) header.set(METADATA, metadata);
  let offset = 0;
  for (const { name, dtype, shape } of last ? [...order, last] : order) {
    const storedAs = storedName(name, dtype);
    if (header.has(name)) throw new ArgumentError(`safetensors: two tensors are called "${name}".`);
    const end = offset + tensorBytes({ shape, dtype });
    header.set(name, { dtype: storedAs, shape, data_offsets: [offset, end] });
    offset = end;
  }
  return { start: startOf(header), order };
}

function storedName(name: string, dtype: DType): string {
  const { safetensors } = DTYPES[dtype];
  if (name === METADATA) throw new ArgumentError(`safetensors: no tensor can be called ${METADATA}.`);
  if (safetensors) return safetensors;
  throw new DTypeError(
    `safetensors: "${name}" is ${dtype}, which the format lacks; ` +
      (isPacked(dtype)
        ? `cast it to ${DTYPES[dtype].signed ? "i8" : "u8"}, or store its bytes() as u8.`
        : "store its real and imaginary parts as f64."),
  );
}

/** The length of the header, and the header, which ends at a multiple of 8. */
function startOf(header: ReadonlyMap<string, unknown>): Uint8Array {
  // Written member by member, since a plain object would put names that look like numbers first.
  const json = `{${[...header].map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(",")}}`;
  const text = Buffer.from(json, "utf8");
  const padded = Buffer.alloc(PREFIX_BYTES + Math.ceil(text.length / 8) * 8, " ");
  if (padded.length - PREFIX_BYTES > MAX_HEADER_BYTES) {
    throw new ArgumentError(`safetensors: a header of ${text.length} bytes is more than readers accept.`);
  }
  padded.writeBigUInt64LE(BigInt(padded.length - PREFIX_BYTES), 0);
  text.copy(padded, PREFIX_BYTES);
  return padded;
}
