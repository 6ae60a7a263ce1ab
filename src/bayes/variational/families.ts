/**
 * The normal distributions that `advi` fits: independent ones (mean-field), or one with all correlations (full-rank). They
 * are fitted in coordinates v in which a first guess, one of Pathfinder's, is standard normal: u = guess.mean + A·v. So steps
 * of the optimiser mean the same in every direction. A distribution is v = mean + scale·ε, batched over standard ε.
 */
import { triangularSolve } from "../../linalg/triangular.js";
import { type Tensor, zeros, zerosLike } from "../../tensor/index.js";
import { vmap } from "../../transforms/vmap.js";
import { backward, forward } from "./inverse-hessian.js";
import type { Normal } from "./path.js";

/** The numbers that are optimised. */
export interface VariationalParameters {
  readonly mean: Tensor;
  /** The logarithm of the scales [dim], or of the diagonal of the factor of the covariance. */
  readonly logScale: Tensor;
  /** Further parameters of a family, such as `below`: the factor below its diagonal. */
  readonly [name: string]: Tensor;
}

export interface VariationalFamily {
  /** u [n, dim] from v [n, dim]. */
  toFree(guess: Normal, v: Tensor): Tensor;
  /** Gradients by v from those by u. */
  pulledBack(guess: Normal, slopes: Tensor): Tensor;
  /** The logarithm of the determinant of A. */
  logDeterminant(guess: Normal): Tensor;
  /** The guess itself. */
  start(guess: Normal): VariationalParameters;
  /** v [n, dim] from standard numbers. */
  points(parameters: VariationalParameters, standard: Tensor): Tensor;
  /**
   * The gradient of the ELBO by the parameters, from gradients of the log density by v. Of log q only the path through the
   * points is followed: the rest has expectation zero, and without it the noise vanishes as q comes close to the
   * target ("sticking the landing": Roeder, Wu and Duvenaud 2017).
   */
  gradient(parameters: VariationalParameters, standard: Tensor, slopes: Tensor): VariationalParameters;
  /** The factor that makes u of standard numbers: scales [dim], or a factor of the covariance [dim, dim]. */
  scale(guess: Normal, parameters: VariationalParameters): Tensor;
}

const standardStart = ({ mean }: Normal) => ({ mean: zerosLike(mean), logScale: zerosLike(mean) });

/** The scales that independent normal distributions have next to a normal one: those given all other coordinates. */
const conditionalScale = ({ factor }: Normal): Tensor => factor.precision.rsqrt();

const meanField: VariationalFamily = {
  toFree: (guess, v) => v.mul(conditionalScale(guess)).add(guess.mean),
  pulledBack: (guess, slopes) => slopes.mul(conditionalScale(guess)),
  logDeterminant: (guess) => conditionalScale(guess).log().sum(),
  start: standardStart,
  points: ({ mean, logScale }, standard) => standard.mul(logScale.exp()).add(mean),
  gradient({ logScale }, standard, slopes) {
    const scale = logScale.exp();
    const path = slopes.add(standard.div(scale));
    return { mean: path.mean({ axis: 0 }), logScale: path.mul(standard).mean({ axis: 0 }).mul(scale) };
  },
  scale: (guess, { logScale }) => conditionalScale(guess).mul(logScale.exp()),
};

const triangleOf = ({ logScale, below }: VariationalParameters): Tensor => logScale.exp().diagonalMatrix().add(below);

const fullRank: VariationalFamily = {
  toFree: ({ mean, factor }, v) => vmap((one: Tensor) => forward(factor, one))(v).add(mean),
  pulledBack: ({ factor }, slopes) => vmap((one: Tensor) => backward(factor, one))(slopes),
  logDeterminant: ({ factor }) => factor.logDeterminant,
  start(guess) {
    const { size, dtype, device } = guess.mean;
    return { ...standardStart(guess), below: zeros([size, size], { dtype, device }) };
  },
  points: (parameters, standard) => standard.matmul(triangleOf(parameters).T).add(parameters.mean),
  gradient(parameters, standard, slopes) {
    const path = slopes.add(triangularSolve(triangleOf(parameters), standard.T, { transposed: true }).T);
    const outer = path.T.matmul(standard).div(standard.shape[0]);
    return {
      mean: path.mean({ axis: 0 }),
      logScale: outer.diagonal().mul(parameters.logScale.exp()),
      below: outer.tril(-1),
    };
  },
  scale: ({ factor }, parameters) => vmap((column: Tensor) => forward(factor, column))(triangleOf(parameters).T).T,
};

export const families = { "mean-field": meanField, "full-rank": fullRank } as const;

/** log q of v at standard numbers [n, dim]: [n]. */
export function logDensityAt({ logScale }: VariationalParameters, standard: Tensor): Tensor {
  const constant = (logScale.size / 2) * Math.log(2 * Math.PI);
  return standard.square().sum({ axis: 1 }).mul(-0.5).sub(logScale.sum()).sub(constant);
}
