/** A folder for the files that the program writes. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

let folder: string | undefined;

/** The path of a file; the folder is made with the first. */
export function path(name: string): string {
  folder ??= mkdtempSync(join(tmpdir(), "pumice-consumer-files-"));
  return join(folder, name);
}

export function removeFolder(): void {
  if (folder) rmSync(folder, { recursive: true });
}
