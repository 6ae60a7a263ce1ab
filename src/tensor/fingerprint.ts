/**
 * Which compiler this is: a hash over the files that decide what a program becomes, taken once, when the first program is
 * looked up on disk. So a program that another version compiled, or this one before someone changed a line of it, is never
 * taken for one of ours, whoever forgot to count up a number.
 */
import { createHash } from "node:crypto";
import { closeSync, fstatSync, openSync, readdirSync, readSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { debug } from "../engines/vulkan/debug.js";

/** And whether what lies in folders inside counts: the methods of tensors only build graphs. */
const FOLDERS = { core: true, graph: true, compiler: true, tensor: false };
/** This file, from the folder that they are in. A bundler would have put it elsewhere. */
const OWN_NAME = /\/tensor\/fingerprint\.[jt]s$/;

let known: string | null | undefined;

/** Null where the files are not to be found, or have changed since the process began: what it runs is then not known. */
export function compilerFingerprint(): string | null {
  if (known === undefined) {
    known = hashFiles(import.meta.url, performance.timeOrigin);
    if (known === null) debug(1, () => "programs are not kept: the compiler's files are not those that were loaded");
  }
  return known;
}

/** @internal The hash of the files around one of them, unless they have changed after a time. */
export function hashFiles(own: string, since: number): string | null {
  if (!OWN_NAME.test(own)) return null;
  try {
    const root = fileURLToPath(new URL("..", own));
    const paths = Object.entries(FOLDERS).flatMap(([folder, isDeep]) => filesUnder(root + folder, isDeep));
    const parts = paths.flatMap((path) => {
      const bytes = readUnchanged(path, since);
      return [Buffer.from(`${path.slice(root.length)} ${bytes.length} `), bytes];
    });
    return createHash("sha256").update(Buffer.concat(parts)).digest("hex");
  } catch {
    return null;
  }
}

function filesUnder(folder: string, isDeep: boolean): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return isDeep ? filesUnder(path, isDeep) : [];
    return /(?<!\.d)\.[jt]s$/.test(entry.name) ? [path] : [];
  });
}

/** The time of the last change is read through the file, so that it is that of the bytes. */
function readUnchanged(path: string, since: number): Uint8Array {
  const file = openSync(path, "r");
  try {
    const { size, ctimeMs } = fstatSync(file);
    const bytes = Buffer.allocUnsafe(size);
    if (ctimeMs >= since || readSync(file, bytes) !== size) throw new Error(`${path} has changed`);
    return bytes;
  } finally {
    closeSync(file);
  }
}
