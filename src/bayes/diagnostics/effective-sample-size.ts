/**
 * Effective sample sizes: how many independent draws would tell as much. Geyer's initial monotone sequence over chains,
 * with the between-chain variance in it, as in Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), which Stan, the R
 * package posterior and ArviZ follow; the numbers equal theirs. Every function splits the chains in halves first, so
 * a drift within a chain counts as disagreement. NaN where there is nothing to say: fewer than 8 draws per
 * chain, draws that are not finite, or a constant.
 */
import type { Chains, Draws } from "../draws/draws.js";
import { type Autocovariance, meanAutocovariance } from "./autocovariance.js";
import { allFinite, checkChains, checkProbability, isConstant, meanOf, splitChains, varianceOf } from "./chains.js";
import { indicatorAutocovariance } from "./indicators.js";
import { quantileOf } from "./ranks.js";
import { type ScoringMemory, scoreChains, scoringMemory } from "./scores.js";

/** For estimates of the centre: of the normal scores, so it exists where the mean does not. */
export function essBulk(x: Chains): number {
  checkChains("essBulk", x);
  return bulkOf(x, scoringMemory(x));
}

/** The least bulk ESS of all that varies: what a run is waited for. The corner of a correlation matrix, say, has none. */
export function leastEss(draws: Draws): number {
  if (draws.length < 4) return Number.NaN;
  const memory = scoringMemory({ chains: draws.chains, draws: draws.length });
  return leastOf(draws, (x) => bulkOf(x, memory));
}

/** The same of the tails; of what has none, such as 0 and 1, of the bulk. */
export function leastTailEss(draws: Draws): number {
  if (draws.length < 4) return Number.NaN;
  return leastOf(draws, (x) => {
    const ess = essTail(x);
    return Number.isNaN(ess) ? essBulk(x) : ess;
  });
}

function leastOf(draws: Draws, ess: (x: Chains) => number): number {
  const varying = draws.names.flatMap((name) => {
    const x = draws.scalar(name);
    return isConstant(x.values) && Number.isFinite(x.values[0]) ? [] : [ess(x)];
  });
  return varying.length > 0 ? varying.reduce((least, ess) => Math.min(least, ess)) : Number.NaN;
}

function bulkOf(x: Chains, memory: ScoringMemory): number {
  return allFinite(x.values) ? essOf(scoreChains(x, memory).location()) : Number.NaN;
}

/** For estimates of the tails: the smaller of those of the 5% and 95% quantiles. */
export function essTail(x: Chains): number {
  checkChains("essTail", x);
  if (!allFinite(x.values)) return Number.NaN;
  const sorted = x.values.slice().sort();
  return Math.min(essBelow(x, quantileOf(sorted, 0.05)), essBelow(x, quantileOf(sorted, 0.95)));
}

/** For the mean of x itself. */
export function essMean(x: Chains): number {
  checkChains("essMean", x);
  const halves = splitChains(x);
  // Rounding would give a constant a variance.
  return isConstant(halves.values) ? Number.NaN : essOf(meanAutocovariance(halves));
}

/** For a quantile: that of the indicator x ≤ quantile. */
export function essQuantile(x: Chains, probability: number): number {
  checkChains("essQuantile", x);
  checkProbability("essQuantile", probability);
  if (!allFinite(x.values)) return Number.NaN;
  return essBelow(x, quantileOf(x.values.slice().sort(), probability));
}

/** For the standard deviation: that of the squared distances from the mean. */
export function essSd(x: Chains): number {
  checkChains("essSd", x);
  const mean = meanOf(x.values);
  return essMean({ ...x, values: x.values.map((value) => (value - mean) ** 2) });
}

/** ESS of the indicator x ≤ limit. */
export function essBelow(x: Chains, limit: number): number {
  return essOf(indicatorAutocovariance(splitChains(x), limit));
}

/** ESS from the autocovariance of chains that are split already. */
export function essOf(covariance: Autocovariance): number {
  const { chains, draws } = covariance;
  if (draws < 4) return Number.NaN;
  const within = (covariance.at(0) * draws) / (draws - 1);
  const total = covariance.at(0) + varianceOf(covariance.means);
  if (!(total > 0)) return Number.NaN;
  const correlation = (lag: number) => 1 - (within - covariance.at(lag)) / total;

  // Geyer: sums of neighbouring lags are positive and fall. Take pairs while they are positive, then make them fall.
  const last = Math.max(draws - 5, 1);
  const rho = [1, correlation(1)];
  let [even, odd] = rho;
  let t = 0;
  while (t < last && even + odd > 0) {
    t += 2;
    even = correlation(t);
    odd = correlation(t + 1);
    if (even + odd >= 0) rho.push(even, odd);
  }
  for (let i = 2; i <= t - 2; i += 2) {
    const before = rho[i - 2] + rho[i - 1];
    if (rho[i] + rho[i + 1] > before) rho[i] = rho[i + 1] = before / 2;
  }
  const sum = rho.slice(0, t).reduce((partial, value) => partial + value, 0);
  // The even lag after the last pair counts once: a smaller variance for antithetic chains.
  const end = even > 0 || even + odd >= 0 ? even : 0;
  const size = chains * draws;
  // Draws can be better than independent ones, but more than log10(size) times is noise.
  return size / Math.max(-1 + 2 * sum + end, 1 / Math.log10(size));
}
