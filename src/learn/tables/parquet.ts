/**
 * Tables from Parquet files, through hyparquet, which users install when they need it: it is pure JavaScript without dependencies of its
 * own. Nothing of it is loaded before the first file is read. It decodes on a thread of its own, because it trusts what files say of
 * themselves: a damaged one may send it into a loop without end, or make it write until memory is full.
 */
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { checkOptions, checkString } from "../../core/arguments.js";
import { ArgumentError, FormatError, UnsupportedError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { readNamed } from "../../files/named-file.js";
import type { ParquetReport, ParquetTask } from "./parquet-worker.js";
import { columnsTable, type Table } from "./table.js";

/** Options of `readParquet`. */
export interface ParquetOptions {
  /** The columns to read; all unless told, which takes a file without lists in its cells. Only their parts of the file are decoded. */
  readonly columns?: readonly string[];
}

/** A page has a megabyte or so and takes milliseconds. A decoder that is not done with one after so many seconds never will be. */
const PATIENCE_SECONDS = 15;

/**
 * The table in a Parquet file. Needs the package hyparquet and, for files packed other than by Snappy, hyparquet-compressors. A file
 * of which no page is decoded for 15 seconds is refused as damaged.
 */
export async function readParquet(path: string, options: ParquetOptions = {}): Promise<Table> {
  checkString("readParquet", "the path", path);
  checkOptions("readParquet", options, { columns: "any" });
  return readWithPatience(path, options, PATIENCE_SECONDS);
}

/** @internal for tests: damaged files that would be waited for long */
export async function readWithPatience(path: string, { columns }: ParquetOptions, seconds: number): Promise<Table> {
  const decoder = addressOf("hyparquet");
  if (decoder === undefined) {
    throw new UnsupportedError("readParquet: needs the package hyparquet; install it: npm install hyparquet");
  }
  const bytes = await readNamed("readParquet", path);
  const whole = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
  const compressors = addressOf("hyparquet-compressors");
  const report = await decoded(
    { bytes: whole, columns: columns && [...columns], decoder, compressors, progress: newProgress() },
    seconds,
  );
  if (report.kind === "table") return columnsTable(report.columns);
  if (report.kind === "missing") {
    const { name, names } = report;
    throw new ArgumentError(`readParquet: ${path} has no column ${shown(name)}; it has ${names.join(", ")}.`);
  }
  const remedy = /compression/i.test(report.message) ? " Install hyparquet-compressors for it." : "";
  throw new FormatError(`readParquet: ${path} cannot be read: ${report.message}.${remedy}`);
}

const newProgress = (): Int32Array => new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/** Decodes a file on a thread, which is ended when it has done nothing for so many seconds. */
function decoded(task: ParquetTask, seconds: number): Promise<ParquetReport> {
  const worker = new Worker(new URL("./parquet-worker.js", import.meta.url), {
    name: "pumice-parquet",
    workerData: task,
    transferList: [task.bytes],
    // Options of the main program, such as --input-type or --test, are not meant for this script.
    execArgv: [],
  });
  let before = 0;
  let idle = 0;
  return new Promise<ParquetReport>((resolve) => {
    const failed = (message: string) => resolve({ kind: "failed", message });
    // Ticks are counted, not time: while this thread is held up, none come, and no report either.
    const watch = setInterval(() => {
      const done = Atomics.load(task.progress, 0);
      idle = done === before ? idle + 1 : 0;
      before = done;
      if (idle >= TICKS_PER_SECOND * seconds)
        failed(`no page of it is decoded after ${seconds} seconds; it is damaged`);
    }, 1000 / TICKS_PER_SECOND);
    worker.on("message", resolve);
    worker.on("error", ({ message }: Error) => failed(message));
    worker.on("exit", () => failed("the thread that decodes it has ended"));
    worker.on("exit", () => clearInterval(watch));
  }).finally(() => worker.terminate());
}

const TICKS_PER_SECOND = 4;

/**
 * The address of a package as this module finds it; undefined if it is not installed. A program that is bundled to CommonJS has no
 * address, and its packages lie beside it.
 */
function addressOf(name: string): string | undefined {
  const from = import.meta.url || pathToFileURL(process.argv[1] ?? "index.js").href;
  try {
    return pathToFileURL(createRequire(from).resolve(name)).href;
  } catch {
    return undefined;
  }
}
