/** The folder of caches: `PUMICE_CACHE`, else the user's cache folder. `PUMICE_CACHE=off` keeps nothing on disk. */
import { userInfo } from "node:os";
import { posix, win32 } from "node:path";

/** A folder for caches; or none and the reason, which is null if the user turned it off. */
type CachePlace = { readonly folder: string } | { readonly folder: null; readonly why: string | null };

/**
 * Never a relative path: it would name another folder in each working directory, perhaps one that others can write to. A
 * relative `XDG_CACHE_HOME` or `LOCALAPPDATA` is ignored, as the XDG specification asks.
 */
export function cachePlace(env: NodeJS.ProcessEnv = process.env, platform = process.platform): CachePlace {
  const { isAbsolute, join } = platform === "win32" ? win32 : posix;
  const absolute = (path: string | undefined) => (path && isAbsolute(path) ? path : null);
  const named = env.PUMICE_CACHE;
  if (named === "off") return { folder: null, why: null };
  if (named) {
    return isAbsolute(named) ? { folder: named } : { folder: null, why: `PUMICE_CACHE=${named} is no absolute path` };
  }
  const home = homeFolder(env, platform);
  const below = (...names: string[]) => (home === null ? null : join(home, ...names));
  const caches =
    platform === "win32"
      ? (absolute(env.LOCALAPPDATA) ?? below("AppData", "Local"))
      : platform === "darwin"
        ? below("Library", "Caches")
        : (absolute(env.XDG_CACHE_HOME) ?? below(".cache"));
  if (caches === null) return { folder: null, why: "the user has no home folder with an absolute path" };
  return { folder: join(caches, "pumice") };
}

/** The folder of compiled programs and pipelines; null where nothing is kept. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env, platform = process.platform): string | null {
  return cachePlace(env, platform).folder;
}

/** The user's home: as the environment says, else as the system knows it; null where neither is an absolute path. */
export function homeFolder(env: NodeJS.ProcessEnv = process.env, platform = process.platform): string | null {
  const { isAbsolute } = platform === "win32" ? win32 : posix;
  const told = platform === "win32" ? env.USERPROFILE : env.HOME;
  if (told && isAbsolute(told)) return told;
  try {
    const { homedir } = userInfo();
    return isAbsolute(homedir) ? homedir : null;
  } catch {
    // In containers, a user may be missing from the password file.
    return null;
  }
}

/**
 * The kinds of files that Pumice writes under that folder. `pumice cache` counts these files and `pumice cache clear` removes
 * them, and nothing else. A new kind of cache adds its row.
 */
export const cacheKinds: readonly { readonly kind: string; readonly folder: string; readonly files: RegExp }[] = [
  { kind: "compiled pipelines", folder: "vulkan", files: /^[0-9a-f]{16}\.pipelines$/ },
  // Left by a process that ended between writing and renaming.
  { kind: "unfinished writes", folder: "vulkan", files: /^[0-9a-f]{16}\.pipelines\.\d+\.[0-9a-z]+(\.part)?$/ },
  { kind: "compiled programs", folder: "programs", files: /^[0-9a-f]{32}\.program$/ },
  { kind: "unfinished programs", folder: "programs", files: /^[0-9a-f]{32}\.program\.\d+\.[0-9a-z]+(\.part)?$/ },
  { kind: "measured tilings", folder: "tuning", files: /^[0-9a-f]{16}\.tuning$/ },
  { kind: "unfinished measurements", folder: "tuning", files: /^[0-9a-f]{16}\.tuning\.\d+\.[0-9a-z]+(\.part)?$/ },
];
