/**
 * A safetensors file opened for reading by parts, for files larger than memory: opening reads the header, a tensor is
 * read when asked for, and of a slice only the bytes it needs (and small gaps between them). `openSafetensors` of the io
 * namespace calls this.
 */
import type { FileHandle } from "node:fs/promises";
import { tidyBytes } from "../core/bytes.js";
import { DTYPES, type DType } from "../core/dtype.js";
import { ArgumentError, DisposedError } from "../core/errors.js";
import { type IndexArgument, indexedShape, parseIndexing } from "../core/slice.js";
import { openNamed } from "../files/named-file.js";
import { byteRuns, groupRuns } from "./byte-runs.js";
import type { RawTensor } from "./raw-tensor.js";
import { bytesFor, readFully } from "./read-file.js";
import {
  dtypeOf,
  headerLength,
  PREFIX_BYTES,
  parseSafetensorsHeader,
  type SafetensorsEntry,
  type SafetensorsHeader,
} from "./safetensors.js";

/** A read of this many unneeded bytes costs about as much as another system call from here. */
const MAX_GAP = 16 * 1024;
const MAX_SPAN = 4 * 1024 * 1024;

const BY_PARTS = "read it by parts with slice(name, …)";

/** Opens a file and checks its header. Close it, or declare it with `await using`. */
export async function openSafetensors(path: string, operation = "openSafetensors"): Promise<SafetensorsFile> {
  const { file, size } = await openNamed(operation, path);
  try {
    const prefix = new Uint8Array(Math.min(PREFIX_BYTES, size));
    await readFully(file, prefix, 0, path);
    const header = new Uint8Array(headerLength(prefix, size, path));
    await readFully(file, header, PREFIX_BYTES, path);
    const dataLength = size - PREFIX_BYTES - header.length;
    return new SafetensorsFile(path, file, parseSafetensorsHeader(header, dataLength, path));
  } catch (error) {
    await file.close();
    throw error;
  }
}

export class SafetensorsFile implements AsyncDisposable {
  readonly path: string;
  /** In the order of the data. */
  readonly names: readonly string[];
  readonly metadata: ReadonlyMap<string, string>;
  readonly #header: SafetensorsHeader;
  #file: FileHandle | undefined;
  #bytesRead = 0;

  constructor(path: string, file: FileHandle, header: SafetensorsHeader) {
    this.path = path;
    this.#file = file;
    this.#header = header;
    this.names = [...header.entries.keys()];
    this.metadata = header.metadata;
  }

  /** The bytes of tensors that were read from the file so far. */
  get bytesRead(): number {
    return this.#bytesRead;
  }

  /** Dtype, shape and place of a tensor. */
  entry(name: string): SafetensorsEntry {
    const entry = this.#header.entries.get(name);
    if (entry) return entry;
    const shown = this.names.slice(0, 8).map((other) => `"${other}"`);
    const more = this.names.length > 8 ? ` and ${this.names.length - 8} more` : "";
    throw new ArgumentError(`${this.path}: no tensor "${name}"; there are ${shown.join(", ") || "none"}${more}.`);
  }

  /** A whole tensor. */
  async read(name: string): Promise<RawTensor> {
    const entry = this.entry(name);
    const dtype = dtypeOf(entry, this.path);
    return { dtype, shape: entry.shape, bytes: tidyBytes(dtype, await this.readBytes(name)) };
  }

  /** The bytes of a tensor as they are stored, also of dtypes that Pumice does not have. */
  async readBytes(name: string): Promise<Uint8Array> {
    const { offset, byteLength } = this.entry(name);
    const bytes = bytesFor(byteLength, `${this.path}: "${name}"`, BY_PARTS);
    await this.#readInto(bytes, offset);
    return bytes;
  }

  /** Fills bytes from a place within those of a tensor. */
  async readRange(name: string, start: number, bytes: Uint8Array): Promise<void> {
    const { offset, byteLength } = this.entry(name);
    if (start < 0 || start + bytes.length > byteLength) {
      throw new ArgumentError(`${this.path}: "${name}" has ${byteLength} bytes, not ${start + bytes.length}.`);
    }
    await this.#readInto(bytes, offset + start);
  }

  /**
   * A part of a tensor, by the indices that `at` takes: `file.slice("w", "10:20", 0)`. Reads what it needs, so the
   * tensor may be larger than memory.
   */
  async slice(name: string, ...indices: readonly IndexArgument[]): Promise<RawTensor> {
    const entry = this.entry(name);
    const dtype: DType = dtypeOf(entry, this.path);
    const items = parseIndexing(indices, entry.shape, `${this.path}: "${name}"`);
    const ranges = items.flatMap((item) => {
      if (item.kind === "slice") return [item];
      return item.kind === "index" ? [{ start: item.index, step: 1, count: 1 }] : [];
    });
    const runs = byteRuns(entry.shape, DTYPES[dtype].bytes, ranges);
    const bytes = bytesFor(runs.length * runs.count, `${this.path}: "${name}"`, BY_PARTS);
    let at = 0;
    for (const { start, end, offsets } of groupRuns(runs, MAX_GAP, MAX_SPAN)) {
      if (offsets.length === 1) {
        await this.#readInto(bytes.subarray(at, at + runs.length), entry.offset + start);
        at += runs.length;
        continue;
      }
      const span = new Uint8Array(end - start);
      await this.#readInto(span, entry.offset + start);
      for (const offset of offsets) {
        bytes.set(span.subarray(offset - start, offset - start + runs.length), at);
        at += runs.length;
      }
    }
    return { dtype, shape: indexedShape(items), bytes: tidyBytes(dtype, bytes) };
  }

  /** Closes the file; reading from it afterwards throws. Closing twice is harmless. */
  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #readInto(bytes: Uint8Array, offset: number): Promise<void> {
    if (!this.#file) throw new DisposedError(`${this.path}: the file was closed; open it again to read.`);
    await readFully(this.#file, bytes, this.#header.dataOffset + offset, this.path);
    this.#bytesRead += bytes.length;
  }
}
