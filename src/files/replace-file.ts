/**
 * Writes whole files: the contents go to a new file beside the old one, which then takes its name. A process that is killed
 * while writing leaves the old file as it was. The new file has a name that nobody can guess and must not exist yet, so that it
 * is never written through a link that somebody else has put there. Pumice writes all its files in this way.
 */
import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  lstatSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { copyFile, type FileHandle, link, lstat, open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { FileRefusal } from "./reasons.js";

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants;
const NEW_FILE = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;

/** Pieces of a file. They are asked for one after the other, so that a large file needs little memory. */
export type Contents = Iterable<string | Uint8Array> | AsyncIterable<Uint8Array>;

/** Contains the number of the writing process, for whoever removes leftovers. */
const unfinishedName = (path: string): string => `${path}.${process.pid}.${randomBytes(8).toString("hex")}.part`;

/** The destination of the bytes for a path: a file that is replaced, or a device or pipe itself. */
interface Destination {
  readonly path: string;
  /** The mode of the file that is replaced; null for a new one, whose mode the system chooses. */
  readonly mode: number | null;
  readonly isReplaced: boolean;
}

/**
 * The destination of a path that a user has named. A link leads to where it points if it is the user's own or root's; others
 * may have put it there for a file of theirs to be overwritten.
 */
function destinationOf(path: string): Destination {
  if (path === "") throw new FileRefusal("it is an empty name");
  const link = lstatSync(path, { throwIfNoEntry: false });
  const user = process.geteuid?.();
  if (link?.isSymbolicLink() && user !== undefined && link.uid !== user && link.uid !== 0)
    throw new FileRefusal(`it is a link that user ${link.uid} made`);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) return { path, mode: null, isReplaced: true };
  if (stats.isDirectory()) throw new FileRefusal("it is a folder");
  if (!stats.isFile()) return { path, mode: null, isReplaced: false };
  // The mode of another user's file is not taken over: it was meant for their file.
  const isOwn = user === undefined || stats.uid === user;
  return { path: realpathSync(path), mode: isOwn ? stats.mode & 0o777 : null, isReplaced: true };
}

/** Throws if a path cannot be written; tests it by writing a little beside it. */
export function checkReplaceable(path: string): void {
  const { path: place, isReplaced } = destinationOf(path);
  if (!isReplaced) return;
  const unfinished = unfinishedName(place);
  closeSync(openSync(unfinished, NEW_FILE, 0o600));
  rmSync(unfinished);
}

export interface ReplaceOptions {
  /** Whether to return only when the disk has the file. */
  readonly isDurable?: boolean;
  /** Whether the file that is replaced is kept under another name, that of `previousOf`. */
  readonly keepsPrevious?: boolean;
}

/** Replaces a file that a user has named, or makes it. */
export async function replaceFile(path: string, contents: Contents, options: ReplaceOptions = {}): Promise<void> {
  const { isDurable = false, keepsPrevious = false } = options;
  const { path: place, mode, isReplaced } = destinationOf(path);
  if (!isReplaced) return withFile(await open(place, O_WRONLY), (file) => writeAll(file, contents));
  const unfinished = unfinishedName(place);
  const file = await open(unfinished, NEW_FILE, mode === null ? 0o666 : 0o600);
  try {
    await withFile(file, async () => {
      if (mode !== null) await file.chmod(mode);
      await writeAll(file, contents);
      if (isDurable) await file.sync();
    });
    if (keepsPrevious) await keepAs(`${place}.previous`, place);
    await rename(unfinished, place);
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => {});
    throw error;
  }
  if (isDurable) await syncFolder(dirname(place));
}

/** The name under which the file that was replaced is kept: beside the file itself, where the path is a link to it. */
export const previousOf = (path: string): string => `${existsSync(path) ? realpathSync(path) : path}.previous`;

/**
 * Gives a file a second name, by which it stays when another takes the first. The first name is there all the time: a process that is killed
 * leaves a whole file under it. Where the file system has no second names, the file is copied.
 */
async function keepAs(previous: string, path: string): Promise<void> {
  const unfinished = unfinishedName(path);
  try {
    await link(path, unfinished).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") throw error;
      return copyFile(path, unfinished, constants.COPYFILE_EXCL);
    });
    await rename(unfinished, previous);
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => {});
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    // Nothing is replaced: what was kept before is of some other file.
    await rm(previous, { force: true });
  }
}

/** What follows the name of a file in that of an unfinished one: the number of the process that writes it, and chance. */
const UNFINISHED = /^\.(\d+)(?:\.[0-9a-f]+)?\.part$/;

/** Removes what processes that were killed while they wrote have left of this file: beside the file itself, where the path is a link to it. */
export async function removeUnfinished(path: string): Promise<void> {
  const place = existsSync(path) ? realpathSync(path) : path;
  const [folder, name] = [dirname(place), basename(place)];
  for (const found of await readdir(folder)) {
    const writer = found.startsWith(name) && UNFINISHED.exec(found.slice(name.length))?.[1];
    if (!writer || !(await isLeft(Number(writer), join(folder, found)))) continue;
    await rm(join(folder, found), { force: true });
  }
}

/** Whether a file is one that nobody writes any more. Processes in containers often have the number of the one before. */
async function isLeft(writer: number, path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => null);
  if (!stats?.isFile()) return false;
  if (writer === process.pid) return stats.mtimeMs < Date.now() - 1000 * process.uptime();
  return !isAlive(writer);
}

function isAlive(id: number): boolean {
  try {
    return process.kill(id, 0);
  } catch (error) {
    // It may belong to somebody else.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

async function withFile(file: FileHandle, work: (file: FileHandle) => Promise<void>): Promise<void> {
  try {
    await work(file);
  } finally {
    await file.close();
  }
}

async function writeAll(file: FileHandle, contents: Contents): Promise<void> {
  for await (const piece of contents) await file.writeFile(piece);
}

/** Makes the new name durable, too. Windows cannot sync folders, and does it by itself. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  await withFile(await open(path, "r"), (folder) => folder.sync());
}

/** The same at once, for what must be written before the process ends. */
export function replaceFileSync(path: string, bytes: Uint8Array): void {
  const { path: place, mode, isReplaced } = destinationOf(path);
  if (isReplaced) renameOver(place, bytes, mode ?? undefined);
  else fill(openSync(place, O_WRONLY), bytes);
}

/** Replaces whatever has the name, also a link or a pipe, by a new file. For folders that only this user can write to. */
export function renameOver(path: string, bytes: Uint8Array, mode?: number): void {
  const unfinished = unfinishedName(path);
  const file = openSync(unfinished, NEW_FILE, mode === undefined ? 0o666 : 0o600);
  try {
    if (mode !== undefined) fchmodSync(file, mode);
    fill(file, bytes);
    renameSync(unfinished, path);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}

function fill(file: number, bytes: Uint8Array): void {
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
  } finally {
    closeSync(file);
  }
}
