/**
 * Spectral clusters: parts of a graph that few edges leave, of any shape. Samples are embedded by eigenvectors (spectral-embedding.ts), and
 * the clusters of the embedding are simple ones. A function of tensors, so that fits trace.
 */
import { checkChoice, checkWhole } from "../../core/arguments.js";
import type { Tensor } from "../../tensor/index.js";
import { checkWholeSetting } from "../core/settings.js";
import { clusterer } from "../core/sorts.js";
import { labelsByPivots, labelsByRotation } from "./embedding-labels.js";
import { AFFINITY_KINDS, type AffinityOptions, affinitiesOf, checkAffinity, embeddingOf } from "./spectral-embedding.js";

/** Options of `spectralClustering`. Affinities are "rbf" with γ 1 unless told, and neighbours 10. */
export interface SpectralClusteringOptions extends AffinityOptions {
  /** The number of clusters: 8 unless told. */
  readonly nClusters?: number;
  /** How clusters of the embedding are found: "clusterQr" unless told, or "discretize". Neither depends on chance. */
  readonly assignLabels?: "clusterQr" | "discretize";
}

/** What `spectralClustering` learns. */
export interface SpectralClusteringLearned {
  /** The cluster of each sample, [samples], i32. */
  readonly labels: Tensor;
  /** Samples as the eigenvectors place them, [samples, nClusters]. */
  readonly embedding: Tensor;
  readonly [name: string]: Tensor;
}

/** Clusters of the graph of affinities. */
export const spectralClustering = clusterer<SpectralClusteringLearned, SpectralClusteringOptions>({
  kind: "spectralClustering",
  options: { nClusters: "number", assignLabels: "text", ...AFFINITY_KINDS },
  takesWeights: false,
  check(options) {
    checkAffinity("spectralClustering", options);
    checkWhole("spectralClustering", "nClusters", options.nClusters ?? 8, 1);
    checkChoice("spectralClustering", "assignLabels", options.assignLabels, ["clusterQr", "discretize"]);
  },
  learn({ x }, options) {
    const operation = "spectralClustering.fit";
    const { nClusters = 8, affinity = "rbf", gamma = 1, nNeighbors = 10, assignLabels = "clusterQr" } = options;
    checkWholeSetting(operation, "nClusters", nClusters, x.shape[0] as number);
    const embedding = embeddingOf(affinitiesOf(operation, x, { affinity, gamma, nNeighbors }), nClusters);
    const labels = assignLabels === "clusterQr" ? labelsByPivots(embedding) : labelsByRotation(embedding);
    return { labels, embedding };
  },
});
