/** Why a file cannot be used, in words: errors of the system, and our own refusals. Every reader and writer of files calls this. */
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** A file that the system allows and we refuse: a pipe, a link, a file of another user. */
export class FileRefusal extends Error {}

/** The words in an error of Node: "no such file or directory" in "ENOENT: no such file or directory, open 'x'". */
const WORDS = /^[A-Z0-9_]+: ([^,]+)/;

/** The reason as the end of a sentence that names the path as it was given. */
export function whyNot(path: string, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (path === "") return "it is an empty name";
  if (code === "EISDIR") return "it is a folder";
  if (code === "ENOENT") return whatIsMissing(path);
  return WORDS.exec(message)?.[1] ?? message;
}

/** Names the missing file, or the first missing folder on its path; a relative path is also given in full. */
function whatIsMissing(path: string): string {
  const whole = resolve(path);
  const folder = dirname(whole);
  if (existsSync(folder)) return whole === path ? "there is no such file" : `there is no file ${whole}`;
  let missing = folder;
  while (dirname(missing) !== missing && !existsSync(dirname(missing))) missing = dirname(missing);
  return `there is no folder ${missing}`;
}
