/**
 * The identity of the compiler: a hash over the files that compiled programs depend on, taken once, when the first program is
 * looked up on disk. A program that other code has compiled is never used, even if nobody changed a version number.
 */
import { createHash } from "node:crypto";
import { closeSync, existsSync, fstatSync, openSync, readdirSync, readSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { KERNEL_LANGUAGES } from "../../core/encoded-kernel.js";
import { debug } from "../debug.js";

/** Folders whose files compiled programs depend on. */
const FOLDERS = ["core", "graph", ...KERNEL_LANGUAGES, "compiler", "runtime"];
/** In the published package those files are bundled (scripts/package.mjs): into this folder, and into what is imported by name. */
const BUNDLED = "chunks";
const SOURCE = /(?<!\.d)\.[jt]s$/;
/** The most bytes to hash: four times what the published package has. Pages of the buffer that nothing is read into cost nothing. */
const MOST_BYTES = 16 << 20;
/** This file's path below the folders' parent. A user's bundler changes it; then there is no fingerprint. */
const OWN_NAME = /\/engines\/disk\/fingerprint\.[jt]s$/;

let known: string | null | undefined;

/** Null if the files are missing or have changed since the process started: the running code is then unknown. */
export function compilerFingerprint(): string | null {
  if (known === undefined) {
    known = hashFiles(import.meta.url, performance.timeOrigin);
    if (known === null) debug(1, () => "programs are not kept: the compiler's files are not those that were loaded");
  }
  return known;
}

/**
 * The hash of the compiler's files, found by the URL of one of them; null if any has changed after a time.
 * @internal for tests: a folder with changed files is hashed
 */
export function hashFiles(own: string, since: number): string | null {
  if (!OWN_NAME.test(own)) return null;
  try {
    const root = fileURLToPath(new URL("../..", own));
    const files = new Files(root, since);
    for (const folder of existsSync(root + BUNDLED) ? ["."] : FOLDERS) files.add(folder);
    return files.hash();
  } catch {
    return null;
  }
}

/** Reads all files into one buffer: the first result of a process waits for this. */
class Files {
  private readonly bytes = Buffer.allocUnsafeSlow(MOST_BYTES);
  private length = 0;
  private names = "";

  constructor(
    private readonly root: string,
    private readonly since: number,
  ) {}

  add(folder: string): void {
    for (const name of readdirSync(this.root + folder)) {
      if (SOURCE.test(name)) this.read(`${folder}/${name}`);
      else if (!name.includes(".")) this.add(`${folder}/${name}`);
    }
  }

  hash(): string {
    const { names, bytes, length } = this;
    return createHash("sha256").update(names).update(bytes.subarray(0, length)).digest("hex");
  }

  private read(path: string): void {
    const file = openSync(this.root + path, "r");
    try {
      const room = MOST_BYTES - this.length;
      const count = readSync(file, this.bytes, this.length, room, null);
      // The time of the open file: it belongs to the bytes that were read.
      if (fstatSync(file).ctimeMs >= this.since || count === room) throw new Error(`${path} has changed`);
      this.length += count;
      this.names += `${path} ${count},`;
    } finally {
      closeSync(file);
    }
  }
}
