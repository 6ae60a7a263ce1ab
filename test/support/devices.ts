/**
 * The devices the Vulkan suites run on: every one that can be opened, software included. Tests never write to the
 * user's cache folder, so devices are opened without one unless a test names its own.
 */
import { after, before, describe, test } from "node:test";
import { listDevices, type OpenOptions, openDevice, type VulkanDevice } from "../../src/vulkan/index.js";

export interface TestDevice {
  readonly name: string;
  readonly index: number;
  readonly isSoftware: boolean;
  open(options?: OpenOptions): Promise<VulkanDevice>;
}

let found: { devices: TestDevice[]; why: string } | undefined;

function find(): { devices: TestDevice[]; why: string } {
  if (found) return found;
  try {
    const listed = listDevices();
    const usable = listed.filter((device) => device.refusal === null);
    const refusals = listed.map(({ properties, refusal }) => `${properties.name}: ${refusal}`).join("; ");
    found = {
      why: `missing: a Vulkan device${refusals && ` (${refusals})`}`,
      devices: usable.map(({ index, properties }) => ({
        name: properties.name,
        index,
        isSoftware: properties.type === "cpu",
        open: (options = {}) => openDevice({ index, cacheFolder: null, ...options }),
      })),
    };
  } catch (error) {
    found = { devices: [], why: `missing: a Vulkan device (${(error as Error).message})` };
  }
  return found;
}

export const vulkanDevices = (): TestDevice[] => find().devices;

/** For a test's `skip`: false when there is a device. */
export const withoutVulkan = (): string | false => (find().devices.length > 0 ? false : find().why);

/** The validation the process runs under; the heavy suites and those that provoke errors skip themselves then. */
export const validation = process.env.PUMICE_VALIDATE || undefined;
export const underValidation = (why: string): string | false =>
  validation ? `PUMICE_VALIDATE=${validation}: ${why}` : false;

/**
 * For the `skip` of kernels that reach memory by address. GPU-assisted validation (layer 1.3.239) takes good addresses for
 * bad ones by the order in which the driver happens to place buffers, and its instrumented code then leaves the access out.
 */
export const withoutAddresses: string | false =
  validation === "gpu" ? "GPU-assisted validation drops accesses by address that it takes for bad" : false;

/** A suite for each device; a skipped test in its place when there is none, or when `skip` gives a reason. */
export function describeOnDevices(title: string, skip: string | false, body: (device: TestDevice) => void): void {
  const reason = skip || withoutVulkan();
  if (reason) {
    test(title, { skip: reason }, () => {});
    return;
  }
  for (const device of vulkanDevices()) describe(`${title}, ${device.name}`, () => body(device));
}

/** Runs with some environment variables set: the runtime looks at its switches when a device is opened. */
export async function withEnvironment<T>(set: Readonly<Record<string, string>>, run: () => Promise<T>): Promise<T> {
  const before = Object.keys(set).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, set);
  try {
    return await run();
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}

/**
 * The same with one open device for all the suite's tests, opened with some environment variables set. `device()` gives
 * it.
 */
export function describeOnOpenDevices(
  title: string,
  skip: string | false,
  body: (device: () => VulkanDevice, which: TestDevice) => void,
  environment: Readonly<Record<string, string>> = {},
): void {
  describeOnDevices(title, skip, (which) => {
    let device: VulkanDevice;
    before(async () => {
      device = await withEnvironment(environment, () => which.open());
    });
    after(() => device?.close());
    body(() => device, which);
  });
}
