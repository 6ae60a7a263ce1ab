/**
 * DBSCAN (Ester, Kriegel, Sander & Xu 1996): clusters are chains of core samples, those with enough samples within a radius, and what is
 * within the radius of one. The pairs within the radius (touching.ts) are gone over twice: to count who is core, and to join. The unions are
 * sequential, and the host's work.
 */
import { checkWhole } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { type Tensor, tensor } from "../../tensor/index.js";
import type { FitProgress } from "../core/estimator.js";
import { clusterer } from "../core/sorts.js";
import { hostValues } from "../neighbors/within.js";
import {
  checkDistances,
  checkPrecomputed,
  DISTANCE_KINDS,
  type DistanceOptions,
  isPrecomputed,
  spaceFor,
} from "./distances.js";
import { type Touching, touching, touchingIn } from "./touching.js";
import { UnionFind } from "./union-find.js";

/** Options of `dbscan`. */
export interface DbscanOptions extends DistanceOptions {
  /** The radius within which samples are neighbours: 0.5 unless told. */
  readonly eps?: number;
  /** The samples (or their total weight) within the radius that make a core sample, itself among them: 5 unless told. */
  readonly minSamples?: number;
}

/** What `dbscan` learns. */
export interface DbscanLearned {
  /** The cluster of each sample, [samples], i32; -1 for noise. */
  readonly labels: Tensor;
  /** The places of the core samples, in order, i32. */
  readonly coreIndices: Tensor;
  readonly [name: string]: Tensor;
}

/** Clusters by density. Of clusters that reach a sample that is no core, the first has it, as in scikit-learn. */
export const dbscan = clusterer<DbscanLearned, DbscanOptions>({
  kind: "dbscan",
  options: { eps: "number", minSamples: "number", ...DISTANCE_KINDS },
  check(options) {
    checkDistances("dbscan", options);
    const { eps = 0.5, minSamples = 5 } = options;
    checkWhole("dbscan", "minSamples", minSamples, 1);
    if (eps > 0) return;
    throw new ArgumentError(`dbscan: eps is ${eps}; it is a distance above 0.`);
  },
  async *learn({ x, weights, signal }, options) {
    const { eps = 0.5, minSamples = 5 } = options;
    const pairs = await pairsOf(x, eps, options, signal);
    const progress = (step: number): FitProgress => ({ step, steps: 2 });
    const counts = await pairs.counts(weights ? await hostValues(weights) : null, minSamples);
    const isCore = Uint8Array.from(counts, (count) => (count >= minSamples ? 1 : 0));
    yield progress(1);
    signal?.throwIfAborted();
    const labels = await labelsOf(isCore, pairs);
    yield progress(2);
    const core = Int32Array.from([...isCore.keys()].filter((i) => isCore[i] === 1));
    const { device } = x;
    return { labels: tensor(labels, { device }) as Tensor, coreIndices: tensor(core, { device }) as Tensor };
  },
});

async function pairsOf(
  x: Tensor,
  eps: number,
  options: DbscanOptions,
  signal: AbortSignal | undefined,
): Promise<Touching> {
  if (isPrecomputed(options)) {
    await checkPrecomputed("dbscan.fit", x);
    return touchingIn(x, eps, signal);
  }
  const space = spaceFor(options);
  return touching(space.embed(x), space.reduced(eps), space, signal);
}

/** Numbers of the components of core samples, in the order of their first samples; others take the least number that reaches them. */
async function labelsOf(isCore: Uint8Array, pairs: Touching): Promise<Int32Array> {
  const count = isCore.length;
  const groups = new UnionFind(count);
  const [border, reached]: number[][] = [[], []];
  await pairs.joins(isCore, (core, other) => {
    if (isCore[other]) groups.join(core, other);
    else {
      border.push(other);
      reached.push(core);
    }
  });
  const labels = new Int32Array(count).fill(-1);
  let next = 0;
  for (let i = 0; i < count; i++) {
    if (!isCore[i]) continue;
    const root = groups.rootOf(i);
    // The root is the first of its group.
    labels[i] = root === i ? next++ : (labels[root] as number);
  }
  border.forEach((other, i) => {
    const label = labels[reached[i] as number] as number;
    const known = labels[other] as number;
    if (known < 0 || label < known) labels[other] = label;
  });
  return labels;
}
