/**
 * Tables from Parquet files, through hyparquet, which users install when they need it: it is pure JavaScript without dependencies of its
 * own. Nothing of it is loaded before the first file is read.
 */
import { checkOptions, checkString } from "../../core/arguments.js";
import { ArgumentError, FormatError, UnsupportedError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { readNamed } from "../../files/named-file.js";
import { type Cell, columnsTable, type Table } from "./table.js";

/** A file as hyparquet reads it. */
interface AsyncBuffer {
  readonly byteLength: number;
  slice(start: number, end?: number): ArrayBuffer;
}

interface Metadata {
  readonly schema: readonly { readonly name: string; readonly num_children?: number }[];
}

/** The part of hyparquet that is used here. */
interface Hyparquet {
  parquetMetadataAsync(file: AsyncBuffer): Promise<Metadata>;
  parquetReadObjects(options: object): Promise<readonly Readonly<Record<string, unknown>>[]>;
}

/** Options of `readParquet`. */
export interface ParquetOptions {
  /** The columns to read; all unless told, which takes a file without lists in its cells. Only their parts of the file are decoded. */
  readonly columns?: readonly string[];
}

/** The table in a Parquet file. Needs the package hyparquet and, for files packed other than by Snappy, hyparquet-compressors. */
export async function readParquet(path: string, options: ParquetOptions = {}): Promise<Table> {
  checkString("readParquet", "the path", path);
  checkOptions("readParquet", options, { columns: "any" });
  const { parquetMetadataAsync, parquetReadObjects } = await packageNamed<Hyparquet>("hyparquet");
  const bytes = await readNamed("readParquet", path);
  const whole = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
  const file: AsyncBuffer = { byteLength: whole.byteLength, slice: (start, end) => whole.slice(start, end) };
  try {
    const metadata = await parquetMetadataAsync(file);
    const names = columnNames(metadata);
    for (const name of options.columns ?? []) {
      if (!names.includes(name)) {
        throw new ArgumentError(`readParquet: ${path} has no column ${shown(name)}; it has ${names.join(", ")}.`);
      }
    }
    const columns = [...(options.columns ?? names)];
    const compressors = await packageNamed<{ compressors: object }>("hyparquet-compressors").then(
      (found) => found.compressors,
      () => undefined,
    );
    const rows = await parquetReadObjects({ file, metadata, columns, compressors });
    return columnsTable(columns.map((name) => [name, rows.map((row) => row[name] as Cell)]));
  } catch (error) {
    if (error instanceof ArgumentError) throw error;
    const message = (error as Error).message;
    const remedy = /compression/i.test(message) ? " Install hyparquet-compressors for it." : "";
    throw new FormatError(`readParquet: ${path} cannot be read: ${message}.${remedy}`, { cause: error });
  }
}

/** The names at the top of the schema, whose first entry is the whole. */
function columnNames({ schema }: Metadata): string[] {
  const names: string[] = [];
  let at = 1;
  const skip = (): void => {
    const children = schema[at++]?.num_children ?? 0;
    for (let i = 0; i < children; i++) skip();
  };
  while (at < schema.length) {
    names.push((schema[at] as { readonly name: string }).name);
    skip();
  }
  return names;
}

async function packageNamed<T>(name: string): Promise<T> {
  try {
    // By a variable: those who bundle a program need not have the package.
    return (await import(/* webpackIgnore: true */ /* @vite-ignore */ name)) as T;
  } catch (error) {
    throw new UnsupportedError(`readParquet: needs the package ${name}; install it: npm install ${name}`, {
      cause: error,
    });
  }
}
