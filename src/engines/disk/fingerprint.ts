/**
 * Which compiler this is: a hash over the files that decide what a program becomes, taken once, when the first program is
 * looked up on disk. So a program that another version compiled, or this one before someone changed a line of it, is never
 * taken for one of ours, whoever forgot to count up a number.
 */
import { createHash } from "node:crypto";
import { closeSync, fstatSync, openSync, readdirSync, readSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { debug } from "../debug.js";

/** Folders whose files decide what a program becomes. */
const FOLDERS = ["core", "graph", "spirv", "wasm", "compiler", "runtime"];
const SOURCE = /(?<!\.d)\.[jt]s$/;
/** Four times what they are today. */
const MOST_BYTES = 4 << 20;
/** This file, from the folder that they are in. A bundler would have put it elsewhere. */
const OWN_NAME = /\/engines\/disk\/fingerprint\.[jt]s$/;

let known: string | null | undefined;

/** Null where the files are not to be found, or have changed since the process began: what it runs is then not known. */
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
    for (const folder of FOLDERS) files.add(folder);
    return files.hash();
  } catch {
    return null;
  }
}

/** Somebody waits for the first result of a process while this reads, so it reads all into one piece of memory. */
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
      // Asked of the open file, so that it is the time of these bytes.
      if (fstatSync(file).ctimeMs >= this.since || count === room) throw new Error(`${path} has changed`);
      this.length += count;
      this.names += `${path} ${count},`;
    } finally {
      closeSync(file);
    }
  }
}
