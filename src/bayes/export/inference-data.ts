/**
 * A fit in the groups of ArviZ's InferenceData: draws, observed data, log-likelihoods, prior
 * and predictive draws, and names for the axes. The exports write it and the readers return it.
 */
import { checkOptions } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import type { Shape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { checkDraws, Draws, type Statistic } from "../draws/draws.js";

/** An array that does not change from draw to draw. */
export interface FixedArray {
  readonly shape: Shape;
  /** Row-major. */
  readonly values: ArrayLike<number>;
}

/** The groups of draws that a file of ArviZ holds. */
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

/** Throws on what is no such object, by the name of the group that is wrong. */
export function checkInferenceData(operation: string, data: InferenceData): void {
  const given: unknown = data;
  if (typeof given !== "object" || given === null || !("posterior" in given)) {
    const remedy =
      given instanceof Draws ? "{ posterior: draws }" : "{ posterior: fit.draws }, or call fit.saveArviz(path)";
    throw new ArgumentError(`${operation}: takes draws by group, not ${shown(data)}; write ${remedy}.`);
  }
  checkOptions(operation, data, {
    posterior: "any",
    posteriorPredictive: "any",
    logLikelihood: "any",
    prior: "any",
    priorPredictive: "any",
    observedData: "any",
    constantData: "any",
    dims: "any",
    coords: "any",
  });
  for (const group of Object.keys(DRAW_GROUPS) as (keyof typeof DRAW_GROUPS)[]) {
    const draws = data[group];
    if (draws !== undefined || group === "posterior") checkDraws(`${operation}, ${group}`, draws as Draws);
  }
  for (const group of Object.keys(FIXED_GROUPS) as (keyof typeof FIXED_GROUPS)[]) {
    for (const [name, array] of Object.entries(data[group] ?? {})) {
      if (Array.isArray(array?.shape) && typeof array?.values?.length === "number") continue;
      throw new ArgumentError(
        `${operation}, ${group}: ${name} is { shape: [2], values: [0.5, 1] } or the like, not ${shown(array)}.`,
      );
    }
  }
}

/** The names of the sampler's statistics in ArviZ and Stan. */
export const STATISTIC_NAMES: Readonly<Record<Statistic, { readonly arviz: string; readonly stan: string }>> = {
  lp: { arviz: "lp", stan: "lp__" },
  acceptance: { arviz: "acceptance_rate", stan: "accept_stat__" },
  stepSize: { arviz: "step_size", stan: "stepsize__" },
  treeDepth: { arviz: "tree_depth", stan: "treedepth__" },
  leapfrogs: { arviz: "n_steps", stan: "n_leapfrog__" },
  divergent: { arviz: "diverging", stan: "divergent__" },
  energy: { arviz: "energy", stan: "energy__" },
};
