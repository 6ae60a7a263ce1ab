/** Missing values filled with one number of each column: its mean, its median, its most frequent value, or a constant. */
import { checkChoice } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { type Tensor, tensor, where } from "../../tensor/index.js";
import { inputNames } from "../core/feature-names.js";
import { categorySamples, type Features } from "../core/samples.js";
import { transformer } from "../core/sorts.js";
import { checkNoEmptyColumn } from "./empty-columns.js";
import { chosenFeatures, missingIn, namesWithPresence, withPresence } from "./missing-indicator.js";
import { checkMissingValues, type MissingValuesOption, readingMissing } from "./missing-values.js";

/** Options of `simpleImputer`. */
export interface SimpleImputerOptions extends MissingValuesOption {
  /** "mean" unless told. Columns of text take "mostFrequent" and "constant". */
  readonly strategy?: "mean" | "median" | "mostFrequent" | "constant";
  /** What "constant" fills in: 0 unless told, and "missing" in columns of text. */
  readonly fillValue?: number | string;
  /** True: columns of zeros and ones follow, which tell where features had missing values in the fit. */
  readonly addIndicator?: boolean;
  /** False unless told: a column of numbers without any value is refused. True: it is filled with 0. */
  readonly keepEmptyFeatures?: boolean;
}

/** What is filled in. */
export interface SimpleImputerLearned {
  /** [features]; of a column of text a code. */
  readonly statistics: Tensor;
  /** The features that have a column of zeros and ones, i32; null without. */
  readonly indicated: Tensor | null;
  readonly [name: string]: Tensor | null;
}

const TEXT = "missing";

/** The most frequent value of each column, the smallest of several. */
function mostFrequent(x: Tensor): Tensor {
  const sorted = x.T.sort({ axis: 1 });
  const count = sorted.searchSorted(sorted, { side: "right" }).sub(sorted.searchSorted(sorted));
  const best = where(sorted.isNaN(), 0, count).argmax({ axis: 1 }).cast("i32").expandDims(1);
  return sorted.takeAlongAxis(best, { axis: 1 }).squeeze(1) as Tensor;
}

/** The categories of columns with the text that is filled in among them. */
function categoriesAfter(features: Features, { strategy, fillValue }: SimpleImputerOptions): Features["categories"] {
  if (strategy !== "constant" || !features.categories) return features.categories;
  const text = String(fillValue ?? TEXT);
  return features.categories.map((list) => (list && !list.includes(text) ? [...list, text] : list));
}

function statisticsOf(x: Tensor, features: Features, options: SimpleImputerOptions): Tensor {
  const { strategy = "mean", fillValue } = options;
  switch (strategy) {
    case "mean":
      return x.nanMean({ axis: 0 }) as Tensor;
    case "median":
      return x.nanMedian({ axis: 0 }) as Tensor;
    case "mostFrequent":
      return mostFrequent(x);
    case "constant": {
      const lists = categoriesAfter(features, options);
      const fills = Array.from({ length: features.count }, (_, j) => {
        const list = lists?.[j];
        if (list) return list.indexOf(String(fillValue ?? TEXT));
        if (typeof (fillValue ?? 0) === "number") return (fillValue as number) ?? 0;
        throw new ArgumentError(
          `simpleImputer.fit: the column ${inputNames(features)[j]} holds numbers, and fillValue is ${shown(fillValue)}.`,
        );
      });
      return tensor(fills, { device: x.device, dtype: x.dtype }) as Tensor;
    }
  }
}

/** Missing values, NaN or others, filled by column. */
export const simpleImputer = transformer<SimpleImputerLearned, SimpleImputerOptions>({
  kind: "simpleImputer",
  options: {
    strategy: "text",
    fillValue: "any",
    addIndicator: "flag",
    keepEmptyFeatures: "flag",
    missingValues: "any",
  },
  samples: readingMissing(categorySamples),
  allowsMissing: true,
  takesWeights: false,
  check(options) {
    const { strategy, fillValue } = options;
    checkMissingValues("simpleImputer", options);
    checkChoice("simpleImputer", "strategy", strategy, ["mean", "median", "mostFrequent", "constant"]);
    if (fillValue === undefined) return;
    if (strategy !== "constant") {
      throw new ArgumentError('simpleImputer: fillValue is for { strategy: "constant" }.');
    }
    if (Number.isFinite(fillValue) || typeof fillValue === "string") return;
    throw new ArgumentError(`simpleImputer: fillValue is ${shown(fillValue)}; it is a number or a text.`);
  },
  async checkSamples(operation, x, features, { strategy = "mean", keepEmptyFeatures }) {
    const text = features.categories?.findIndex((list) => list !== null) ?? -1;
    if (text >= 0 && (strategy === "mean" || strategy === "median")) {
      throw new ArgumentError(
        `${operation}: the column ${inputNames(features)[text]} holds categories, which have no ${strategy}; ` +
          'give { strategy: "mostFrequent" } or "constant".',
      );
    }
    if (strategy === "constant") return;
    const remedy = 'leave it out, or give { strategy: "constant" } or { keepEmptyFeatures: true }';
    await checkNoEmptyColumn(operation, x, features, { remedy, keepsNumbers: keepEmptyFeatures });
  },
  learn({ x, facts }, options) {
    const found = statisticsOf(x, facts.features, options);
    const statistics = (options.keepEmptyFeatures ? where(found.isNaN(), 0, found) : found) as Tensor;
    if (!options.addIndicator) return { statistics, indicated: null };
    return async () => ({ statistics, indicated: await chosenFeatures(x) });
  },
  transform: ({ statistics, indicated }, x) =>
    withPresence(where(x.isNaN(), statistics.cast(x.dtype), x) as Tensor, x, indicated),
  featureNames: ({ indicated }, features) => namesWithPresence(indicated, features),
  featureCategories({ indicated }, features, options) {
    const lists = categoriesAfter(features, options);
    return lists && indicated ? [...lists, ...missingIn(indicated).map(() => null)] : lists;
  },
});
