/** Naive Bayes with normal features: closed forms of class means and variances, so that fits trace. */
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { arange, type Tensor, tensor } from "../../tensor/index.js";
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

/** Joint logarithms less that of their sum. The largest is taken away first, so that it loses no digits to the others. */
function logProbability(learned: GaussianLearned, x: Tensor): Tensor {
  const joint = jointLogs(learned, x);
  const shifted = joint.sub(joint.max({ axis: 1, keepDims: true }));
  return shifted.sub(shifted.exp().sum({ axis: 1, keepDims: true }).log()) as Tensor;
}

const methods = probabilityMethods<GaussianLearned, GaussianNaiveBayesOptions>(logProbability);

/** Classes whose features are normal and independent of one another within a class. */
export const gaussianNaiveBayes = classifier<GaussianLearned, GaussianNaiveBayesOptions, typeof methods>({
  kind: "gaussianNaiveBayes",
  options: { priors: "list", varSmoothing: "number" },
  check({ priors, varSmoothing = 1e-9 }) {
    if (!(varSmoothing >= 0 && Number.isFinite(varSmoothing))) {
      throw new ArgumentError(`gaussianNaiveBayes: varSmoothing is ${varSmoothing}; it is a number, zero or more.`);
    }
    if (priors === undefined) return;
    const total = priors.reduce((sum, each) => sum + each, 0);
    if (priors.every((each) => each >= 0) && Math.abs(total - 1) < 1e-6) return;
    throw new ArgumentError(`gaussianNaiveBayes: priors are ${shown(priors)}; they are probabilities with the sum 1.`);
  },
  learn({ x, y, classes, weights }, { priors, varSmoothing = 1e-9 }) {
    if (priors && priors.length !== classes) {
      throw new ArgumentError(`gaussianNaiveBayes.fit: there are ${priors.length} priors and ${classes} classes.`);
    }
    const { device, dtype } = x;
    const isMember = y
      .expandDims(0)
      .equal(arange(classes, { device, dtype: "i32" }).expandDims(1))
      .cast(dtype);
    const members = (weights ? isMember.mul(weights) : isMember) as Tensor;
    const counts = members.sum({ axis: 1, keepDims: true });
    const means = members.matmul(x).div(counts) as Tensor;
    const deviations = x.sub(means.take(y, { axis: 0 })).square();
    const smallest = x.variance({ axis: 0 }).max().mul(varSmoothing);
    return {
      means,
      variances: members.matmul(deviations).div(counts).add(smallest) as Tensor,
      logPriors: (priors
        ? tensor(priors as number[], { device, dtype })
        : counts.div(counts.sum()).squeeze(1)
      ).log() as Tensor,
    };
  },
  scores: jointLogs,
  methods,
});
