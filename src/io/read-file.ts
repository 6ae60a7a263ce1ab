/**
 * Reading files by parts: as many bytes as a header says there are, and no more. A .npy file may be a device or a pipe, which
 * have no size and perhaps no end. The formats' readers call this.
 */
import type { FileHandle } from "node:fs/promises";
import { ArgumentError, FormatError } from "../core/errors.js";

/** Systems read at most 2 GiB at a time. */
const MAX_READ = 2 ** 30;

/** Fills the bytes from a position in the file, or from where the last read ended: pipes have no positions. */
export async function readFully(
  file: FileHandle,
  bytes: Uint8Array,
  position: number | null,
  path: string,
): Promise<void> {
  let done = 0;
  while (done < bytes.length) {
    const wanted = Math.min(bytes.length - done, MAX_READ);
    const { bytesRead } = await file.read(bytes, done, wanted, position === null ? null : position + done);
    if (bytesRead === 0) {
      const where = position === null ? `${bytes.length - done} bytes too early` : `at byte ${position + done}`;
      throw new FormatError(`${path}: the file ends ${where}; it was cut short.`);
    }
    done += bytesRead;
  }
}

/** Memory for so many bytes of a file. `remedy`: what to do if there is too little memory, for the error. */
export function bytesFor(length: number, what: string, remedy: string): Uint8Array {
  try {
    return new Uint8Array(length);
  } catch (cause) {
    throw new ArgumentError(`${what} would need one array of ${length} bytes, too large here; ${remedy}.`, { cause });
  }
}
