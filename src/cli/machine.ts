/** A machine as `pumice doctor` sees it: the facts that facts.ts and probe.ts gather and that diagnosis.ts judges. Types only. */
import type { Candidate } from "./choice.js";
import type { Manifest } from "./manifests.js";

export interface Facts {
  readonly platform: NodeJS.Platform;
  readonly nodeVersion: string;
  readonly isContainer: boolean;
  /** Environment variables that affect Vulkan or Pumice, if set. */
  readonly variables: Readonly<Record<string, string>>;
  readonly koffi: Outcome<{ readonly version: string }>;
  readonly loader: LoaderFacts;
  readonly manifests: {
    /** The variable that names them and switches the search off. */
    readonly forcedBy: string | null;
    readonly places: readonly string[];
    readonly files: readonly Manifest[];
  };
  /** The GPUs' device files (Linux, FreeBSD). */
  readonly nodes: readonly DeviceNode[];
  /** Vendors of the GPUs on the PCI bus, where the system lists them. */
  readonly gpuVendors: readonly GpuVendor[];
  readonly nvidia: NvidiaFacts;
  /** The result of listing the devices. */
  readonly listing: Outcome<{ readonly devices: readonly DeviceFacts[] }>;
  /**
   * The folder of compiled kernels, and why it is not used. A null folder without a problem: the user turned it off. Null if it
   * could not be looked up.
   */
  readonly cache: {
    readonly folder: string | null;
    readonly problem: string | null;
    /** Files with measured tilings of matrix products. */
    readonly tunings: readonly TuningFacts[];
  } | null;
}

/** A file with measured tilings: the device it is for, the kinds of products in it, and why it is not used, or null. */
interface TuningFacts {
  readonly path: string;
  readonly device: string;
  readonly count: number;
  readonly problem: string | null;
}

export type Outcome<T> = ({ readonly ok: true } & T) | { readonly ok: false; readonly why: string };

export type LoaderFacts =
  | {
      readonly state: "found";
      readonly path: string;
      readonly version: readonly number[];
      readonly hasValidationLayer: boolean;
    }
  /** `remedy`: how to get one on this platform. */
  | { readonly state: "missing"; readonly why: string; readonly remedy: string }
  /** Opening it crashed the process. */
  | { readonly state: "broken"; readonly why: string }
  /** It could not be looked for. */
  | { readonly state: "unknown" };

export interface DeviceNode {
  readonly path: string;
  readonly isAccessible: boolean;
  /** The group that owns it, by name or number. */
  readonly group: string;
}

export type GpuVendor = "NVIDIA" | "AMD" | "Intel";

export interface NvidiaFacts {
  /** Version of the kernel's driver, "" when it is loaded and does not say, null when it is not loaded. */
  readonly kernelDriver: string | null;
  /** The libraries that hold NVIDIA's Vulkan driver, as found in the usual folders. */
  readonly libraries: readonly { readonly name: string; readonly version: string | null }[];
}

export interface DeviceFacts extends Candidate {
  readonly vendorId: number;
  readonly vulkan: string;
  readonly driver: string;
  /** A small computation on it; null when it was not tried. */
  readonly trial: Outcome<{ readonly milliseconds: number }> | null;
}
