/** `pumice cache`: lists Pumice's files on disk and removes them. */
import { lstatSync, readdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { type Command, ExpectedError } from "./command.js";
import { firstLine, loadVulkan, type Vulkan } from "./surface.js";
import { bytes, columns, plural } from "./terminal.js";

interface CachedFile {
  readonly kind: string;
  readonly path: string;
  readonly size: number;
}

type Kinds = Vulkan["cacheKinds"];

/** Files of a kind that are named. */
const MOST_SHOWN = 10;

export const cache: Command = {
  name: "cache",
  summary: "where compiled programs and pipelines are kept, and how much space they take; `clear` removes them",
  usage: "[clear]",
  words: ["clear"],
  switches: {},
  help: `
Pumice keeps the programs that it compiled and what the driver made of them, so that the next run starts sooner.
Everything there can be removed at any time; it is made again when needed.

clear removes the files Pumice wrote and nothing else: files it does not know stay, and links are not followed.

PUMICE_CACHE names another folder; PUMICE_CACHE=off keeps nothing on disk.`,

  async run(given, terminal) {
    const { cacheFolder, cacheKinds, cacheRefusal } = await loadVulkan();
    const [folder, refusal] = [cacheFolder(), cacheRefusal()];
    if (folder === null) {
      terminal.print(`Nothing is kept on disk: ${refusal ?? "PUMICE_CACHE=off"}.`);
      return 0;
    }
    const files = readCache(folder, cacheKinds);
    if (given.has("clear")) {
      const { removed, failures } = removeFiles(files);
      const freed = removed.reduce((sum, { size }) => sum + size, 0);
      terminal.print(`Removed ${plural(removed.length, "file")} from ${folder}: ${bytes(freed)} freed.`);
      if (failures.length > 0) throw new ExpectedError(`Not removed: ${failures.join("; ")}.`);
      return 0;
    }
    if (refusal !== null) terminal.print(`Not used, and nothing more is kept: ${refusal}.`);
    const total = files.reduce((sum, { size }) => sum + size, 0);
    terminal.print(`${terminal.paint("bold", folder)}  ${bytes(total)} in ${plural(files.length, "file")}`);
    for (const { kind } of cacheKinds) {
      const ofKind = files.filter((file) => file.kind === kind);
      if (ofKind.length === 0) continue;
      terminal.print(`\n${kind}: ${bytes(ofKind.reduce((sum, { size }) => sum + size, 0))}`);
      const shown = ofKind.slice(0, MOST_SHOWN);
      for (const line of columns(shown.map(({ path, size }) => [`  ${bytes(size)}`, path.slice(folder.length + 1)]))) {
        terminal.print(line);
      }
      const others = ofKind.slice(MOST_SHOWN);
      if (others.length === 0) continue;
      const rest = others.reduce((sum, { size }) => sum + size, 0);
      terminal.print(`  and ${plural(others.length, "smaller file")}, ${bytes(rest)}`);
    }
    return 0;
  },
};

export function readCache(folder: string, kinds: Kinds): CachedFile[] {
  try {
    return cachedFiles(folder, kinds);
  } catch (error) {
    throw new ExpectedError(`The cache folder cannot be read: ${firstLine(error)}.`);
  }
}

/**
 * The files Pumice wrote under a cache folder. Links are left out, also those in place of a folder.
 * @internal for tests: `cache clear` must know every file that a cache writes
 */
export function cachedFiles(root: string, kinds: Kinds): CachedFile[] {
  return kinds.flatMap(({ kind, folder, files }) => {
    const path = join(root, folder);
    if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return [];
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isFile() && files.test(entry.name))
      .map(({ name }) => join(path, name))
      .map((file) => ({ kind, path: file, size: lstatSync(file, { throwIfNoEntry: false })?.size ?? 0 }))
      .sort((a, b) => b.size - a.size);
  });
}

export function removeFiles(files: readonly CachedFile[]): { removed: CachedFile[]; failures: string[] } {
  const removed: CachedFile[] = [];
  const failures: string[] = [];
  for (const file of files) {
    try {
      unlinkSync(file.path);
      removed.push(file);
    } catch (error) {
      // Gone in the meantime: counts as removed.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") failures.push((error as Error).message);
    }
  }
  return { removed, failures };
}
