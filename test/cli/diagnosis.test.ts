/** The doctor's judgement: machines written down as facts, and what must be found wrong with each. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { diagnose, type Level, verdict } from "../../src/cli/diagnosis.js";
import type { DeviceFacts, Facts } from "../../src/cli/machine.js";
import { loaderRemedy } from "../../src/vulkan/index.js";

const gpu: DeviceFacts = {
  index: 0,
  name: "NVIDIA H200",
  type: "discrete",
  vendorId: 0x10de,
  vulkan: "1.4.303",
  driver: "NVIDIA, 570.86.15",
  refusal: null,
  trial: { ok: true, milliseconds: 12 },
};
const lavapipe: DeviceFacts = {
  ...gpu,
  index: 1,
  name: "llvmpipe",
  type: "cpu",
  vendorId: 0x10005,
  driver: "llvmpipe",
};
const amd: DeviceFacts = { ...gpu, name: "AMD Radeon RX 6800", vendorId: 0x1002, driver: "radv" };

const manifest = (name: string, library: string, problem: string | null = null, isForeign = false) => ({
  path: `/usr/share/vulkan/icd.d/${name}.json`,
  library,
  problem,
  isForeign,
});
const nvidiaIcd = manifest("nvidia_icd", "libGLX_nvidia.so.0");
const lvpIcd = manifest("lvp_icd.x86_64", "/usr/lib/libvulkan_lvp.so");
const places = ["/etc/vulkan/icd.d", "/usr/share/vulkan/icd.d"];
const files = (...found: Facts["manifests"]["files"]) => ({ forcedBy: null, places, files: found });
const devices = (...found: DeviceFacts[]): Facts["listing"] => ({ ok: true, devices: found });
const node = (path: string, isAccessible: boolean, group = "render") => ({ path, isAccessible, group });
const glx = { name: "libGLX_nvidia.so.0", version: "570.86.15" };
const egl = { name: "libEGL_nvidia.so.0", version: "570.86.15" };
const kernelOnly = { kernelDriver: "570.86.15", libraries: [] };

/** A Linux machine on which all is well. */
const healthy: Facts = {
  platform: "linux",
  nodeVersion: "20.20.2",
  isContainer: false,
  variables: {},
  koffi: { ok: true, version: "3.3.4" },
  loader: { state: "found", path: "libvulkan.so.1", version: [1, 3, 239], hasValidationLayer: true },
  manifests: files(nvidiaIcd, lvpIcd),
  nodes: [node("/dev/dri/renderD128", true), node("/dev/nvidia0", true)],
  gpuVendors: ["NVIDIA"],
  nvidia: { kernelDriver: "570.86.15", libraries: [glx, egl] },
  listing: devices(gpu, lavapipe),
  cache: { folder: "/home/me/.cache/pumice", problem: null, tunings: [] },
};

/** The same machine without its GPU: nothing of NVIDIA's, software Vulkan alone. */
const noGpu: Partial<Facts> = {
  gpuVendors: [],
  nodes: [],
  nvidia: { kernelDriver: null, libraries: [] },
  manifests: files(lvpIcd),
  listing: devices({ ...lavapipe, index: 0 }),
};
const noDriver: Partial<Facts> = {
  nvidia: { kernelDriver: null, libraries: [] },
  manifests: files(),
  listing: { ok: false, why: "No Vulkan driver is installed" },
};

interface Situation {
  readonly title: string;
  readonly facts: Partial<Facts>;
  readonly check: string;
  readonly level: Level;
  readonly text: RegExp;
  readonly remedy?: RegExp;
  /** Whether some device can be used after all. */
  readonly ok: boolean;
}

const situations: Situation[] = [
  {
    title: "Node 18",
    facts: { nodeVersion: "18.19.0" },
    check: "node",
    level: "problem",
    text: /18\.19\.0 is too old/,
    remedy: /nodejs\.org/,
    ok: true,
  },
  {
    title: "koffi's native part is missing",
    facts: {
      koffi: { ok: false, why: "Cannot find the native Koffi module" },
      loader: { state: "unknown" },
      listing: { ok: false, why: "there is no loader" },
      cache: null,
    },
    check: "koffi",
    level: "problem",
    text: /koffi.*does not load/,
    remedy: /npm install.*--omit=optional/,
    ok: false,
  },
  ...(["linux", "freebsd", "darwin", "win32"] as const).map(
    (platform): Situation => ({
      title: `no loader on ${platform}`,
      facts: {
        platform,
        loader: { state: "missing", why: "cannot open it", remedy: loaderRemedy(platform) },
        listing: { ok: false, why: "there is no loader" },
      },
      check: "loader",
      level: "problem",
      text: /No Vulkan loader/,
      remedy: { linux: /apt-get install libvulkan1/, freebsd: /pkg install/, darwin: /brew install/, win32: /driver/ }[
        platform
      ],
      ok: false,
    }),
  ),
  {
    title: "PUMICE_VULKAN_LIBRARY leads nowhere",
    facts: {
      variables: { PUMICE_VULKAN_LIBRARY: "/x.so" },
      loader: { state: "missing", why: "cannot open it", remedy: "install it" },
      listing: { ok: false, why: "there is no loader" },
    },
    check: "loader",
    level: "problem",
    text: /No Vulkan loader/,
    remedy: /PUMICE_VULKAN_LIBRARY=\/x\.so.*unset/,
    ok: false,
  },
  {
    title: "a loader from before Vulkan 1.2",
    facts: {
      loader: { state: "found", path: "libvulkan.so.1", version: [1, 1, 70], hasValidationLayer: false },
      listing: { ok: false, why: "the loader is version 1.1.70" },
    },
    check: "loader",
    level: "problem",
    text: /1\.1\.70.*too old/,
    remedy: /Update/,
    ok: false,
  },
  {
    title: "a loader that crashes",
    facts: {
      loader: { state: "broken", why: "it crashed (SIGSEGV)" },
      listing: { ok: false, why: "there is no loader" },
    },
    check: "loader",
    level: "problem",
    text: /SIGSEGV/,
    remedy: /again/,
    ok: false,
  },
  {
    title: "no manifest, with an AMD GPU on the bus",
    facts: { ...noDriver, gpuVendors: ["AMD"] },
    check: "manifests",
    level: "problem",
    text: /No driver manifest/,
    remedy: /AMD.*mesa-vulkan-drivers/,
    ok: false,
  },
  {
    title: "no manifest, with an NVIDIA GPU on the bus",
    facts: noDriver,
    check: "manifests",
    level: "problem",
    text: /No driver manifest/,
    remedy: /nvidia-driver/,
    ok: false,
  },
  {
    title: "no manifest and no GPU that shows",
    facts: { ...noDriver, gpuVendors: [] },
    check: "manifests",
    level: "problem",
    text: /No driver manifest/,
    remedy: /a software one/,
    ok: false,
  },
  {
    title: "no manifest on macOS",
    facts: { ...noDriver, platform: "darwin", gpuVendors: [] },
    check: "manifests",
    level: "problem",
    text: /No driver manifest/,
    remedy: /molten-vk/,
    ok: false,
  },
  {
    title: "no manifest on FreeBSD",
    facts: { ...noDriver, platform: "freebsd", gpuVendors: [] },
    check: "manifests",
    level: "problem",
    text: /No driver manifest/,
    remedy: /pkg install nvidia-driver/,
    ok: false,
  },
  {
    title: "VK_DRIVER_FILES points at nothing",
    facts: { ...noDriver, manifests: { forcedBy: "VK_DRIVER_FILES", places: ["/gone.json"], files: [] } },
    check: "manifests",
    level: "problem",
    text: /VK_DRIVER_FILES is set/,
    remedy: /unset VK_DRIVER_FILES/,
    ok: false,
  },
  {
    title: "Windows, where drivers register themselves",
    facts: { platform: "win32", manifests: files(), nodes: [], gpuVendors: [] },
    check: "manifests",
    level: "info",
    text: /registry/,
    ok: true,
  },
  {
    title: "a broken manifest beside a working GPU",
    facts: { manifests: files(nvidiaIcd, manifest("old", "/gone.so", "its library /gone.so does not exist")) },
    check: "manifests",
    level: "warning",
    text: /old\.json is of no use.*gone\.so does not exist/,
    remedy: /remove the manifest/,
    ok: true,
  },
  {
    title: "the only manifest is broken",
    facts: {
      ...noDriver,
      manifests: files(manifest("radeon", "/r.so", "its library cannot be loaded: libLLVM-15.so.1: cannot open")),
    },
    check: "manifests",
    level: "problem",
    text: /radeon\.json is of no use.*libLLVM-15/,
    remedy: /driver again/,
    ok: false,
  },
  {
    title: "NVIDIA's driver wants X libraries that a container lacks",
    facts: {
      isContainer: true,
      manifests: files({
        ...nvidiaIcd,
        problem: "its library cannot be loaded: libXext.so.6: cannot open shared object file",
      }),
      listing: { ok: false, why: "No Vulkan driver is installed" },
    },
    check: "manifests",
    level: "problem",
    text: /libXext/,
    remedy: /libEGL_nvidia\.so\.0/,
    ok: false,
  },
  {
    title: "no permission on the render node, and so no GPU",
    facts: {
      manifests: files(manifest("radeon", "libvulkan_radeon.so"), lvpIcd),
      nodes: [node("/dev/dri/renderD128", false)],
      gpuVendors: ["AMD"],
      nvidia: { kernelDriver: null, libraries: [] },
      listing: devices({ ...lavapipe, index: 0 }),
    },
    check: "nodes",
    level: "problem",
    text: /No permission to use \/dev\/dri\/renderD128 \(group render\)/,
    remedy: /usermod -aG render "\$USER"/,
    ok: true,
  },
  {
    title: "device files of root alone",
    facts: { nodes: [node("/dev/nvidia0", false, "root")] },
    check: "nodes",
    level: "warning",
    text: /No permission to use \/dev\/nvidia0/,
    remedy: /render,video/,
    ok: true,
  },
  {
    title: "no permission in a container",
    facts: { isContainer: true, nodes: [node("/dev/dri/renderD128", false, "109")] },
    check: "nodes",
    level: "warning",
    text: /No permission/,
    remedy: /--group-add 109/,
    ok: true,
  },
  {
    title: "no permission on FreeBSD",
    facts: { platform: "freebsd", nodes: [node("/dev/dri/renderD128", false, "video")] },
    check: "nodes",
    level: "warning",
    text: /No permission/,
    remedy: /pw groupmod video/,
    ok: true,
  },
  {
    title: "a GPU on the bus without device files",
    facts: { ...noGpu, gpuVendors: ["Intel"] },
    check: "nodes",
    level: "problem",
    text: /GPU of Intel.*no device file/,
    remedy: /kernel driver is not loaded/,
    ok: true,
  },
  {
    title: "a GPU on the bus that the container was not given",
    facts: { ...noGpu, gpuVendors: ["Intel"], isContainer: true },
    check: "nodes",
    level: "problem",
    text: /GPU of Intel/,
    remedy: /--device \/dev\/dri/,
    ok: true,
  },
  {
    title: "NVIDIA in a container without graphics libraries",
    facts: {
      ...noGpu,
      isContainer: true,
      nvidia: kernelOnly,
      nodes: [node("/dev/nvidia0", true)],
      variables: { NVIDIA_DRIVER_CAPABILITIES: "compute,utility" },
    },
    check: "nvidia",
    level: "problem",
    text: /kernel driver 570\.86\.15 is here, but not the graphics libraries/,
    remedy: /NVIDIA_DRIVER_CAPABILITIES=all.*compute,graphics,utility/,
    ok: true,
  },
  {
    title: "NVIDIA without its graphics libraries outside a container",
    facts: { ...noGpu, nvidia: kernelOnly },
    check: "nvidia",
    level: "problem",
    text: /not the graphics libraries/,
    remedy: /nvidia-vulkan-icd/,
    ok: true,
  },
  {
    title: "NVIDIA's libraries without a manifest",
    facts: { ...noGpu, isContainer: true, nvidia: { kernelDriver: "570.86.15", libraries: [glx, egl] } },
    check: "nvidia",
    level: "problem",
    text: /no driver manifest names them/,
    remedy: /"library_path":"libEGL_nvidia\.so\.0".*> \/etc\/vulkan\/icd\.d\/nvidia_icd\.json/,
    ok: true,
  },
  {
    title: "NVIDIA's libraries of another version than its kernel driver",
    facts: {
      listing: devices(lavapipe),
      nvidia: { kernelDriver: "570.86.15", libraries: [{ ...glx, version: "550.54.14" }] },
    },
    check: "nvidia",
    level: "problem",
    text: /570\.86\.15 does not go with the library libGLX_nvidia\.so\.0 550\.54\.14/,
    remedy: /Restart the machine/,
    ok: true,
  },
  {
    title: "all of NVIDIA's driver, and still no device",
    facts: { listing: devices(lavapipe), isContainer: true },
    check: "nvidia",
    level: "problem",
    text: /lists no device/,
    remedy: /nvidia-smi/,
    ok: true,
  },
  {
    title: "NVIDIA's half installation beside a working AMD GPU",
    facts: { listing: devices(amd), nvidia: kernelOnly },
    check: "nvidia",
    level: "warning",
    text: /not the graphics libraries/,
    ok: true,
  },
  {
    title: "a driver too old",
    facts: {
      listing: devices({
        ...amd,
        refusal: "its driver offers Vulkan 1.1.70; Pumice needs 1.2: update the driver",
        trial: null,
      }),
    },
    check: "devices",
    level: "problem",
    text: /RX 6800 cannot be used: .*1\.1\.70/,
    remedy: /Update the GPU's driver/,
    ok: false,
  },
  {
    title: "a refused device beside a working one",
    facts: { listing: devices(gpu, { ...amd, index: 1, refusal: "its driver lacks scalarBlockLayout", trial: null }) },
    check: "devices",
    level: "warning",
    text: /vulkan:1 .*cannot be used: .*scalarBlockLayout/,
    ok: true,
  },
  {
    title: "a device that computes wrongly",
    facts: { listing: devices({ ...gpu, trial: { ok: false, why: "3 of 1024 bytes came back wrong" } }) },
    check: "devices",
    level: "problem",
    text: /fails a small computation: 3 of 1024 bytes/,
    remedy: /report it/,
    ok: false,
  },
  {
    title: "a driver that crashes when devices are listed",
    facts: { listing: { ok: false, why: "it crashed (SIGSEGV)" } },
    check: "devices",
    level: "problem",
    text: /cannot be listed: it crashed/,
    remedy: /VK_DRIVER_FILES=/,
    ok: false,
  },
  {
    title: "drivers that list nothing",
    facts: { listing: devices(), gpuVendors: ["Intel"], nvidia: { kernelDriver: null, libraries: [] } },
    check: "devices",
    level: "problem",
    text: /list no device/,
    remedy: /Intel/,
    ok: false,
  },
  {
    title: "only software Vulkan, and no GPU",
    facts: noGpu,
    check: "software",
    level: "warning",
    text: /Only software Vulkan/,
    remedy: /nothing to mend/,
    ok: true,
  },
  {
    title: "only software Vulkan, with a GPU on the bus",
    facts: { ...noGpu, gpuVendors: ["AMD"], nodes: [node("/dev/dri/renderD128", true)] },
    check: "software",
    level: "warning",
    text: /Only software Vulkan/,
    remedy: /GPU of AMD is in the machine/,
    ok: true,
  },
  {
    title: "no validation layer",
    facts: { loader: { state: "found", path: "libvulkan.so.1", version: [1, 3, 0], hasValidationLayer: false } },
    check: "validation",
    level: "info",
    text: /not installed; only work on Pumice itself needs it/,
    ok: true,
  },
  {
    title: "a cache folder that cannot be written",
    facts: { cache: { folder: "/c", problem: "no permission to write to /c", tunings: [] } },
    check: "cache",
    level: "warning",
    text: /cannot be kept in \/c: no permission/,
    remedy: /PUMICE_CACHE/,
    ok: true,
  },
  {
    title: "no cache, as asked",
    facts: { cache: { folder: null, problem: null, tunings: [] } },
    check: "cache",
    level: "info",
    text: /PUMICE_CACHE=off/,
    ok: true,
  },
];

for (const { title, facts, check, level, text, remedy, ok } of situations) {
  test(`the doctor finds: ${title}`, () => {
    const machine = { ...healthy, ...facts };
    const findings = diagnose(machine);
    const finding = findings.find((one) => one.check === check && text.test(one.text));
    assert.ok(finding, JSON.stringify(findings, null, 2));
    assert.equal(finding.level, level);
    if (remedy) assert.match(finding.remedies.join("\n"), remedy);
    assert.equal(verdict(machine).ok, ok);
  });
}

test("on a healthy machine nothing is amiss, and the GPU would be used", () => {
  const findings = diagnose(healthy);
  assert.deepEqual(
    findings.filter(({ level }) => level === "warning" || level === "problem"),
    [],
  );
  assert.deepEqual(
    findings.map(({ check }) => check),
    ["node", "koffi", "loader", "manifests", "nodes", "nvidia", "devices", "devices", "validation", "cache"],
  );
  assert.deepEqual(verdict(healthy), {
    ok: true,
    text: "Pumice would use vulkan:0 (NVIDIA H200): it is the only GPU that can be used.",
  });
});

test("every problem comes with a remedy, except a listing that failed for a reason already told", () => {
  for (const { title, facts } of situations) {
    for (const { check, level, remedies } of diagnose({ ...healthy, ...facts })) {
      assert.ok(level !== "problem" || remedies.length > 0 || check === "devices", title);
    }
  }
});

test("a manifest for 32-bit programs is passed over, as the loader does", () => {
  const foreign = manifest("radeon_icd.i686", "/lib32/libvulkan_radeon.so", "its library cannot be loaded", true);
  assert.deepEqual(diagnose({ ...healthy, manifests: files(nvidiaIcd, lvpIcd, foreign) }), diagnose(healthy));
});

test("MoltenVK loaded in the loader's place needs no manifest", () => {
  const apple: DeviceFacts = { ...gpu, name: "Apple M2", type: "integrated", vendorId: 0x106b };
  const machine: Facts = {
    ...healthy,
    platform: "darwin",
    manifests: files(),
    nodes: [],
    gpuVendors: [],
    nvidia: { kernelDriver: null, libraries: [] },
    listing: devices(apple),
  };
  assert.ok(diagnose(machine).every(({ level }) => level === "ok" || level === "info"));
});

test("variables that have a say are listed", () => {
  const findings = diagnose({ ...healthy, variables: { VK_LOADER_DRIVERS_DISABLE: "*nvidia*" } });
  assert.deepEqual(findings.at(-1)?.details, ["VK_LOADER_DRIVERS_DISABLE=*nvidia*"]);
});

test("the verdict without a device names the CPU engine", () => {
  const { ok, text } = verdict({ ...healthy, listing: devices() });
  assert.equal(ok, false);
  assert.match(text, /Tensors run on the CPU engine, which needs none of the above/);
});

test("the verdict follows PUMICE_DEVICE", () => {
  const machine = { ...healthy, variables: { PUMICE_DEVICE: "vulkan:1" } };
  assert.match(verdict(machine).text, /would use vulkan:1 \(llvmpipe\)/);
});
