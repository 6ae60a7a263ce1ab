/**
 * Reads .npy files. `loadNpy` takes the header first, then as many bytes as the header states; it never asks for the size of the
 * file, so the path may also name a pipe of a shell, which has none. `openNpy` opens a regular file that is read by parts.
 */
import { type FileHandle, open } from "node:fs/promises";
import type { DType } from "../core/dtype.js";
import { FormatError, PumiceError } from "../core/errors.js";
import type { Shape } from "../core/shape.js";
import { openNamed, unreadable } from "../files/named-file.js";
import {
  checkNpyLength,
  NPY_PREFIX_BYTES,
  type NpyArray,
  type NpyHeader,
  npyArray,
  npyHeaderEnd,
  parseNpyHeader,
} from "./npy.js";
import { bytesFor, readFully } from "./read-file.js";

export async function readNpy(path: string): Promise<NpyArray> {
  try {
    const file = await open(path, "r");
    try {
      return await readArray(file, path);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw error instanceof PumiceError ? error : unreadable("io.loadNpy", path, error);
  }
}

/** An array whose elements are read when asked for, row by row: the file may be larger than memory. */
interface NpyFile extends AsyncDisposable {
  readonly dtype: DType;
  readonly shape: Shape;
  /** Fills bytes from a place among those of the elements, which begins with an element. */
  readRange(start: number, bytes: Uint8Array): Promise<void>;
}

/** Opens a file and checks its header. Column-major arrays are refused: their rows lie apart. */
export async function openNpy(path: string, operation: string): Promise<NpyFile> {
  const { file } = await openNamed(operation, path);
  try {
    const header = await readHeader(file, path);
    const { dtype, shape, fortranOrder, dataOffset, bigEndian } = header;
    if (fortranOrder && shape.filter((extent) => extent !== 1).length > 1) {
      throw new FormatError(
        `${operation}: ${path} is in Fortran's order, whose rows lie apart; np.save(path, np.ascontiguousarray(x)) stores them together.`,
      );
    }
    return {
      dtype,
      shape,
      readRange: async (start, bytes) => {
        await readFully(file, bytes, dataOffset + start, path);
        if (bigEndian) bytes.set(npyArray(header, bytes).bytes);
      },
      [Symbol.asyncDispose]: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function readArray(file: FileHandle, path: string): Promise<NpyArray> {
  const header = await readHeader(file, path);
  const data = bytesFor(header.byteLength, path, "save it in parts");
  await readFully(file, data, null, path);
  return npyArray(header, data);
}

async function readHeader(file: FileHandle, path: string): Promise<NpyHeader> {
  const prefix = new Uint8Array(NPY_PREFIX_BYTES);
  await readFully(file, prefix, null, path);
  const start = new Uint8Array(Math.max(NPY_PREFIX_BYTES, npyHeaderEnd(prefix, path)));
  start.set(prefix);
  await readFully(file, start.subarray(NPY_PREFIX_BYTES), null, path);
  const header = parseNpyHeader(start, path);
  const stats = await file.stat();
  // The length of a pipe or a device is known only by reading it.
  if (stats.isFile()) checkNpyLength(header, stats.size - header.dataOffset, path);
  return header;
}
