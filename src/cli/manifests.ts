/**
 * Driver manifests: the small JSON files by which the Vulkan loader finds drivers. Pure functions for the search path and for
 * parsing (after docs/LoaderDriverInterface.md of KhronosGroup/Vulkan-Loader); facts.ts reads the disk.
 */
import { posix, win32 } from "node:path";

interface ManifestSearch {
  /** The variable that names the manifests and switches the search off, if one is set. */
  readonly forcedBy: "VK_DRIVER_FILES" | "VK_ICD_FILENAMES" | null;
  /** Folders, and with a variable set also files, in the order the loader looks. */
  readonly places: readonly string[];
}

/** The loader's search path on this platform. On Windows it reads the registry, which we do not. */
export function manifestSearch(platform: NodeJS.Platform, env: NodeJS.ProcessEnv, home: string): ManifestSearch {
  const list = (value: string | undefined, fallback = "") =>
    (value || fallback).split(platform === "win32" ? ";" : ":").filter(Boolean);
  const forcedBy = (["VK_DRIVER_FILES", "VK_ICD_FILENAMES"] as const).find((name) => env[name]) ?? null;
  if (forcedBy) return { forcedBy, places: list(env[forcedBy]) };

  const added = list(env.VK_ADD_DRIVER_FILES);
  if (platform === "win32") return { forcedBy, places: added };
  const brew = platform === "darwin" ? ["/opt/homebrew/etc", "/opt/homebrew/share"] : [];
  const roots = [
    env.XDG_CONFIG_HOME || `${home}/.config`,
    ...list(env.XDG_CONFIG_DIRS, "/etc/xdg"),
    "/usr/local/etc",
    "/etc",
    env.XDG_DATA_HOME || `${home}/.local/share`,
    ...list(env.XDG_DATA_DIRS, "/usr/local/share:/usr/share"),
    ...brew,
  ];
  const folders = roots.map((root) => posix.join(root, "vulkan/icd.d"));
  return { forcedBy, places: [...added, ...new Set(folders)] };
}

export interface Manifest {
  readonly path: string;
  /** The driver's library, made absolute where the manifest gives a path; "" when it names none. */
  readonly library: string;
  /** Why it gives no driver, or null. */
  readonly problem: string | null;
  /** For programs of another word size: the loader ignores it, and so do we. */
  readonly isForeign: boolean;
}

/** Parses a manifest. It does not check whether the library can be loaded. */
export function parseManifest(path: string, text: string, platform: NodeJS.Platform): Manifest {
  const broken = (problem: string): Manifest => ({ path, library: "", problem, isForeign: false });
  let content: { ICD?: { library_path?: unknown; library_arch?: unknown } } | null;
  try {
    content = JSON.parse(text);
  } catch (error) {
    return broken(`it is not JSON (${(error as Error).message})`);
  }
  const named = content?.ICD?.library_path;
  if (typeof named !== "string" || named === "") return broken("it names no library (ICD.library_path)");
  const paths = platform === "win32" ? win32 : posix;
  // A bare name is looked up by the system's linker, a path starts at the manifest.
  const isBare = !/[/\\]/.test(named);
  const library = isBare ? named : paths.resolve(paths.dirname(path), named);
  return { path, library, problem: null, isForeign: content?.ICD?.library_arch === "32" };
}
