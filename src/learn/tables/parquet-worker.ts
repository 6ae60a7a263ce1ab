/**
 * A thread of parquet.ts: decodes one file through hyparquet, and counts what it has done. A damaged file may make the decoder run
 * without end or take all memory, which ends with this thread.
 */
import { parentPort, workerData } from "node:worker_threads";
import type { Cell } from "./table.js";

/** A file to decode: the data of a new thread. */
export interface ParquetTask {
  readonly bytes: ArrayBuffer;
  /** All columns unless told. */
  readonly columns: readonly string[] | undefined;
  /** Addresses of hyparquet and, where it is installed, of hyparquet-compressors. */
  readonly decoder: string;
  readonly compressors: string | undefined;
  /** One more with each part of the file that is asked for, and with each page that is decoded. */
  readonly progress: Int32Array;
}

/** The answer of a thread. */
export type ParquetReport =
  | { readonly kind: "table"; readonly columns: readonly (readonly [name: string, cells: readonly Cell[]])[] }
  | { readonly kind: "missing"; readonly name: string; readonly names: readonly string[] }
  | { readonly kind: "failed"; readonly message: string };

/** A file as hyparquet reads it. */
interface AsyncBuffer {
  readonly byteLength: number;
  slice(start: number, end?: number): ArrayBuffer;
}

type Compressors = Readonly<Record<string, (...args: never[]) => unknown>>;

interface Metadata {
  readonly schema: readonly { readonly name: string; readonly num_children?: number }[];
  readonly num_rows: bigint;
}

/** A run of cells of a column. */
interface Chunk {
  readonly columnName: string;
  readonly columnData: ArrayLike<unknown>;
  readonly rowStart: number;
}

/** The part of hyparquet that is used here. */
interface Hyparquet {
  parquetMetadataAsync(file: AsyncBuffer): Promise<Metadata>;
  parquetRead(options: object): Promise<void>;
}

/** The values of a page, and the rows of a file. V8 ends the whole process when an array grows beyond some hundred million elements. */
const MOST_VALUES = 2 ** 26;
const MOST_ROWS = 1e8;

const PlainArray = Array;

/**
 * Arrays that are made with a length keep it. hyparquet writes runs as long as the file says, beyond the end of the page; such an array
 * would grow until V8 ends the process, this thread and all others.
 */
const FixedArray = new Proxy(Array, {
  construct(target, args: unknown[], newTarget) {
    const [length] = args;
    if (args.length !== 1 || typeof length !== "number") return Reflect.construct(target, args, newTarget) as object;
    if (length > MOST_VALUES) throw new RangeError(`a page of ${length} values`);
    return Object.preventExtensions((Reflect.construct(target, args, newTarget) as unknown[]).fill(undefined));
  },
});

/** Decompression, which may use arrays as it likes. */
const withPlainArrays = (compressors: Compressors): Compressors =>
  Object.fromEntries(
    Object.entries(compressors).map(([name, decompress]) => [
      name,
      (...args) => {
        globalThis.Array = PlainArray;
        try {
          return decompress(...args);
        } finally {
          globalThis.Array = FixedArray;
        }
      },
    ]),
  );

async function decode({ bytes, columns: asked, decoder, compressors, progress }: ParquetTask): Promise<ParquetReport> {
  const { parquetMetadataAsync, parquetRead } = (await import(decoder)) as Hyparquet;
  const found = compressors === undefined ? undefined : ((await import(compressors)) as { compressors: Compressors });
  const count = () => void Atomics.add(progress, 0, 1);
  const file: AsyncBuffer = {
    byteLength: bytes.byteLength,
    slice(start, end) {
      count();
      return bytes.slice(start, end);
    },
  };
  const metadata = await parquetMetadataAsync(file);
  const names = columnNames(metadata);
  const missing = asked?.find((name) => !names.includes(name));
  if (missing !== undefined) return { kind: "missing", name: missing, names };
  const columns = [...(asked ?? names)];
  const chunks = new Map<string, Chunk[]>(columns.map((name) => [name, []]));
  const onChunk = (chunk: Chunk) => {
    count();
    chunks.get(chunk.columnName)?.push(chunk);
  };
  const rows = Number(metadata.num_rows);
  if (!(rows >= 0 && rows <= MOST_ROWS)) throw new Error(`it says that it has ${rows} rows, of ${MOST_ROWS} at most`);
  await parquetRead({
    file,
    metadata,
    columns,
    compressors: found && withPlainArrays(found.compressors),
    onPage: count,
    onChunk,
  });
  return { kind: "table", columns: columns.map((name) => [name, joined(name, chunks.get(name) as Chunk[], rows)]) };
}

/** The cells of a column from the first row to the last. */
function joined(name: string, chunks: readonly Chunk[], rows: number): Cell[] {
  const cells: Cell[] = [];
  for (const { columnData, rowStart } of [...chunks].sort((a, b) => a.rowStart - b.rowStart)) {
    if (rowStart !== cells.length) throw new Error(`column ${name} has no row ${cells.length}`);
    if (rowStart + columnData.length > rows) break;
    for (let i = 0; i < columnData.length; i++) cells.push(columnData[i] as Cell);
  }
  if (cells.length !== rows) throw new Error(`column ${name} has other rows than the ${rows} of the file`);
  return cells;
}

/** The names at the top of the schema, whose first entry is the whole. */
function columnNames({ schema }: Metadata): string[] {
  const names: string[] = [];
  let at = 1;
  const skip = (): void => {
    const children = schema[at++]?.num_children ?? 0;
    for (let i = 0; i < children && at < schema.length; i++) skip();
  };
  while (at < schema.length) {
    names.push((schema[at] as { readonly name: string }).name);
    skip();
  }
  return names;
}

globalThis.Array = FixedArray;
decode(workerData as ParquetTask)
  .catch((error: unknown): ParquetReport => ({ kind: "failed", message: (error as Error).message }))
  .then((report) => parentPort?.postMessage(report))
  // A cell that cannot be sent to the other thread is no cell of a table.
  .catch((error: unknown) => parentPort?.postMessage({ kind: "failed", message: (error as Error).message }));
