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
/** Buffers that are kept for the batches to come, at most. */
const MAX_FREE = 8;
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
  let isClosed = false;
  const end = async (): Promise<void> => {
    isClosed = true;
    await close();
  };
  // Tensors copy their bytes, so buffers serve again: otherwise an epoch would make as much garbage as the file is large.
  const free: Uint8Array[] = [];
  const takeBuffer = (length: number, name: string): Uint8Array => {
    const at = free.findIndex((each) => each.length === length);
    return at < 0
      ? bytesFor(length, `openRows: "${name}"`, "take smaller batches")
      : (free.splice(at, 1)[0] as Uint8Array);
  };
  return {
    count: first.shape[0] as number,
    get bytesRead() {
      return bytesRead;
    },
    read: async (rows, device) => {
      if (isClosed) throw new ArgumentError(`openRows: ${what} is closed; close it after the last batch.`);
      const found: [string, Tensor][] = [];
      for (const column of columns) {
        const length = rows.length * rowSize(column);
        const bytes = takeBuffer(length, column.name);
        await readRows(column, rows, bytes, (count) => (bytesRead += count));
        const shape = [rows.length, ...column.shape.slice(1)];
        found.push([column.name, fromBytes(tidyBytes(column.dtype, bytes), shape, column.dtype, { device }) as Tensor]);
        if (free.length < MAX_FREE) free.push(bytes);
      }
      return Object.fromEntries(found);
    },
    close: end,
    [Symbol.asyncDispose]: end,
  };
}

const rowSize = ({ shape, dtype }: Column): number => sizeOf(shape.slice(1)) * DTYPES[dtype].bytes;

/** Fills bytes with rows, one after the other. */
async function readRows(
  column: Column,
  rows: Int32Array,
  bytes: Uint8Array,
  note: (count: number) => void,
): Promise<void> {
  const size = rowSize(column);
  if (size === 0) return;
  const order = Array.from(rows, (row, place) => ({ row, place })).sort((a, b) => a.row - b.row);
  for (let from = 0; from < order.length; ) {
    let to = from + 1;
    const start = (order[from] as { row: number }).row;
    while (to < order.length && joins(order[to - 1]?.row as number, order[to]?.row as number, start, size)) to++;
    const run = order.slice(from, to);
    const place = (order[from] as { place: number }).place;
    // Rows that follow one another in the batch, too, are read where they belong.
    const isDirect = run.every((each, i) => each.row === start + i && each.place === place + i);
    const length = ((order[to - 1]?.row as number) - start + 1) * size;
    const span = isDirect ? bytes.subarray(place * size, place * size + length) : new Uint8Array(length);
    await column.readRange(start * size, span);
    note(length);
    if (!isDirect) {
      for (const each of run) {
        bytes.set(span.subarray((each.row - start) * size, (each.row - start + 1) * size), each.place * size);
      }
    }
    from = to;
  }
}

const joins = (last: number, next: number, start: number, size: number): boolean =>
  (next - last - 1) * size <= MAX_GAP && (next - start + 1) * size <= MAX_SPAN;
