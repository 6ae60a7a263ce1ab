/** A run of chains as users hold it: what `posterior.sample` and `fit.extend` return. */
import { Run } from "../../runs/run.js";
import type { Fit } from "./fit.js";

/** The progress of a run. */
export interface Progress {
  readonly phase: "warmup" | "sampling";
  /** Draws of the warmup so far, by chain. */
  readonly warmup: Int32Array;
  /** Draws kept so far, by chain. */
  readonly draws: Int32Array;
  /** The number of them that ended in a divergence, those of the warmup not counted. */
  readonly divergences: Int32Array;
  /** Steps taken so far, those of the warmup included: how much work was done. */
  readonly leapfrogs: Int32Array;
  readonly stepSizes: Float64Array;
  /**
   * The least bulk effective sample size of what varies, when it was last looked at; NaN before. The last progress of a run has
   * that of all its draws.
   */
  readonly ess: number;
  readonly milliseconds: number;
}

/**
 * A promise of the fit. Who iterates over it hears of the progress after every dispatch; in a warmup of chains together, about
 * every 60 ms. `N`: the names of the variables that are drawn; `O`: of those that were observed.
 */
export class SampleRun<N extends string = string, O extends string = string> extends Run<Progress, Fit<N, O>> {
  override readonly [Symbol.toStringTag] = "SampleRun";
}
