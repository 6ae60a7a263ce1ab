/**
 * Data in files larger than memory, by rows: the tensors of a safetensors file, or arrays of .npy files, that have one first extent. A
 * batch reads its own rows and no others; neighbouring rows are read at once.
 */
import { checkString } from "../../core/arguments.js";
import { tidyBytes } from "../../core/bytes.js";
import { DTYPES, type DType, isPacked } from "../../core/dtype.js";
import { ArgumentError, FormatError } from "../../core/errors.js";
import { formatShape, type Shape, sizeOf } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { openNpy } from "../../io/npy-file.js";
import { bytesFor } from "../../io/read-file.js";
import { dtypeOf } from "../../io/safetensors.js";
import { openSafetensors } from "../../io/safetensors-file.js";
import { fromBytes, type Tensor } from "../../tensor/index.js";
import type { Rows } from "./rows.js";

/** Rows further apart than this are read one by one; the bytes between nearer ones are read along with them. */
const MAX_GAP = 16 * 1024;
/** The most bytes of one read. */
const MAX_SPAN = 4 * 2 ** 20;

/** Rows of files, which stay open until they are closed. */
export interface FileRows<B> extends Rows<B>, AsyncDisposable {
  /** Bytes of rows that were read so far. */
  readonly bytesRead: number;
  close(): Promise<void>;
}

/** One array in a file. */
interface Column {
  readonly name: string;
  readonly dtype: DType;
  readonly shape: Shape;
  readRange(start: number, bytes: Uint8Array): Promise<void>;
}

/**
 * Rows of files: `openRows("train.safetensors")` has its tensors by name, `openRows({ x: "images.npy", y: "labels.npy" })` an array of
 * each file. Close it, or declare it with `await using`.
 */
export async function openRows(files: string): Promise<FileRows<Record<string, Tensor>>>;
export async function openRows<const F extends Readonly<Record<string, string>>>(
  files: F,
): Promise<FileRows<{ readonly [K in keyof F]: Tensor }>>;
export async function openRows(
  files: string | Readonly<Record<string, string>>,
): Promise<FileRows<Record<string, Tensor>>> {
  const opened: AsyncDisposable[] = [];
  const close = async (): Promise<void> => {
    for (const file of opened.splice(0)) await file[Symbol.asyncDispose]();
  };
  try {
    const columns = typeof files === "string" ? await tensorsOf(files, opened) : await arraysOf(files, opened);
    return rowsOfColumns(columns, typeof files === "string" ? files : Object.values(files).join(", "), close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function tensorsOf(path: string, opened: AsyncDisposable[]): Promise<Column[]> {
  checkString("openRows", "the path", path);
  if (path.endsWith(".npy")) {
    throw new ArgumentError(`openRows: an array of a .npy file needs a name; write openRows({ x: ${shown(path)} }).`);
  }
  const file = await openSafetensors(path, "openRows");
  opened.push(file);
  return file.names.map((name) => ({
    name,
    dtype: dtypeOf(file.entry(name), path),
    shape: file.entry(name).shape,
    readRange: (start, bytes) => file.readRange(name, start, bytes),
  }));
}

async function arraysOf(files: Readonly<Record<string, string>>, opened: AsyncDisposable[]): Promise<Column[]> {
  if (typeof files !== "object" || files === null || Array.isArray(files)) {
    throw new ArgumentError(`openRows: takes a path, or paths of .npy files by name, not ${shown(files)}.`);
  }
  const columns: Column[] = [];
  for (const [name, path] of Object.entries(files)) {
    checkString("openRows", `the path of "${name}"`, path);
    const file = await openNpy(path, "openRows");
    opened.push(file);
    columns.push({ name, dtype: file.dtype, shape: file.shape, readRange: file.readRange });
  }
  return columns;
}

function rowsOfColumns(
  columns: readonly Column[],
  what: string,
  close: () => Promise<void>,
): FileRows<Record<string, Tensor>> {
  const [first] = columns;
  if (!first) throw new FormatError(`openRows: ${what} holds no tensors.`);
  for (const { name, shape, dtype } of columns) {
    if (isPacked(dtype))
      throw new FormatError(`openRows: ${what}: "${name}" is ${dtype}, whose rows begin within a byte.`);
    if (shape.length > 0 && shape[0] === first.shape[0]) continue;
    throw new FormatError(
      `openRows: ${what}: "${first.name}" is ${formatShape(first.shape)} and "${name}" ${formatShape(shape)}; ` +
        "all have one first extent, the number of rows.",
    );
  }
  let bytesRead = 0;
  return {
    count: first.shape[0] as number,
    get bytesRead() {
      return bytesRead;
    },
    read: async (rows, device) => {
      const found: [string, Tensor][] = [];
      for (const column of columns) {
        const bytes = await rowBytes(column, rows, (count) => (bytesRead += count));
        const shape = [rows.length, ...column.shape.slice(1)];
        found.push([column.name, fromBytes(bytes, shape, column.dtype, { device }) as Tensor]);
      }
      return Object.fromEntries(found);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The bytes of rows, one after the other. */
async function rowBytes(column: Column, rows: Int32Array, note: (count: number) => void): Promise<Uint8Array> {
  const size = sizeOf(column.shape.slice(1)) * DTYPES[column.dtype].bytes;
  const bytes = bytesFor(rows.length * size, `openRows: "${column.name}"`, "take smaller batches");
  if (size === 0) return bytes;
  const order = Array.from(rows, (row, place) => ({ row, place })).sort((a, b) => a.row - b.row);
  for (let from = 0; from < order.length; ) {
    let to = from + 1;
    const start = (order[from] as { row: number }).row;
    while (to < order.length && joins(order[to - 1]?.row as number, order[to]?.row as number, start, size)) to++;
    const span = new Uint8Array(((order[to - 1]?.row as number) - start + 1) * size);
    await column.readRange(start * size, span);
    note(span.length);
    for (const { row, place } of order.slice(from, to)) {
      bytes.set(span.subarray((row - start) * size, (row - start + 1) * size), place * size);
    }
    from = to;
  }
  return tidyBytes(column.dtype, bytes);
}

const joins = (last: number, next: number, start: number, size: number): boolean =>
  (next - last - 1) * size <= MAX_GAP && (next - start + 1) * size <= MAX_SPAN;
