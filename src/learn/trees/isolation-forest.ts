/**
 * The isolation forest (Liu, Ting & Zhou 2008): trees split a few rows by random thresholds of random features. Unusual samples are alone
 * after few splits, so short ways from the root mean outliers.
 */
import { checkWhole } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { full, type Tensor, where, zeros } from "../../tensor/index.js";
import type { FitProgress } from "../core/estimator.js";
import type { Fitted } from "../core/model.js";
import type { Samples } from "../core/samples.js";
import { outlierDetector, samplesFor } from "../core/sorts.js";
import { exactData } from "./exact-data.js";
import type { ExactLimits } from "./exact-growth.js";
import { growForest } from "./forest-growth.js";
import { predictionsOf, type TreeTensors } from "./grown-tree.js";
import { columnTensors, type TreeColumns } from "./node-table.js";
import { checkFeatures, numberOfFeatures } from "./tree-options.js";

/** Options of `isolationForest`. */
export interface IsolationForestOptions {
  /** The number of trees: 100 unless told. */
  readonly nEstimators?: number;
  /** Rows of each tree, a number or a share below 1: 256 unless told, and at most all. */
  readonly maxSamples?: number;
  /** Features of each tree: a number from 1 on, a share below 1, or null for all, unless told. */
  readonly maxFeatures?: number | null;
  /** Whether the rows of a tree are drawn with replacement: false unless told. */
  readonly bootstrap?: boolean;
  /** The share of outliers among the samples of the fit, up to 0.5; "auto" unless told: those with a score below -0.5. */
  readonly contamination?: number | "auto";
  /** Which rows, features and thresholds: 0 unless told. */
  readonly seed?: number;
}

/** What `isolationForest` learns. */
export interface IsolationForestLearned {
  /** Values of leaves are lengths of ways: splits, and what the rows of the leaf would have needed further. */
  readonly trees: TreeTensors;
  /** The mean length of a way through a tree of as many rows. */
  readonly usualLength: Tensor;
  /** The score below which a sample is an outlier. */
  readonly offset: Tensor;
  /** 1 for a usual sample of the fit, -1 for an outlier, [samples], i32. */
  readonly labels: Tensor;
  readonly [name: string]: Tensor | TreeTensors;
}

/** The mean length of an unsuccessful search in a binary search tree of `rows` keys. */
function usualLength(rows: number): number {
  if (rows <= 1) return 0;
  if (rows === 2) return 1;
  return 2 * (Math.log(rows - 1) + 0.5772156649015329) - (2 * (rows - 1)) / rows;
}

/** The length of the way to each node, and what its rows would need further, as the node's value. */
function withLengths(columns: TreeColumns): TreeColumns {
  const { sizes, left, right, count } = columns;
  const depths = new Int32Array(left.length);
  let first = 0;
  for (const size of sizes) {
    // Parents stand before their children.
    for (let node = first; node < first + size; node++) {
      if ((left[node] as number) < 0) continue;
      for (const child of [left[node], right[node]] as number[]) depths[first + child] = (depths[node] as number) + 1;
    }
    first += size;
  }
  return { ...columns, value: Float64Array.from(depths, (depth, node) => depth + usualLength(count[node] as number)) };
}

const scoresOf = ({ trees, usualLength: usual }: IsolationForestLearned, x: Tensor): Tensor => {
  const lengths = predictionsOf(trees, x).squeeze(2).mean({ axis: 1 });
  return lengths.div(usual).neg().mul(Math.LN2).exp().neg() as Tensor;
};

const methods = {
  /** The negative of the paper's anomaly score, [samples]: about -0.5 for usual samples, close to -1 for outliers. */
  scoreSamples: (model: Fitted<IsolationForestLearned, IsolationForestOptions>, samples: Samples): Tensor =>
    scoresOf(model.learned, samplesFor(model as Fitted<unknown, object>, "scoreSamples", samples)),
};

async function* learn(
  x: Tensor,
  options: IsolationForestOptions,
  signal: AbortSignal | undefined,
): AsyncGenerator<FitProgress, IsolationForestLearned> {
  const { nEstimators = 100, maxSamples = 256, contamination = "auto", seed = 0 } = options;
  const { maxFeatures = null, bootstrap = false } = options;
  const { device, dtype } = x;
  const [samples, features] = x.shape as [number, number];
  const some = Math.min(samples, Math.max(1, Math.floor(maxSamples < 1 ? maxSamples * samples : maxSamples)));
  const data = exactData(x, zeros([samples], { device, dtype }) as Tensor, "squared", 0);
  const limits: ExactLimits = {
    ...{
      minSamplesSplit: 2,
      minSamplesLeaf: 1,
      minWeightFractionLeaf: 0,
      maxLeafNodes: null,
      minImpurityDecrease: 0,
      ccpAlpha: 0,
      seed,
    },
    ...{ maxDepth: Math.ceil(Math.log2(Math.max(2, some))), maxFeatures: 1, isRandom: true, splitsPure: true },
    featuresOfTree: maxFeatures === null ? null : numberOfFeatures(maxFeatures, features),
  };
  const plan = { trees: nEstimators, rows: { some, replaces: bootstrap }, predictsUnseen: false } as const;
  const { groups } = yield* growForest(data, x, null, limits, plan, signal);
  const learned = {
    trees: columnTensors(groups.map(withLengths), device, dtype),
    // One row alone has no way; any length does then.
    usualLength: full([], usualLength(some) || 1, { device, dtype }).realize() as Tensor,
  };
  const scores = scoresOf(learned as unknown as IsolationForestLearned, x).realize() as Tensor;
  const offset = contamination === "auto" ? full([], -0.5, { device, dtype }) : scores.quantile(contamination);
  return {
    ...learned,
    offset: offset.realize() as Tensor,
    labels: where(scores.less(offset), -1, 1).cast("i32") as Tensor,
  };
}

/** Outliers by how few random splits set them apart. */
export const isolationForest = outlierDetector<IsolationForestLearned, IsolationForestOptions, typeof methods>({
  kind: "isolationForest",
  options: {
    ...{ nEstimators: "number", maxSamples: "number", maxFeatures: "any", bootstrap: "flag" },
    ...{ contamination: "any", seed: "number" },
  },
  takesWeights: false,
  check({ nEstimators = 100, maxSamples = 256, maxFeatures = null, contamination = "auto", seed = 0 }) {
    checkWhole("isolationForest", "nEstimators", nEstimators, 1);
    checkWhole("isolationForest", "seed", seed, 0);
    if (!(maxSamples > 0 && maxSamples < 1)) checkWhole("isolationForest", "maxSamples", maxSamples, 1);
    checkFeatures("isolationForest", maxFeatures, false);
    if (contamination === "auto" || (contamination > 0 && contamination <= 0.5)) return;
    throw new ArgumentError(
      `isolationForest: contamination is ${shown(contamination)}; it is "auto" or a share above 0, at most 0.5.`,
    );
  },
  learn: ({ x, signal }, options) => learn(x, options, signal),
  decision: (learned, x) => scoresOf(learned, x).sub(learned.offset) as Tensor,
  methods,
});
