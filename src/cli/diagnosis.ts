/**
 * Diagnoses a machine: a pure function from facts (facts.ts gathers them) to findings and remedies. So any machine can be
 * tested by writing down its facts. `pumice doctor` prints the findings.
 *
 * Each check is a function in the table at the end and returns its findings. They are printed in the order of the table:
 * prerequisites first, then the drivers, then the devices.
 */
import { chooseDevice, kinds } from "./choice.js";
import type { DeviceFacts, DeviceNode, Facts, GpuVendor } from "./machine.js";
import { plural } from "./terminal.js";

export type Level = "ok" | "info" | "warning" | "problem";

export interface Finding {
  /** The name of its check: stable, for programs that read the JSON. */
  readonly check: string;
  readonly level: Level;
  readonly text: string;
  readonly details: readonly string[];
  /** Remedies, one step or alternative each. */
  readonly remedies: readonly string[];
}

export function diagnose(facts: Facts): Finding[] {
  return checks.flatMap(([check, look]) =>
    look(facts).map(({ level, text, details = [], remedies = [] }) => ({ check, level, text, details, remedies })),
  );
}

/** The summary, in a sentence or two; `ok` when some Vulkan device can be used. */
export function verdict(facts: Facts): { ok: boolean; text: string } {
  const devices = devicesOf(facts).map(withTrial);
  const ok = devices.some(({ refusal }) => refusal === null);
  if (!ok) {
    return {
      ok,
      text:
        "Pumice can use no Vulkan device here. Tensors run on the CPU engine, which needs none of the above; " +
        "the native layer, pumice/vulkan, has nothing to run on.",
    };
  }
  const { device, index, why } = chooseDevice(devices, facts.variables.PUMICE_DEVICE);
  const name = devices.find((one) => one.index === index)?.name;
  return { ok, text: device ? `Pumice would use ${device}${name ? ` (${name})` : ""}: ${why}.` : why };
}

type Observation = Pick<Finding, "level" | "text"> & Partial<Pick<Finding, "details" | "remedies">>;
type Check = (facts: Facts) => Observation[];

const NVIDIA_VENDOR = 0x10de;
const OLDEST_NODE = 20;

const devicesOf = ({ listing }: Facts): readonly DeviceFacts[] => (listing.ok ? listing.devices : []);

/** A device whose trial failed counts as refused. */
function withTrial(device: DeviceFacts): DeviceFacts {
  return device.refusal === null && device.trial?.ok === false ? { ...device, refusal: device.trial.why } : device;
}

const hasGpu = (facts: Facts) =>
  devicesOf(facts)
    .map(withTrial)
    .some(({ type, refusal }) => type !== "cpu" && refusal === null);

/** A broken driver is a problem unless some GPU works; then it is a warning. */
const gravity = (facts: Facts): Level => (hasGpu(facts) ? "warning" : "problem");

const node: Check = ({ nodeVersion }) =>
  Number.parseInt(nodeVersion, 10) >= OLDEST_NODE
    ? [{ level: "ok", text: `Node ${nodeVersion}` }]
    : [
        {
          level: "problem",
          text: `Node ${nodeVersion} is too old: Pumice needs ${OLDEST_NODE} or newer`,
          remedies: ["Install a current Node.js: https://nodejs.org"],
        },
      ];

const koffi: Check = ({ koffi, platform }) =>
  koffi.ok
    ? [{ level: "ok", text: `koffi ${koffi.version}, which calls the driver, loads` }]
    : [
        {
          level: "problem",
          text: "koffi, which calls the driver, does not load",
          details: [koffi.why],
          remedies: [
            `Install the dependencies again on this machine: delete node_modules, then npm install. koffi's native code for ${platform} is an optional package, so not with --omit=optional, and node_modules copied from another system does not do.`,
          ],
        },
      ];

const loader: Check = ({ loader, variables }) => {
  switch (loader.state) {
    case "unknown":
      return [];
    case "broken":
      return [
        {
          level: "problem",
          text: `The Vulkan loader cannot be used: ${loader.why}`,
          remedies: ["Install the loader again, and see whether `vulkaninfo` (vulkan-tools) runs."],
        },
      ];
    case "missing": {
      const named = variables.PUMICE_VULKAN_LIBRARY;
      const unset = `PUMICE_VULKAN_LIBRARY=${named} keeps Pumice from looking elsewhere: correct it or unset it.`;
      return [
        {
          level: "problem",
          text: "No Vulkan loader",
          details: [loader.why],
          remedies: [named ? unset : loader.remedy],
        },
      ];
    }
    case "found": {
      const [major = 0, minor = 0] = loader.version;
      const text = `Vulkan loader ${loader.version.join(".")} (${loader.path})`;
      if (major > 1 || minor >= 2) return [{ level: "ok", text }];
      return [
        { level: "problem", text: `${text} is too old: Pumice needs 1.2`, remedies: ["Update the Vulkan loader."] },
      ];
    }
  }
};

const manifests: Check = (facts) => {
  const { forcedBy, places, files } = facts.manifests;
  const usable = files.filter(({ problem, isForeign }) => problem === null && !isForeign);
  const broken = files.filter(({ problem, isForeign }) => problem !== null && !isForeign);
  const found: Observation[] = broken.map(({ path, library, problem }) => ({
    level: gravity(facts),
    text: `The driver manifest ${path} is of no use: ${problem}`,
    remedies: manifestRemedies(facts, library, problem ?? ""),
  }));
  if (usable.length > 0) {
    const how = forcedBy ? `, named by ${forcedBy}` : "";
    const details = usable.map(({ path, library }) => `${path} → ${library.replace(/^.*[/\\]/, "")}`);
    return [{ level: "ok", text: `${plural(usable.length, "driver manifest")}${how}`, details }, ...found];
  }
  if (facts.platform === "win32" && !forcedBy) {
    return [{ level: "info", text: "Drivers are found through the Windows registry, which is not looked at here" }];
  }
  // MoltenVK can be loaded in the loader's place, and then needs no manifest.
  if (broken.length > 0 || devicesOf(facts).length > 0) return found;
  const text = forcedBy
    ? `${forcedBy} is set, and no driver manifest is where it points`
    : "No driver manifest: the loader knows of no driver";
  const details = places.map((place) => `looked at ${place}`);
  const remedies = forcedBy ? [`Correct or unset ${forcedBy}.`] : driverRemedies(facts);
  return [{ level: "problem", text, details, remedies }];
};

function manifestRemedies(facts: Facts, library: string, problem: string): string[] {
  if (/nvidia/i.test(library) && /libX(11|ext)/.test(problem)) {
    return [
      "Install the X libraries it is linked to (Debian, Ubuntu: apt-get install libx11-6 libxext6), or use NVIDIA's driver without X:",
      nvidiaManifest("libEGL_nvidia.so.0"),
    ];
  }
  if (library === "") return ["Remove it, or install its driver again."];
  return [
    facts.isContainer
      ? "Install its driver's packages in the container's image, or remove the manifest."
      : "Install its driver again, or remove the manifest if the driver is gone.",
  ];
}

/** The way to install drivers for the GPUs of this machine; for any GPU, when they are not known. */
function driverRemedies({ platform, gpuVendors }: Facts): string[] {
  switch (platform) {
    case "win32":
      return ["Install or update the graphics driver from the GPU's maker."];
    case "darwin":
      return ["Install MoltenVK: brew install vulkan-loader molten-vk"];
    case "freebsd":
      return ["NVIDIA: pkg install nvidia-driver", "AMD, Intel: pkg install drm-kmod mesa-dri"];
    default: {
      const mesa =
        "Debian, Ubuntu, Fedora: mesa-vulkan-drivers; Arch: vulkan-radeon, vulkan-intel or vulkan-swrast (software).";
      const remedies: Record<GpuVendor, string> = {
        NVIDIA:
          "NVIDIA: install NVIDIA's driver (Debian: nvidia-driver and nvidia-vulkan-icd; Ubuntu: ubuntu-drivers install).",
        AMD: `AMD: install Mesa's Vulkan driver. ${mesa}`,
        Intel: `Intel: install Mesa's Vulkan driver. ${mesa}`,
      };
      if (gpuVendors.length > 0) return [...new Set(gpuVendors)].map((vendor) => remedies[vendor]);
      return [`AMD, Intel, or no GPU: install Mesa's drivers, among them a software one. ${mesa}`, remedies.NVIDIA];
    }
  }
}

const nodes: Check = (facts) => {
  const { platform, isContainer, gpuVendors } = facts;
  if (platform !== "linux" && platform !== "freebsd") return [];
  if (facts.nodes.length === 0) {
    if (gpuVendors.length === 0)
      return [{ level: "info", text: "No GPU device files (/dev/dri/renderD*, /dev/nvidia*)" }];
    const whose = [...new Set(gpuVendors)].join(" and ");
    const remedies = isContainer
      ? ["Hand the GPU to the container: docker run --device /dev/dri … (NVIDIA: docker run --gpus all …)"]
      : ["The GPU's kernel driver is not loaded: install it, or look in dmesg for why it did not start."];
    const text = `A GPU of ${whose} is in the machine, but has no device file (/dev/dri/renderD*, /dev/nvidia*)`;
    return [{ level: gravity(facts), text, remedies }];
  }
  const closed = facts.nodes.filter(({ isAccessible }) => !isAccessible);
  if (closed.length === 0) {
    return [{ level: "ok", text: `Access to ${facts.nodes.map(({ path }) => path).join(", ")}` }];
  }
  return [
    {
      level: gravity(facts),
      text: `No permission to use ${closed.map(({ path, group }) => `${path} (group ${group})`).join(", ")}`,
      remedies: permissionRemedies(closed, facts),
    },
  ];
};

function permissionRemedies(closed: readonly DeviceNode[], { platform, isContainer }: Facts): string[] {
  // Nobody should join root's group: suggest the groups that udev gives these files on a healthy system.
  const groups = [...new Set(closed.map(({ group }) => group).filter((group) => group !== "root" && group !== "0"))];
  const joined = (groups.length > 0 ? groups : ["render", "video"]).join(",");
  if (isContainer) {
    return [
      `Start the container with the group: docker run ${joined
        .split(",")
        .map((group) => `--group-add ${group}`)
        .join(" ")} …`,
    ];
  }
  if (platform === "freebsd")
    return [`Join the group, then log in again: pw groupmod ${joined.split(",")[0]} -m "$USER"`];
  return [`Join the group, then log in again: sudo usermod -aG ${joined} "$USER"`];
}

const nvidia: Check = (facts) => {
  const { kernelDriver, libraries } = facts.nvidia;
  if (kernelDriver === null) return [];
  const kernel = `NVIDIA's kernel driver${kernelDriver && ` ${kernelDriver}`}`;
  const devices = devicesOf(facts).filter(({ vendorId }) => vendorId === NVIDIA_VENDOR);
  if (devices.length > 0) return [{ level: "ok", text: `${kernel} and its Vulkan driver` }];

  const level = gravity(facts);
  if (libraries.length === 0) {
    const given = facts.variables.NVIDIA_DRIVER_CAPABILITIES;
    return [
      {
        level,
        text: `${kernel} is here, but not the graphics libraries that hold its Vulkan driver (libGLX_nvidia, libEGL_nvidia)`,
        details: given ? [`NVIDIA_DRIVER_CAPABILITIES=${given}`] : [],
        remedies: facts.isContainer
          ? [
              "Start the container with them: docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=all … (or compute,graphics,utility; the usual default leaves graphics out).",
            ]
          : [
              "Install the rest of the driver, in the same version (Debian: nvidia-vulkan-icd; Ubuntu: libnvidia-gl-<version>).",
            ],
      },
    ];
  }
  const isKnown = facts.manifests.files.some(({ library }) => /nvidia/i.test(library));
  if (!isKnown) {
    const library = (libraries.find(({ name }) => name.startsWith("libEGL")) ?? libraries[0])?.name ?? "";
    const text = `${kernel} and its graphics libraries are here, but no driver manifest names them`;
    return [{ level, text, remedies: ["Write one:", nvidiaManifest(library)] }];
  }
  const other = libraries.find(({ version }) => version !== null && kernelDriver !== "" && version !== kernelDriver);
  if (other) {
    return [
      {
        level,
        text: `${kernel} does not go with the library ${other.name} ${other.version}`,
        remedies: [
          facts.isContainer
            ? "Restart the container, so that it gets the host's present libraries; remove copies from its image."
            : "Restart the machine: the driver was updated and its old kernel part still runs.",
        ],
      },
    ];
  }
  const remedies = ["See whether `nvidia-smi` finds it, and what VK_LOADER_DEBUG=error,warn npx pumice info prints."];
  if (facts.isContainer) remedies.push("NVIDIA_DRIVER_CAPABILITIES=all hands the container every part of the driver.");
  return [{ level, text: `${kernel} and its libraries are here, but its Vulkan driver lists no device`, remedies }];
};

function nvidiaManifest(library: string): string {
  const manifest = JSON.stringify({ file_format_version: "1.0.1", ICD: { library_path: library, api_version: "1.3" } });
  return `mkdir -p /etc/vulkan/icd.d && echo '${manifest}' > /etc/vulkan/icd.d/nvidia_icd.json`;
}

const devices: Check = (facts) => {
  const { listing, loader, manifests } = facts;
  if (loader.state !== "found") return [];
  if (!listing.ok) {
    const remedies = [
      "Find the driver at fault by naming one at a time: VK_DRIVER_FILES=/path/to/manifest.json npx pumice doctor",
    ];
    // Without any manifest the check of manifests reports it, with the remedy.
    const isExplained = manifests.files.length === 0;
    return [
      { level: "problem", text: `The devices cannot be listed: ${listing.why}`, remedies: isExplained ? [] : remedies },
    ];
  }
  if (listing.devices.length === 0) {
    return [{ level: "problem", text: "The drivers list no device", remedies: driverRemedies(facts) }];
  }
  return listing.devices.map((device) => observe(device, gravity(facts)));
};

function observe(
  { index, name, type, vulkan, driver, refusal, trial }: DeviceFacts,
  levelOfFailure: Level,
): Observation {
  const text = `vulkan:${index} ${name}`;
  const details = [`${kinds[type]}, Vulkan ${vulkan}, ${driver}`];
  if (refusal !== null) {
    return {
      level: levelOfFailure,
      text: `${text} cannot be used: ${refusal}`,
      details,
      remedies: ["Update the GPU's driver; what no driver offers, the GPU cannot do."],
    };
  }
  if (trial?.ok === false) {
    return {
      level: levelOfFailure,
      text: `${text} fails a small computation: ${trial.why}`,
      details,
      remedies: [
        "Update the GPU's driver. If it still fails, please report it with the output of `pumice doctor --json`.",
      ],
    };
  }
  const tried = trial ? `: a small computation came back right in ${trial.milliseconds.toFixed(0)} ms` : "";
  return { level: "ok", text: `${text}${tried}`, details };
}

const software: Check = (facts) => {
  const usable = devicesOf(facts)
    .map(withTrial)
    .filter(({ refusal }) => refusal === null);
  if (usable.length === 0 || hasGpu(facts)) return [];
  const vendors = [...new Set(facts.gpuVendors)];
  return [
    {
      level: "warning",
      text: "Only software Vulkan: it runs on the CPU, slowly, and is used only when asked for",
      remedies: [
        ...(vendors.length > 0
          ? [`A GPU of ${vendors.join(" and ")} is in the machine: give it its driver.`, ...driverRemedies(facts)]
          : ["With a GPU in the machine, install its driver. Without one there is nothing to mend."]),
        "To ask for it: PUMICE_DEVICE=vulkan; with pumice/vulkan, openDevice({ software: true }).",
      ],
    },
  ];
};

const validation: Check = ({ loader }) => {
  if (loader.state !== "found") return [];
  const text = loader.hasValidationLayer
    ? "The Khronos validation layer is installed (PUMICE_VALIDATE=sync turns it on)"
    : "The Khronos validation layer is not installed; only work on Pumice itself needs it";
  return [{ level: "info", text }];
};

const cacheFolder: Check = ({ cache }) => {
  if (cache === null) return [];
  const { folder, problem } = cache;
  if (problem !== null) {
    return [
      {
        level: "warning",
        text: `Compiled kernels cannot be kept${folder === null ? "" : ` in ${folder}`}: ${problem}`,
        details: [
          "Pumice works without, but compiles every kernel again in each run.",
          "What is kept is run as it is found, so the folder and those above it must be yours or root's, and yours to write only.",
        ],
        remedies: [
          "Mend that: chown gives the folder to you, chmod go-w takes it from others.",
          "Or name another with PUMICE_CACHE, by its whole path.",
        ],
      },
    ];
  }
  if (folder === null) return [{ level: "info", text: "Compiled kernels are not kept: PUMICE_CACHE=off" }];
  return [{ level: "ok", text: `Compiled kernels are kept in ${folder}` }];
};

/** Files with measured tilings of matrix products: how many products are tuned, and files that are not used. */
const tunings: Check = ({ cache }) =>
  (cache?.tunings ?? []).map(({ path, device, count, problem }) =>
    problem === null
      ? { level: "info", text: `${plural(count, "kind")} of matrix products measured on ${device}` }
      : {
          level: "warning",
          text: `The measurements in ${path} are not used: ${problem}`,
          remedies: ["Remove them: npx pumice tune --clear. To measure again: npx pumice tune."],
        },
  );

const variables: Check = ({ variables }) => {
  const set = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  return set.length === 0 ? [] : [{ level: "info", text: "Variables that have a say in this", details: set }];
};

const checks: readonly (readonly [name: string, check: Check])[] = [
  ["node", node],
  ["koffi", koffi],
  ["loader", loader],
  ["manifests", manifests],
  ["nodes", nodes],
  ["nvidia", nvidia],
  ["devices", devices],
  ["software", software],
  ["validation", validation],
  ["cache", cacheFolder],
  ["tunings", tunings],
  ["variables", variables],
];
