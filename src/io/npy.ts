/**
 * NumPy's .npy format, versions 1 to 3 (NEP 1): a magic string, a header that is a Python dict, and the elements. Reads
 * every dtype Pumice has, in either byte order and in either memory order; writes what np.save writes, byte for byte.
 * Dtypes without a NumPy name are written as the ml_dtypes package writes it: bf16 as `<V2`, two opaque bytes, f8e4m3 and the
 * integers narrower than a byte as `<V1`, one byte each, f8e5m2 as `<f1`. `<V1` is read as f8e4m3 unless the caller knows
 * better. Object, string, date and structured arrays are refused. The io namespace and npz.ts call this.
 */
import { tidyBytes } from "../core/bytes.js";
import { DTYPE_NAMES, DTYPES, type DType, isPacked } from "../core/dtype.js";
import { FormatError } from "../core/errors.js";
import { packIntegers, unpackIntegers } from "../core/packed.js";
import { formatShape, type Shape, sizeOf } from "../core/shape.js";
import { viewBytes } from "../core/storage.js";
import { type PythonLiteral, parsePythonLiteral } from "./python-literal.js";
import { checkRaw, concatBytes, fileByteLength, type RawTensor } from "./raw-tensor.js";

const MAGIC = [0x93, ...Buffer.from("NUMPY")];

/** Bytes up to the header's length: the magic, the version, and a length of two bytes or four. */
export const NPY_PREFIX_BYTES = 12;

/** The longest header that is read: far more than any array of numbers needs. */
const MAX_HEADER_BYTES = 1 << 20;

export interface NpyHeader {
  readonly version: number;
  readonly dtype: DType;
  readonly shape: Shape;
  /** The first axis varies fastest. */
  readonly fortranOrder: boolean;
  readonly bigEndian: boolean;
  /** The offset of the elements, and their size in bytes. */
  readonly dataOffset: number;
  readonly byteLength: number;
}

/** An array as the file holds it; `rowMajor` brings it into the order of RawTensor. */
export interface NpyArray extends RawTensor {
  readonly fortranOrder: boolean;
}

/** The end of the header, from the bytes before it. */
export function npyHeaderEnd(bytes: Uint8Array, what = "npy"): number {
  if (bytes.length < 8 || MAGIC.some((byte, i) => bytes[i] !== byte)) {
    throw new FormatError(`${what}: not a .npy file; it does not begin with \\x93NUMPY and a version.`);
  }
  const version = bytes[6];
  if (version < 1 || version > 3) throw new FormatError(`${what}: version ${version} is unknown; 1 to 3 are known.`);
  const lengthBytes = version === 1 ? 2 : 4;
  const start = 8 + lengthBytes;
  if (bytes.length < start) throw new FormatError(`${what}: the file ends inside its header.`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = version === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
  if (length > MAX_HEADER_BYTES)
    throw new FormatError(`${what}: the header claims ${length} bytes; that is no header.`);
  return start + length;
}

/** Parses the header. `bytes` may end where the header ends, so a caller can read the data of a large file later. */
export function parseNpyHeader(bytes: Uint8Array, what = "npy"): NpyHeader {
  const end = npyHeaderEnd(bytes, what);
  const version = bytes[6];
  const start = version === 1 ? 10 : 12;
  if (end > bytes.length) {
    throw new FormatError(`${what}: the header claims ${end - start} bytes, but ${bytes.length - start} are there.`);
  }
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString(
    version === 3 ? "utf8" : "latin1",
  );
  const { descr, fortran_order: order, shape } = headerFields(parsePythonLiteral(text, what), what);
  if (typeof order !== "boolean") throw new FormatError(`${what}: 'fortran_order' is neither True nor False.`);
  const { dtype, bigEndian } = parseDescription(descr, what);
  const sizes = parseShape(shape, what);
  const byteLength = fileByteLength(sizes, DTYPES[dtype].bits, what);
  return { version, dtype, shape: sizes, fortranOrder: order, bigEndian, dataOffset: end, byteLength };
}

function headerFields(header: PythonLiteral, what: string): Record<"descr" | "fortran_order" | "shape", PythonLiteral> {
  if (!(header instanceof Map)) throw new FormatError(`${what}: the header is not a dict.`);
  const keys = ["descr", "fortran_order", "shape"] as const;
  for (const key of keys) if (!header.has(key)) throw new FormatError(`${what}: the header lacks '${key}'.`);
  if (header.size > 3) throw new FormatError(`${what}: the header has keys beyond descr, fortran_order and shape.`);
  const [descr, fortran_order, shape] = keys.map((key) => header.get(key) as PythonLiteral);
  return { descr, fortran_order, shape };
}

function parseShape(shape: PythonLiteral, what: string): number[] {
  if (typeof shape !== "object" || shape === null || !("kind" in shape) || shape.kind !== "tuple") {
    throw new FormatError(`${what}: 'shape' is not a tuple.`);
  }
  return shape.items.map((size) => {
    if (typeof size === "number") return size;
    throw new FormatError(`${what}: 'shape' holds something that is no number.`);
  });
}

const BY_CODE = new Map<string, DType>(
  DTYPE_NAMES.filter((name) => !isPacked(name)).map((name) => [DTYPES[name].numpy.slice(1), name]),
);

function parseDescription(descr: PythonLiteral, what: string): { dtype: DType; bigEndian: boolean } {
  if (typeof descr !== "string") {
    throw new FormatError(`${what}: a structured array; save its fields as separate arrays.`);
  }
  const [, order = "", code = descr] = /^([<>|=]?)(.+)$/.exec(descr) ?? [];
  const dtype = code === "?" ? "bool" : BY_CODE.get(code);
  if (dtype) return { dtype, bigEndian: order === ">" && DTYPES[dtype].bytes > 1 };
  const reason = code.startsWith("O")
    ? "an array of Python objects; only arrays of numbers can be read"
    : `the dtype '${descr}' has no counterpart; convert the array in NumPy first`;
  throw new FormatError(`${what}: ${reason}.`);
}

/** Reads one array. Bytes after it are ignored: np.save can append arrays to one file. */
export function decodeNpy(bytes: Uint8Array, what = "npy"): NpyArray {
  const header = parseNpyHeader(bytes, what);
  checkNpyLength(header, bytes.length - header.dataOffset, what);
  return npyArray(header, bytes.subarray(header.dataOffset, header.dataOffset + header.byteLength));
}

export function checkNpyLength({ dtype, shape, byteLength }: NpyHeader, available: number, what: string): void {
  if (byteLength <= available) return;
  throw new FormatError(
    `${what}: ${dtype} of shape ${formatShape(shape)} takes ${byteLength} bytes, but ${available} follow the header.`,
  );
}

/** The array of a header and the bytes of its elements. */
export function npyArray({ dtype, shape, fortranOrder, bigEndian }: NpyHeader, stored: Uint8Array): NpyArray {
  const { bytes: size, lanes } = DTYPES[dtype];
  const data = bigEndian ? swapped(stored, size / lanes) : tidyBytes(dtype, stored);
  return { dtype, shape, fortranOrder, bytes: data };
}

/** A copy with the bytes of each `width` bytes reversed. */
function swapped(bytes: Uint8Array, width: number): Uint8Array {
  const copy = Buffer.from(bytes);
  if (width === 2) copy.swap16();
  else if (width === 4) copy.swap32();
  else copy.swap64();
  return new Uint8Array(copy.buffer, copy.byteOffset, copy.byteLength);
}

/** The array with its last axis varying fastest, copied only when it was the other way round. */
export function rowMajor(array: NpyArray): RawTensor {
  const { dtype, shape, bytes, fortranOrder } = array;
  // Axes of extent 1 would only cost time, and a file can have any number of them.
  const long = shape.filter((size) => size !== 1);
  if (!fortranOrder || long.length < 2) return { dtype, shape, bytes };
  return { dtype, shape, bytes: reordered(bytes, long, DTYPES[dtype].bytes) };
}

/** Elements moved from column-major to row-major order. Words, not floats: a float may lose its NaN bits on the way. */
function reordered(bytes: Uint8Array, shape: Shape, size: number): Uint8Array {
  const WordArray = size === 1 ? Uint8Array : size === 2 ? Uint16Array : Uint32Array;
  const width = WordArray.BYTES_PER_ELEMENT;
  // Not slice(), which of a Buffer views.
  const aligned = bytes.byteOffset % width === 0 ? bytes : new Uint8Array(bytes);
  const source = new WordArray(aligned.buffer as ArrayBuffer, aligned.byteOffset, aligned.byteLength / width);
  const target = new WordArray(source.length);
  const words = size / width;
  // Column-major strides, in words.
  let stride = words;
  const strides = shape.map((length) => {
    const own = stride;
    stride *= length;
    return own;
  });
  const index = new Array<number>(shape.length).fill(0);
  const count = sizeOf(shape);
  let from = 0;
  for (let to = 0; to < count * words; to += words) {
    for (let word = 0; word < words; word++) target[to + word] = source[from + word];
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      from += strides[axis];
      if (++index[axis] < shape[axis]) break;
      from -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  return new Uint8Array(target.buffer);
}

/** An array of opaque bytes as the dtype that they are said to have. */
export function opaqueAs(array: RawTensor, dtype: DType, what: string): RawTensor {
  if (array.dtype === dtype) return array;
  if (array.dtype !== "f8e4m3" || !isPacked(dtype)) {
    throw new FormatError(
      `${what}: the file says that its elements are ${array.dtype}, not ${dtype}; only elements of one opaque byte may be ` +
        "said to be u2, u4, i2, i4 or f8e4m3. Read it as it is, and cast it.",
    );
  }
  return { dtype, shape: array.shape, bytes: packIntegers(array.bytes, dtype) };
}

/** The elements as they stand in a file: packed integers take a byte each, with their sign. */
export function npyBytes({ dtype, shape, bytes }: RawTensor): Uint8Array {
  return isPacked(dtype) ? viewBytes(unpackIntegers(bytes, dtype, sizeOf(shape))) : bytes;
}

/** The bytes before the elements, as np.save writes them. */
export function encodeNpyHeader(dtype: DType, shape: Shape, fortranOrder = false): Uint8Array {
  const tuple = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(", ")})`;
  const order = fortranOrder ? "True" : "False";
  const dict = `{'descr': '${DTYPES[dtype].numpy}', 'fortran_order': ${order}, 'shape': ${tuple}, }`;
  // NumPy leaves room in the header, so that the extent of a growing axis can be rewritten in place.
  const grows = shape.at(fortranOrder ? -1 : 0);
  const padded = dict + " ".repeat(grows === undefined ? 0 : 21 - String(grows).length);
  const version = padded.length + 64 < 65536 ? 1 : 2;
  const prefix = version === 1 ? 10 : 12;
  // The elements begin at a multiple of 64, the last character before them is a newline.
  const total = prefix + padded.length + 1 + (64 - ((prefix + padded.length + 1) % 64));
  const header = Buffer.alloc(total, " ");
  header.set([...MAGIC, version, 0]);
  if (version === 1) header.writeUInt16LE(total - prefix, 8);
  else header.writeUInt32LE(total - prefix, 8);
  header.write(padded, prefix, "latin1");
  header.write("\n", total - 1, "latin1");
  return new Uint8Array(header.buffer, header.byteOffset, header.byteLength);
}

/** A whole .npy file. */
export function encodeNpy(tensor: RawTensor): Uint8Array {
  const raw = checkRaw(tensor, "encodeNpy");
  return concatBytes([encodeNpyHeader(raw.dtype, raw.shape), npyBytes(raw)]);
}
