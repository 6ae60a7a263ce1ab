/** A folder for the files of a test file, removed when its tests are over. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";

/** Returns a function that makes a new, empty folder each time. */
export function temporaryFolders(): () => string {
  const root = mkdtempSync(join(tmpdir(), "pumice-test-"));
  after(() => rmSync(root, { recursive: true, force: true }));
  return () => mkdtempSync(join(root, "folder-"));
}
