/**
 * Naive Bayes of counts, of yes and no, and of categories (Manning et al. 2008, chapter 13; Rennie et al. 2003 for complements). All learn
 * sums over the samples of a class, smoothed by `alpha`, so that fits trace.
 */
import { type Tensor, zeros } from "../../tensor/index.js";
import type { Data } from "../core/estimator.js";
import { checkNone } from "../core/finite.js";
import { membersOf, normalizedLogs } from "../core/members.js";
import type { Features } from "../core/samples.js";
import { checkAmount, checkPriors, logPriorsOf } from "../core/settings.js";
import { classifier, type ProbabilityMethods, probabilityMethods } from "../core/sorts.js";

/** Options that the kinds of discrete features share. */
export interface DiscreteNaiveBayesOptions {
  /** Added to every count: 1 unless told. A tensor, too, so that `vmap` can go over it. */
  readonly alpha?: number | Tensor;
  /** True unless told: probabilities of classes are their shares among the samples. False: all are as likely. */
  readonly fitPrior?: boolean;
  /** Probabilities of the classes, in their order. */
  readonly priors?: readonly number[];
}

/** Logarithms of the features' probabilities by class, [classes, features], and of the classes'. */
export interface DiscreteLearned {
  readonly featureLogs: Tensor;
  readonly logPriors: Tensor;
  readonly [name: string]: Tensor;
}

const OPTIONS = { alpha: "any", fitPrior: "flag", priors: "list" } as const;

function checkShared(kind: string, { alpha = 1, priors }: DiscreteNaiveBayesOptions): void {
  checkAmount(kind, "alpha", alpha);
  checkPriors(kind, priors);
}

/** No count may be zero: its logarithm would be infinite. The least that is added is scikit-learn's. */
export const smoothing = (alpha: number | Tensor = 1): number | Tensor =>
  typeof alpha === "number" ? Math.max(alpha, 1e-10) : alpha;

type Classified = Data & { readonly y: Tensor; readonly classes: number };

/** Sums of features by class, [classes, features], sizes of classes, [classes], and the logarithms of their probabilities. */
export function countsByClass(
  kind: string,
  { x, y, classes, weights }: Classified,
  { fitPrior = true, priors }: DiscreteNaiveBayesOptions,
): { readonly sums: Tensor; readonly counts: Tensor; readonly logPriors: Tensor } {
  const members = membersOf(x, y, classes, weights);
  const counts = members.sum({ axis: 1 }) as Tensor;
  const even = zeros([classes], { device: x.device, dtype: x.dtype }).sub(Math.log(classes)) as Tensor;
  const logPriors = priors || fitPrior ? logPriorsOf(kind, priors, counts) : even;
  return { sums: members.matmul(x) as Tensor, counts, logPriors };
}

/** Counts are not negative. */
export const checkCounts = (operation: string, x: Tensor, features: Features): Promise<void> =>
  checkNone(operation, "the count", x, x.less(0) as Tensor, "counts are zero or more", features);

const linearScores = ({ featureLogs, logPriors }: DiscreteLearned, x: Tensor): Tensor =>
  x.matmul(featureLogs.T).add(logPriors) as Tensor;

/** Classes whose features are counts, as of words in a text. */
export const multinomialNaiveBayes = classifier<
  DiscreteLearned,
  DiscreteNaiveBayesOptions,
  ProbabilityMethods<DiscreteLearned, DiscreteNaiveBayesOptions>
>({
  kind: "multinomialNaiveBayes",
  options: OPTIONS,
  settings: ["alpha"],
  check: (options) => checkShared("multinomialNaiveBayes", options),
  checkSamples: checkCounts,
  learn(data, options) {
    const { sums, logPriors } = countsByClass("multinomialNaiveBayes", data, options);
    const smoothed = sums.add(smoothing(options.alpha));
    return { featureLogs: smoothed.log().sub(smoothed.sum({ axis: 1, keepDims: true }).log()) as Tensor, logPriors };
  },
  scores: linearScores,
  methods: probabilityMethods((learned, x) => normalizedLogs(linearScores(learned, x))),
});

/** Options of `complementNaiveBayes`. */
export interface ComplementNaiveBayesOptions extends DiscreteNaiveBayesOptions {
  /** False unless told: weights are divided by their sum, so that long texts do not weigh more. */
  readonly norm?: boolean;
}

/** The scores of one class alone are its prior; of several, the complements decide without priors, as in scikit-learn. */
const complementScores = ({ featureLogs, logPriors }: DiscreteLearned, x: Tensor): Tensor => {
  const scores = x.matmul(featureLogs.T) as Tensor;
  return featureLogs.shape[0] === 1 ? (scores.add(logPriors) as Tensor) : scores;
};

/** Classes of counts, each learned from the samples of all others: better where classes differ in size. */
export const complementNaiveBayes = classifier<
  DiscreteLearned,
  ComplementNaiveBayesOptions,
  ProbabilityMethods<DiscreteLearned, ComplementNaiveBayesOptions>
>({
  kind: "complementNaiveBayes",
  options: { ...OPTIONS, norm: "flag" },
  settings: ["alpha"],
  check: (options) => checkShared("complementNaiveBayes", options),
  checkSamples: checkCounts,
  learn(data, options) {
    const { sums, logPriors } = countsByClass("complementNaiveBayes", data, options);
    const others = sums.sum({ axis: 0, keepDims: true }).sub(sums).add(smoothing(options.alpha));
    const logs = others.div(others.sum({ axis: 1, keepDims: true })).log();
    const featureLogs = options.norm ? logs.div(logs.sum({ axis: 1, keepDims: true })) : logs.neg();
    return { featureLogs: featureLogs as Tensor, logPriors };
  },
  scores: complementScores,
  methods: probabilityMethods((learned, x) => normalizedLogs(complementScores(learned, x))),
});

/** Options of `bernoulliNaiveBayes`. */
export interface BernoulliNaiveBayesOptions extends DiscreteNaiveBayesOptions {
  /** Features above this are yes, others no: 0 unless told. Null: they are 0 and 1 already. */
  readonly binarize?: number | null;
}

const answers = (x: Tensor, { binarize = 0 }: BernoulliNaiveBayesOptions): Tensor =>
  binarize === null ? x : (x.greater(binarize).cast(x.dtype) as Tensor);

function bernoulliScores({ featureLogs, logPriors }: DiscreteLearned, x: Tensor, options: BernoulliNaiveBayesOptions) {
  // log(1 − p) from log p.
  const negatives = featureLogs.exp().neg().log1p() as Tensor;
  return answers(x, options)
    .matmul(featureLogs.sub(negatives).T)
    .add(negatives.sum({ axis: 1 }))
    .add(logPriors) as Tensor;
}

/** Classes whose features are yes or no. A no speaks, too. */
export const bernoulliNaiveBayes = classifier<
  DiscreteLearned,
  BernoulliNaiveBayesOptions,
  ProbabilityMethods<DiscreteLearned, BernoulliNaiveBayesOptions>
>({
  kind: "bernoulliNaiveBayes",
  options: { ...OPTIONS, binarize: "any" },
  settings: ["alpha"],
  check(options) {
    checkShared("bernoulliNaiveBayes", options);
    if (options.binarize !== null && options.binarize !== undefined)
      checkAmount("bernoulliNaiveBayes", "binarize", options.binarize, -Number.MAX_VALUE);
  },
  learn(data, options) {
    const yes = { ...data, x: answers(data.x, options) };
    const { sums, counts, logPriors } = countsByClass("bernoulliNaiveBayes", yes, options);
    const alpha = smoothing(options.alpha);
    const all = counts.add(typeof alpha === "number" ? 2 * alpha : alpha.mul(2)).expandDims(1);
    return { featureLogs: sums.add(alpha).log().sub(all.log()) as Tensor, logPriors };
  },
  scores: bernoulliScores,
  methods: probabilityMethods((learned, x, options) => normalizedLogs(bernoulliScores(learned, x, options))),
});
