/**
 * A folder for files that are run as they are found: compiled programs and pipelines. It has mode 0700 and is used only while
 * nobody but this user and root can change it; its files must be regular files of this user. Nothing here can fail a program:
 * a folder or a file that is refused counts as absent, and `pumice doctor` and PUMICE_DEBUG=1 say why.
 */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { whyNot } from "../../files/reasons.js";
import { readOwnSync } from "../../files/regular-file.js";
import { renameOver } from "../../files/replace-file.js";
import { whyUntrusted } from "../../files/trusted-folder.js";
import { debug } from "../debug.js";
import { cacheKinds, cachePlace, homeFolder } from "./cache-folder.js";

/** An older unfinished file was left by a process that was killed. */
export const LEFT_AFTER_MS = 3600_000;

export class OwnFolder {
  private hasTold = false;

  constructor(
    readonly path: string,
    /** No file is larger. */
    private readonly maxBytes: number,
  ) {}

  /** Why it is not used; null for one that is there or can be made. */
  problem(): string | null {
    return whyUntrusted(this.path, { home: homeFolder(), user: process.geteuid?.() });
  }

  /** The bytes of a file, or null. */
  read(name: string): Uint8Array | null {
    if (!this.mayUse()) return null;
    const path = join(this.path, name);
    try {
      return readOwnSync(path, this.maxBytes);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
        debug(1, () => `${path} ignored: ${whyNot(path, error)}`);
      }
      return null;
    }
  }

  /** Replaces a file in one step. False where that cannot be done. */
  write(name: string, bytes: Uint8Array): boolean {
    const path = join(this.path, name);
    try {
      if (!this.mayUse()) return false;
      makeFolder(this.path);
      // Somebody may have made it in the meantime.
      if (!this.mayUse()) return false;
      renameOver(path, bytes, 0o600);
      return true;
    } catch (error) {
      debug(1, () => `cache not written: ${path}: ${(error as Error).message}`);
      return false;
    }
  }

  private mayUse(): boolean {
    const problem = this.problem();
    if (problem === null) return true;
    if (!this.hasTold) debug(1, () => `the cache in ${this.path} is not used: ${problem}`);
    this.hasTold = true;
    return false;
  }
}

/** Makes a folder and those above it. Node's own recursive mkdir never ends below /proc. */
function makeFolder(path: string): void {
  const make = () => {
    try {
      mkdirSync(path, 0o700);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  };
  try {
    make();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || dirname(path) === path) throw error;
    makeFolder(dirname(path));
    make();
  }
}

/** Why nothing is kept on disk; null if files are kept, or if the user turned it off. */
export function cacheRefusal(): string | null {
  const place = cachePlace();
  if (place.folder === null) return place.why;
  const folders = new Set(cacheKinds.map(({ folder }) => join(place.folder, folder)));
  for (const folder of folders) {
    const problem = new OwnFolder(folder, 0).problem();
    if (problem !== null) return problem;
  }
  return null;
}
