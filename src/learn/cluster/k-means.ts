/**
 * k-means: clusters around centres, each sample in that of its nearest. Rounds (lloyd.ts) start from spread or drawn samples (seeding.ts),
 * several times where that is asked for; the start with the least inertia is kept. Nothing is read on the way, so fits trace.
 */
import { checkWhole } from "../../core/arguments.js";
import { full, type Tensor } from "../../tensor/index.js";
import { clusterer } from "../core/sorts.js";
import { centersMethods } from "./centers-methods.js";
import {
  CENTERS,
  type CentersOptions,
  checkCenters,
  clustersFor,
  drawnCenters,
  firstCenters,
} from "./k-means-options.js";
import { type Clustering, lloyd } from "./lloyd.js";
import { keyOf } from "./seeding.js";
import { bestStart, isOfLessInertia } from "./starts.js";

/**
 * Options of `kMeans`. A fit ends when no sample changes its cluster, when the squared moves of the centres are in sum no more than `tol`
 * times the mean variance of the features (1e-4 unless told), or after `maxIter` rounds (300).
 */
export interface KMeansOptions extends CentersOptions {
  /** Starts of which the best is kept. "auto", unless told: 1 for "k-means++" and for given rows, 10 for "random". */
  readonly nInit?: number | "auto";
}

/** What k-means learns. */
export interface KMeansLearned {
  /** [clusters, features]. */
  readonly centers: Tensor;
  /** The cluster of each sample of the fit, [samples], i32. */
  readonly labels: Tensor;
  /** The sum of the squared distances of samples to their centres, each counted by its weight. */
  readonly inertia: Tensor;
  /** Rounds that were run, i32. */
  readonly iterations: Tensor;
  readonly [name: string]: Tensor;
}

/** Clusters of one start or the best of several, of samples as they are. */
export function kMeansOf(operation: string, x: Tensor, weights: Tensor | null, options: KMeansOptions): Clustering {
  const { nInit = "auto", tol = 1e-4, maxIter = 300, seed = 0, init } = options;
  clustersFor(operation, options, x);
  const offset = x.mean({ axis: 0 }) as Tensor;
  const data = { x: x.sub(offset) as Tensor, weights, offset };
  const tolerance = (
    tol === 0 ? full([], 0, { device: x.device, dtype: x.dtype }) : x.variance({ axis: 0 }).mean().mul(tol)
  ) as Tensor;
  const starts = drawnCenters(options) === null ? 1 : nInit === "auto" ? (init === "random" ? 10 : 1) : nInit;
  const found = bestStart(
    starts,
    keyOf(seed, x),
    (key) => lloyd(data.x, weights, firstCenters(operation, options, key, data), { tolerance, maxIter }),
    isOfLessInertia,
  );
  return { ...found, centers: found.centers.add(offset) as Tensor };
}

/** Clusters around centres. */
export const kMeans = clusterer<KMeansLearned, KMeansOptions, typeof centersMethods>({
  kind: "kMeans",
  options: { ...CENTERS, nInit: "any" },
  check(options) {
    checkCenters("kMeans", options);
    if (options.nInit !== "auto") checkWhole("kMeans", "nInit", options.nInit ?? 1, 1);
  },
  learn: ({ x, weights }, options) => ({ ...kMeansOf("kMeans.fit", x, weights, options) }),
  methods: centersMethods,
});
