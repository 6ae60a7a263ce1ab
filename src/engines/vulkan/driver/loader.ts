/**
 * Finding the Vulkan loader: the shared library every driver is reached through. Names differ by system; the first
 * that opens wins. `PUMICE_VULKAN_LIBRARY` names another one.
 */
import { DeviceError } from "../../../core/errors.js";
import type { Handle } from "./api.js";
import { koffi, loadLibrary } from "./native.js";

export interface Loader {
  readonly path: string;
  /** Address of a global (instance 0) or instance-level function; 0 when there is none. */
  procAddress(instance: Handle, name: string): Handle;
}

/**
 * The file names to try on a platform, in order.
 * @internal for tests: one machine can check the names of every platform
 */
export function loaderNames(platform: NodeJS.Platform, env: NodeJS.ProcessEnv = process.env): string[] {
  const named = env.PUMICE_VULKAN_LIBRARY;
  if (named) return [named];
  switch (platform) {
    case "win32":
      return ["vulkan-1.dll"];
    case "darwin": {
      // System Integrity Protection empties DYLD_LIBRARY_PATH, so the usual folders are spelled out.
      const names = ["libvulkan.1.dylib", "libMoltenVK.dylib"];
      const folders = ["", "/opt/homebrew/lib/", "/usr/local/lib/"];
      return [
        ...(env.VULKAN_SDK ? [`${env.VULKAN_SDK}/lib/libvulkan.1.dylib`] : []),
        ...names.flatMap((n) => folders.map((f) => f + n)),
      ];
    }
    default:
      return ["libvulkan.so.1", "libvulkan.so"];
  }
}

/** The way to install a loader on this platform, in one sentence. */
export function loaderRemedy(platform: NodeJS.Platform): string {
  switch (platform) {
    case "win32":
      return "Install or update the graphics driver; it brings vulkan-1.dll.";
    case "darwin":
      return "Install MoltenVK and the loader (brew install vulkan-loader molten-vk).";
    case "freebsd":
      return "Install the loader (pkg install vulkan-loader) and your GPU's driver.";
    default:
      return "Install the loader (Debian, Ubuntu: apt-get install libvulkan1; Fedora: dnf install vulkan-loader; Arch: pacman -S vulkan-icd-loader).";
  }
}

let cached: Loader | undefined;

/** Opens the loader once per thread. */
export function openLoader(): Loader {
  if (cached) return cached;
  koffi();
  const names = loaderNames(process.platform);
  const failures: string[] = [];
  for (const name of names) {
    try {
      const library = loadLibrary(name);
      const getProc = library.func("vkGetInstanceProcAddr", "uint64_t", ["uint64_t", "str"]);
      cached = { path: name, procAddress: (instance, symbol) => getProc(instance, symbol) };
      return cached;
    } catch (error) {
      failures.push(`${name}: ${(error as Error).message}`);
    }
  }
  throw new DeviceError(
    `No Vulkan loader could be opened (${failures.join("; ")}). ${loaderRemedy(process.platform)} \`npx pumice doctor\` looks further.`,
  );
}
