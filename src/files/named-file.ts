/**
 * Files that users name. An error names the file as the user wrote it, what was looked for, and why the file cannot be used.
 * Readers throw a FormatError, writers an ArgumentError.
 */
import type { FileHandle } from "node:fs/promises";
import { ArgumentError, FormatError, PumiceError } from "../core/errors.js";
import { whyNot } from "./reasons.js";
import { openRegular, readRegular } from "./regular-file.js";
import { type Contents, checkReplaceable, type ReplaceOptions, replaceFile } from "./replace-file.js";

/** `what`: operation and contents, "save: the fit". */
export const unwritable = (what: string, path: string, error: unknown): ArgumentError =>
  new ArgumentError(`${what} cannot be written to ${path}: ${whyNot(path, error)}.`, { cause: error });

export const unreadable = (operation: string, path: string, error: unknown): FormatError =>
  new FormatError(`${operation}: ${path} cannot be read: ${whyNot(path, error)}.`, { cause: error });

/** Writes a whole file, or leaves the old one as it was. */
export async function writeNamed(
  what: string,
  path: string,
  contents: Contents,
  options: ReplaceOptions = {},
): Promise<void> {
  try {
    await replaceFile(path, contents, options);
  } catch (error) {
    // Contents that are computed as they are written have errors of their own.
    throw error instanceof PumiceError ? error : unwritable(what, path, error);
  }
}

/** Tests that a file can be written, by writing a little: a long run should not fail only at its end. */
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

/** A text without the mark of byte order that some programs begin files with. */
export const withoutMark = (text: string): string => text.replace(/^\ufeff/, "");

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
