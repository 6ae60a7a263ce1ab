/**
 * Sees to it that the Vulkan tests can run: looks for a device, the Khronos validation layer and the two SPIR-V tools,
 * and installs Mesa's software driver and the tools where that is possible (Debian-like, as root). Called by test.mjs.
 * The looking happens in a process of its own (`node scripts/vulkan-setup.mjs` prints it as JSON): a driver that crashes
 * takes nothing with it, and a library installed a moment ago is found.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const PACKAGES = ["mesa-vulkan-drivers", "libvulkan1", "vulkan-validationlayers", "spirv-tools", "glslang-tools"];

/**
 * What the tests need, how to tell that it is here, and what does not run without it.
 * @type {{ what: string, isThere: (found: Probe) => boolean, affects: string }[]}
 */
const NEEDS = [
  {
    what: "Vulkan device",
    isThere: (found) => found.devices.length > 0,
    affects: "the Vulkan tests (test/engines/vulkan, test/vulkan) and documentation examples",
  },
  {
    what: "Khronos validation layer",
    isThere: (found) => found.layers.includes("VK_LAYER_KHRONOS_validation"),
    affects: "the two runs of the Vulkan tests under validation",
  },
  { what: "spirv-val", isThere: () => isOnPath("spirv-val"), affects: "the tests that validate emitted SPIR-V" },
  {
    what: "glslangValidator",
    isThere: () => isOnPath("glslangValidator"),
    affects: "the tests that run SPIR-V compiled from GLSL",
  },
];

/**
 * @typedef {{ devices: string[], layers: string[], error?: string }} Probe device and layer names; why there are none
 */

/** @returns {Probe} what the Vulkan loader on this machine offers */
export function probeVulkan() {
  const child = spawnSync(process.execPath, [fileURLToPath(import.meta.url)], { encoding: "utf8", timeout: 60_000 });
  // The answer is the last line: a driver may print lines of its own.
  const answer = child.stdout.trim().split("\n").at(-1) ?? "";
  if (child.status === 0) return JSON.parse(answer);
  return { devices: [], layers: [], error: `the probe failed (${child.signal ?? child.stderr.trim()})` };
}

/**
 * Installs what is missing, where it can.
 * @returns {{ found: Probe, missing: { what: string, affects: string }[], why: string }} what there is now, what there
 *   is not, and why that could not be mended
 */
export function ensureVulkan() {
  const found = probeVulkan();
  const missing = NEEDS.filter((need) => !need.isThere(found));
  if (missing.length === 0) return { found, missing, why: "" };
  const problem = found.error ? `${found.error}; ` : "";
  if (!existsSync("/etc/debian_version") || !isOnPath("apt-get")) {
    return { found, missing, why: `${problem}install your system's counterparts of Debian's ${PACKAGES.join(" ")}` };
  }
  if (process.getuid?.() !== 0) {
    return { found, missing, why: `${problem}as root, run: apt-get install ${PACKAGES.join(" ")}` };
  }
  console.log(`  no ${missing.map((need) => need.what).join(", no ")}: installing ${PACKAGES.join(" ")}`);
  const failure = aptInstall();
  const now = probeVulkan();
  return { found: now, missing: NEEDS.filter((need) => !need.isThere(now)), why: failure || (now.error ?? "") };
}

/** @returns {string} why it failed, or "" */
function aptInstall() {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  for (const args of [["update"], ["install", "-y", "--no-install-recommends", ...PACKAGES]]) {
    const { status } = spawnSync("apt-get", ["-q", ...args], { env, stdio: ["ignore", "inherit", "inherit"] });
    if (status !== 0) return `apt-get ${args[0]} failed`;
  }
  return "";
}

/** @param {string} program */
export function isOnPath(program) {
  const endings = process.platform === "win32" ? [".exe", ".cmd"] : [""];
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders.some((folder) => endings.some((ending) => existsSync(join(folder, program + ending))));
}

/**
 * Asks the loader itself, without Pumice's own Vulkan code, which is what the tests are there to judge.
 * @returns {Promise<Probe>}
 */
async function askLoader() {
  const { default: koffi } = await import("koffi");
  const isMac = process.platform === "darwin";
  const library = isMac ? "libvulkan.1.dylib" : process.platform === "win32" ? "vulkan-1.dll" : "libvulkan.so.1";
  /** @type {import("koffi").LibraryHandle} */
  let vulkan;
  try {
    vulkan = koffi.load(library);
  } catch {
    return { devices: [], layers: [], error: `the Vulkan loader ${library} cannot be loaded` };
  }
  const count = new Uint32Array(1);
  const nameIn = (/** @type {Buffer} */ bytes) => bytes.toString("utf8", 0, bytes.indexOf(0));

  const listLayers = vulkan.func("int vkEnumerateInstanceLayerProperties(void *count, void *layers)");
  const LAYER_SIZE = 520; // VkLayerProperties: char name[256], two versions, char description[256]
  listLayers(count, null);
  const layerBytes = Buffer.alloc(count[0] * LAYER_SIZE);
  listLayers(count, layerBytes);
  const layers = Array.from({ length: count[0] }, (_, i) => nameIn(layerBytes.subarray(i * LAYER_SIZE)));

  // VkInstanceCreateInfo: sType 1 and otherwise zero, except that MoltenVK's devices are listed only when asked for.
  const createInfo = Buffer.alloc(64);
  createInfo.writeUInt32LE(1, 0);
  const extension = Buffer.from("VK_KHR_portability_enumeration\0");
  const extensions = BigUint64Array.of(koffi.address(extension));
  if (isMac) {
    createInfo.writeUInt32LE(1, 16); // flags
    createInfo.writeUInt32LE(1, 48); // enabledExtensionCount
    createInfo.writeBigUInt64LE(koffi.address(extensions), 56); // ppEnabledExtensionNames
  }
  const instance = new BigUint64Array(1);
  const create = vulkan.func("int vkCreateInstance(void *info, void *allocator, void *instance)");
  const result = create(createInfo, null, instance);
  if (result !== 0) return { devices: [], layers, error: `vkCreateInstance answers ${result}` };

  const list = vulkan.func("int vkEnumeratePhysicalDevices(uint64_t instance, void *count, void *devices)");
  list(instance[0], count, null);
  const handles = new BigUint64Array(count[0]);
  list(instance[0], count, handles);
  const describe = vulkan.func("void vkGetPhysicalDeviceProperties(uint64_t device, void *properties)");
  const devices = [...handles].map((handle) => {
    const properties = Buffer.alloc(1024); // VkPhysicalDeviceProperties: five u32, then char name[256]
    describe(handle, properties);
    return nameIn(properties.subarray(20));
  });
  return { devices, layers };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(JSON.stringify(await askLoader()));
