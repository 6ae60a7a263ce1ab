/**
 * Reads a .npy file for `loadNpy`: the header first, then as many bytes as the header states. It never asks for the size of
 * the file, so the path may also name a pipe of a shell, which has none.
 */
import { type FileHandle, open } from "node:fs/promises";
import { PumiceError } from "../core/errors.js";
import { unreadable } from "../files/named-file.js";
import { checkNpyLength, NPY_PREFIX_BYTES, type NpyArray, npyArray, npyHeaderEnd, parseNpyHeader } from "./npy.js";
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

async function readArray(file: FileHandle, path: string): Promise<NpyArray> {
  const prefix = new Uint8Array(NPY_PREFIX_BYTES);
  await readFully(file, prefix, null, path);
  const start = new Uint8Array(Math.max(NPY_PREFIX_BYTES, npyHeaderEnd(prefix, path)));
  start.set(prefix);
  await readFully(file, start.subarray(NPY_PREFIX_BYTES), null, path);
  const header = parseNpyHeader(start, path);
  const stats = await file.stat();
  // The length of a pipe or a device is known only by reading it.
  if (stats.isFile()) checkNpyLength(header, stats.size - header.dataOffset, path);
  const data = bytesFor(header.byteLength, path, "save it in parts");
  await readFully(file, data, null, path);
  return npyArray(header, data);
}
