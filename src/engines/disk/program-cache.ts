/**
 * Compiled programs on disk, one file each, in a folder of the user's own (own-folder.ts): the checksum shows
 * damage, not who wrote the file. As for pipelines (engines/vulkan/pipelines/pipeline-cache.ts), a file names its program; one that does not
 * match is ignored and replaced. Nothing here can fail a program: without a cache it is only slower.
 *
 * The key of a program is the SHA-256 of everything it depends on: the graph, the device and the compiler itself. The folder
 * has a limited size; the least recently used programs are removed first.
 */
import { createHash } from "node:crypto";
import { lstatSync, lutimesSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { debug } from "../debug.js";
import { cacheFolder } from "./cache-folder.js";
import { LEFT_AFTER_MS, OwnFolder } from "./own-folder.js";

const MAGIC = "PUMICEPR";
const FORMAT = 1;
/** magic 8, format 4, nothing 4, key 32, length 8, SHA-256 32. */
const HEADER = 88;
const SAVE_AFTER_MS = 2000;
/** Most programs waiting to be written: they hold memory. */
const MOST_WAITING = 32;
const MAX_BYTES = 128 << 20;
/** A shorter compilation is not worth a file: hashing the compiler's files alone takes about this long. */
const WORTH_KEEPING_MS = 5;
/** The folder is tidied after this share of its limit has been written: listing all files takes time. */
const TIDY_SHARE = 32;
const UNFINISHED = /\.program\.\d+\.[0-9a-z]+(\.part)?$/;

/**
 * The file's bytes for a program.
 * @internal for tests: damaged files are made with it
 */
export function encodeProgramFile(key: string, payload: Uint8Array): Uint8Array {
  const file = Buffer.alloc(HEADER + payload.byteLength);
  file.write(MAGIC, 0, "latin1");
  file.writeUInt32LE(FORMAT, 8);
  file.write(key, 16, "hex");
  file.writeBigUInt64LE(BigInt(payload.byteLength), 48);
  createHash("sha256").update(payload).digest().copy(file, 56);
  file.set(payload, HEADER);
  return file;
}

/**
 * The program, or why the file cannot be used.
 * @internal for tests: every kind of damage is refused
 */
export function decodeProgramFile(key: string, file: Uint8Array): Uint8Array | { readonly why: string } {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  if (bytes.length < HEADER) return { why: "it is truncated" };
  if (bytes.toString("latin1", 0, 8) !== MAGIC || bytes.readUInt32LE(8) !== FORMAT)
    return { why: "it is of another format" };
  if (bytes.toString("hex", 16, 48) !== key) return { why: "it is another program" };
  if (bytes.readBigUInt64LE(48) !== BigInt(bytes.length - HEADER)) return { why: "it is truncated" };
  const payload = bytes.subarray(HEADER);
  const sum = createHash("sha256").update(payload).digest();
  return sum.equals(bytes.subarray(56, HEADER)) ? payload : { why: "its checksum does not match" };
}

/** Caches with something to write. One listener saves them all when the process ends. */
const unsaved = new Set<ProgramCache>();
function saveAll(): void {
  for (const cache of unsaved) cache.save();
}

const nameOf = (key: string): string => `${key.slice(0, 32)}.program`;

export class ProgramCache {
  private readonly folder: OwnFolder;
  /** Files to write, by name; null for files that were only used, to update their time. */
  private readonly waiting = new Map<string, (() => Uint8Array) | null>();
  private timer: NodeJS.Timeout | null = null;
  /** Bytes written since the last tidying; infinite before the first. */
  private untidied = Number.POSITIVE_INFINITY;

  constructor(
    root: string,
    private readonly maxBytes = MAX_BYTES,
    /** Programs that compile faster than this are not kept. */
    readonly worthKeepingMs = WORTH_KEEPING_MS,
  ) {
    this.folder = new OwnFolder(join(root, "programs"), maxBytes);
  }

  find(key: string): Uint8Array | null {
    const name = nameOf(key);
    const file = this.folder.read(name);
    if (!file) return null;
    const found = decodeProgramFile(key, file);
    if (found instanceof Uint8Array) {
      this.note(name, null);
      return found;
    }
    debug(1, () => `compiled program ${name} ignored: ${found.why}`);
    return null;
  }

  /** Writes a program soon, but not now: its first result comes first. */
  keep(key: string, payload: () => Uint8Array): void {
    this.note(nameOf(key), () => encodeProgramFile(key, payload()));
  }

  /** Writes all waiting programs now, and tidies the folder. */
  save(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    unsaved.delete(this);
    if (unsaved.size === 0) process.removeListener("exit", saveAll);
    let written = 0;
    for (const [name, program] of this.waiting) {
      const file = program?.();
      if (!file) touch(join(this.folder.path, name));
      else if (this.folder.write(name, file)) written += file.byteLength;
    }
    this.waiting.clear();
    if (written === 0) return;
    debug(1, () => `compiled programs: ${written} bytes to ${this.folder.path}`);
    this.untidied += written;
    if (this.untidied > this.maxBytes / TIDY_SHARE) this.makeRoom();
  }

  private note(name: string, file: (() => Uint8Array) | null): void {
    this.waiting.set(name, file);
    if (this.waiting.size >= MOST_WAITING) {
      this.save();
      return;
    }
    if (this.timer) return;
    this.timer = setTimeout(() => this.save(), SAVE_AFTER_MS);
    this.timer.unref();
    if (unsaved.size === 0) process.once("exit", saveAll);
    unsaved.add(this);
  }

  /** Removes the least recently used programs, and leftovers of processes that were killed while writing. */
  private makeRoom(): void {
    this.untidied = 0;
    const folder = this.folder.path;
    try {
      const files = readdirSync(folder).map((name) => fileAt(join(folder, name)));
      let bytes = 0;
      for (const { path, size, time } of files.sort((a, b) => b.time - a.time)) {
        const isProgram = path.endsWith(".program");
        if (isProgram) bytes += size;
        const isLeft = UNFINISHED.test(path) && Date.now() - time > LEFT_AFTER_MS;
        if (isLeft || (isProgram && bytes > this.maxBytes)) rmSync(path, { force: true });
      }
    } catch (error) {
      debug(1, () => `compiled programs not tidied: ${(error as Error).message}`);
    }
  }
}

/** A file that is gone in the meantime counts as empty. */
function fileAt(path: string): { readonly path: string; readonly size: number; readonly time: number } {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return { path, size: stats?.size ?? 0, time: stats?.mtimeMs ?? 0 };
}

/** Notes that a program was used. */
function touch(path: string): void {
  try {
    const now = new Date();
    lutimesSync(path, now, now);
  } catch {
    // Removed by another process, or not writable: its time stays too old.
  }
}

let shared: { readonly folder: string | null; readonly cache: ProgramCache | null } | null = null;

/** The cache of this process; null where nothing is kept on disk. */
export function programCache(): ProgramCache | null {
  const folder = cacheFolder();
  if (shared?.folder !== folder) shared = { folder, cache: folder === null ? null : new ProgramCache(folder) };
  return shared.cache;
}
