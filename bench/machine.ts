/** The device under measurement, and the lines that say what the figures were taken on. */
import { availableParallelism, cpus } from "node:os";
import { UnsupportedError, version } from "../src/index.js";
import { type ListedDevice, listDevices, openDevice, type VulkanDevice } from "../src/vulkan/index.js";

export interface Machine {
  readonly pumice: string;
  readonly date: string;
  readonly node: string;
  readonly platform: string;
  readonly cpu: string;
  readonly device: string;
  readonly driver: string;
  readonly vulkan: string;
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

export function describeMachine({ properties }: ListedDevice, now = new Date()): Machine {
  return {
    pumice: version,
    date: now.toISOString(),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cpu: `${cpus()[0]?.model.trim() ?? "unknown"}, ${availableParallelism()} threads`,
    device: properties.name,
    driver: `${properties.driverName} ${properties.driverInfo}`.trim(),
    vulkan: properties.apiVersion.join("."),
  };
}

export function formatMachine({ pumice, date, node, platform, cpu, device, driver, vulkan }: Machine): string {
  return [
    `Pumice ${pumice} on ${device} (${driver}, Vulkan ${vulkan})`,
    `Node ${node}, ${platform}, ${cpu}, ${date.slice(0, 16).replace("T", " ")} UTC`,
  ].join("\n");
}
