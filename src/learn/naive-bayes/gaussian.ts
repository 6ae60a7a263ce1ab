/** Naive Bayes with normal features: closed forms of class means and variances, so that fits trace, and go on batch by batch. */
import { ArgumentError } from "../../core/errors.js";
import { type Tensor, where } from "../../tensor/index.js";
import { membersOf, normalizedLogs } from "../core/members.js";
import { checkPriors, logPriorsOf } from "../core/settings.js";
import { classifier, probabilityMethods } from "../core/sorts.js";
import { batchOf, type Classified, type NaiveBayesMethods } from "./partial-fit.js";

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
  /** The samples of each class, or their weights, [classes]. */
  readonly counts: Tensor;
  /** What was added to all variances. */
  readonly smoothing: Tensor;
  readonly [name: string]: Tensor;
}

/** log p(class) + log p(x | class), [samples, classes], up to a number for each sample. */
function jointLogs({ means, variances, logPriors }: GaussianLearned, x: Tensor): Tensor {
  // (x − mean)² / variance by differences, not by expanding the square: that would lose the digits of means far from zero.
  const distances = x.expandDims(1).sub(means).square().div(variances);
  // What all classes share says nothing of them, and could be so large that the rest is lost beside it: a feature without variance.
  const distance = distances.sub(distances.min({ axis: 1, keepDims: true })).sum({ axis: 2 });
  const spread = variances
    .mul(2 * Math.PI)
    .log()
    .sum({ axis: 1 });
  return distance.add(spread).mul(-0.5).add(logPriors) as Tensor;
}

/** Sizes, means and variances of classes; zeros of a class without a sample. */
interface Spread {
  readonly counts: Tensor;
  readonly means: Tensor;
  readonly variances: Tensor;
}

function spreadOf({ x, y, classes, weights }: Classified): Spread {
  const members = membersOf(x, y, classes, weights);
  const counts = members.sum({ axis: 1 }) as Tensor;
  const share = members.div(where(counts.equal(0), 1, counts).expandDims(1));
  const rough = share.matmul(x);
  // The mean of what is left of the mean mends its rounding: classes in which a feature is the same have the same mean, to the bit.
  const left = share.matmul(x.sub(rough.take(y.maximum(0), { axis: 0 })));
  const means = rough.add(left) as Tensor;
  const deviations = x.sub(means.take(y.maximum(0), { axis: 0 })).square();
  return { counts, means, variances: share.matmul(deviations) as Tensor };
}

/** Two spreads as one (Chan, Golub & LeVeque 1983). */
function together(a: Spread, b: Spread): Spread {
  const counts = a.counts.add(b.counts) as Tensor;
  const all = where(counts.equal(0), 1, counts).expandDims(1) as Tensor;
  const [own, other] = [a, b].map((each) => each.counts.expandDims(1).div(all)) as [Tensor, Tensor];
  const between = a.means.sub(b.means).square().mul(own).mul(other);
  return {
    counts,
    means: a.means.add(b.means.sub(a.means).mul(other)) as Tensor,
    variances: a.variances.mul(own).add(b.variances.mul(other)).add(between) as Tensor,
  };
}

/** The largest variance of a feature among all samples. */
function largestOf({ counts, means, variances }: Spread): Tensor {
  const share = counts.div(counts.sum()).expandDims(1);
  const mean = share.mul(means).sum({ axis: 0 });
  return share
    .mul(variances.add(means.sub(mean).square()))
    .sum({ axis: 0 })
    .max() as Tensor;
}

function learnedOf(
  { counts, means, variances }: Spread,
  largest: Tensor,
  { priors, varSmoothing = 1e-9 }: GaussianNaiveBayesOptions,
): GaussianLearned {
  const smoothing = largest.mul(varSmoothing) as Tensor;
  const logPriors = logPriorsOf("gaussianNaiveBayes", priors, counts);
  return { means, variances: variances.add(smoothing) as Tensor, logPriors, counts, smoothing };
}

const methods: NaiveBayesMethods<GaussianLearned, GaussianNaiveBayesOptions> = {
  ...probabilityMethods<GaussianLearned, GaussianNaiveBayesOptions>((learned, x) =>
    normalizedLogs(jointLogs(learned, x)),
  ),
  partialFit(model, samples, labels, given) {
    const { learned, options, features, classes } = model;
    const { counts, means, variances, smoothing } = learned;
    const known = { counts, means, variances: variances.sub(smoothing) as Tensor };
    const spread = together(known, spreadOf(batchOf(model, samples, labels, given)));
    return gaussianNaiveBayes.model(learnedOf(spread, largestOf(spread), options), options, { features, classes });
  },
};

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
  learn: (data, options) => learnedOf(spreadOf(data), data.x.variance({ axis: 0 }).max() as Tensor, options),
  scores: jointLogs,
  methods,
});
