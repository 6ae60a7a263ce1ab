/**
 * Grows several trees together by exact splits, as scikit-learn's decision trees. Each round looks for the best split of every open node of
 * all trees at once on the device, orders their rows by the splits and sums both parts; the host reads a few numbers of each node and keeps
 * the shape of the trees.
 *
 * Draws of features and thresholds belong to the seed, the tree and the node's number in it, so they depend on no device and no grouping.
 */
import { mixed, permutation } from "../../core/seeded-order.js";
import { exactSplits, rowsByPart, stack, type Tensor, tensor, totalsByPart, where } from "../../tensor/index.js";
import { type ExactData, impurityOf, isByClass, sumType } from "./exact-data.js";
import { columnsOf, NodeTable, type TreeColumns } from "./node-table.js";

/** Limits of trees, and how they look for splits. */
export interface ExactLimits {
  readonly maxDepth: number | null;
  readonly minSamplesSplit: number;
  readonly minSamplesLeaf: number;
  /** The weight of a leaf at least, as a share of its tree's. */
  readonly minWeightFractionLeaf: number;
  readonly maxLeafNodes: number | null;
  readonly minImpurityDecrease: number;
  readonly ccpAlpha: number;
  /** Features that each node looks at. */
  readonly maxFeatures: number;
  /** Features that each tree is given, drawn by the seed; null for all. */
  readonly featuresOfTree: number | null;
  /** Thresholds are drawn, one for each feature that a node looks at. */
  readonly isRandom: boolean;
  /** Pure nodes are split, too: isolation does not look at targets. */
  readonly splitsPure: boolean;
  readonly seed: number;
}

/** The rows of each tree. */
export interface TreeRows {
  /** The number of the first tree in its forest. */
  readonly firstTree: number;
  /** Rows in the order of trees, i32 [places]. */
  readonly order: Tensor;
  /** The first place of each tree, and its rows. */
  readonly starts: readonly number[];
  readonly counts: readonly number[];
  /** Weights of rows, [trees, samples], or [1, samples] for all trees. */
  readonly weights: Tensor;
}

/** Numbers of a split, and of totals before those of channels (graph/primitives/trees.ts). */
const [CUT_FACTS, TOTALS_BEFORE] = [5, 2];
/** Words of memory in which the candidates of a search sort their rows, at most. */
const MOST_SORTED = 2 ** 24;
/** Impurities below this are none, as in scikit-learn. */
const EPSILON = 2 ** -52;

/** Rooms for nodes come in few sizes, so that few programs serve all rounds. */
const roomFor = (nodes: number): number => 64 * 16 ** Math.max(0, Math.ceil(Math.log2(nodes / 64) / 4));

/** Grows trees: each round splits all nodes that are open. */
export async function growExactly(
  data: ExactData,
  rows: TreeRows,
  limits: ExactLimits,
  signal?: AbortSignal,
): Promise<TreeColumns> {
  const growth = new ExactGrowth(data, rows, limits);
  await growth.begin();
  while (await growth.round()) signal?.throwIfAborted();
  return growth.finish();
}

class ExactGrowth {
  private readonly table: NodeTable;
  private readonly roots: number[] = [];
  /** Nodes of each tree so far. */
  private readonly sizes: number[] = [];
  private order: Tensor;
  /** Nodes that are to be split, by their row of the table. */
  private open: number[] = [];
  /** The features of each tree. */
  private readonly features: readonly Int32Array[];
  private readonly isNarrow: boolean;

  constructor(
    private readonly data: ExactData,
    private readonly rows: TreeRows,
    private readonly limits: ExactLimits,
  ) {
    this.order = rows.order;
    this.isNarrow = sumType(rows.order.device) === "f32";
    this.table = new NodeTable(data.channels, data.criterion === "absolute");
    const all = Int32Array.from({ length: data.features }, (_, f) => f);
    const some = limits.featuresOfTree;
    this.features = rows.starts.map((_, tree) =>
      some === null
        ? all
        : Int32Array.from(permutation(data.features, [limits.seed, rows.firstTree + tree], 7)).subarray(0, some),
    );
  }

  async begin(): Promise<void> {
    const { starts, counts } = this.rows;
    const room = roomFor(starts.length);
    const places = new Int32Array(3 * room);
    starts.forEach((start, tree) => {
      places.set([start, counts[tree] as number, tree], 3 * tree);
    });
    const whole = new Float64Array(room * CUT_FACTS);
    const totals = await this.totals(this.placesOf(places), this.sumsOf(whole, [room, CUT_FACTS])).data();
    starts.forEach((start, tree) => {
      this.sizes.push(0);
      this.roots.push(this.node(tree, 0, start, counts[tree] as number, totals as Float64Array, 2 * tree));
    });
    this.open = this.roots.filter((root) => this.isOpen(root));
  }

  /** Splits open nodes; false where there were none. */
  async round(): Promise<boolean> {
    const { open, table } = this;
    if (open.length === 0) return false;
    const room = roomFor(open.length);
    const { channels } = this.data;
    const width = TOTALS_BEFORE + channels;
    const places = new Int32Array(3 * room);
    const totals = new Float64Array(width * room);
    open.forEach((node, slot) => {
      places[3 * slot] = table.get(node, "start");
      places[3 * slot + 1] = table.get(node, "count");
      places[3 * slot + 2] = table.get(node, "tree");
      totals[width * slot] = table.real(node, "weight");
      totals[width * slot + 1] = this.leastWeight(node);
      for (let c = 0; c < channels; c++) totals[width * slot + TOTALS_BEFORE + c] = table.sum(node, c);
    });
    const nodes = this.placesOf(places);
    const splits = this.search(nodes, room, this.sumsOf(totals, [room, width]));
    this.order = rowsByPart({ ...this.data, ...this.rows, order: this.order, nodes }, splits).realize() as Tensor;
    const [found, parts] = await Promise.all([splits.data(), this.totals(nodes, splits).data()]);
    const firstNew = table.size;
    open.forEach((_, slot) => {
      this.settle(slot, found as Float64Array, parts as Float64Array);
    });
    const again = open.filter((node) => {
      const looked = table.get(node, "attempts") * this.width();
      return looked > 0 && looked < this.given();
    });
    this.open = [...again, ...this.opened(firstNew)];
    return true;
  }

  /** Features that each tree is given. */
  private given(): number {
    return this.limits.featuresOfTree ?? this.data.features;
  }

  private width(): number {
    return Math.min(this.limits.maxFeatures, this.given());
  }

  private placesOf(places: Int32Array): Tensor {
    return tensor(places, { device: this.order.device, shape: [places.length / 3, 3] }) as Tensor;
  }

  private sumsOf(values: Float64Array, shape: readonly number[]): Tensor {
    const { device } = this.order;
    return tensor(values, { device, dtype: sumType(device), shape: [...shape] }) as Tensor;
  }

  private totals(nodes: Tensor, splits: Tensor): Tensor {
    const { channels, criterion } = this.data;
    const rows = { ...this.data, ...this.rows, order: this.order, nodes };
    const isByMedian = criterion === "absolute";
    return totalsByPart(rows, splits, { channels, isByClass: isByClass(criterion), isByMedian });
  }

  /** The best split of each open node; in slices of candidates where all together need too much memory. */
  private search(nodes: Tensor, room: number, totals: Tensor): Tensor {
    const { criterion, values } = this.data;
    const { isRandom, minSamplesLeaf, minWeightFractionLeaf } = this.limits;
    const { device } = this.order;
    const width = this.width();
    const slice = Math.min(width, Math.max(1, Math.floor(MOST_SORTED / this.order.size)));
    const { candidates, draws } = this.drawn(room, width);
    const found = Array.from({ length: Math.ceil(width / slice) }, (_, s) => {
      const part = (list: ArrayLike<number>, empty: number): number[] =>
        Array.from({ length: room * slice }, (_, at) => {
          const candidate = s * slice + (at % slice);
          return candidate < width ? (list[Math.floor(at / slice) * width + candidate] as number) : empty;
        });
      const of = (list: Int32Array | Float64Array, dtype: "i32" | "f32" | "f64", empty: number): Tensor =>
        tensor(slice === width ? list : part(list, empty), { device, dtype, shape: [room, slice] }) as Tensor;
      return exactSplits(
        { ...this.data, ...this.rows, order: this.order, nodes },
        of(candidates, "i32", -1),
        totals,
        isRandom ? of(draws, values.dtype as "f32" | "f64", 0) : null,
        { criterion, minSamplesLeaf, hasLeastWeight: minWeightFractionLeaf > 0 },
      ).realize() as Tensor;
    });
    return found.length === 1 ? (found[0] as Tensor) : bestOf(found);
  }

  /** Features that open nodes look at, and draws for thresholds, [room, width]. */
  private drawn(room: number, width: number) {
    const { seed, isRandom } = this.limits;
    const { open, rows, table } = this;
    const candidates = new Int32Array(room * width).fill(-1);
    const draws = new Float64Array(isRandom ? room * width : 0);
    const swaps = new Int32Array(this.given());
    open.forEach((node, slot) => {
      const [tree, number] = [table.get(node, "tree"), table.get(node, "number")];
      const attempts = table.get(node, "attempts");
      const features = this.features[tree] as Int32Array;
      let state = mixed(mixed(mixed(seed) ^ (rows.firstTree + tree)) ^ number);
      const next = (): number => {
        state = (state + 0x6d2b79f5) | 0;
        return mixed(state) / 2 ** 32;
      };
      const last = Math.min(features.length, (attempts + 1) * width);
      const isShuffled = width < features.length;
      for (let at = 0; isShuffled && at < last; at++) {
        const other = at + Math.floor(next() * (features.length - at));
        swaps[at] = other;
        exchange(features, at, other);
      }
      for (let at = attempts * width; at < last; at++) {
        candidates[slot * width + at - attempts * width] = features[at] as number;
        if (isRandom) draws[slot * width + at - attempts * width] = next();
      }
      for (let at = last - 1; isShuffled && at >= 0; at--) exchange(features, at, swaps[at] as number);
    });
    return { candidates, draws };
  }

  private node(tree: number, depth: number, start: number, count: number, totals: Float64Array, part: number): number {
    const { table } = this;
    const { criterion, channels } = this.data;
    const first = part * (TOTALS_BEFORE + channels);
    const [weight, spread] = [totals[first] as number, totals[first + 1] as number];
    const node = table.add(totals, first + TOTALS_BEFORE);
    const number = this.sizes[tree] as number;
    this.sizes[tree] = number + 1;
    table.set(node, "tree", tree);
    table.set(node, "number", number);
    table.set(node, "depth", depth);
    table.set(node, "start", start);
    table.set(node, "count", count);
    table.setReal(node, "weight", weight);
    table.setReal(node, "spread", spread);
    const sums = totals.subarray(first + TOTALS_BEFORE, first + TOTALS_BEFORE + channels);
    table.setReal(node, "impurity", impurityOf(criterion, weight, spread, sums));
    return node;
  }

  /** The weight of a leaf at least. */
  private leastWeight(node: number): number {
    const root = this.roots[this.table.get(node, "tree")] ?? node;
    return this.limits.minWeightFractionLeaf * this.table.real(root, "weight");
  }

  private isOpen(node: number): boolean {
    const { table } = this;
    const { maxDepth, minSamplesSplit, minSamplesLeaf, splitsPure } = this.limits;
    // Where sums are f32, rounding leaves this much of the squares.
    const size = Math.abs(table.real(node, "spread") / table.real(node, "weight"));
    const rounding = this.isNarrow ? 2 ** -21 * size : 0;
    return (
      (maxDepth === null || table.get(node, "depth") < maxDepth) &&
      table.get(node, "count") >= Math.max(minSamplesSplit, 2 * minSamplesLeaf, 2) &&
      table.real(node, "weight") >= 2 * this.leastWeight(node) &&
      (splitsPure || table.real(node, "impurity") > EPSILON + rounding)
    );
  }

  /** Takes the split that was found, or notes that all features were constant. */
  private settle(slot: number, found: Float64Array, parts: Float64Array): void {
    const { table } = this;
    const node = this.open[slot] as number;
    const fact = (which: number): number => found[CUT_FACTS * slot + which] as number;
    const left = fact(2);
    table.set(node, "attempts", fact(4) === 0 ? table.get(node, "attempts") + 1 : 0);
    if (left === 0) return;
    const [tree, depth] = [table.get(node, "tree"), table.get(node, "depth") + 1];
    const [start, count] = [table.get(node, "start"), table.get(node, "count")];
    const first = this.node(tree, depth, start, left, parts, 2 * slot);
    const second = this.node(tree, depth, start + left, count - left, parts, 2 * slot + 1);
    const impurityAt = (at: number): number => table.real(at, "weight") * table.real(at, "impurity");
    const root = this.roots[tree] as number;
    const gain = (impurityAt(node) - impurityAt(first) - impurityAt(second)) / table.real(root, "weight");
    const improvement = this.data.criterion === "friedman" ? this.friedmanGain(node, first, second) : gain;
    if (improvement + EPSILON < this.limits.minImpurityDecrease) return;
    table.set(node, "feature", fact(1));
    table.setReal(node, "threshold", fact(3));
    table.setReal(node, "gain", gain);
    table.setReal(node, "improvement", improvement);
    table.set(node, "left", first);
  }

  /** The gain of a split by Friedman's measure: the squared difference of the parts' means, by their weights. */
  private friedmanGain(node: number, first: number, second: number): number {
    const { table } = this;
    const { channels } = this.data;
    const total = (at: number): number =>
      Array.from({ length: channels }, (_, c) => table.sum(at, c)).reduce((a, b) => a + b, 0);
    const [left, right] = [table.real(first, "weight"), table.real(second, "weight")];
    const difference = (right * total(first) - left * total(second)) / channels;
    return difference ** 2 / (left * right * table.real(node, "weight"));
  }

  /** Nodes to be split next: children of the last splits. With a limit of leaves, of those that can still be among the best. */
  private opened(firstNew: number): number[] {
    const { table } = this;
    const { maxLeafNodes } = this.limits;
    const splits =
      maxLeafNodes === null
        ? this.open.filter((node) => table.isSplit(node))
        : this.roots.flatMap((root) => this.bestFirst(root));
    return splits.flatMap((node) => {
      const left = table.get(node, "left");
      return left < firstNew ? [] : [left, left + 1].filter((child) => this.isOpen(child));
    });
  }

  /** The nodes that are split, the largest gain first, as far as they are known. */
  private bestFirst(root: number): number[] {
    const { table } = this;
    const most = (this.limits.maxLeafNodes as number) - 1;
    const waiting = [root].filter((node) => table.isSplit(node));
    const taken: number[] = [];
    while (waiting.length > 0 && taken.length < most) {
      let best = 0;
      waiting.forEach((node, at) => {
        if (table.real(node, "improvement") > table.real(waiting[best] as number, "improvement")) best = at;
      });
      const [node] = waiting.splice(best, 1) as [number];
      taken.push(node);
      const left = table.get(node, "left");
      waiting.push(...[left, left + 1].filter((child) => table.isSplit(child)));
    }
    return taken;
  }

  finish(): TreeColumns {
    const { maxLeafNodes, ccpAlpha } = this.limits;
    const kept = maxLeafNodes === null ? null : new Set(this.roots.flatMap((root) => this.bestFirst(root)));
    return columnsOf(this.table, this.roots, ccpAlpha, (node) => kept?.has(node) ?? true);
  }
}

function exchange(list: Int32Array, a: number, b: number): void {
  [list[a], list[b]] = [list[b] as number, list[a] as number];
}

/** The best of several splits of each node, the first of equals. */
function bestOf(found: readonly Tensor[]): Tensor {
  const all = stack(found, { axis: 0 });
  const score = where(all.at(":", ":", 2).greater(0), all.at(":", ":", 0), Number.NEGATIVE_INFINITY);
  const best = score.argmax({ axis: 0, keepDims: true }).cast("i32").expandDims(2);
  const [, room, facts] = all.shape as [number, number, number];
  const chosen = all.takeAlongAxis(best.broadcastTo([1, room, facts]), { axis: 0 }).squeeze(0);
  const varies = all
    .at(":", ":", facts - 1)
    .max({ axis: 0 })
    .expandDims(1);
  return stack([...[0, 1, 2, 3].map((which) => chosen.at(":", which)), varies.squeeze(1)], {
    axis: 1,
  }).realize() as Tensor;
}
