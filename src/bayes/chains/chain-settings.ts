/** The settings of chains on a device, and how they follow from the options of a run. */
import type { ChainDensity } from "../kernels/density.js";
import type { ADAPTATION, NutsOptions } from "../kernels/layout.js";
import { HMC, NUTS } from "../kernels/nuts/trajectories.js";
import { type FilledOptions, initsOf } from "./options.js";

export interface ChainSettings extends NutsOptions {
  readonly warmup: number;
  readonly seed: number;
  readonly targetAcceptance: number;
  readonly initRadius: number;
  /** The step size to begin with; without adaptation, the one to keep. */
  readonly stepSize: number;
  readonly adaptation: keyof typeof ADAPTATION;
  /** Of trajectories of known length: their leapfrog steps, or null where their time is adapted. */
  readonly steps: number | null;
  /** Consecutive chains that start at the same point. */
  readonly together: number;
  /** Points to start from, [chains, dim], in place of random ones. */
  readonly inits: ArrayLike<number> | null;
  /** Inverse masses to start with, [dim] or [dim, dim]. */
  readonly metric: ArrayLike<number> | null;
}

/** All settings but the number of lanes, which depends on the device. */
export function settingsOf(options: FilledOptions, { dim, backend }: ChainDensity): Omit<ChainSettings, "lanes"> {
  const { chains, kernel = "nuts", warmup } = options;
  const isPooled = options.pooled ?? kernel === "chees";
  return {
    chains,
    trajectories: kernel === "nuts" ? NUTS : HMC,
    steps: kernel === "hmc" ? (options.steps ?? 16) : null,
    together: options.superchains > 1 ? chains / options.superchains : 1,
    isDense: options.metric === "dense",
    maxTreeDepth: options.maxTreeDepth ?? 0,
    energyDType: options.energies ?? (backend.hasDoubles ? "f64" : "f32"),
    warmup,
    seed: options.seed,
    targetAcceptance: options.targetAcceptance ?? 0.8,
    initRadius: 2,
    stepSize: options.stepSize ?? 1,
    adaptation: warmup === 0 ? "none" : isPooled ? "pooled" : "own",
    inits: initsOf(options, dim),
    metric: null,
  };
}
