/**
 * Naive Bayes of counts, of yes and no, and of categories (Manning et al. 2008, chapter 13; Rennie et al. 2003 for complements). All learn
 * sums over the samples of a class, smoothed by `alpha`, so that fits trace, and go on batch by batch.
 */
import type { OptionKinds } from "../../core/arguments.js";
import { type Tensor, zeros } from "../../tensor/index.js";
import type { EstimatorMaker } from "../core/estimator.js";
import { checkNone } from "../core/finite.js";
import { membersOf, normalizedLogs } from "../core/members.js";
import type { Features } from "../core/samples.js";
import { checkAmount, checkPriors, logPriorsOf } from "../core/settings.js";
import { type ClassificationMethods, classifier, probabilityMethods } from "../core/sorts.js";
import type { Labels } from "../core/targets.js";
import { batchOf, type Classified, type NaiveBayesMethods } from "./partial-fit.js";

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
  /** Sums of the features by class, [classes, features], and the samples of each class, or their weights, [classes]. */
  readonly sums: Tensor;
  readonly counts: Tensor;
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

/** The logarithms of the classes' probabilities, [classes], by the samples of each. */
export function priorsByCount(
  kind: string,
  counts: Tensor,
  { fitPrior = true, priors }: DiscreteNaiveBayesOptions,
): Tensor {
  if (priors || fitPrior) return logPriorsOf(kind, priors, counts);
  const { device, dtype } = counts;
  const classes = counts.shape[0] as number;
  return zeros([classes], { device, dtype }).sub(Math.log(classes)) as Tensor;
}

/** Sums of features by class, and the samples of each class. */
interface Tallies {
  readonly sums: Tensor;
  readonly counts: Tensor;
}

/** What tells the kinds of features with sums apart. */
interface Discrete<O extends DiscreteNaiveBayesOptions> {
  readonly kind: string;
  readonly options: OptionKinds<O>;
  check?(options: O): void;
  checkSamples?(operation: string, x: Tensor, features: Features): Promise<void>;
  /** Features as they are summed. */
  summed?(x: Tensor, options: O): Tensor;
  logs(tallies: Tallies, options: O): Tensor;
  scores(learned: DiscreteLearned, x: Tensor, options: O): Tensor;
}

type Methods<O extends object> = NaiveBayesMethods<DiscreteLearned, O>;

function discrete<O extends DiscreteNaiveBayesOptions>(
  definition: Discrete<O>,
): EstimatorMaker<Labels, DiscreteLearned, O, ClassificationMethods<DiscreteLearned, O> & Methods<O>> {
  const { kind, scores, summed = (x) => x, logs } = definition;
  const tally = ({ x, y, classes, weights }: Classified, options: O): Tallies => {
    const members = membersOf(x, y, classes, weights);
    return { sums: members.matmul(summed(x, options)) as Tensor, counts: members.sum({ axis: 1 }) as Tensor };
  };
  const learnedOf = (tallies: Tallies, options: O): DiscreteLearned => ({
    featureLogs: logs(tallies, options),
    logPriors: priorsByCount(kind, tallies.counts, options),
    ...tallies,
  });
  const methods: Methods<O> = {
    ...probabilityMethods<DiscreteLearned, O>((learned, x, options) => normalizedLogs(scores(learned, x, options))),
    partialFit(model, samples, labels, given) {
      const { learned, options, features, classes } = model;
      const batch = tally(batchOf(model, samples, labels, given), options);
      const all = { sums: learned.sums.add(batch.sums), counts: learned.counts.add(batch.counts) } as Tallies;
      return made.model(learnedOf(all, options), options, { features, classes });
    },
  };
  const made = classifier<DiscreteLearned, O, Methods<O>>({
    ...definition,
    check(options) {
      checkShared(kind, options);
      definition.check?.(options);
    },
    settings: ["alpha"],
    learn: (data, options) => learnedOf(tally(data, options), options),
    methods,
  });
  return made;
}

/** Counts are not negative. */
export const checkCounts = (operation: string, x: Tensor, features: Features): Promise<void> =>
  checkNone(operation, "the count", x, x.less(0) as Tensor, "counts are zero or more", features);

const linearScores = ({ featureLogs, logPriors }: DiscreteLearned, x: Tensor): Tensor =>
  x.matmul(featureLogs.T).add(logPriors) as Tensor;

/** Classes whose features are counts, as of words in a text. */
export const multinomialNaiveBayes = discrete<DiscreteNaiveBayesOptions>({
  kind: "multinomialNaiveBayes",
  options: OPTIONS,
  checkSamples: checkCounts,
  logs({ sums }, { alpha }) {
    const smoothed = sums.add(smoothing(alpha));
    return smoothed.log().sub(smoothed.sum({ axis: 1, keepDims: true }).log()) as Tensor;
  },
  scores: linearScores,
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
export const complementNaiveBayes = discrete<ComplementNaiveBayesOptions>({
  kind: "complementNaiveBayes",
  options: { ...OPTIONS, norm: "flag" },
  checkSamples: checkCounts,
  logs({ sums }, { alpha, norm }) {
    const others = sums.sum({ axis: 0, keepDims: true }).sub(sums).add(smoothing(alpha));
    const logs = others.div(others.sum({ axis: 1, keepDims: true })).log();
    return (norm ? logs.div(logs.sum({ axis: 1, keepDims: true })) : logs.neg()) as Tensor;
  },
  scores: complementScores,
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
export const bernoulliNaiveBayes = discrete<BernoulliNaiveBayesOptions>({
  kind: "bernoulliNaiveBayes",
  options: { ...OPTIONS, binarize: "any" },
  check({ binarize = 0 }) {
    if (binarize !== null) checkAmount("bernoulliNaiveBayes", "binarize", binarize, -Number.MAX_VALUE);
  },
  summed: answers,
  logs({ sums, counts }, options) {
    const alpha = smoothing(options.alpha);
    const all = counts.add(typeof alpha === "number" ? 2 * alpha : alpha.mul(2)).expandDims(1);
    return sums.add(alpha).log().sub(all.log()) as Tensor;
  },
  scores: bernoulliScores,
});
