/** scikit-learn's answers about neighbours, which make-neighbors-cases.py writes. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { DensityKernel, DistanceMetric, Metric } from "../../../src/learn/index.js";

type Matrix = readonly (readonly number[])[];

interface Case {
  readonly set: string;
}

interface MeasuredCase extends Case {
  readonly k: number;
  readonly metric: Metric;
  readonly p: number;
}

interface PredictedCase {
  readonly weights: "uniform" | "distance";
  readonly predicted: readonly number[];
}

interface NeighborsCases {
  readonly sets: Readonly<Record<string, { readonly x: Matrix; readonly y: readonly number[] }>>;
  readonly neighbors: readonly (MeasuredCase & {
    readonly radius: number;
    readonly distances: Matrix;
    readonly indices: Matrix;
    /** Distances of the first five samples to their neighbours, without themselves. */
    readonly own: Matrix;
    readonly within: Matrix;
  })[];
  readonly pairs: readonly (Case & {
    readonly metric: DistanceMetric;
    readonly options: object;
    readonly k: number;
    readonly radius: number;
    readonly distances: Matrix;
    readonly own: Matrix;
    /** How many samples are within the radius of each query, and the sum of their distances. */
    readonly counts: readonly number[];
    readonly sums: readonly number[];
  })[];
  /** Logarithms of densities; null where there is none. */
  readonly densities: readonly (Case & {
    readonly kernel: DensityKernel;
    readonly bandwidth: number | "scott" | "silverman";
    readonly weighted: boolean;
    readonly columns: number;
    readonly metric: Metric;
    readonly scores: readonly (number | null)[];
  })[];
  readonly outliers: readonly (MeasuredCase & {
    readonly contamination: number | "auto";
    readonly factors: readonly number[];
    readonly labels: readonly number[];
    readonly offset: number;
    readonly scores: readonly number[];
    readonly decisions: readonly number[];
    readonly predicted: readonly number[];
  })[];
  readonly classifiers: readonly (MeasuredCase &
    PredictedCase & { readonly probabilities: Matrix; readonly score: number })[];
  readonly regressors: readonly (MeasuredCase & PredictedCase)[];
  readonly radiusClassifiers: readonly (Case &
    PredictedCase & {
      readonly radius: number;
      readonly outlier: number | "most_frequent";
      readonly probabilities: Matrix;
    })[];
  readonly radiusRegressors: readonly (Case & PredictedCase & { readonly radius: number })[];
  readonly centroids: readonly (Case & {
    readonly metric: "euclidean" | "manhattan" | "chebyshev";
    readonly shrink: number | null;
    readonly centroids: Matrix;
    readonly predicted: readonly number[];
  })[];
}

export const neighborsCases = (): NeighborsCases =>
  JSON.parse(readFileSync(resolve("test/learn/neighbors/neighbors-cases.json"), "utf8"));

/** null in a file stands for NaN. */
const withGaps = (rows: Matrix): Matrix =>
  rows.map((row) => row.map((value: number | null) => (value === null ? Number.NaN : value)));

/** The samples to fit, their targets, and the fifteen after them, which are new. */
export function partsOf({ sets }: NeighborsCases, name: string) {
  const { x: rows, y } = sets[name]!;
  const x = withGaps(rows);
  const cut = x.length - 15;
  return { x: x.slice(0, cut), y: y.slice(0, cut), queries: x.slice(cut), targets: y.slice(cut) };
}
