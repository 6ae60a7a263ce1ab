/**
 * Agglomerative clusters: each sample begins as a cluster, and the two nearest merge until one is left. The tree of merges (linkage.ts) is
 * learned whole, so that it can be cut elsewhere later (merge-tree.ts). Distances are the device's; merges follow each other on the host.
 */
import { checkChoice } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { type Tensor, tensor } from "../../tensor/index.js";
import { clusterer } from "../core/sorts.js";
import { checkDistances, condensedDistances, DISTANCE_KINDS, type DistanceOptions, distancesOf } from "./distances.js";
import { LINKAGE_METHODS, type LinkageMethod, type Merges, mergesOf, singleMerges } from "./linkage.js";
import { type CutOptions, checkCut, cutLabels } from "./merge-tree.js";

/** Options of `agglomerativeClustering`. Without `nClusters` and `distanceThreshold` there are 2 clusters. */
export interface AgglomerativeOptions extends CutOptions, DistanceOptions {
  /**
   * How far apart two clusters are: "ward" unless told, the growth of variance by their merge. "complete" and "single" take the
   * farthest and the nearest pair, "average" the mean of pairs, "weighted" that of the two merged parts, "centroid" and "median"
   * distances of middles.
   */
  readonly linkage?: LinkageMethod;
}

/** What `agglomerativeClustering` learns. */
export interface AgglomerativeLearned {
  /** The cluster of each sample, [samples], i32. */
  readonly labels: Tensor;
  /**
   * The tree of merges as in SciPy, [samples - 1, 4]: the two clusters, their distance, and the number of samples of both. Samples are
   * clusters 0 … samples - 1, and row i makes cluster samples + i.
   */
  readonly linkage: Tensor;
  readonly [name: string]: Tensor;
}

async function mergesOfSamples(x: Tensor, options: AgglomerativeOptions): Promise<Merges> {
  const operation = "agglomerativeClustering.fit";
  const { linkage = "ward" } = options;
  if (linkage === "single") return singleMerges(await distancesOf(operation, x, options));
  return mergesOf(linkage, await condensedDistances(operation, x, options), x.shape[0] as number);
}

/** Clusters that grow by merges of the two nearest. Numbered in the order of their first samples. */
export const agglomerativeClustering = clusterer<AgglomerativeLearned, AgglomerativeOptions>({
  kind: "agglomerativeClustering",
  options: { nClusters: "number", distanceThreshold: "number", linkage: "text", ...DISTANCE_KINDS },
  takesWeights: false,
  check(options) {
    const { linkage = "ward", metric = "minkowski", p = 2 } = options;
    checkDistances("agglomerativeClustering", options);
    checkChoice("agglomerativeClustering", "linkage", linkage, LINKAGE_METHODS);
    checkCut("agglomerativeClustering", options);
    const isOfMiddles = linkage === "ward" || linkage === "centroid" || linkage === "median";
    const isEuclidean = metric === "euclidean" || metric === "precomputed" || (metric === "minkowski" && p === 2);
    if (!isOfMiddles || isEuclidean) return;
    throw new ArgumentError(
      `agglomerativeClustering: linkage "${linkage}" is one of Euclidean distances, and metric is "${metric}"; ` +
        'take linkage "average", "complete", "single" or "weighted".',
    );
  },
  learn:
    ({ x, signal }, options) =>
    async () => {
      const merges = await mergesOfSamples(x, options);
      signal?.throwIfAborted();
      const labels = cutLabels("agglomerativeClustering.fit", merges, options);
      const { device, dtype } = x;
      return {
        labels: tensor(labels, { device }) as Tensor,
        linkage: tensor(merges, { device, dtype, shape: [merges.length / 4, 4] }) as Tensor,
      };
    },
});
