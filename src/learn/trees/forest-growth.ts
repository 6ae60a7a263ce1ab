/**
 * Grows the trees of a forest, group after group: which rows each tree has, what they learn, and, where rows were left out, what trees
 * say of rows that they did not see. Decision trees are forests of one tree.
 */
import { ArgumentError } from "../../core/errors.js";
import { below, bitsFrom, permutation, type Seed } from "../../core/seeded-order.js";
import { foldIn, key, randint } from "../../random/index.js";
import { arange, ones, type Tensor, tensor, zeros } from "../../tensor/index.js";
import type { FitProgress } from "../core/estimator.js";
import { membersOf } from "../core/members.js";
import { type ExactData, sumType } from "./exact-data.js";
import { type ExactLimits, growExactly, type TreeRows } from "./exact-growth.js";
import { predictionsOf } from "./grown-tree.js";
import { columnTensors, type TreeColumns } from "./node-table.js";

/** How the trees of a forest differ. */
export interface ForestPlan {
  readonly trees: number;
  /** Rows of each tree: all of them, as many drawn with replacement ("bootstrap"), or some, each of them once. */
  readonly rows: "all" | "bootstrap" | SomeRows;
  /** Rows drawn by a bootstrap. */
  readonly drawn?: number;
  /** Whether classes count the same in the rows that each tree has drawn. */
  readonly balances?: boolean;
  /** Whether each row is predicted by the trees that did not see it. */
  readonly predictsUnseen: boolean;
}

/** Rows that each tree draws; with replacement the tree has fewer, since a row that is drawn twice stands once in it. */
interface SomeRows {
  readonly some: number;
  readonly replaces: boolean;
}

/** Grown trees, and means of predictions of rows by trees that did not see them, [samples, outputs]. */
interface Forest {
  readonly groups: TreeColumns[];
  readonly unseen: Tensor | null;
}

/** Rows of all trees of a group, at most; each has so many trees as have room. */
const MOST_PLACES = 2 ** 20;

/** Grows a forest. `weights` are those of samples, null where all count the same. */
export async function* growForest(
  data: ExactData,
  x: Tensor,
  weights: Tensor | null,
  limits: ExactLimits,
  plan: ForestPlan,
  signal: AbortSignal | undefined,
): AsyncGenerator<FitProgress, Forest> {
  const own = typeof plan.rows === "object" ? plan.rows.some : data.samples;
  const size = Math.max(1, Math.min(plan.trees, Math.floor(MOST_PLACES / own)));
  const groups: TreeColumns[] = [];
  let sums: Tensor | null = null;
  let counts: Tensor | null = null;
  for (let first = 0; first < plan.trees; first += size) {
    signal?.throwIfAborted();
    const group = await rowsOf(data, weights, limits.seed, plan, first, Math.min(size, plan.trees - first));
    const grown = await growExactly(data, group.rows, limits, signal);
    groups.push(grown);
    if (plan.predictsUnseen && group.isUnseen) {
      const told = predictionsOf(columnTensors([grown], x.device, x.dtype), x);
      const isUnseen = group.isUnseen.T.expandDims(2).cast(x.dtype);
      const added = told.mul(isUnseen).sum({ axis: 1 });
      const seen = isUnseen.sum({ axis: 1 });
      sums = (sums ? sums.add(added) : added).realize() as Tensor;
      counts = (counts ? counts.add(seen) : seen).realize() as Tensor;
    }
    yield { step: Math.min(first + size, plan.trees), steps: plan.trees };
  }
  return { groups, unseen: sums && counts ? (sums.div(counts) as Tensor) : null };
}

interface Group {
  readonly rows: TreeRows;
  /** Rows that a tree did not see, [trees, samples]; null where all see all. */
  readonly isUnseen: Tensor | null;
}

async function rowsOf(
  data: ExactData,
  weights: Tensor | null,
  seed: number,
  plan: ForestPlan,
  firstTree: number,
  trees: number,
): Promise<Group> {
  const { samples } = data;
  const { device } = data.values;
  const dtype = sumType(device);
  const own = (weights ? weights.cast(dtype).expandDims(0) : ones([1, samples], { device, dtype })).realize() as Tensor;
  if (typeof plan.rows === "object") return someRows(own, plan.rows, seed, firstTree, trees);
  const isBootstrap = plan.rows === "bootstrap";
  if (!isBootstrap && !weights) {
    const each = data.byTarget ?? (arange(samples, { device, dtype: "i32" }) as Tensor);
    const order = each.expandDims(0).broadcastTo([trees, samples]).flatten();
    return {
      rows: { firstTree, order: order.realize() as Tensor, ...placesOf(trees, samples), weights: own },
      isUnseen: null,
    };
  }
  const times = isBootstrap ? timesDrawn(device, samples, plan.drawn ?? samples, seed, firstTree, trees) : null;
  const counted = times ? own.mul(times) : own;
  const all = (times && plan.balances ? counted.mul(balancing(data, times)) : counted).realize() as Tensor;
  // Rows that count come first; others have no place in any node.
  const isOut = all.equal(0);
  const { byTarget } = data;
  const isOutThere = byTarget ? isOut.take(byTarget, { axis: 1 }) : isOut;
  const places = isOutThere.cast("i32").argsort({ axis: 1 }).cast("i32");
  const order = byTarget ? byTarget.take(places, { axis: 0 }) : places;
  const counts = (await isOut.logicalNot().cast("i32").sum({ axis: 1 }).data()) as ArrayLike<number>;
  if (Array.from(counts).includes(0)) {
    throw new ArgumentError("fit: all weights are zero for a tree's rows; give more of them a weight above zero.");
  }
  const ofAll = order.broadcastTo([trees, samples]).flatten().realize() as Tensor;
  const { starts } = placesOf(trees, samples);
  return {
    rows: {
      firstTree,
      order: ofAll,
      starts,
      counts: starts.map((_, tree) => counts[counts.length === 1 ? 0 : tree] as number),
      weights: all,
    },
    isUnseen: times ? (times.equal(0) as Tensor) : null,
  };
}

const placesOf = (trees: number, rows: number) => ({
  starts: Array.from({ length: trees }, (_, tree) => tree * rows),
  counts: Array.from({ length: trees }, () => rows),
});

/** How often each row is drawn for each tree, with replacement, [trees, samples]. */
function timesDrawn(
  device: string,
  samples: number,
  drawn: number,
  seed: number,
  firstTree: number,
  trees: number,
): Tensor {
  const rows = randint(foldIn(key(seed, { device }), firstTree), [trees, drawn], 0, samples);
  const dtype = sumType(device);
  const none = zeros([trees, samples], { device, dtype });
  return none
    .putAlongAxis(rows.cast("i32"), ones([trees, drawn], { device, dtype }), { axis: 1, op: "add" })
    .realize() as Tensor;
}

/** Weights of rows that make the classes a tree has drawn count the same in it, [trees, samples]. */
function balancing({ targets, channels }: ExactData, times: Tensor): Tensor {
  const members = membersOf(times, targets.squeeze(1) as Tensor, channels, null);
  const counts = times.matmul(members.T);
  const present = counts.greater(0).cast(times.dtype).sum({ axis: 1, keepDims: true });
  const shares = times.sum({ axis: 1, keepDims: true }).div(present.mul(counts.maximum(1)));
  return shares.matmul(members) as Tensor;
}

function someRows(
  weights: Tensor,
  { some, replaces }: SomeRows,
  seed: number,
  firstTree: number,
  trees: number,
): Group {
  const { device } = weights;
  const samples = weights.shape[1] as number;
  const order = new Int32Array(trees * some);
  const { starts } = placesOf(trees, some);
  const counts = starts.map((start, tree) => {
    const own = drawnRows(samples, some, replaces, [seed, firstTree + tree]);
    order.set(own, start);
    return own.length;
  });
  return {
    rows: { firstTree, order: tensor(order, { device }) as Tensor, starts, counts, weights },
    isUnseen: null,
  };
}

/** Different rows: those drawn with replacement, or the first of a random order. */
function drawnRows(samples: number, some: number, replaces: boolean, seed: Seed): ArrayLike<number> {
  if (!replaces) return permutation(samples, seed, 11).subarray(0, some);
  const bits = bitsFrom(seed, 13);
  return Int32Array.from(new Set(Array.from({ length: some }, () => below(samples, bits))));
}
