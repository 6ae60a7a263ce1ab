/** The driver's description of a device as labelled lines, for `pumice info`. Pure; the tables list what is shown. */
import type { DevicePlan, ListedDevice, PhysicalDevice } from "../vulkan/index.js";
import { kinds } from "./choice.js";
import { bytes } from "./terminal.js";

export type Line = readonly [label: string, text: string];

/** A device with the plan it would be opened with; no plan for one that cannot be used. */
export interface PlannedDevice extends ListedDevice {
  readonly plan: DevicePlan | null;
}

/** A number type needs its arithmetic and, for the narrow ones, a way to lie in a buffer. */
const numberTypes: Readonly<Record<string, readonly string[]>> = {
  f64: ["shaderFloat64"],
  f16: ["shaderFloat16", "storageBuffer16BitAccess"],
  bf16: ["shaderBFloat16Type", "storageBuffer16BitAccess"],
  int8: ["shaderInt8", "storageBuffer8BitAccess"],
  int16: ["shaderInt16", "storageBuffer16BitAccess"],
  int64: ["shaderInt64"],
};

const atomics: Readonly<Record<string, readonly string[]>> = {
  "f32 add": ["shaderBufferFloat32AtomicAdd"],
  "f64 add": ["shaderBufferFloat64AtomicAdd"],
  int64: ["shaderBufferInt64Atomics"],
};

export function describeDevice({ properties: device, refusal, availableBytes }: ListedDevice): Line[] {
  const { limits, subgroup } = device;
  const sizes = subgroup.min === subgroup.max ? `${subgroup.size}` : `${subgroup.min} to ${subgroup.max}`;
  return [
    ["type", kinds[device.type]],
    ["Vulkan", device.apiVersion.join(".")],
    ["driver", driverOf(device)],
    ["memory", memoryOf(device, availableBytes)],
    ["subgroup", subgroup.size === 0 ? "unknown" : `${sizes} threads`],
    ["numbers", presentAndAbsent(device, numberTypes)],
    ["atomics", presentAndAbsent(device, atomics)],
    ["matrices", matricesOf(device)],
    [
      "limits",
      `${bytes(limits.maxComputeSharedMemorySize)} shared memory, ` +
        `${limits.maxComputeWorkGroupInvocations} threads per workgroup (${limits.maxComputeWorkGroupSize.join("×")} at most), ` +
        `${bytes(limits.maxPushConstantsSize)} push constants, ${bytes(limits.maxStorageBufferRange)} per bound buffer, ` +
        `${bytes(limits.maxMemoryAllocationSize)} per allocation`,
    ],
    ["state", refusal ? `cannot be used: ${refusal}` : "usable"],
  ];
}

/** The additional lines of `--verbose`. */
export function describeDetails({ properties: device, plan }: PlannedDevice): Line[] {
  return [
    ...device.cooperativeMatrices.map(
      ({ m, n, k, a, b, c, result, scope }): Line => [
        "matrix",
        `${m}×${n}×${k}: ${a} × ${b} + ${c} → ${result}, per ${scope}`,
      ],
    ),
    ...device.memoryTypes.map(({ flags, heap }, i): Line => [`memory ${i}`, `heap ${heap}: ${memoryFlags(flags)}`]),
    ...device.queueFamilies.map(
      ({ flags, count, timestampValidBits }, i): Line => [
        `queues ${i}`,
        `${count} with ${queueFlags(flags)}, ${timestampValidBits}-bit timestamps`,
      ],
    ),
    ["float modes", trueNames(device.floatControls) || "none"],
    ["features", plan?.features.join(" ") || "none"],
    ["extensions", plan?.extensions.join(" ") || "none"],
    ["SPIR-V", plan ? `up to ${plan.spirv.join(".")}` : "none"],
    ["ids", `vendor ${hex(device.vendorId)}, device ${hex(device.deviceId)}, uuid ${device.deviceUUID || "unknown"}`],
  ];
}

/** The driver's name and version, in the vendor's notation where the driver gives it. */
export function driverOf({ driverName, driverInfo, driverVersion }: PhysicalDevice): string {
  const named = [driverName, driverInfo].filter(Boolean).join(", ");
  return named || `version ${hex(driverVersion)}, which does not name itself`;
}

function memoryOf(device: PhysicalDevice, available: readonly number[] | null): string {
  const heaps = device.memoryHeaps.map(({ size, flags }, i) => {
    const free = available?.[i] === undefined ? "" : ` (${bytes(available[i])} free)`;
    return `${bytes(size)}${free} ${flags & 1 ? "on the device" : "of the host"}`;
  });
  return heaps.join(", ") || "none reported";
}

function presentAndAbsent(device: PhysicalDevice, table: Readonly<Record<string, readonly string[]>>): string {
  const isThere = (label: string) => table[label]?.every((feature) => device.features[feature]) === true;
  const labels = Object.keys(table);
  const present = labels.filter(isThere);
  const absent = labels.filter((label) => !isThere(label));
  return [present.join(", "), absent.length > 0 && `no ${absent.join(", no ")}`].filter(Boolean).join("; ");
}

function matricesOf({ cooperativeMatrices, features }: PhysicalDevice): string {
  if (!features.cooperativeMatrix) return "no cooperative matrices";
  const products = new Set(cooperativeMatrices.map(({ a, b, result }) => `${a}×${b}→${result}`));
  return `cooperative: ${[...products].join(", ")} (${cooperativeMatrices.length} shapes; --verbose lists them)`;
}

const namesOf = (flags: number, names: readonly string[]) =>
  names.filter((_, bit) => flags & (1 << bit)).join(", ") || "none";

const memoryFlags = (flags: number) =>
  namesOf(flags, ["on the device", "host visible", "coherent", "cached", "lazy", "protected"]);
const queueFlags = (flags: number) => namesOf(flags, ["graphics", "compute", "transfer", "sparse", "protected"]);
const trueNames = (table: Readonly<Record<string, boolean>>) =>
  Object.keys(table)
    .filter((name) => table[name])
    .join(" ");
const hex = (value: number) => `0x${value.toString(16)}`;
