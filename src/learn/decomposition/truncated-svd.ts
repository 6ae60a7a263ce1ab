/** The largest singular values of samples that are not centred, as for counts of words (latent semantic analysis; Deerwester et al. 1990). */
import { checkChoice } from "../../core/arguments.js";
import { type Tensor, where } from "../../tensor/index.js";
import type { Fitted } from "../core/model.js";
import { checkWholeSetting } from "../core/settings.js";
import { transformer } from "../core/sorts.js";
import { type SpectrumOptions, spectrumOf } from "./spectrum.js";

/** Options of `truncatedSvd`. */
export interface TruncatedSvdOptions extends SpectrumOptions {
  /** The number of components: 2 unless told. */
  readonly nComponents?: number;
}

/** Components as rows, [components, features], and the variance of samples along each. */
export interface TruncatedSvdLearned {
  readonly components: Tensor;
  readonly singularValues: Tensor;
  readonly explainedVariance: Tensor;
  readonly explainedVarianceRatio: Tensor;
  readonly [name: string]: Tensor;
}

const methods = {
  /** Samples back in their own columns; what was left out is lost. */
  inverseTransform: (model: Fitted<TruncatedSvdLearned>, transformed: Tensor): Tensor =>
    transformed.matmul(model.learned.components) as Tensor,
};

/** The directions in which samples are largest, without taking their mean away. */
export const truncatedSvd = transformer<TruncatedSvdLearned, TruncatedSvdOptions, typeof methods>({
  kind: "truncatedSvd",
  options: { nComponents: "number", svdSolver: "text", iteratedPower: "number", seed: "number" },
  takesWeights: false,
  check: ({ svdSolver }) =>
    checkChoice("truncatedSvd", "svdSolver", svdSolver, ["auto", "full", "covariance", "randomized"]),
  learn({ x }, options) {
    const [samples, features] = x.shape as [number, number];
    const most = Math.min(samples, features);
    const count = checkWholeSetting("truncatedSvd.fit", "nComponents", options.nComponents ?? Math.min(2, most), most);
    const { values, rows } = spectrumOf(x, count, options);
    const explained = x.matmul(rows.T).variance({ axis: 0 });
    const total = x.variance({ axis: 0 }).sum();
    return {
      components: rows,
      singularValues: values.at(`:${count}`) as Tensor,
      explainedVariance: explained as Tensor,
      explainedVarianceRatio: explained.div(where(total.equal(0), 1, total)) as Tensor,
    };
  },
  transform: ({ components }, x) => x.matmul(components.T) as Tensor,
  methods,
});
