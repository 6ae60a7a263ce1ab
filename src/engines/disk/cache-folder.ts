/** Where caches live: `PUMICE_CACHE`, else the user's cache folder. `PUMICE_CACHE=off` keeps nothing on disk. */
import { homedir } from "node:os";
import { join } from "node:path";

export function cacheFolder(env: NodeJS.ProcessEnv = process.env, platform = process.platform): string | null {
  const named = env.PUMICE_CACHE;
  if (named === "off") return null;
  if (named) return named;
  if (platform === "win32") return join(env.LOCALAPPDATA ?? join(homedir(), "AppData", "Local"), "pumice");
  if (platform === "darwin") return join(homedir(), "Library", "Caches", "pumice");
  return join(env.XDG_CACHE_HOME || join(homedir(), ".cache"), "pumice");
}

/**
 * The kinds of files that Pumice writes under that folder. `pumice cache` counts these files and `pumice cache clear` removes
 * them, and nothing else. A new kind of cache adds its row.
 */
export const cacheKinds: readonly { readonly kind: string; readonly folder: string; readonly files: RegExp }[] = [
  { kind: "compiled pipelines", folder: "vulkan", files: /^[0-9a-f]{16}\.pipelines$/ },
  // Left by a process that ended between writing and renaming.
  { kind: "unfinished writes", folder: "vulkan", files: /^[0-9a-f]{16}\.pipelines\.\d+\.[0-9a-z]+$/ },
  { kind: "compiled programs", folder: "programs", files: /^[0-9a-f]{32}\.program$/ },
  { kind: "unfinished programs", folder: "programs", files: /^[0-9a-f]{32}\.program\.\d+\.[0-9a-z]+$/ },
];
