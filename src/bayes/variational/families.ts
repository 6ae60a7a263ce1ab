/**
 * The normal distributions that `advi` fits in the space of free numbers: independent ones (mean-field) or one with all
 * correlations (full-rank). A family is written by its standard numbers, u = mean + scale·ε; everything is batched over ε.
 */
import { triangularSolve } from "../../linalg/triangular.js";
import { zeros, zerosLike } from "../../tensor/creation.js";
import type { Tensor } from "../../tensor/tensor.js";

/** What is optimised: tensors by name, `mean` [dim] and `logScale` [dim] among them. */
export interface Parameters {
  readonly mean: Tensor;
  /** The logarithm of the scales, or of the diagonal of the factor of the covariance. */
  readonly logScale: Tensor;
  /** What else a family has, such as `below`: the factor below its diagonal. */
  readonly [name: string]: Tensor;
}

export interface Family {
  /** A spherical start. */
  start(mean: Tensor, scale: number): Parameters;
  /** Points [n, dim] from standard numbers [n, dim]. */
  points(parameters: Parameters, standard: Tensor): Tensor;
  /**
   * The gradient of the ELBO by the parameters, from gradients of the log density at the points. Of log q only the path
   * through the points is followed: the rest has expectation zero, and without it the noise vanishes as q comes
   * close to the target ("sticking the landing": Roeder, Wu and Duvenaud 2017).
   */
  gradient(parameters: Parameters, standard: Tensor, slopes: Tensor): Parameters;
  /** What standard numbers are multiplied by: scales [dim], or the lower triangular factor of the covariance [dim, dim]. */
  scale(parameters: Parameters): Tensor;
}

const spherical = (mean: Tensor, scale: number) => ({ mean, logScale: zerosLike(mean).add(Math.log(scale)) });

const meanField: Family = {
  start: spherical,
  points: ({ mean, logScale }, standard) => standard.mul(logScale.exp()).add(mean),
  gradient({ logScale }, standard, slopes) {
    const scale = logScale.exp();
    const path = slopes.add(standard.div(scale));
    return { mean: path.mean({ axis: 0 }), logScale: path.mul(standard).mean({ axis: 0 }).mul(scale) };
  },
  scale: ({ logScale }) => logScale.exp(),
};

const factorOf = ({ logScale, below }: Parameters): Tensor => logScale.exp().diagonalMatrix().add(below);

const fullRank: Family = {
  start(mean, scale) {
    const [dim] = mean.shape;
    return { ...spherical(mean, scale), below: zeros([dim, dim], { dtype: mean.dtype, device: mean.device }) };
  },
  points: (parameters, standard) => standard.matmul(factorOf(parameters).T).add(parameters.mean),
  gradient(parameters, standard, slopes) {
    const factor = factorOf(parameters);
    const path = slopes.add(triangularSolve(factor, standard.T, { transposed: true }).T);
    const outer = path.T.matmul(standard).div(standard.shape[0]);
    return {
      mean: path.mean({ axis: 0 }),
      logScale: outer.diagonal().mul(parameters.logScale.exp()),
      below: outer.tril(-1),
    };
  },
  scale: factorOf,
};

export const families = { "mean-field": meanField, "full-rank": fullRank } as const;

/** log q at the points of standard numbers [n, dim]: [n]. */
export function logDensityOf({ logScale }: Parameters, standard: Tensor): Tensor {
  const constant = (logScale.size / 2) * Math.log(2 * Math.PI);
  return standard.square().sum({ axis: 1 }).mul(-0.5).sub(logScale.sum()).sub(constant);
}
