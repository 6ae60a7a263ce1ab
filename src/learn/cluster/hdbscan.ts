/**
 * HDBSCAN (Campello, Moulavi & Sander 2013): clusters of any density. Two samples are as far apart as their distance, or as the sparser of
 * them is from its neighbours; the tree of merges under this distance (linkage.ts) is condensed (condensed-tree.ts), and clusters that last
 * are chosen of it (chosen-clusters.ts). Neighbours are the device's work, the tree is the host's.
 */
import { checkChoice, checkWhole } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { type Tensor, tensor } from "../../tensor/index.js";
import { clusterer } from "../core/sorts.js";
import { type Choice, chosenClusters } from "./chosen-clusters.js";
import { condensedTree } from "./condensed-tree.js";
import { checkDistances, coreDistances, DISTANCE_KINDS, type DistanceOptions, distancesOf } from "./distances.js";
import { spanningMerges } from "./linkage.js";

/** Options of `hdbscan`. */
export interface HdbscanOptions extends DistanceOptions {
  /** The samples of a cluster at least: 5 unless told. */
  readonly minClusterSize?: number;
  /** The neighbours, a sample itself among them, whose farthest says how sparse its place is: `minClusterSize` unless told. */
  readonly minSamples?: number;
  /** Clusters that split at less than this distance stay one: 0 unless told. */
  readonly clusterSelectionEpsilon?: number;
  /** "eom" unless told, the excess of mass: clusters that last. "leaf": the smallest clusters, which are more alike in size. */
  readonly clusterSelectionMethod?: "eom" | "leaf";
  /** Whether all samples may be one cluster: false unless told. */
  readonly allowSingleCluster?: boolean;
  /** "eom" takes no clusters of more samples; any size unless told. */
  readonly maxClusterSize?: number;
  /** Distances are divided by this before they are compared with how sparse a place is: 1 unless told. */
  readonly alpha?: number;
}

/** What `hdbscan` learns. */
export interface HdbscanLearned {
  /** The cluster of each sample, [samples], i32; -1 for noise. */
  readonly labels: Tensor;
  /** How surely each sample is in its cluster, [samples], from 0 to 1; 0 for noise. */
  readonly probabilities: Tensor;
  /** The condensed tree. */
  readonly tree: CondensedTreeLearned;
}

/**
 * Rows of a condensed tree: a child leaves its parent at λ, the inverse of a distance. Children below the number of samples are samples,
 * others are clusters, and the root has the number of samples for its own.
 */
interface CondensedTreeLearned {
  readonly [name: string]: Tensor;
  readonly parents: Tensor;
  readonly children: Tensor;
  readonly lambdas: Tensor;
  /** The samples of the child. */
  readonly sizes: Tensor;
  /** The clusters that were chosen, in the order of their labels. */
  readonly chosen: Tensor;
}

function check(options: HdbscanOptions): void {
  const { minClusterSize = 5, minSamples = 1, clusterSelectionEpsilon = 0, maxClusterSize = 2, alpha = 1 } = options;
  checkDistances("hdbscan", options);
  checkWhole("hdbscan", "minClusterSize", minClusterSize, 2);
  checkWhole("hdbscan", "minSamples", minSamples, 1);
  checkWhole("hdbscan", "maxClusterSize", maxClusterSize, 2);
  checkChoice("hdbscan", "clusterSelectionMethod", options.clusterSelectionMethod, ["eom", "leaf"]);
  if (!(clusterSelectionEpsilon >= 0)) {
    throw new ArgumentError(
      `hdbscan: clusterSelectionEpsilon is ${clusterSelectionEpsilon}; it is a distance, 0 or more.`,
    );
  }
  if (!(alpha > 0)) throw new ArgumentError(`hdbscan: alpha is ${alpha}; it is a number above 0.`);
}

/** Merges under the mutual reachability distance. */
async function reachabilityMerges(x: Tensor, options: HdbscanOptions): Promise<Float64Array> {
  const { minClusterSize = 5, minSamples = minClusterSize, alpha = 1 } = options;
  const count = x.shape[0] as number;
  if (minSamples > count) {
    throw new ArgumentError(`hdbscan.fit: minSamples is ${minSamples}, and there are ${count} samples.`);
  }
  const distances = await distancesOf("hdbscan.fit", x, options);
  const cores = await coreDistances(x, minSamples, options, distances);
  const row = new Float64Array(count);
  return spanningMerges(count, (a) => {
    const from = distances.from(a);
    const core = cores[a] as number;
    for (let b = 0; b < count; b++) row[b] = Math.max((from[b] as number) / alpha, core, cores[b] as number);
    return row;
  });
}

/** Clusters by density, whatever it is; scikit-learn's of the same name. */
export const hdbscan = clusterer<HdbscanLearned, HdbscanOptions>({
  kind: "hdbscan",
  options: {
    minClusterSize: "number",
    minSamples: "number",
    clusterSelectionEpsilon: "number",
    clusterSelectionMethod: "text",
    allowSingleCluster: "flag",
    maxClusterSize: "number",
    alpha: "number",
    ...DISTANCE_KINDS,
  },
  takesWeights: false,
  check,
  learn:
    ({ x, signal }, options) =>
    async () => {
      const merges = await reachabilityMerges(x, options);
      signal?.throwIfAborted();
      const tree = condensedTree(merges, options.minClusterSize ?? 5);
      const choice: Choice = {
        method: options.clusterSelectionMethod ?? "eom",
        epsilon: options.clusterSelectionEpsilon ?? 0,
        allowsSingle: options.allowSingleCluster ?? false,
        most: options.maxClusterSize ?? Number.POSITIVE_INFINITY,
      };
      const { labels, probabilities, clusters } = chosenClusters(tree, choice);
      const { device, dtype } = x;
      const whole = (values: Int32Array): Tensor => tensor(values, { device }) as Tensor;
      return {
        labels: whole(labels),
        probabilities: tensor(probabilities, { device, dtype }) as Tensor,
        tree: {
          parents: whole(tree.parents),
          children: whole(tree.children),
          lambdas: tensor(tree.lambdas, { device, dtype }) as Tensor,
          sizes: whole(tree.sizes),
          chosen: whole(clusters),
        },
      };
    },
});
