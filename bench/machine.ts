/** The device under measurement, how large the tensors on it may be, and what the figures were taken on, in words. */
import { availableParallelism, cpus } from "node:os";
import { UnsupportedError, version } from "../src/index.js";
import { type ListedDevice, listDevices, openDevice, type VulkanDevice } from "../src/vulkan/index.js";
import type { Kind } from "./harness.js";

export interface Machine {
  readonly pumice: string;
  readonly date: string;
  readonly node: string;
  readonly platform: string;
  readonly cpu: string;
  readonly device: string;
  readonly driver: string | null;
  readonly vulkan: string | null;
}

/** The device asked for, by position, name or "software"; without a wish the best GPU, else whatever there is. */
export function chooseDevice(devices: readonly ListedDevice[], wish: string | null): ListedDevice {
  const usable = devices.filter(({ refusal }) => refusal === null);
  const listing = devices.map(({ index, properties }) => `${index}: ${properties.name}`).join(", ") || "none";
  const found = usable.find(({ index, properties }) => {
    if (wish === null) return true; // the list is ordered best first
    if (wish === "software") return properties.type === "cpu";
    if (/^\d+$/.test(wish)) return index === Number(wish);
    return properties.name.toLowerCase().includes(wish.toLowerCase());
  });
  if (found) return found;
  throw new UnsupportedError(
    `No usable Vulkan device${wish === null ? "" : ` "${wish}"`}; there are: ${listing}. \`npx pumice doctor\` says what is missing.`,
  );
}

export async function openChosen(wish: string | null): Promise<{ device: VulkanDevice; chosen: ListedDevice }> {
  const chosen = chooseDevice(listDevices(), wish);
  return { device: await openDevice({ index: chosen.index }), chosen };
}

/** Threads that rows of the CPU engine and their peers use; PUMICE_THREADS says otherwise. */
const CPU_THREADS = 2;

/** Settles the threads of the CPU engine, before its device is opened. Peers inherit the variable. */
export function settleThreads(): number {
  process.env.PUMICE_THREADS ||= String(CPU_THREADS);
  return Number(process.env.PUMICE_THREADS);
}

/** Bytes that the largest row on tensors needs at full size, with room to spare. */
const LARGEST_ROW = 4 * 2 ** 30;

/** How often the edges of large tensors are halved. */
export function halvingsFor(kind: Kind, isQuick: boolean, availableBytes: number): number {
  let halvings = (kind === "software" ? 2 : 0) + (isQuick ? (kind === "software" ? 1 : 2) : 0);
  while (availableBytes < LARGEST_ROW / 4 ** halvings) halvings++;
  return halvings;
}

/** Null for a run of the CPU engine alone. */
export function describeMachine(chosen: ListedDevice | null, now = new Date()): Machine {
  return {
    pumice: version,
    date: now.toISOString(),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cpu: `${cpus()[0]?.model.trim() ?? "unknown"}, ${availableParallelism()} threads`,
    ...(chosen ? describeDevice(chosen) : { device: "the CPU engine", driver: null, vulkan: null }),
  };
}

const describeDevice = ({ properties }: ListedDevice) => ({
  device: properties.name,
  driver: `${properties.driverName} ${properties.driverInfo}`.trim(),
  vulkan: properties.apiVersion.join("."),
});

export function formatMachine({ pumice, date, node, platform, cpu, device, driver, vulkan }: Machine): string {
  return [
    `Pumice ${pumice} on ${device}${driver === null ? "" : ` (${driver}, Vulkan ${vulkan})`}`,
    `Node ${node}, ${platform}, ${cpu}, ${date.slice(0, 16).replace("T", " ")} UTC`,
  ].join("\n");
}
