/**
 * Impossible draws of an approximation. Normal distributions reach everywhere; posteriors whose support depends on a sampled
 * variable, such as the scale in uniform(0, scale), do not.
 */
import type { Tensor } from "../../tensor/index.js";
import { impossibleAt } from "../target/impossible.js";
import type { AnyPosterior } from "./setting.js";

/** The positions of draws that are possible. */
export function insideOf(logDensities: ArrayLike<number>): number[] {
  return Array.from(logDensities).flatMap((value, i) => (Number.isFinite(value) ? [i] : []));
}

/** The variables that make the first impossible one of points [n, dim] so, in words; empty where all are possible. */
export async function blamed(
  posterior: AnyPosterior,
  points: Tensor,
  logDensities: ArrayLike<number>,
): Promise<string> {
  const first = Array.from(logDensities).findIndex((value) => !Number.isFinite(value));
  return first < 0 ? "" : (await impossibleAt(posterior, points.at(first))).join(", ");
}

/** The advice in errors about impossible draws. */
export const BOUNDED_REMEDY =
  "Use sample or smc, which stay inside; or bound the latent variable itself so that all data are possible, with .constrained(above(…)).";
