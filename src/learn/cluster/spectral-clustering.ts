/**
 * Spectral clusters: parts of a graph that few edges leave, of any shape. Samples are embedded by eigenvectors (spectral-embedding.ts), and
 * the clusters of the embedding are simple ones. A function of tensors, so that fits trace.
 */
import { checkChoice, checkWhole } from "../../core/arguments.js";
import type { Tensor } from "../../tensor/index.js";
import { checkWholeSetting } from "../core/settings.js";
import { clusterer } from "../core/sorts.js";
import { labelsByPivots, labelsByRotation } from "./embedding-labels.js";
import { kMeans } from "./k-means.js";
import {
  AFFINITY_KINDS,
  type AffinityOptions,
  affinitiesOf,
  checkAffinity,
  embeddingOf,
} from "./spectral-embedding.js";

type AssignLabels = "kMeans" | "clusterQr" | "discretize";

/** Starts of k-means, of which the best is kept. */
const STARTS = 10;

/** Options of `spectralClustering`. Affinities are "rbf" with γ 1 unless told, and neighbours 10. */
export interface SpectralClusteringOptions extends AffinityOptions {
  /** The number of clusters: 8 unless told. */
  readonly nClusters?: number;
  /** How clusters of the embedding are found: "kMeans" unless told, or "clusterQr" or "discretize", which need no chance. */
  readonly assignLabels?: AssignLabels;
  /** Decides the random numbers of "kMeans": 0 unless told. */
  readonly seed?: number;
}

/** What `spectralClustering` learns. */
export interface SpectralClusteringLearned {
  /** The cluster of each sample, [samples], i32. */
  readonly labels: Tensor;
  /** Samples as the eigenvectors place them, [samples, nClusters]. */
  readonly embedding: Tensor;
  readonly [name: string]: Tensor;
}

function labelsOf(embedding: Tensor, way: AssignLabels, seed: number): Tensor {
  switch (way) {
    case "kMeans": {
      const nClusters = embedding.shape[1] as number;
      return kMeans({ nClusters, nInit: STARTS, seed }).fitTensors(embedding, undefined).learned.labels;
    }
    case "clusterQr":
      return labelsByPivots(embedding);
    case "discretize":
      return labelsByRotation(embedding);
  }
}

/** Clusters of the graph of affinities. */
export const spectralClustering = clusterer<SpectralClusteringLearned, SpectralClusteringOptions>({
  kind: "spectralClustering",
  options: { nClusters: "number", assignLabels: "text", seed: "number", ...AFFINITY_KINDS },
  takesWeights: false,
  check(options) {
    checkAffinity("spectralClustering", options);
    checkWhole("spectralClustering", "nClusters", options.nClusters ?? 8, 1);
    checkChoice("spectralClustering", "assignLabels", options.assignLabels, ["kMeans", "clusterQr", "discretize"]);
  },
  learn({ x }, options) {
    const operation = "spectralClustering.fit";
    const { nClusters = 8, affinity = "rbf", gamma = 1, nNeighbors = 10 } = options;
    const { assignLabels = "kMeans", seed = 0 } = options;
    checkWholeSetting(operation, "nClusters", nClusters, x.shape[0] as number);
    const embedding = embeddingOf(affinitiesOf(operation, x, { affinity, gamma, nNeighbors }), nClusters);
    return { labels: labelsOf(embedding, assignLabels, seed), embedding };
  },
});
