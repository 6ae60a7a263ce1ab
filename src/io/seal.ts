/**
 * A checksum at the end of a file: the SHA-256 of all bytes before it, so that a file that was cut short or damaged is not taken for a whole
 * one. It can be written while the contents are still being computed. Checkpoints of training have one (src/io/trees/tree-file.ts).
 */
import { createHash } from "node:crypto";
import { FormatError } from "../core/errors.js";
import { openNamed } from "../files/named-file.js";
import { readFully } from "./read-file.js";

/** The length of the checksum. */
export const SEAL_BYTES = 32;

/** The size of the pieces that a file is read in. */
const PIECE_BYTES = 4 * 2 ** 20;

/** The contents, and then their checksum. */
export async function* sealed(contents: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const hash = createHash("sha256");
  for await (const piece of contents) {
    hash.update(piece);
    yield piece;
  }
  yield hash.digest();
}

/** Throws on a file whose last bytes are not the checksum of the others. */
export async function checkSeal(operation: string, path: string): Promise<void> {
  const { file, size } = await openNamed(operation, path);
  try {
    const hash = createHash("sha256");
    const end = Math.max(0, size - SEAL_BYTES);
    for (let at = 0; at < end; at += PIECE_BYTES) {
      const piece = new Uint8Array(Math.min(PIECE_BYTES, end - at));
      await readFully(file, piece, at, path);
      hash.update(piece);
    }
    const found = new Uint8Array(size - end);
    await readFully(file, found, end, path);
    if (Buffer.compare(hash.digest(), found) === 0) return;
    throw new FormatError(`${operation}: ${path} is damaged: its checksum is not that of its bytes.`);
  } finally {
    await file.close();
  }
}
