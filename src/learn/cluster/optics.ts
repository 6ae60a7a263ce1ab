/**
 * OPTICS (Ankerst, Breunig, Kriegel & Sander 1999): the order in which samples are reached from denser ones, and how far each was to reach.
 * Valleys of this plot are clusters: at one depth, which is DBSCAN's, or between steep sides (steep-sides.ts). Neighbours are the device's
 * work; the order, in which each step depends on the last, is the host's.
 */
import { checkChoice } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { type Tensor, tensor } from "../../tensor/index.js";
import { clusterer } from "../core/sorts.js";
import {
  checkDistances,
  coreDistances,
  DISTANCE_KINDS,
  type DistanceOptions,
  type Distances,
  distancesOf,
} from "./distances.js";
import { clustersBySides, labelsOfRanges, type Plot } from "./steep-sides.js";

/** Options of `optics`. */
export interface OpticsOptions extends DistanceOptions {
  /** Neighbours, a sample itself among them, whose farthest says how dense its place is; below 1 a share of all samples. 5 unless told. */
  readonly minSamples?: number;
  /** The largest distance at which samples are neighbours: any unless told. */
  readonly maxEps?: number;
  /** "xi" unless told: clusters between steep sides. "dbscan": those at one distance, `eps`. */
  readonly clusterMethod?: "xi" | "dbscan";
  /** The distance of "dbscan": `maxEps` unless told. */
  readonly eps?: number;
  /** How steep a side is, between 0 and 1: 0.05 unless told, a fall or rise by this share from one sample to the next. */
  readonly xi?: number;
  /** Whether ends of "xi" that were not reached from inside their cluster are cut off: true unless told. */
  readonly predecessorCorrection?: boolean;
  /** The samples of a cluster of "xi" at least; below 1 a share of all samples. `minSamples` unless told. */
  readonly minClusterSize?: number;
}

/** What `optics` learns. All but the order are by sample. */
export interface OpticsLearned {
  /** The cluster of each sample, [samples], i32; -1 for noise. */
  readonly labels: Tensor;
  /** Samples in the order they were reached, i32. */
  readonly ordering: Tensor;
  /** How far each was to reach; Infinity for those where a part begins. */
  readonly reachability: Tensor;
  /** The distance within which each has enough neighbours; Infinity where that is beyond `maxEps`. */
  readonly coreDistances: Tensor;
  /** The sample from which each was reached, i32; -1 where a part begins. */
  readonly predecessors: Tensor;
  /** Ranges of the order that are clusters of "xi", [clusters, 2], i32: first and last places. Smaller ones come before those they lie in. */
  readonly hierarchy: Tensor;
  readonly [name: string]: Tensor;
}

/** A number of samples that may be told as a share. */
function amountOf(name: string, amount: number, samples: number): number {
  if (amount < 1) return Math.max(2, Math.floor(amount * samples));
  if (amount <= samples) return amount;
  throw new ArgumentError(`optics.fit: ${name} is ${amount}, and there are ${samples} samples.`);
}

function check(options: OpticsOptions): void {
  checkDistances("optics", options);
  checkChoice("optics", "clusterMethod", options.clusterMethod, ["xi", "dbscan"]);
  for (const name of ["minSamples", "minClusterSize"] as const) {
    const amount = options[name];
    if (amount === undefined || (amount > 0 && amount < 1) || (Number.isSafeInteger(amount) && amount > 1)) continue;
    throw new ArgumentError(`optics: ${name} is ${shown(amount)}; it is a whole number above 1, or a share below 1.`);
  }
  const { xi = 0.05, maxEps = Number.POSITIVE_INFINITY, eps = maxEps } = options;
  if (!(xi > 0 && xi < 1)) throw new ArgumentError(`optics: xi is ${xi}; it is a share between 0 and 1.`);
  if (!(maxEps > 0)) throw new ArgumentError(`optics: maxEps is ${maxEps}; it is a distance above 0.`);
  if (eps > 0 && eps <= maxEps) return;
  throw new ArgumentError(`optics: eps is ${eps}; it is a distance above 0, at most maxEps, which is ${maxEps}.`);
}

/** Goes from sample to sample, to the one that is nearest to reach; of equals, to the first. */
function plotOf({ count, from }: Distances, cores: Float64Array, maxEps: number): Plot {
  const ordering = new Int32Array(count);
  const reachability = new Float64Array(count).fill(Number.POSITIVE_INFINITY);
  const predecessors = new Int32Array(count).fill(-1);
  const isDone = new Uint8Array(count);
  let at = 0;
  for (let place = 0; place < count; place++) {
    isDone[at] = 1;
    ordering[place] = at;
    const core = cores[at] as number;
    const distances = core < Number.POSITIVE_INFINITY ? from(at) : null;
    let next = -1;
    for (let i = 0; i < count; i++) {
      if (isDone[i]) continue;
      if (distances && (distances[i] as number) <= maxEps) {
        const reach = Math.max(distances[i] as number, core);
        if (reach < (reachability[i] as number)) {
          reachability[i] = reach;
          predecessors[i] = at;
        }
      }
      if (next < 0 || (reachability[i] as number) < (reachability[next] as number)) next = i;
    }
    at = next;
  }
  return { ordering, reachability, predecessors };
}

/** Clusters as DBSCAN finds them at a distance, but for samples on their borders: valleys below it. */
function labelsAtDistance({ ordering, reachability }: Plot, cores: Float64Array, eps: number): Int32Array {
  const labels = new Int32Array(ordering.length).fill(-1);
  let label = -1;
  for (const i of ordering) {
    const [isFar, isCore] = [(reachability[i] as number) > eps, (cores[i] as number) <= eps];
    if (isFar && isCore) label++;
    if (!isFar || isCore) labels[i] = label;
  }
  return labels;
}

/** Clusters of differing densities, by the order in which samples are reached. */
export const optics = clusterer<OpticsLearned, OpticsOptions>({
  kind: "optics",
  options: {
    minSamples: "number",
    maxEps: "number",
    clusterMethod: "text",
    eps: "number",
    xi: "number",
    predecessorCorrection: "flag",
    minClusterSize: "number",
    ...DISTANCE_KINDS,
  },
  takesWeights: false,
  check,
  learn:
    ({ x, signal }, options) =>
    async () => {
      const count = x.shape[0] as number;
      const { maxEps = Number.POSITIVE_INFINITY, eps = maxEps, clusterMethod = "xi" } = options;
      const least = amountOf("minSamples", options.minSamples ?? 5, count);
      const size =
        options.minClusterSize === undefined ? least : amountOf("minClusterSize", options.minClusterSize, count);
      const distances = await distancesOf("optics.fit", x, options);
      const cores = (await coreDistances(x, least, options, distances)).map((core) =>
        core > maxEps ? Number.POSITIVE_INFINITY : core,
      );
      signal?.throwIfAborted();
      const plot = plotOf(distances, cores, maxEps);
      const { xi = 0.05, predecessorCorrection = true } = options;
      const ranges =
        clusterMethod === "xi" ? clustersBySides(plot, { xi, least, size, isCorrected: predecessorCorrection }) : [];
      const labels =
        clusterMethod === "xi" ? labelsOfRanges(plot.ordering, ranges) : labelsAtDistance(plot, cores, eps);
      const { device, dtype } = x;
      const whole = (values: Int32Array): Tensor => tensor(values, { device }) as Tensor;
      return {
        labels: whole(labels),
        ordering: whole(plot.ordering),
        reachability: tensor(plot.reachability, { device, dtype }) as Tensor,
        coreDistances: tensor(cores, { device, dtype }) as Tensor,
        predecessors: whole(plot.predecessors),
        hierarchy: tensor(Int32Array.from(ranges.flat()), { device, shape: [ranges.length, 2] }) as Tensor,
      };
    },
});
