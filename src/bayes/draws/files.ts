/** Files that users name. Errors of the file system are told in words, under the name that was given. */
import { readFile, writeFile } from "node:fs/promises";
import { ArgumentError, FormatError } from "../../core/errors.js";

/** The words in an error of Node: "no such file or directory" in "ENOENT: no such file or directory, open 'x'". */
const WORDS = /^[A-Z0-9_]+: ([^,]+)/;

/** Why a file cannot be used; other errors speak for themselves. */
export function whyNot(path: string, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (path === "") return "it is an empty name";
  if (code === "EISDIR") return "it is a folder";
  return WORDS.exec(message)?.[1] ?? message;
}

/** `what`: operation and contents, "save: the fit". */
export const unwritable = (what: string, path: string, error: unknown): ArgumentError =>
  new ArgumentError(`${what} cannot be written to ${path}: ${whyNot(path, error)}.`, { cause: error });

export async function writeNamed(what: string, path: string, contents: string | Iterable<string>): Promise<void> {
  try {
    await writeFile(path, contents);
  } catch (error) {
    throw unwritable(what, path, error);
  }
}

export async function readNamed(operation: string, path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new FormatError(`${operation}: ${path} cannot be read: ${whyNot(path, error)}.`, { cause: error });
  }
}
