/**
 * Draws of normal approximations with their importance weights: how `advi` and `pathfinder` end. Both draw points, know the log
 * density of each under the posterior and under the approximation, and weigh them by the difference.
 */
import type { Tensor } from "../../tensor/index.js";
import { smoothWeights } from "../diagnostics/pareto.js";
import { logRatios, type Weighing, weighingOf } from "./importance.js";

export interface ApproximateDraws {
  /** [n, dim]. */
  readonly points: Tensor;
  /** Log densities under the posterior and under the approximation. */
  readonly target: Float64Array;
  readonly own: Float64Array;
}

/** The draws of a program that has computed the log densities, [n] each. */
export async function readDraws(drawn: {
  readonly points: Tensor;
  readonly target: Tensor;
  readonly own: Tensor;
}): Promise<ApproximateDraws> {
  const numbers = async (x: Tensor) => Float64Array.from((await x.data()) as ArrayLike<number>);
  return { points: drawn.points, target: await numbers(drawn.target), own: await numbers(drawn.own) };
}

interface ImportanceWeights {
  /** The log density under the posterior, less that under the approximation. */
  readonly ratios: Float64Array;
  /** Smoothed logarithms of the weights, which sum to 1. */
  readonly logWeights: Float64Array;
  readonly weighing: Weighing;
}

export function weightsOf({ target, own }: ApproximateDraws): ImportanceWeights {
  const ratios = logRatios(target, own);
  const { logWeights, k } = smoothWeights(ratios);
  return { ratios, logWeights, weighing: weighingOf(ratios, k) };
}
