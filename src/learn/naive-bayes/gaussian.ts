/** Naive Bayes with normal features: closed forms of class means and variances, so that fits trace. */
import { ArgumentError } from "../../core/errors.js";
import type { Tensor } from "../../tensor/index.js";
import { membersOf, normalizedLogs } from "../core/members.js";
import { checkPriors, logPriorsOf } from "../core/settings.js";
import { classifier, probabilityMethods } from "../core/sorts.js";

/** Options of `gaussianNaiveBayes`. */
export interface GaussianNaiveBayesOptions {
  /** Probabilities of the classes, in their order; their shares among the samples unless told. */
  readonly priors?: readonly number[];
  /** The share of the largest variance of a feature that is added to all of them: 1e-9 unless told. */
  readonly varSmoothing?: number;
}

/** Means and variances by class, [classes, features], and the logarithms of the classes' probabilities. */
export interface GaussianLearned {
  readonly means: Tensor;
  readonly variances: Tensor;
  readonly logPriors: Tensor;
  readonly [name: string]: Tensor;
}

/** log p(class) + log p(x | class), [samples, classes]. */
function jointLogs({ means, variances, logPriors }: GaussianLearned, x: Tensor): Tensor {
  // (x − mean)² / variance by differences, not by expanding the square: that would lose the digits of means far from zero.
  const distance = x.expandDims(1).sub(means).square().div(variances).sum({ axis: 2 });
  const spread = variances
    .mul(2 * Math.PI)
    .log()
    .sum({ axis: 1 });
  return distance.add(spread).mul(-0.5).add(logPriors) as Tensor;
}

const methods = probabilityMethods<GaussianLearned, GaussianNaiveBayesOptions>((learned, x) =>
  normalizedLogs(jointLogs(learned, x)),
);

/** Classes whose features are normal and independent of one another within a class. */
export const gaussianNaiveBayes = classifier<GaussianLearned, GaussianNaiveBayesOptions, typeof methods>({
  kind: "gaussianNaiveBayes",
  options: { priors: "list", varSmoothing: "number" },
  check({ priors, varSmoothing = 1e-9 }) {
    if (!(varSmoothing >= 0 && Number.isFinite(varSmoothing))) {
      throw new ArgumentError(`gaussianNaiveBayes: varSmoothing is ${varSmoothing}; it is a number, zero or more.`);
    }
    checkPriors("gaussianNaiveBayes", priors);
  },
  learn({ x, y, classes, weights }, { priors, varSmoothing = 1e-9 }) {
    const members = membersOf(x, y, classes, weights);
    const counts = members.sum({ axis: 1 }) as Tensor;
    const logPriors = logPriorsOf("gaussianNaiveBayes", priors, counts);
    const share = members.div(counts.expandDims(1));
    const means = share.matmul(x) as Tensor;
    const deviations = x.sub(means.take(y, { axis: 0 })).square();
    const smallest = x.variance({ axis: 0 }).max().mul(varSmoothing);
    return { means, variances: share.matmul(deviations).add(smallest) as Tensor, logPriors };
  },
  scores: jointLogs,
  methods,
});
