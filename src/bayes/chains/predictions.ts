/** Observations at each draw of a fit: their log-likelihoods, which PSIS-LOO is made of, and new observations. */
import { ArgumentError } from "../../core/errors.js";
import { checkKey, foldIn, type Key } from "../../random/key.js";
import type { Draws } from "../draws/draws.js";
import { atEachDraw, type PointwiseSetting } from "./at-each-draw.js";
import type { Sampling } from "./sampling.js";

/** The log density of every observation at every draw. */
export function logLikelihoodOf(sampling: Sampling, draws: Draws): Promise<Draws> {
  return atEachDraw(draws, pointwiseSetting("logLikelihood", sampling, draws), (values) => ({
    ...sampling.posterior.logLikelihood(values),
  }));
}

/** New observations, one of each at every draw. */
export function predictiveOf(sampling: Sampling, draws: Draws, key: Key): Promise<Draws> {
  checkKey(key, "predictive", "");
  const own = key.to(sampling.density.backend.id);
  return atEachDraw(draws, pointwiseSetting("predictive", sampling, draws), (values, number) => ({
    ...sampling.posterior.posteriorPredictive(foldIn(own, number), values),
  }));
}

function pointwiseSetting(operation: string, { posterior, density }: Sampling, draws: Draws): PointwiseSetting {
  const { latents, observed } = posterior;
  if (observed.length === 0) {
    throw new ArgumentError(
      `${operation}: the model observes nothing: it was given no data by name, and what factor(…) adds is no observation.`,
    );
  }
  if (draws.length === 0) {
    throw new ArgumentError(`${operation}: there are no draws: the run was ended before. extend draws some.`);
  }
  return { dtype: density.dtype, device: density.backend.id, takes: latents, gives: observed };
}
