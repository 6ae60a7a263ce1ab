/**
 * Files that users name. Whatever goes wrong with one is told under the name that was given, with what was looked for and why
 * it cannot be used. Readers throw a FormatError, writers an ArgumentError.
 */
import type { FileHandle } from "node:fs/promises";
import { ArgumentError, FormatError } from "../core/errors.js";
import { whyNot } from "./reasons.js";
import { openRegular, readRegular } from "./regular-file.js";
import { checkReplaceable, replaceFile } from "./replace-file.js";

/** `what`: operation and contents, "save: the fit". */
export const unwritable = (what: string, path: string, error: unknown): ArgumentError =>
  new ArgumentError(`${what} cannot be written to ${path}: ${whyNot(path, error)}.`, { cause: error });

export const unreadable = (operation: string, path: string, error: unknown): FormatError =>
  new FormatError(`${operation}: ${path} cannot be read: ${whyNot(path, error)}.`, { cause: error });

/** Writes a file whole, or leaves the one before. `isDurable`: returns when the disk has it. */
export async function writeNamed(
  what: string,
  path: string,
  contents: Iterable<string | Uint8Array>,
  options: { readonly isDurable?: boolean } = {},
): Promise<void> {
  try {
    await replaceFile(path, contents, options);
  } catch (error) {
    throw unwritable(what, path, error);
  }
}

/** Throws where a file could not be written, by writing a little: hours later would be too late to hear of it. */
export function checkWritable(what: string, path: string): void {
  try {
    checkReplaceable(path);
  } catch (error) {
    throw unwritable(what, path, error);
  }
}

/** All bytes of a regular file. */
export async function readNamed(operation: string, path: string): Promise<Buffer> {
  try {
    return await readRegular(path);
  } catch (error) {
    throw unreadable(operation, path, error);
  }
}

/** The text of a regular file. */
export async function readNamedText(operation: string, path: string): Promise<string> {
  const bytes = await readNamed(operation, path);
  try {
    return bytes.toString("utf8");
  } catch (error) {
    // Longer than a string can be.
    throw unreadable(operation, path, error);
  }
}

/** A regular file, to be read by parts. */
export async function openNamed(
  operation: string,
  path: string,
): Promise<{ readonly file: FileHandle; readonly size: number }> {
  try {
    return await openRegular(path);
  } catch (error) {
    throw unreadable(operation, path, error);
  }
}
