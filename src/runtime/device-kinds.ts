/**
 * The kinds of devices: an entry for each engine and the target that it runs. tensor/devices.ts walks this table to list
 * devices, to understand their names and to open them.
 */
import type { KernelLanguage } from "../core/encoded-kernel.js";
import type { Backend } from "./backend.js";
import { type ListedGpu, listGpus, openHost, openVulkan } from "./open.js";

/** A device of this machine. `refusal`: why it cannot be used, or null. */
export type ListedDevice = ListedGpu;

export interface DeviceKind {
  /** As users write it: "cpu", or "vulkan" for the best of its kind and "vulkan:1" for a certain one. */
  readonly name: string;
  /** Whether it may have several devices, which are numbered. */
  readonly isNumbered: boolean;
  /** The language that its kernels are compiled to. */
  readonly language: KernelLanguage;
  /** A clause for an error message where this machine has none. */
  readonly absence: string;
  /** The devices of this machine, best first. */
  list(): readonly ListedDevice[];
  /** Opens the device with this number in the list. `id`: its full name. */
  open(id: string, index: number): Backend;
}

/** Better ones first: the first device that is no software driver is the default. */
export const DEVICE_KINDS: readonly DeviceKind[] = [
  {
    name: "vulkan",
    isNumbered: true,
    language: "spirv",
    absence: "no Vulkan device was found; `npx pumice doctor` says what is missing",
    list: listGpus,
    open: (id, index) => openVulkan(id, index) as unknown as Backend,
  },
  {
    name: "cpu",
    isNumbered: false,
    language: "wasm",
    absence: "there is no CPU",
    list: () => [{ index: 0, name: "CPU", isSoftware: false, refusal: null }],
    open: () => openHost() as unknown as Backend,
  },
];
