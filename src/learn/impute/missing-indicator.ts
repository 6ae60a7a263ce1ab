/** Columns of zeros and ones that tell where values are missing. Imputers add them when they are told to. */
import { checkChoice } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { arange, concat, type Tensor, tensor } from "../../tensor/index.js";
import { inputNames } from "../core/feature-names.js";
import { categorySamples, type Features } from "../core/samples.js";
import { transformer } from "../core/sorts.js";
import { checkMissingValues, type MissingValuesOption, readingMissing } from "./missing-values.js";

/** Options of `missingIndicator`. */
export interface MissingIndicatorOptions extends MissingValuesOption {
  /** "missingOnly" unless told: features that had missing values in the fit. */
  readonly features?: "missingOnly" | "all";
}

/** The features that have a column, i32. */
export interface MissingIndicatorLearned {
  readonly indicated: Tensor;
  readonly [name: string]: Tensor;
}

/** The positions of features with missing values. Reads one flag for each. */
export async function chosenFeatures(x: Tensor): Promise<Tensor> {
  const isMissing = (await x.isNaN().any({ axis: 0 }).data()) as ArrayLike<number | boolean>;
  const places = Array.from(isMissing).flatMap((each, place) => (each ? [place] : []));
  return tensor(Int32Array.from(places), { device: x.device }) as Tensor;
}

/** Ones where features have missing values. */
const presenceOf = (x: Tensor, indicated: Tensor): Tensor =>
  x.take(indicated, { axis: 1 }).isNaN().cast(x.dtype) as Tensor;

/** The positions of features with a column. Reads them. */
export const missingIn = (indicated: Tensor): readonly number[] => Array.from(indicated.dataSync() as Int32Array);

/** scikit-learn's names of such columns. */
const missingNames = (places: readonly number[], names: readonly string[]): readonly string[] =>
  places.map((place) => `missingindicator_${names[place]}`);

/** Filled samples, and beside them the columns that tell where `x` lacks values. `indicated` is null without such columns. */
export function withPresence(filled: Tensor, x: Tensor, indicated: Tensor | null): Tensor {
  if (!indicated || indicated.size === 0) return filled;
  return concat([filled, presenceOf(x, indicated)], { axis: 1 }) as Tensor;
}

/** The names of the columns of `withPresence`. Reads `indicated`. */
export function namesWithPresence(indicated: Tensor | null, features: Features): readonly string[] {
  const names = inputNames(features);
  return indicated ? [...names, ...missingNames(missingIn(indicated), names)] : names;
}

/** Ones where values are missing, NaN or others, zeros elsewhere. */
export const missingIndicator = transformer<MissingIndicatorLearned, MissingIndicatorOptions>({
  kind: "missingIndicator",
  options: { features: "text", missingValues: "any" },
  samples: readingMissing(categorySamples),
  allowsMissing: true,
  takesWeights: false,
  check(options) {
    checkChoice("missingIndicator", "features", options.features, ["missingOnly", "all"]);
    checkMissingValues("missingIndicator", options);
  },
  learn({ x }, { features = "missingOnly" }) {
    if (features === "all") {
      return { indicated: arange(x.shape[1] as number, { device: x.device, dtype: "i32" }) as Tensor };
    }
    return async () => {
      const indicated = await chosenFeatures(x);
      if (indicated.size > 0) return { indicated };
      throw new ArgumentError(
        'missingIndicator.fit: no value is missing, so that no column is left; give { features: "all" } for all.',
      );
    };
  },
  transform: ({ indicated }, x) => presenceOf(x, indicated),
  featureNames: ({ indicated }, features) => missingNames(missingIn(indicated), inputNames(features)),
});
