/**
 * Principal directions of a matrix whose rows are samples: singular values and right vectors, by the way that suits its shape. pca.ts and
 * truncated-svd.ts ask here.
 *
 * Many more samples than features: the eigenvectors of the small product xᵀx, which takes one pass over the samples. This squares the spread
 * of the singular values: those below √ε of the largest are lost in rounding, which is far below the noise of such data. `full` keeps them.
 */
import { eigh } from "../../linalg/eigh.js";
import { randomizedSvd, svd } from "../../linalg/svd.js";
import { key } from "../../random/index.js";
import { maximum, type Tensor, where } from "../../tensor/index.js";

/** Ways to a spectrum. */
export type SvdSolver = "auto" | "full" | "covariance" | "randomized";

/** Settings of the way. */
export interface SpectrumOptions {
  /** "auto" unless told: by the shape. */
  readonly svdSolver?: SvdSolver;
  /** Rounds of the randomised way: 4 unless told. */
  readonly iteratedPower?: number;
  /** Decides the random numbers of the randomised way: 0 unless told. */
  readonly seed?: number;
}

interface Spectrum {
  /** Singular values, falling: all that are known, [count] at least. */
  readonly values: Tensor;
  /** Right singular vectors as rows, [count, features]. */
  readonly rows: Tensor;
}

/** The first `count` directions of x, [samples, features]. */
export function spectrumOf(x: Tensor, count: number, options: SpectrumOptions): Spectrum {
  const [samples, features] = x.shape as [number, number];
  switch (solverFor(samples, features, count, options.svdSolver ?? "auto")) {
    case "covariance": {
      const { eigenvalues, eigenvectors } = eigh(x.T.matmul(x) as Tensor);
      const values = maximum(eigenvalues.flip(0), 0).sqrt() as Tensor;
      return { values, rows: withSigns(eigenvectors.T.flip(0).at(`:${count}`) as Tensor) };
    }
    case "randomized": {
      const { iteratedPower = 4, seed = 0 } = options;
      const { s, vh } = randomizedSvd(key(seed, { device: x.device }), x, count, { iterations: iteratedPower });
      return { values: s as Tensor, rows: withSigns(vh as Tensor) };
    }
    case "full": {
      const { s, vh } = svd(x);
      return { values: s as Tensor, rows: withSigns(vh.at(`:${count}`) as Tensor) };
    }
  }
}

/** The way for a shape, as in scikit-learn: products where samples are ten times as many as features, chance where few directions of many are asked for. */
function solverFor(samples: number, features: number, count: number, asked: SvdSolver): Exclude<SvdSolver, "auto"> {
  if (asked !== "auto") return asked;
  if (features <= 1000 && samples >= 10 * features) return "covariance";
  const least = Math.min(samples, features);
  return Math.max(samples, features) > 500 && count < 0.8 * least ? "randomized" : "full";
}

/** Directions have no sign; the largest component of each is made positive, so that fits agree. */
function withSigns(rows: Tensor): Tensor {
  const largest = rows.takeAlongAxis(rows.abs().argmax({ axis: 1, keepDims: true }), { axis: 1 });
  return rows.mul(where(largest.less(0), -1, 1)) as Tensor;
}
