/** Numbers as numbers of bins: columns cut into stretches of equal width, of equal count, or around centers. */
import { checkChoice } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { type Tensor, tensor } from "../../tensor/index.js";
import { inputNames } from "../core/feature-names.js";
import type { Fitted } from "../core/model.js";
import type { Samples } from "../core/samples.js";
import { samplesFor, transformer } from "../core/sorts.js";
import { columnQuantiles, evenShares } from "./column-quantiles.js";
import { type CodeColumns, codeColumns, codesIn, columnsOf, ofCodes } from "./one-of-columns.js";
import { sortedClusters } from "./sorted-clusters.js";

/** Options of `kBinsDiscretizer`. */
export interface KBinsDiscretizerOptions {
  /** The number of bins of all columns, or of each: 5 unless told. */
  readonly nBins?: number | readonly number[];
  /** "onehot" unless told: a column of zeros and ones for each bin; "ordinal": the number of the bin. */
  readonly encode?: "onehot" | "ordinal";
  /** "quantile" unless told: bins of equal count; "uniform": of equal width; "kmeans": around the centers of groups. */
  readonly strategy?: "uniform" | "quantile" | "kmeans";
}

/** Edges of bins by column. */
export interface KBinsDiscretizerLearned {
  /** [features, most bins + 1]; NaN after the last edge of a column. */
  readonly edges: Tensor;
  /** The number of bins of each column, i32. */
  readonly counts: Tensor;
  /** The columns that come out one by one. */
  readonly columns: CodeColumns;
  readonly [name: string]: Tensor | CodeColumns;
}

/** Bins of less width are joined with their neighbours: this, and of columns that span less than 1 this share of what they span. */
const LEAST_WIDTH = 1e-8;

const evenly = (low: number, high: number, count: number): Float64Array =>
  Float64Array.from(evenShares(count + 1), (share) => (share === 1 ? high : low + share * (high - low)));

function centerEdges(sorted: Float64Array, count: number): Float64Array {
  const [low, high] = [sorted[0] as number, sorted.at(-1) as number];
  const even = evenly(low, high, count);
  const centers = sortedClusters(
    sorted,
    even.slice(1).map((edge, i) => (edge + (even[i] as number)) / 2),
  );
  return Float64Array.of(low, ...centers.slice(1).map((center, i) => (center + (centers[i] as number)) / 2), high);
}

/** The edges of a column from its sorted values. One that does not vary is one bin. */
function edgesOf(sorted: Float64Array, count: number, strategy: "uniform" | "kmeans"): Float64Array {
  const [low, high] = [sorted[0] as number, sorted.at(-1) as number];
  if (low === high) return Float64Array.of(low, high);
  return strategy === "uniform" ? evenly(low, high, count) : withoutNarrow(centerEdges(sorted, count));
}

/** Edges of a column, each more than the least width above the one before. */
function withoutNarrow(edges: Float64Array): Float64Array {
  if (edges[0] === edges.at(-1)) return Float64Array.of(edges[0] as number, edges[0] as number);
  const least = LEAST_WIDTH * Math.min(1, (edges.at(-1) as number) - (edges[0] as number));
  return edges.filter((edge, i) => i === 0 || edge - (edges[i - 1] as number) > least);
}

function countsOf(operation: string, features: number, { nBins = 5 }: KBinsDiscretizerOptions): readonly number[] {
  if (typeof nBins === "number") return Array<number>(features).fill(nBins);
  if (nBins.length === features) return nBins;
  throw new ArgumentError(`${operation}: nBins tells of ${nBins.length} features, and samples have ${features}.`);
}

/** Edges of all columns. Quantiles and extremes are found on the device; for centers the sorted columns are read. */
async function allEdges(x: Tensor, counts: readonly number[], { strategy = "quantile" }: KBinsDiscretizerOptions) {
  if (strategy === "quantile") {
    const lists = counts.map((count, j) =>
      columnQuantiles(x.at(":", `${j}:${j + 1}`) as Tensor, count + 1)
        .cast("f64")
        .data(),
    );
    return (await Promise.all(lists)).map((edges) => withoutNarrow(edges as Float64Array));
  }
  const sorted = x.T.sort({ axis: 1 });
  const read = strategy === "uniform" ? sorted.take([0, -1], { axis: 1 }) : sorted;
  const width = read.shape[1] as number;
  const values = (await read.cast("f64").data()) as Float64Array;
  return counts.map((count, j) => edgesOf(values.subarray(j * width, (j + 1) * width), count, strategy));
}

/** The number of the bin of each value: [samples, features], i32. */
function binsOf({ edges, counts }: KBinsDiscretizerLearned, x: Tensor): Tensor {
  const upper = edges.at(":", "1:") as Tensor;
  const found = upper.searchSorted(x.cast(edges.dtype).T as Tensor, { side: "right" });
  return found.T.minimum(counts.sub(1)) as Tensor;
}

const methods = {
  /** The middle of each sample's bin. */
  inverseTransform(model: Fitted<KBinsDiscretizerLearned, KBinsDiscretizerOptions>, binned: Samples): Tensor {
    const { edges, columns } = model.learned;
    const { count } = model.features;
    const isOrdinal = model.options.encode === "ordinal";
    const width = isOrdinal ? count : (columns.feature.shape[0] as number);
    const like = { ...model, features: { count: width, names: null, categories: null } };
    const given = samplesFor(like, "inverseTransform", binned);
    const bins = (isOrdinal ? given : codesIn(given, columns, count)).round().cast("i32").T;
    const middles = edges.at(":", "1:").add(edges.at(":", ":-1")).mul(0.5);
    return middles.takeAlongAxis(bins as Tensor, { axis: 1 }).T as Tensor;
  },
};

/** Columns of numbers as bins. */
export const kBinsDiscretizer = transformer<KBinsDiscretizerLearned, KBinsDiscretizerOptions, typeof methods>({
  kind: "kBinsDiscretizer",
  options: { nBins: "numbers", encode: "text", strategy: "text" },
  takesWeights: false,
  check({ nBins = 5, encode, strategy }) {
    checkChoice("kBinsDiscretizer", "encode", encode, ["onehot", "ordinal"]);
    checkChoice("kBinsDiscretizer", "strategy", strategy, ["uniform", "quantile", "kmeans"]);
    const all = typeof nBins === "number" ? [nBins] : nBins;
    if (all.every((each) => Number.isSafeInteger(each) && each >= 2)) return;
    throw new ArgumentError(`kBinsDiscretizer: nBins is ${shown(nBins)}; there are two bins at least.`);
  },
  learn:
    ({ x }, options) =>
    async () => {
      const { device, dtype } = x;
      const edges = await allEdges(x, countsOf("kBinsDiscretizer.fit", x.shape[1] as number, options), options);
      const most = Math.max(...edges.map(({ length }) => length));
      const padded = edges.map((each) => [...each, ...Array<number>(most - each.length).fill(Number.NaN)]);
      const columns = edges.flatMap(({ length }, feature) =>
        Array.from({ length: length - 1 }, (_, bin) => [feature, bin] as const),
      );
      return {
        edges: tensor(padded, { device, dtype }) as Tensor,
        counts: tensor(
          Int32Array.from(edges, ({ length }) => length - 1),
          { device },
        ) as Tensor,
        columns: codeColumns(columns, device),
      };
    },
  transform(learned, x, { encode }) {
    const bins = binsOf(learned, x);
    return encode === "ordinal" ? (bins.cast(x.dtype) as Tensor) : ofCodes(bins, learned.columns, x.dtype);
  },
  featureNames({ columns }, features, { encode }) {
    const names = inputNames(features);
    return encode === "ordinal" ? names : columnsOf(columns).map(([feature, bin]) => `${names[feature]}_${bin}`);
  },
  methods,
});
