/**
 * Opens files to read, and only regular ones: a pipe without a writer would wait for ever, a device may have no end. Opening
 * never waits. Readers of files that users name call `openRegular` and its like; caches, whose files are run, call
 * `readOwnSync`, which also asks who could have written the file.
 */
import { constants as buffers } from "node:buffer";
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, type Stats } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { FileRefusal } from "./reasons.js";

const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants;
const { MAX_LENGTH } = buffers;
/** Systems read at most 2 GiB at a time. */
const MAX_READ = 2 ** 30;
/** Files of /proc and /sys have no size: they are read by pieces of this length. */
const PIECE = 64 * 1024;

const KINDS = [
  ["isDirectory", "it is a folder"],
  ["isFIFO", "it is a pipe, and only regular files are read; copy it to one first"],
  ["isSocket", "it is a socket, and only regular files are read"],
  ["isCharacterDevice", "it is a device, and only regular files are read"],
  ["isBlockDevice", "it is a device, and only regular files are read"],
] as const;

function checkRegular(stats: Stats): void {
  if (stats.isFile()) return;
  const [, why = "it is no regular file"] = KINDS.find(([is]) => stats[is]()) ?? [];
  throw new FileRefusal(why);
}

function checkSize(size: number, maxBytes: number): void {
  if (size > maxBytes) throw new FileRefusal(`it has ${size} bytes, and ${maxBytes} are the most that are read of it`);
}

/** A regular file that a user has named, opened. Links are followed: it is the user who names them. */
export async function openRegular(path: string): Promise<{ readonly file: FileHandle; readonly size: number }> {
  const file = await open(path, O_RDONLY | O_NONBLOCK);
  try {
    const stats = await file.stat();
    checkRegular(stats);
    return { file, size: stats.size };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** All bytes of a regular file that a user has named. */
export async function readRegular(path: string): Promise<Buffer> {
  const { file, size } = await openRegular(path);
  try {
    // Node reads 2 GiB at most by itself.
    if (size <= MAX_READ) return await file.readFile();
    checkSize(size, MAX_LENGTH);
    const bytes = Buffer.allocUnsafeSlow(size);
    for (let at = 0; at < size; ) {
      const { bytesRead } = await file.read(bytes, at, Math.min(size - at, MAX_READ), at);
      if (bytesRead === 0) throw new FileRefusal("it was cut short while it was read");
      at += bytesRead;
    }
    return bytes;
  } finally {
    await file.close();
  }
}

/** The same at once. */
export function readRegularSync(path: string, maxBytes = MAX_READ): Uint8Array {
  return readingSync(path, 0, (file) => {
    const stats = fstatSync(file);
    checkRegular(stats);
    return bytesOf(file, stats.size, maxBytes);
  });
}

/**
 * All bytes of a file of one's own: a regular file, no link, that belongs to this user and that nobody else may write to. On
 * Windows, where owners and modes mean nothing, that it is a regular file and no link.
 */
export function readOwnSync(path: string, maxBytes: number): Uint8Array {
  // Windows cannot open without following.
  if (O_NOFOLLOW === 0 && lstatSync(path).isSymbolicLink()) throw new FileRefusal("it is a link");
  return readingSync(path, O_NOFOLLOW, (file) => {
    const stats = fstatSync(file);
    checkRegular(stats);
    checkOwner(stats);
    return bytesOf(file, stats.size, maxBytes);
  });
}

function checkOwner({ uid, mode }: Stats): void {
  const own = process.geteuid?.();
  if (own === undefined) return;
  if (uid !== own) throw new FileRefusal(`it belongs to user ${uid}, not to ${own}`);
  if (mode & 0o022) throw new FileRefusal(`others may write to it (mode ${(mode & 0o777).toString(8)})`);
}

function readingSync<T>(path: string, flags: number, read: (file: number) => T): T {
  let file: number;
  try {
    file = openSync(path, O_RDONLY | O_NONBLOCK | flags);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ELOOP" && flags) throw new FileRefusal("it is a link");
    throw error;
  }
  try {
    return read(file);
  } finally {
    closeSync(file);
  }
}

/** The bytes up to the end. The size is a hint: the file may grow, and some have none. */
function bytesOf(file: number, size: number, maxBytes: number): Uint8Array {
  checkSize(size, maxBytes);
  // One byte more than the size, so that the end of the file is noticed.
  let bytes = new Uint8Array((size || PIECE) + 1);
  let length = 0;
  for (;;) {
    const count = readSync(file, bytes, length, Math.min(bytes.length - length, MAX_READ), null);
    length += count;
    if (count === 0) return bytes.subarray(0, length);
    checkSize(length, maxBytes);
    if (length < bytes.length) continue;
    const more = new Uint8Array(2 * length);
    more.set(bytes);
    bytes = more;
  }
}
