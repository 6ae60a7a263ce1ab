/** New columns that are products of columns, so that linear models learn curves and interactions. */
import { checkWhole } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { concat, ones, type Tensor } from "../../tensor/index.js";
import { inputNames } from "../core/feature-names.js";
import { type PlaceLearned, placeOf, transformer } from "../core/sorts.js";
import { factorsOf, type ProductOptions, productsOf } from "./products.js";

/** Options of `polynomialFeatures`. */
export interface PolynomialFeaturesOptions {
  /** The largest degree of a product, 2 unless told; or the smallest and the largest. */
  readonly degree?: number | readonly [number, number];
  /** False unless told: columns are multiplied by themselves, too. */
  readonly interactionOnly?: boolean;
  /** True unless told: the first column is ones. */
  readonly includeBias?: boolean;
}

function productOptions({ degree = 2, interactionOnly }: PolynomialFeaturesOptions): ProductOptions {
  const [minDegree, most] = typeof degree === "number" ? [Math.min(1, degree), degree] : degree;
  return { degree: most, minDegree, interactionOnly };
}

/** scikit-learn's names: "a", "a^2", "a b". */
function productName(factors: readonly number[], names: readonly string[]): string {
  const powers = new Map<number, number>();
  for (const column of factors) powers.set(column, (powers.get(column) ?? 0) + 1);
  return [...powers].map(([column, power]) => `${names[column]}${power === 1 ? "" : `^${power}`}`).join(" ");
}

/** Products of columns by degree: 1, a, b, a², ab, b². */
export const polynomialFeatures = transformer<PlaceLearned, PolynomialFeaturesOptions>({
  kind: "polynomialFeatures",
  options: { degree: "numbers", interactionOnly: "flag", includeBias: "flag" },
  takesWeights: false,
  check(options) {
    const { degree, minDegree = 1 } = productOptions(options);
    for (const each of [minDegree, degree]) checkWhole("polynomialFeatures", "a degree", each, 0);
    if (minDegree > degree) {
      throw new ArgumentError(
        `polynomialFeatures: degree is ${shown(options.degree)}; it is two numbers, the smaller first.`,
      );
    }
    if (degree > 0 || options.includeBias !== false) return;
    throw new ArgumentError("polynomialFeatures: the degree 0 without a bias leaves no column.");
  },
  learn: ({ x }) => placeOf(x),
  transform(_, x, options) {
    const bias = ones([x.shape[0] as number, 1], { device: x.device, dtype: x.dtype });
    const products = productsOf(x, productOptions(options));
    if (options.includeBias === false && products) return products;
    return (products ? concat([bias, products], { axis: 1 }) : bias) as Tensor;
  },
  featureNames(_, features, options) {
    const names = inputNames(features);
    const products = factorsOf(features.count, productOptions(options)).map((each) => productName(each, names));
    return options.includeBias === false ? products : ["1", ...products];
  },
});
