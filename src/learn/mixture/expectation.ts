/**
 * Expectation and maximisation (Dempster, Laird & Rubin 1977) for mixtures of normal distributions: shares of samples in parts, then parts
 * from the shares, until the likelihood hardly rises. The rounds are one loop on the device, and shares are computed as logarithms.
 */
import { finfo, full, type Tensor } from "../../tensor/index.js";
import { whileLoop } from "../../transforms/control.js";
import { type CovarianceType, covariancesOf, logDensities, rootsOfInverse } from "./covariances.js";

/** A mixture: the weights of its parts, their means, covariances, and roots of the inverse covariances (covariances.ts). */
export interface Mixture {
  readonly weights: Tensor;
  readonly means: Tensor;
  readonly covariances: Tensor;
  readonly roots: Tensor;
}

/** The end of the rounds. */
interface Fit {
  readonly mixture: Mixture;
  /** The mean log-likelihood of the samples before the last round's step. */
  readonly lowerBound: Tensor;
  /** Rounds that were run, i32. */
  readonly iterations: Tensor;
  readonly converged: Tensor;
}

/** Settings of the rounds. */
export interface Rounds {
  readonly type: CovarianceType;
  readonly regular: number;
  readonly tol: number;
  readonly maxIter: number;
}

/** log weight + log density, [samples, parts]. */
export const jointLogs = (type: CovarianceType, x: Tensor, { weights, means, roots }: Mixture): Tensor =>
  logDensities(type, x, means, roots).add(weights.log()) as Tensor;

/** The mixture of samples by their shares, [samples, parts]. */
export function maximized(x: Tensor, shares: Tensor, { type, regular }: Rounds): Mixture {
  const counts = shares.sum({ axis: 0 }).add(10 * finfo(x.dtype as "f32").eps) as Tensor;
  const means = shares.T.matmul(x).div(counts.expandDims(1)) as Tensor;
  const covariances = covariancesOf(type, x, { shares, counts, means }, regular);
  return { weights: counts.div(counts.sum()) as Tensor, means, covariances, roots: rootsOfInverse(type, covariances) };
}

/** Rounds from a first mixture. Samples have means near zero. */
export function expectationMaximization(x: Tensor, first: Mixture, rounds: Rounds): Fit {
  const { device, dtype } = x;
  const scalar = <D extends "i32" | "bool">(value: number | boolean, kind: D): Tensor =>
    full([], value as number, { device, dtype: kind }) as Tensor;
  const end = whileLoop(
    ({ converged, iterations }: Fit) => converged.logicalNot().logicalAnd(iterations.less(rounds.maxIter)) as Tensor,
    ({ mixture, lowerBound, iterations }: Fit): Fit => {
      const joint = jointLogs(rounds.type, x, mixture);
      const logs = joint.logsumexp({ axis: 1, keepDims: true });
      const bound = logs.mean() as Tensor;
      return {
        mixture: maximized(x, joint.sub(logs).exp() as Tensor, rounds),
        lowerBound: bound,
        iterations: iterations.add(1) as Tensor,
        converged: bound.sub(lowerBound).abs().less(rounds.tol) as Tensor,
      };
    },
    {
      mixture: first,
      lowerBound: full([], Number.NEGATIVE_INFINITY, { device, dtype }) as Tensor,
      iterations: scalar(0, "i32"),
      converged: scalar(false, "bool"),
    },
  );
  return end;
}
