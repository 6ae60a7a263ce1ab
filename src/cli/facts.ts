/**
 * Gathers the facts for diagnosis.ts: reads the system's files and asks probe.ts about the drivers. It decides nothing; a file
 * that cannot be read counts as absent.
 */
import {
  accessSync,
  constants,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  statSync,
} from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import type { DeviceFacts, DeviceNode, Facts, GpuVendor, LoaderFacts, NvidiaFacts, Outcome } from "./machine.js";
import { type Manifest, manifestSearch, parseManifest } from "./manifests.js";
import { ask } from "./probe.js";

/** Variables that change which drivers are found, which device is used or what a container is given. */
const VARIABLES =
  /^(PUMICE_\w+|VK_(DRIVER_FILES|ICD_FILENAMES|ADD_DRIVER_FILES|INSTANCE_LAYERS|LOADER_\w+)|MESA_VK_\w+|NVIDIA_(VISIBLE_DEVICES|DRIVER_CAPABILITIES))$/;

const vendors: Readonly<Record<string, GpuVendor>> = { "0x10de": "NVIDIA", "0x1002": "AMD", "0x8086": "Intel" };

export async function gatherFacts(): Promise<Facts> {
  const { platform, env } = process;
  const koffi = await ask("koffi");
  const loader = koffi.ok ? await loaderFacts() : ({ state: "unknown" } as const);
  const search = manifestSearch(platform, env, homedir());
  return {
    platform,
    nodeVersion: process.versions.node,
    isContainer: isContainer(),
    variables: Object.fromEntries(
      Object.entries(env).flatMap(([name, value]) => (VARIABLES.test(name) && value ? [[name, value]] : [])),
    ),
    koffi,
    loader,
    manifests: { ...search, files: await readManifests(search.places, koffi.ok) },
    nodes: deviceNodes(),
    gpuVendors: gpuVendors(),
    nvidia: nvidiaFacts(),
    listing: loader.state === "found" ? await listAndTry() : { ok: false, why: "there is no loader" },
    cache: koffi.ok ? await cacheFacts() : null,
  };
}

async function loaderFacts(): Promise<LoaderFacts> {
  const asked = await ask("loader");
  return asked.ok ? asked.loader : { state: "broken", why: asked.why };
}

async function listAndTry(): Promise<Outcome<{ devices: DeviceFacts[] }>> {
  const listing = await ask("devices");
  if (!listing.ok) return listing;
  const devices: DeviceFacts[] = [];
  for (const device of listing.devices) {
    devices.push(device.refusal === null ? { ...device, trial: await ask("trial", String(device.index)) } : device);
  }
  return { ok: true, devices };
}

async function readManifests(places: readonly string[], canLoad: boolean): Promise<Manifest[]> {
  const paths = places.flatMap((place) => {
    const names = namesIn(place).filter((name) => name.endsWith(".json"));
    return place.endsWith(".json") ? (existsSync(place) ? [place] : []) : names.sort().map((name) => join(place, name));
  });
  const manifests = paths.map((path) => {
    const text = textOf(path);
    if (text === null) return { path, library: "", problem: "it cannot be read", isForeign: false };
    const manifest = parseManifest(path, text, process.platform);
    const isGone = isAbsolute(manifest.library) && !existsSync(manifest.library);
    return isGone ? { ...manifest, problem: `its library ${manifest.library} does not exist` } : manifest;
  });
  const libraries = new Set(manifests.filter(({ problem }) => problem === null).map(({ library }) => library));
  if (!canLoad || libraries.size === 0) return manifests;
  const tried = await ask("libraries", ...libraries);
  return manifests.map((manifest) => {
    const why = tried.ok ? tried.failures[manifest.library] : undefined;
    if (why === undefined || manifest.problem !== null) return manifest;
    const isForeign = manifest.isForeign || /wrong ELF class/.test(why);
    return { ...manifest, isForeign, problem: `its library cannot be loaded: ${why}` };
  });
}

function deviceNodes(): DeviceNode[] {
  const render = namesIn("/dev/dri").filter((name) => /^renderD\d+$/.test(name));
  const nvidia = namesIn("/dev").filter((name) => /^nvidia(ctl|\d+)$/.test(name));
  return [...render.map((name) => `/dev/dri/${name}`), ...nvidia.map((name) => `/dev/${name}`)].map((path) => ({
    path,
    isAccessible: isAccessible(path, constants.R_OK | constants.W_OK),
    group: groupOf(path),
  }));
}

function groupOf(path: string): string {
  const id = String(statSync(path, { throwIfNoEntry: false })?.gid ?? 0);
  const line = (textOf("/etc/group") ?? "").split("\n").find((entry) => entry.split(":")[2] === id);
  return line?.split(":")[0] ?? id;
}

/** Display controllers and processing accelerators on the PCI bus (Linux). */
function gpuVendors(): GpuVendor[] {
  const bus = "/sys/bus/pci/devices";
  return namesIn(bus).flatMap((name) => {
    const isGpu = /^0x(03|12)/.test(textOf(join(bus, name, "class")) ?? "");
    const vendor = vendors[(textOf(join(bus, name, "vendor")) ?? "").trim()];
    return isGpu && vendor ? [vendor] : [];
  });
}

function nvidiaFacts(): NvidiaFacts {
  const version = textOf("/proc/driver/nvidia/version");
  const isLoaded = version !== null || existsSync("/dev/nvidiactl");
  const [, kernelDriver = ""] = /\s(\d+\.\d+(?:\.\d+)?)\s/.exec(version ?? "") ?? [];
  const folders = [
    ...(process.env.LD_LIBRARY_PATH ?? "").split(":").filter(Boolean),
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu/nvidia/current",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu/nvidia/current",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/lib",
    "/usr/local/nvidia/lib64",
    "/run/opengl-driver/lib",
  ];
  const libraries = ["libGLX_nvidia.so.0", "libEGL_nvidia.so.0"].flatMap((name) => {
    const path = folders.map((folder) => join(folder, name)).find(existsSync);
    if (!path) return [];
    // The link leads to libGLX_nvidia.so.<version of the driver>.
    const [, found = null] = /\.so\.(\d+\.[\d.]+)$/.exec(basename(realpathSync(path))) ?? [];
    return [{ name, version: found }];
  });
  return { kernelDriver: isLoaded ? kernelDriver : null, libraries };
}

async function cacheFacts(): Promise<Facts["cache"]> {
  const { cacheFolder, cacheRefusal, listTunings } = await import("../vulkan/index.js");
  const [folder, refusal] = [cacheFolder(), cacheRefusal()];
  if (folder === null || refusal !== null) return { folder, problem: refusal, tunings: [] };
  const tunings = listTunings();
  // A missing folder is created when needed, in the nearest existing one. For root, permissions do not reveal read-only and
  // virtual file systems, so a file is written there as a test.
  let nearest = folder;
  while (!existsSync(nearest) && dirname(nearest) !== nearest) nearest = dirname(nearest);
  if (!statSync(nearest, { throwIfNoEntry: false })?.isDirectory())
    return { folder, problem: `${nearest} is no folder`, tunings };
  try {
    rmdirSync(mkdtempSync(join(nearest, ".pumice-")));
    return { folder, problem: null, tunings };
  } catch {
    return { folder, problem: `nothing can be written to ${nearest}`, tunings };
  }
}

function isContainer(): boolean {
  const isMarked = existsSync("/.dockerenv") || existsSync("/run/.containerenv") || Boolean(process.env.container);
  return isMarked || /docker|kubepods|containerd|lxc/.test(textOf("/proc/1/cgroup") ?? "");
}

function isAccessible(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function textOf(path: string): string | null {
  try {
    // A pipe in the place of a manifest would wait for ever.
    if (!statSync(path).isFile()) return null;
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
