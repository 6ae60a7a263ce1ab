/**
 * What belongs to a fit besides its draws, in the groups of ArviZ's InferenceData: observed data, log-likelihoods, prior
 * and predictive draws, and names for the axes. The exports write it and the readers return it.
 */
import type { Shape } from "../../core/shape.js";
import type { Draws, Statistic } from "../draws.js";

/** An array that does not change from draw to draw. */
export interface FixedArray {
  readonly shape: Shape;
  /** Row-major. */
  readonly values: ArrayLike<number>;
}

export interface InferenceData {
  /** The draws of the parameters. Their sampler statistics become the group sample_stats. */
  readonly posterior: Draws;
  readonly posteriorPredictive?: Draws;
  readonly logLikelihood?: Draws;
  readonly prior?: Draws;
  readonly priorPredictive?: Draws;
  readonly observedData?: Readonly<Record<string, FixedArray>>;
  readonly constantData?: Readonly<Record<string, FixedArray>>;
  /** Names of a variable's axes: `{ theta: ["school"] }`. */
  readonly dims?: Readonly<Record<string, readonly string[]>>;
  /** Labels along an axis: `{ school: ["Choate", "Deerfield"] }`. */
  readonly coords?: Readonly<Record<string, readonly (string | number)[]>>;
}

/** The groups that hold draws, by our names and ArviZ's. */
export const DRAW_GROUPS = {
  posterior: "posterior",
  posteriorPredictive: "posterior_predictive",
  logLikelihood: "log_likelihood",
  prior: "prior",
  priorPredictive: "prior_predictive",
} as const;

export const FIXED_GROUPS = { observedData: "observed_data", constantData: "constant_data" } as const;

/** What ArviZ and Stan call the sampler's statistics. */
export const STATISTIC_NAMES: Readonly<Record<Statistic, { readonly arviz: string; readonly stan: string }>> = {
  lp: { arviz: "lp", stan: "lp__" },
  acceptance: { arviz: "acceptance_rate", stan: "accept_stat__" },
  stepSize: { arviz: "step_size", stan: "stepsize__" },
  treeDepth: { arviz: "tree_depth", stan: "treedepth__" },
  leapfrogs: { arviz: "n_steps", stan: "n_leapfrog__" },
  divergent: { arviz: "diverging", stan: "divergent__" },
  energy: { arviz: "energy", stan: "energy__" },
};
