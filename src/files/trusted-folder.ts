/**
 * Checks that no other user can write to a folder. Compiled programs are run as they are found, so their folder must be one that
 * only this user and root can write to, and so must every folder above it: whoever may write to one of those can put another
 * folder in its place. engines/disk asks before it reads or writes anything.
 */
import { lstatSync, readlinkSync, type Stats } from "node:fs";
import { dirname, isAbsolute, resolve } from "node:path";
import { whyNot } from "./reasons.js";

/** Links that lead to links, at most. */
const MAX_LINKS = 40;

interface TrustOptions {
  /** Folders above it are checked up to and including this one; up to the root if the path lies elsewhere. */
  readonly home: string | null;
  /** This user; undefined on Windows, where owners and modes mean nothing and only the path itself is looked at. */
  readonly user?: number | undefined;
}

/** Why a folder must not be trusted, or null. A folder that does not exist yet is judged by the folders above it. */
export function whyUntrusted(folder: string, { home, user }: TrustOptions): string | null {
  if (!isAbsolute(folder)) return `${folder || "an empty name"} is no absolute path`;
  try {
    return problemOf(resolve(folder), { home, user }, true, MAX_LINKS);
  } catch (error) {
    return `${folder} cannot be looked at: ${whyNot(folder, error)}`;
  }
}

function problemOf(path: string, options: TrustOptions, isOwn: boolean, links: number): string | null {
  for (let at = path; ; at = dirname(at)) {
    const stats = statsAt(at);
    const problem = stats ? problemAt(at, stats, options, isOwn && at === path, links) : null;
    if (problem !== null) return problem;
    if (at === options.home || dirname(at) === at) return null;
  }
}

/** Null if the path does not exist. A path below a file does not exist either; the file itself is checked on the way up. */
function statsAt(path: string): Stats | null {
  try {
    return lstatSync(path);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return null;
    throw error;
  }
}

function problemAt(at: string, stats: Stats, options: TrustOptions, isOwn: boolean, links: number): string | null {
  const { user } = options;
  if (stats.isSymbolicLink()) {
    if (user !== undefined && stats.uid !== user && stats.uid !== 0)
      return `${at} is a link that user ${stats.uid} made`;
    if (links === 0) return `${at} is a link in a circle`;
    return problemOf(resolve(dirname(at), readlinkSync(at)), options, isOwn, links - 1);
  }
  if (!stats.isDirectory()) return `${at} is no folder`;
  if (user === undefined) return null;
  if (stats.uid !== user && (isOwn || stats.uid !== 0)) return `${at} belongs to user ${stats.uid}, not to ${user}`;
  // In a sticky folder such as /tmp, others can add files but cannot replace those of this user.
  const isOpen = (stats.mode & 0o022) !== 0 && (isOwn || (stats.mode & 0o1000) === 0);
  return isOpen ? `others may write to ${at} (mode ${(stats.mode & 0o7777).toString(8)})` : null;
}
