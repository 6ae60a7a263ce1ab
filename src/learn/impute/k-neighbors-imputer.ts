/**
 * Missing values filled with the mean of the nearest samples that have them (Troyanskaya et al. 2001). Two samples are compared by the
 * features that both have: the sum of squares is scaled up by the share of features that counted. All is a function of tensors.
 */
import { checkWhole } from "../../core/arguments.js";
import { arange, type Tensor, where } from "../../tensor/index.js";
import { scan } from "../../transforms/control.js";
import { numberSamples } from "../core/samples.js";
import { transformer } from "../core/sorts.js";
import { inBands, smallest } from "../neighbors/brute-force.js";
import { checkNeighborWeights, type NeighborWeights, neighborWeights } from "../neighbors/weights.js";
import { checkNoEmptyColumn } from "./empty-columns.js";
import { chosenFeatures, namesWithPresence, withPresence } from "./missing-indicator.js";
import { checkMissingValues, type MissingValuesOption, readingMissing } from "./missing-values.js";

/** Options of `kNeighborsImputer`. */
export interface KNeighborsImputerOptions extends MissingValuesOption {
  /** How many neighbours a value is the mean of: 5 unless told. Fewer where fewer have the feature. */
  readonly nNeighbors?: number;
  /** How much each counts: "uniform" unless told. */
  readonly weights?: NeighborWeights;
  /** True: columns of zeros and ones follow, which tell where features had missing values in the fit. */
  readonly addIndicator?: boolean;
  /** False unless told: a column without any value is refused. True: it is filled with 0. */
  readonly keepEmptyFeatures?: boolean;
}

/** The samples of the fit, from which values are taken. */
export interface KNeighborsImputerLearned {
  /** [samples, features], NaN where a value is missing. */
  readonly samples: Tensor;
  /** The features that have a column of zeros and ones, i32; null without. */
  readonly indicated: Tensor | null;
  readonly [name: string]: Tensor | null;
}

/** Numbers in memory at a time. */
const BAND = 1 << 22;

const filledWithZeros = (x: Tensor): Tensor => where(x.isNaN(), 0, x) as Tensor;
const presentIn = (x: Tensor): Tensor => x.isNaN().logicalNot() as Tensor;

/** Squared distances by the features that both have, [queries, samples]; infinite where there are none. */
function squaresBetween(queries: Tensor, samples: Tensor): Tensor {
  const [a, b] = [presentIn(queries).expandDims(1), presentIn(samples)];
  const differences = filledWithZeros(queries).expandDims(1).sub(filledWithZeros(samples));
  const sums = where(a.logicalAnd(b), differences, 0).square().sum({ axis: 2 });
  const shared = presentIn(queries).cast(samples.dtype).matmul(b.cast(samples.dtype).T);
  const scale = shared
    .maximum(1)
    .reciprocal()
    .mul(samples.shape[1] as number);
  return where(shared.equal(0), Number.POSITIVE_INFINITY, sums.mul(scale)) as Tensor;
}

/** Values of one feature for all queries: the weighted mean of the nearest samples that have it, and of all where none can be compared. */
function valuesFor(squares: Tensor, column: Tensor, { nNeighbors = 5, weights }: KNeighborsImputerOptions): Tensor {
  const k = Math.min(nNeighbors, column.size);
  const isDonor = presentIn(column);
  const nearest = smallest(where(isDonor, squares, Number.POSITIVE_INFINITY) as Tensor, k);
  const isIn = nearest.values.less(Number.POSITIVE_INFINITY) as Tensor;
  const distances = nearest.values.sqrt() as Tensor;
  const shares = neighborWeights("kNeighborsImputer.transform", distances, weights, isIn);
  const donated = filledWithZeros(column).take(nearest.indices).mul(shares).sum({ axis: 1 });
  const mean = filledWithZeros(column).sum().div(isDonor.cast(column.dtype).sum().maximum(1));
  return where(isIn.any({ axis: 1 }), donated.div(shares.sum({ axis: 1 })), mean) as Tensor;
}

function imputed(samples: Tensor, x: Tensor, options: KNeighborsImputerOptions): Tensor {
  const [count, features] = samples.shape as [number, number];
  const columns = arange(features, { device: samples.device, dtype: "i32" }) as Tensor;
  const fill = (band: Tensor): { readonly filled: Tensor } => {
    const squares = squaresBetween(band, samples);
    // Feature by feature: the distances of a band are in memory once, not for every feature.
    const one = (carry: null, place: Tensor) =>
      [carry, valuesFor(squares, samples.take(place, { axis: 1 }) as Tensor, options)] as const;
    const [, values] = scan<null, Tensor, Tensor>(one, null, columns);
    return { filled: where(band.isNaN(), values.T, band) as Tensor };
  };
  return inBands(x, Math.max(1, Math.floor(BAND / count)), fill).filled;
}

/** Missing values, NaN or others, filled from the nearest samples of the fit. */
export const kNeighborsImputer = transformer<KNeighborsImputerLearned, KNeighborsImputerOptions>({
  kind: "kNeighborsImputer",
  options: {
    nNeighbors: "number",
    weights: "any",
    addIndicator: "flag",
    keepEmptyFeatures: "flag",
    missingValues: "any",
  },
  samples: readingMissing(numberSamples),
  allowsMissing: true,
  takesWeights: false,
  check(options) {
    const { nNeighbors = 5, weights } = options;
    checkMissingValues("kNeighborsImputer", options);
    checkWhole("kNeighborsImputer", "nNeighbors", nNeighbors, 1);
    checkNeighborWeights("kNeighborsImputer", weights);
  },
  async checkSamples(operation, x, features, { keepEmptyFeatures }) {
    if (keepEmptyFeatures) return;
    await checkNoEmptyColumn(operation, x, features, { remedy: "leave it out, or give { keepEmptyFeatures: true }" });
  },
  learn({ x }, { addIndicator }) {
    if (!addIndicator) return { samples: x, indicated: null };
    return async () => ({ samples: x, indicated: await chosenFeatures(x) });
  },
  transform: ({ samples, indicated }, x, options) =>
    withPresence(imputed(samples, x.cast(samples.dtype) as Tensor, options), x, indicated),
  featureNames: ({ indicated }, features) => namesWithPresence(indicated, features),
});
