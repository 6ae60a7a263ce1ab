/** scikit-learn's clusters of graphs, which make-graph-cases.py writes. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type {
  AffinityPropagationOptions,
  SpectralClusteringOptions,
  SpectralEmbeddingOptions,
} from "../../../src/learn/index.js";
import { clusterCases } from "./cases.js";

interface GraphCases {
  readonly sets: Readonly<Record<string, readonly (readonly number[])[]>>;
  readonly spectral: readonly {
    readonly set: string;
    readonly options: SpectralClusteringOptions;
    readonly labels: readonly number[];
  }[];
  readonly embedding: readonly {
    readonly set: string;
    readonly options: SpectralEmbeddingOptions;
    readonly places: readonly (readonly number[])[];
  }[];
  readonly propagation: readonly {
    readonly set: string;
    readonly options: AffinityPropagationOptions;
    readonly labels: readonly number[];
    readonly centers: readonly number[];
    readonly iterations: number;
    readonly new: readonly (readonly number[])[];
    readonly predicted: readonly number[];
  }[];
}

export function graphCases(): GraphCases {
  const cases: GraphCases = JSON.parse(readFileSync(resolve("test/learn/cluster/graph-cases.json"), "utf8"));
  return { ...cases, sets: { ...clusterCases().sets, ...cases.sets } };
}
