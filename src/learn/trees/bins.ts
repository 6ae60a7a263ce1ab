/**
 * Bins: the values of each feature as codes of one byte, so that histograms can count them. Thresholds follow scikit-learn's rule: the
 * middles between distinct values where they are few, else quantiles of at most 200,000 samples. Categories are their own bins. The
 * code 255 means that a value is missing. Boosting learns bins first and grows its trees on codes alone.
 */

import { ArgumentError } from "../../core/errors.js";
import { below, bitsFrom } from "../../core/seeded-order.js";
import { arange, concat, stack, type Tensor, tensor, where, zeros } from "../../tensor/index.js";

/** The code of a missing value. */
export const MISSING = 255;
/** Samples from which thresholds are taken, at most. */
const MOST_SAMPLED = 200_000;

/** Bins of all features, as the host knows them. */
export interface Bins {
  /** Thresholds of each feature, rising; of a categorical feature, its categories. */
  readonly thresholds: readonly Float64Array[];
  /** Bins of each feature that hold values; and whether values are missing. */
  readonly counts: Int32Array;
  readonly hasMissing: readonly boolean[];
  readonly isCategorical: readonly boolean[];
  /** Thresholds as a tensor [features, 255], padded with infinity, and of categorical features the categories. */
  readonly table: Tensor;
}

interface BinOptions {
  readonly maxBins: number;
  readonly isCategorical: readonly boolean[];
  readonly seed: number;
}

/** The bins of samples. Reads thresholds and counts, a few numbers of each feature. */
export async function binsOf(operation: string, x: Tensor, options: BinOptions): Promise<Bins> {
  const { maxBins, isCategorical, seed } = options;
  const [samples, features] = x.shape as [number, number];
  const sampled = samples > MOST_SAMPLED ? x.take(chosenRows(samples, seed, x.device), { axis: 0 }) : x;
  const sorted = sampled.T.sort({ axis: 1 }).realize() as Tensor;
  const extent = sorted.shape[1] as number;
  const present = sorted.isNaN().logicalNot().cast("i32").sum({ axis: 1 }).realize() as Tensor;
  const isNew = concat(
    [
      zeros([features, 1], { device: x.device, dtype: "i32" }),
      sorted
        .at(":", "1:")
        .greater(sorted.at(":", `:${extent - 1}`))
        .cast("i32"),
    ],
    { axis: 1 },
  );
  const rank = isNew.cumsum({ axis: 1 }).cast("i32").realize() as Tensor;
  const distinct = rank.max({ axis: 1 }).add(1);
  const positions = arange(MISSING + 1, { device: x.device, dtype: "i32" });
  const firsts = rank.searchSorted(positions.expandDims(0).broadcastTo([features, MISSING + 1]));
  const values = sorted.takeAlongAxis(firsts.minimum(extent - 1), { axis: 1 });
  const middles = values.at(":", `:${MISSING}`).add(values.at(":", "1:")).mul(0.5);
  const table = concat([middles, values, quantilesOf(sorted, present, maxBins)], { axis: 1 });
  const isAnyMissing = x.isNaN().any({ axis: 0 }).cast("f64");
  const facts = stack([present.cast("f64"), distinct.cast("f64"), isAnyMissing], { axis: 1 });
  const [numbers, lists] = await Promise.all([facts.data(), table.cast("f64").data()]);
  const width = table.shape[1] as number;
  const thresholds = Array.from({ length: features }, (_, f): Float64Array => {
    const [count, different] = (numbers as Float64Array).subarray(3 * f, 3 * f + 2) as unknown as [number, number];
    const row = (lists as Float64Array).subarray(f * width, (f + 1) * width);
    const known = Math.min(count, different);
    if (isCategorical[f]) return categoriesOf(operation, f, row.slice(MISSING, MISSING + known), maxBins, known);
    return known <= maxBins ? row.slice(0, Math.max(0, known - 1)) : row.slice(2 * MISSING + 1, 2 * MISSING + maxBins);
  });
  return {
    thresholds,
    counts: Int32Array.from(thresholds, ({ length }, f) => (isCategorical[f] ? length : length + 1)),
    hasMissing: Array.from({ length: features }, (_, f) => (numbers as Float64Array)[3 * f + 2] !== 0),
    isCategorical,
    table: tensor(
      thresholds.map((row) => [...row, ...Array<number>(MISSING - row.length).fill(Number.POSITIVE_INFINITY)]),
      { device: x.device, dtype: x.dtype },
    ) as Tensor,
  };
}

/** Distinct rows, chosen by the seed (Floyd's method). */
function chosenRows(samples: number, seed: number, device: string): Tensor {
  const bits = bitsFrom([0, seed], 1);
  const chosen = new Set<number>();
  for (let last = samples - MOST_SAMPLED; last < samples; last++) {
    const row = below(last + 1, bits);
    chosen.add(chosen.has(row) ? last : row);
  }
  return tensor(Int32Array.from(chosen), { device }) as Tensor;
}

/** Between two neighbours, the middle: [features, maxBins - 1] quantiles of the values that are not missing. */
function quantilesOf(sorted: Tensor, present: Tensor, maxBins: number): Tensor {
  const { device } = sorted;
  // Whole numbers: the place is k (n - 1) / maxBins, its remainder says whether it lies between two values.
  const scaled = arange(1, maxBins, { device, dtype: "i32" })
    .expandDims(0)
    .mul(present.sub(1).maximum(0).expandDims(1));
  const low = scaled.floorDivide(maxBins).cast("i32");
  const isBetween = scaled.remainder(maxBins).greater(0);
  const [below, above] = [low, low.add(isBetween.cast("i32"))].map((at) =>
    sorted.takeAlongAxis(at.cast("i32"), { axis: 1 }),
  ) as [Tensor, Tensor];
  return below.add(above.sub(below).mul(0.5)) as Tensor;
}

function categoriesOf(operation: string, feature: number, values: Float64Array, maxBins: number, known: number) {
  const wrong = values.find((value) => !(Number.isInteger(value) && value >= 0 && value < MISSING));
  if (wrong !== undefined) {
    throw new ArgumentError(
      `${operation}: the categorical feature ${feature} has the value ${wrong}; categories are whole numbers from 0 to 254.`,
    );
  }
  if (known > maxBins) {
    throw new ArgumentError(
      `${operation}: the categorical feature ${feature} has ${known} categories; maxBins allows ${maxBins}.`,
    );
  }
  return values;
}

/** Codes of samples, four features to a word: u32 [words, samples]. */
export function codesOf({ table }: Bins, x: Tensor): Tensor {
  const [samples, features] = x.shape as [number, number];
  const columns = x.T.cast(table.dtype);
  const found = table.searchSorted(columns).minimum(MISSING - 1);
  const codes = where(columns.isNaN(), MISSING, found).cast("u32") as Tensor;
  const words = Math.ceil(features / 4);
  const filler = zeros([4 * words - features, samples], { device: x.device, dtype: "u32" }) as Tensor;
  const padded = (words * 4 === features ? codes : concat([codes, filler], { axis: 0 })) as Tensor;
  const shifts = tensor([1, 1 << 8, 1 << 16, 1 << 24], { device: x.device, dtype: "u32" }).reshape([1, 4, 1]);
  const packed = padded.reshape([words, 4, samples]).mul(shifts).sum({ axis: 1 }).cast("u32") as Tensor;
  return packed.realize() as Tensor;
}
