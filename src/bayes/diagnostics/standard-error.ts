/**
 * Monte Carlo standard errors: how far an estimate from these draws may be from the posterior's value. As in the R package
 * posterior: of the mean by ESS, of the standard deviation by the delta method, of a quantile by the order statistics
 * between which the beta distribution puts it with the probability of one standard error.
 */
import type { Chains } from "../draws/draws.js";
import { betaQuantile } from "./beta-quantile.js";
import { allFinite, checkChains, checkProbability, meanOf, varianceOf } from "./chains.js";
import { essBelow, essMean, essSd } from "./effective-sample-size.js";
import { quantileOf } from "./ranks.js";

/** The Monte Carlo standard error of the mean. */
export function mcseMean(x: Chains): number {
  checkChains("mcseMean", x);
  return Math.sqrt(varianceOf(x.values) / essMean(x));
}

/** The Monte Carlo standard error of the standard deviation. */
export function mcseSd(x: Chains): number {
  checkChains("mcseSd", x);
  const mean = meanOf(x.values);
  const squares = x.values.map((value) => (value - mean) ** 2);
  const variance = meanOf(squares);
  const fourth = meanOf(squares.map((value) => value * value));
  const varianceOfVariance = (fourth - variance * variance) / essSd(x);
  return Math.sqrt(varianceOfVariance / variance / 4);
}

/** One standard error either way of a normal number. */
const ONE_BELOW = 0.15865525393145707;

/** The Monte Carlo standard error of a quantile. */
export function mcseQuantile(x: Chains, probability: number): number {
  checkChains("mcseQuantile", x);
  checkProbability("mcseQuantile", probability);
  if (!allFinite(x.values)) return Number.NaN;
  const sorted = x.values.slice().sort();
  const size = sorted.length;
  const ess = essBelow(x, quantileOf(sorted, probability));
  if (Number.isNaN(ess)) return Number.NaN;
  const edge = (p: number) => betaQuantile(p, ess * probability + 1, ess * (1 - probability) + 1) * size;
  const low = Math.max(Math.floor(edge(ONE_BELOW)), 1);
  const high = Math.min(Math.ceil(edge(1 - ONE_BELOW)), size);
  return (sorted[high - 1] - sorted[low - 1]) / 2;
}
