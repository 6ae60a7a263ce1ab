/**
 * Draws of an approximation weighed by the true density. The tail of the weights says how far the approximation is off
 * (Yao, Vehtari, Simpson and Gelman 2018), and drawing again by weight corrects it where that is not too far.
 */
import type { Key } from "../../random/key.js";
import { uniform } from "../../random/uniform.js";
import { countingLike, type Tensor } from "../../tensor/index.js";
import { type Problem, problem } from "../diagnostics/check.js";
import { logSumExp } from "../diagnostics/pareto.js";

/** log weights of draws, from log densities under the target and the approximation; impossible points weigh nothing. */
export function logRatios(target: ArrayLike<number>, approximation: ArrayLike<number>): Float64Array {
  return Float64Array.from({ length: target.length }, (_, i) => {
    const ratio = target[i] - approximation[i];
    return Number.isNaN(ratio) ? Number.NEGATIVE_INFINITY : ratio;
  });
}

/** 1/Σw²: how many draws of equal weight tell as much. */
export function effectiveCount(logWeights: Float64Array): number {
  return 1 / logWeights.reduce((sum, weight) => sum + Math.exp(2 * weight), 0);
}

/**
 * Positions to draw again by weights [n] that sum to 1: systematic resampling. Each comes up as often as its weight says,
 * rounded up or down, with one random number for all.
 */
export function systematicPositions(key: Key, weights: Tensor, count: number): Tensor<"i32"> {
  const offset = uniform(key, [], { dtype: weights.dtype });
  const wanted = countingLike(weights, count).cast(weights.dtype).add(offset).div(count);
  // Rounding may leave the last sum below 1.
  const sums = weights.cumsum();
  return sums
    .div(sums.at(-1))
    .searchSorted(wanted, { side: "right" })
    .minimum(weights.size - 1) as Tensor<"i32">;
}

/** Above this Pareto k, the weights of a number of draws are not to be trusted; 0.7 from 2200 draws on. */
const goodK = (draws: number): number => Math.max(0, Math.min(1 - 1 / Math.log10(draws), 0.7));

/** Fewer weights have no tail to speak of. */
const FEWEST = 25;
/** Weights worth more than this share of their number are nearly equal, and their tail, whatever its shape, weighs nothing. */
const NEARLY_EQUAL = 0.9;

/** The verdict of importance weights on an approximation. */
export interface Weighing {
  /** The number of weighted draws. */
  readonly draws: number;
  /** The shape of the tail of the weights. */
  readonly paretoK: number;
  /** The effective share of the draws by the weights, not smoothed. */
  readonly share: number;
}

export function weighingOf(ratios: Float64Array, paretoK: number): Weighing {
  const total = logSumExp(ratios);
  const share = effectiveCount(ratios.map((ratio) => ratio - total)) / ratios.length;
  return { draws: ratios.length, paretoK, share };
}

/** In words: both figures. */
export function shownWeighing({ paretoK, share }: Weighing, limit?: number): string {
  const k = Number.isFinite(paretoK) ? paretoK.toFixed(2) : "not finite";
  return `Pareto k is ${k}${limit === undefined ? "" : `, above ${limit.toFixed(2)}`}, and the weights are worth ${Math.floor(100 * share)}% of the draws`;
}

/** The problem with an approximation whose weights have a heavy tail that matters; undefined where there is none. */
export function tailProblem(weighing: Weighing, remedy: string): Problem | undefined {
  const { draws, paretoK, share } = weighing;
  if (draws < FEWEST) {
    const message = `There are ${draws} draws to weigh, too few to tell how good the approximation is.`;
    return problem("too-few", "warning", message, "Draw at least 100.");
  }
  const limit = goodK(draws);
  if (paretoK <= limit || share > NEARLY_EQUAL) return undefined;
  const judgement =
    paretoK > 1
      ? "the approximation misses much of the posterior, and its draws do not stand for it."
      : "the approximation is rough; spreads and tails above all may be wrong.";
  const severity = paretoK > 1 ? "error" : "warning";
  return problem("pareto-k", severity, `${shownWeighing(weighing, limit)}: ${judgement}`, remedy);
}
