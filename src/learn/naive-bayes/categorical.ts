/**
 * Naive Bayes of categories: each feature is the number of a category, as `ordinalEncoder` gives it. The table of logarithms is
 * [features, categories, classes]; features with fewer categories than others leave the rest of their rows empty.
 */
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { arange, type Tensor, tensor, where } from "../../tensor/index.js";
import type { Learning } from "../core/estimator.js";
import { membersOf, normalizedLogs } from "../core/members.js";
import { checkAmount, checkPriors } from "../core/settings.js";
import { classifier, probabilityMethods } from "../core/sorts.js";
import { checkCounts, type DiscreteNaiveBayesOptions, priorsByCount, smoothing } from "./discrete.js";
import { batchOf, type Classified, type NaiveBayesMethods } from "./partial-fit.js";

/** Options of `categoricalNaiveBayes`. */
export interface CategoricalNaiveBayesOptions extends DiscreteNaiveBayesOptions {
  /**
   * The number of categories, of all features or of each. Unless told, one more than the largest of the samples, which is read; a fit
   * that is traced must be told.
   */
  readonly nCategories?: number | readonly number[];
}

/** Logarithms of the categories' probabilities, [features, categories, classes], and of the classes'. */
export interface CategoricalLearned {
  readonly categoryLogs: Tensor;
  readonly logPriors: Tensor;
  /** The samples of each class with each category, or their weights, [features, categories, classes], and of each class, [classes]. */
  readonly sums: Tensor;
  readonly counts: Tensor;
  /** The number of categories of each feature, [features], i32. */
  readonly sizes: Tensor;
  readonly [name: string]: Tensor;
}

/** 1 where a sample has the category, [samples, features, categories]. A category that is not known has none. */
const chosen = (x: Tensor, categories: number): Tensor =>
  x
    .expandDims(2)
    .equal(arange(categories, { device: x.device, dtype: x.dtype }))
    .cast(x.dtype) as Tensor;

/** The samples of each class, by category. */
interface Tallies {
  readonly sums: Tensor;
  readonly counts: Tensor;
}

function tallied({ x, y, classes, weights }: Classified, most: number): Tallies {
  const [samples, features] = x.shape as [number, number];
  const members = membersOf(x, y, classes, weights);
  const table = chosen(x, most).reshape(samples, features * most);
  return {
    sums: members.matmul(table).T.reshape(features, most, classes) as Tensor,
    counts: members.sum({ axis: 1 }) as Tensor,
  };
}

function learnedOf(tallies: Tallies, sizes: Tensor, options: CategoricalNaiveBayesOptions): CategoricalLearned {
  const { sums, counts } = tallies;
  const isCategory = arange(sums.shape[1] as number, { device: sums.device })
    .expandDims(0)
    .less(sizes.expandDims(1))
    .expandDims(2);
  const smoothed = where(isCategory, sums.add(smoothing(options.alpha)), 0);
  const logs = smoothed.log().sub(smoothed.sum({ axis: 1, keepDims: true }).log());
  return {
    categoryLogs: where(isCategory, logs, 0).cast(sums.dtype) as Tensor,
    logPriors: priorsByCount("categoricalNaiveBayes", counts, options),
    ...tallies,
    sizes,
  };
}

function learned(
  data: Classified,
  options: CategoricalNaiveBayesOptions,
  sizes: readonly number[],
): CategoricalLearned {
  const counted = tensor(Int32Array.from(sizes), { device: data.x.device }) as Tensor;
  return learnedOf(tallied(data, Math.max(...sizes)), counted, options);
}

async function reading(data: Classified, options: CategoricalNaiveBayesOptions): Promise<CategoricalLearned> {
  const largest = (await data.x.max({ axis: 0 }).data()) as ArrayLike<number>;
  return learned(
    data,
    options,
    Array.from(largest, (each) => each + 1),
  );
}

/** A category that was not known says nothing of the class. */
const jointLogs = ({ categoryLogs, logPriors }: CategoricalLearned, x: Tensor): Tensor => {
  const [features, categories, classes] = categoryLogs.shape as [number, number, number];
  return chosen(x, categories)
    .reshape(x.shape[0] as number, features * categories)
    .matmul(categoryLogs.reshape(features * categories, classes))
    .add(logPriors) as Tensor;
};

const methods: NaiveBayesMethods<CategoricalLearned, CategoricalNaiveBayesOptions> = {
  ...probabilityMethods<CategoricalLearned, CategoricalNaiveBayesOptions>((model, x) =>
    normalizedLogs(jointLogs(model, x)),
  ),
  // A category beyond those of the first fit has no place in the table: it counts for the class alone.
  partialFit(model, samples, labels, given) {
    const { options, features, classes } = model;
    const { sums, counts, sizes } = model.learned;
    const batch = tallied(batchOf(model, samples, labels, given), sums.shape[1] as number);
    const all = { sums: sums.add(batch.sums), counts: counts.add(batch.counts) } as Tallies;
    return categoricalNaiveBayes.model(learnedOf(all, sizes, options), options, { features, classes });
  },
};

/** Classes whose features are categories, by their numbers 0, 1, 2 … */
export const categoricalNaiveBayes = classifier<
  CategoricalLearned,
  CategoricalNaiveBayesOptions,
  NaiveBayesMethods<CategoricalLearned, CategoricalNaiveBayesOptions>
>({
  kind: "categoricalNaiveBayes",
  options: { alpha: "any", fitPrior: "flag", priors: "list", nCategories: "numbers" },
  check({ alpha = 1, priors, nCategories = 1 }) {
    checkAmount("categoricalNaiveBayes", "alpha", alpha);
    checkPriors("categoricalNaiveBayes", priors);
    const all = typeof nCategories === "number" ? [nCategories] : nCategories;
    if (all.every((each) => Number.isSafeInteger(each) && each >= 1)) return;
    throw new ArgumentError(`categoricalNaiveBayes: nCategories is ${shown(nCategories)}; it counts from 1 on.`);
  },
  async checkSamples(operation, x, features) {
    await checkCounts(operation, x, features);
    const isWhole = await x.equal(x.floor()).all().item();
    if (isWhole) return;
    throw new ArgumentError(`${operation}: samples are numbers of categories, 0, 1, 2 …; ordinalEncoder() makes them.`);
  },
  learn(data, options): Learning<CategoricalLearned> {
    const { nCategories } = options;
    if (nCategories === undefined) return () => reading(data, options);
    const features = data.x.shape[1] as number;
    const sizes = typeof nCategories === "number" ? new Array<number>(features).fill(nCategories) : nCategories;
    if (sizes.length === features) return learned(data, options, sizes);
    throw new ArgumentError(
      `categoricalNaiveBayes.fit: nCategories tells of ${sizes.length} features, and samples have ${features}.`,
    );
  },
  scores: jointLogs,
  methods,
});
