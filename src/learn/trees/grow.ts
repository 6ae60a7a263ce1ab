/**
 * Grows one tree of boosting on binned samples, the one that scikit-learn's best-first growth gives. The device sums histograms, finds
 * splits and moves rows; the host reads the best split of each new node and keeps the shape of the tree.
 *
 * Best-first growth splits the node with the largest gain, one at a time. A node whose turn would come only after as many others as the
 * tree can have, among those known, is out for good, whatever is found later. All nodes that are not out are split together: a tree of 31
 * leaves takes about nine rounds, not thirty. At the end, splits of nodes that turned out to be out are left out.
 */
import {
  arange,
  backendFor,
  concat,
  histogramByNode,
  routedRows,
  splitsByGain,
  type Tensor,
  tensor,
  where,
} from "../../tensor/index.js";
import { type Bins, MISSING } from "./bins.js";
import type { TreeNode } from "./grown-tree.js";
import type { Gradients } from "./losses.js";

/** Limits of a tree. */
export interface GrowLimits {
  readonly maxLeafNodes: number | null;
  readonly maxDepth: number | null;
  readonly minSamplesLeaf: number;
  readonly l2: number;
  /** -1, 0 or 1 for each feature. */
  readonly monotonic: readonly number[];
}

/** Samples on which trees grow. */
interface BinnedSamples {
  readonly codes: Tensor;
  readonly bins: Bins;
  readonly samples: number;
  /** Facts of features for the search of splits, i32 [features, 4], features that fill the last word included. */
  readonly featureFacts: Tensor;
  /** Sums keep more bits. */
  readonly isPrecise: boolean;
}

/** Hessians below this are too few for a leaf, as in scikit-learn. */
const MIN_HESSIAN = 1e-3;
/** Hessians of a category, scaled to counts, from which on it counts; they smooth its mean, too. */
const CATEGORY_SUPPORT = 10;

/** A node while the tree grows. */
interface Growing {
  readonly id: number;
  readonly parent: Growing | null;
  readonly depth: number;
  readonly gradient: number;
  readonly hessian: number;
  readonly count: number;
  readonly value: number;
  readonly bounds: readonly [number, number];
  split: Split | null;
  children: readonly [Growing, Growing] | null;
  slot: number;
}

interface Split {
  readonly gain: number;
  readonly feature: number;
  readonly position: number;
  readonly gradient: number;
  readonly hessian: number;
  readonly count: number;
  /** By code, whether it goes left. */
  readonly goesLeft: Uint8Array;
}

/** A grown tree: its nodes, and for each node that the device knows, the leaf it belongs to. */
export interface Grown {
  readonly nodes: TreeNode[];
  /** The node of each row, as the device knows it. */
  readonly nodeOfRow: Tensor;
  /** The number among `nodes` of the leaf that a known node belongs to. */
  readonly leafOfNode: Int32Array;
}

export const binnedSamples = (
  codes: Tensor,
  bins: Bins,
  monotonic: readonly number[],
  isPrecise: boolean,
): BinnedSamples => {
  const features = 4 * (codes.shape[0] as number);
  const facts = Array.from({ length: features }, (_, f) => [
    bins.counts[f] ?? 0,
    Number(bins.hasMissing[f] ?? false),
    monotonic[f] ?? 0,
    Number(bins.isCategorical[f] ?? false),
  ]);
  const featureFacts = tensor(facts, { device: codes.device, dtype: "i32" }) as Tensor;
  return { codes, bins, samples: codes.shape[1] as number, featureFacts, isPrecise };
};

/** Grows a tree. `start` are zeros, the node of each row. */
export async function growTree(
  data: BinnedSamples,
  gradients: Gradients,
  start: Tensor,
  limits: GrowLimits,
): Promise<Grown> {
  const growth = new Growth(data, gradients, limits, start);
  await growth.begin();
  while (await growth.round()) {
    // Each round splits all nodes that may be part of the tree.
  }
  return growth.finish();
}

const powerOfTwo = (atLeast: number): number => 2 ** Math.ceil(Math.log2(Math.max(1, atLeast)));

class Growth {
  private readonly nodes: Growing[] = [];
  private histograms: Tensor | null = null;

  constructor(
    private readonly data: BinnedSamples,
    private readonly gradients: Gradients,
    private readonly limits: GrowLimits,
    private nodeOfRow: Tensor,
  ) {}

  async begin(): Promise<void> {
    const { samples } = this.data;
    const { gradients, hessians } = this.gradients;
    const dtype = backendFor(gradients.device, "fit").hasDoubles ? "f64" : "f32";
    const fine = (values: Tensor): Tensor => values.cast(dtype).sum() as Tensor;
    const sums = hessians
      ? await Promise.all([fine(gradients).item(), fine(hessians).item()])
      : [await fine(gradients).item(), samples];
    const [gradient, hessian] = sums.map(Number) as [number, number];
    this.nodes.push({
      ...{ id: 0, parent: null, depth: 0, gradient, hessian, count: samples, value: 0, split: null, children: null },
      bounds: [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
      slot: 0,
    });
    const root = this.nodes[0] as Growing;
    if (!this.isWorthwhile(root) || hessian < MIN_HESSIAN) return;
    this.histograms = this.histogramOf(this.byNode(new Map([[0, 0]])), 1);
    await this.search([root], 1);
  }

  /** Splits the nodes that may be part of the tree, and looks at their children; false where there were none. */
  async round(): Promise<boolean> {
    const ahead = this.ahead();
    const chosen = ahead.filter(({ children }) => children === null);
    if (chosen.length === 0) return false;
    // The last ones of a full tree: their children cannot be split any more.
    const last = this.limits.maxLeafNodes === null ? ahead.length : this.limits.maxLeafNodes - 2;
    const rank = new Map(ahead.map((node, place) => [node, place]));
    const looked: Growing[] = [];
    for (const node of chosen) {
      node.children = this.childrenOf(node, node.split as Split);
      if ((rank.get(node) as number) < last && node.children.some((child) => this.isWorthwhile(child)))
        looked.push(node);
    }
    this.route(chosen);
    if (looked.length > 0) await this.look(looked);
    return true;
  }

  /**
   * The nodes that best-first growth would split, in its order, as far as they are known. Children that are not known yet can only come
   * in between.
   */
  private ahead(): Growing[] {
    const { maxLeafNodes } = this.limits;
    const most = maxLeafNodes === null ? Number.POSITIVE_INFINITY : maxLeafNodes - 1;
    const waiting = (this.nodes[0] as Growing).split ? [this.nodes[0] as Growing] : [];
    const taken: Growing[] = [];
    while (waiting.length > 0 && taken.length < most) {
      let best = 0;
      // Without a limit all of them are split, in any order.
      for (let at = 1; maxLeafNodes !== null && at < waiting.length; at++) {
        if (gainOf(waiting[at]) > gainOf(waiting[best])) best = at;
      }
      const node = waiting[best] as Growing;
      waiting[best] = waiting.at(-1) as Growing;
      waiting.pop();
      taken.push(node);
      waiting.push(...(node.children ?? []).filter(({ split }) => split !== null));
    }
    return taken;
  }

  private isWorthwhile({ depth, count }: Growing): boolean {
    const { maxDepth, minSamplesLeaf } = this.limits;
    return (maxDepth === null || depth < maxDepth) && count >= 2 * minSamplesLeaf;
  }

  private childrenOf(node: Growing, split: Split): readonly [Growing, Growing] {
    const { l2, monotonic } = this.limits;
    const sides = [
      { gradient: split.gradient, hessian: split.hessian, count: split.count },
      {
        gradient: node.gradient - split.gradient,
        hessian: node.hessian - split.hessian,
        count: node.count - split.count,
      },
    ] as const;
    const [lower, upper] = node.bounds;
    const values = sides.map(({ gradient, hessian }) =>
      Math.min(Math.max(-gradient / (hessian + l2 + 1e-15), lower), upper),
    ) as [number, number];
    const middle = (values[0] + values[1]) / 2;
    const rises = monotonic[split.feature] ?? 0;
    const bounds = (side: number): readonly [number, number] => {
      if (rises === 0) return node.bounds;
      return rises > 0 === (side === 0) ? [lower, middle] : [middle, upper];
    };
    const made = sides.map((sums, side): Growing => {
      const child: Growing = {
        ...sums,
        id: this.nodes.length,
        parent: node,
        depth: node.depth + 1,
        value: values[side] as number,
        bounds: bounds(side),
        ...{ split: null, children: null, slot: -1 },
      };
      this.nodes.push(child);
      return child;
    });
    return made as unknown as readonly [Growing, Growing];
  }

  /** A list by node, padded so that few programs serve all trees. */
  private byNode(known: ReadonlyMap<number, number>): Tensor {
    const list = new Int32Array(powerOfTwo(Math.max(64, this.nodes.length))).fill(-1);
    for (const [id, value] of known) list[id] = value;
    return tensor(list, { device: this.data.codes.device }) as Tensor;
  }

  private route(chosen: readonly Growing[]): void {
    const { codes } = this.data;
    const { device } = codes;
    const room = powerOfTwo(chosen.length);
    const splits = new Int32Array(2 * room);
    const goesLeft = new Uint8Array(room * (MISSING + 1));
    chosen.forEach((node, place) => {
      const { split, children } = node as { split: Split; children: readonly [Growing, Growing] };
      splits.set([split.feature, children[0].id], 2 * place);
      goesLeft.set(split.goesLeft, place * (MISSING + 1));
    });
    this.nodeOfRow = routedRows(
      codes,
      this.nodeOfRow,
      this.byNode(new Map(chosen.map(({ id }, place) => [id, place]))),
      tensor(splits, { device, shape: [room, 2] }) as Tensor,
      tensor(goesLeft, { device, shape: [room, MISSING + 1] }) as Tensor,
    ).realize() as Tensor;
  }

  private histogramOf(slotOfNode: Tensor, slots: number): Tensor {
    const { codes, isPrecise } = this.data;
    return histogramByNode(codes, this.nodeOfRow, slotOfNode, this.gradients, slots, isPrecise);
  }

  /** Histograms of the smaller children are summed; those of their siblings are what is left of their parents'. */
  private async look(parents: readonly Growing[]): Promise<void> {
    const { device } = this.data.codes;
    const room = powerOfTwo(parents.length);
    const slots = new Map<number, number>();
    const from = new Int32Array(room);
    const searched: (Growing | null)[] = Array<Growing | null>(2 * room).fill(null);
    parents.forEach((parent, place) => {
      const [left, right] = parent.children as readonly [Growing, Growing];
      const [small, large] = left.count < right.count ? [left, right] : [right, left];
      slots.set(small.id, place);
      from[place] = parent.slot;
      [small.slot, large.slot] = [place, room + place];
      searched[place] = small;
      searched[room + place] = large;
    });
    const summed = this.histogramOf(this.byNode(slots), room);
    const rest = (this.histograms as Tensor).take(tensor(from, { device }), { axis: 0 }).sub(summed);
    this.histograms = concat([summed, rest], { axis: 0 }).realize() as Tensor;
    await this.search(
      searched.map((node) => (node && this.isWorthwhile(node) ? node : null)),
      2 * room,
    );
  }

  /** Finds the best split of each node; null stands for a slot without one. */
  private async search(searched: readonly (Growing | null)[], slots: number): Promise<void> {
    const { bins, featureFacts } = this.data;
    const histograms = this.histograms as Tensor;
    const facts = new Float64Array(slots * 6);
    searched.forEach((node, slot) => {
      if (node) facts.set([node.gradient, node.hessian, node.count, node.value, ...node.bounds], 6 * slot);
    });
    const { device, dtype } = histograms;
    const nodeFacts = tensor(facts, { device, dtype, shape: [slots, 6] }) as Tensor;
    const order = bins.isCategorical.includes(true) ? categoryOrder(histograms, nodeFacts, featureFacts) : null;
    const found = splitsByGain(histograms, nodeFacts, featureFacts, order, {
      minSamplesLeaf: this.limits.minSamplesLeaf,
      minHessian: MIN_HESSIAN,
      l2: this.limits.l2,
    });
    const chosenOrders = order ? orderOfChosen(order, found) : null;
    const [numbers, orders] = await Promise.all([found.cast("f64").data(), chosenOrders?.data()]);
    searched.forEach((node, slot) => {
      const row = (numbers as Float64Array).subarray(7 * slot, 7 * slot + 7) as unknown as readonly number[];
      const gain = row[0] as number;
      if (!node || !(gain > 0)) return;
      const places = (orders as Int32Array | undefined)?.subarray((MISSING + 2) * slot, (MISSING + 2) * (slot + 1));
      node.split = this.splitOf(row, node, places);
    });
  }

  private splitOf(row: readonly number[], node: Growing, places: Int32Array | undefined): Split {
    const [gain, feature, position, direction, gradient, hessian, count] = row as [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    const { bins } = this.data;
    const goesLeft = new Uint8Array(MISSING + 1);
    if (bins.isCategorical[feature] && places) {
      const used = places[MISSING + 1] as number;
      const [first, last] = direction === 0 ? [0, position] : [position, used - 1];
      for (let at = first; at <= last; at++) goesLeft[places[at] as number] = 1;
    } else {
      goesLeft.fill(1, 0, position + 1);
      goesLeft[MISSING] = direction === 0 ? 0 : 1;
    }
    // Where the fit had no missing value, later ones go where most samples went.
    if (!bins.hasMissing[feature]) goesLeft[MISSING] = count > node.count - count ? 1 : 0;
    return { gain, feature, position, gradient, hessian, count, goesLeft };
  }

  finish(): Grown {
    const isSplit = new Set(this.ahead());
    const nodes: TreeNode[] = [];
    const numberOf = new Map<Growing, number>();
    const visit = (node: Growing): number => {
      const number = nodes.length;
      numberOf.set(node, number);
      nodes.push(leafNode(node));
      if (isSplit.has(node) && node.children) {
        const [left, right] = node.children.map(visit) as [number, number];
        nodes[number] = { ...leafNode(node), ...this.decision(node.split as Split), left, right };
      }
      return number;
    };
    visit(this.nodes[0] as Growing);
    const leafOfNode = Int32Array.from({ length: powerOfTwo(Math.max(64, this.nodes.length)) }, (_, id) => {
      let node: Growing | null = this.nodes[id] ?? null;
      while (node && !numberOf.has(node)) node = node.parent;
      return node ? (numberOf.get(node) as number) : 0;
    });
    return { nodes, nodeOfRow: this.nodeOfRow, leafOfNode };
  }

  private decision({ feature, position, goesLeft, gain }: Split) {
    const { thresholds, isCategorical, counts } = this.data.bins;
    const missingLeft = goesLeft[MISSING] === 1;
    const values = thresholds[feature] as Float64Array;
    if (isCategorical[feature]) {
      return {
        feature,
        threshold: 0,
        gain,
        missingLeft,
        categories: Array.from(values).filter((_, code) => goesLeft[code] === 1),
      };
    }
    const isOfMissing = position === (counts[feature] as number) - 1;
    const threshold = isOfMissing ? Number.POSITIVE_INFINITY : (values[position] as number);
    return { feature, threshold, gain, missingLeft, categories: null };
  }
}

const gainOf = (node: Growing | undefined): number => node?.split?.gain ?? 0;

const leafNode = ({ value, count, hessian }: Growing): TreeNode => ({
  ...{ feature: -1, threshold: 0, left: -1, right: -1, missingLeft: false, categories: null, gain: 0, impurity: 0 },
  value: [value],
  count,
  weight: hessian,
});

/** The bins of categorical features by their mean gradient, those with few samples left out; other features keep their order. */
function categoryOrder(histograms: Tensor, nodeFacts: Tensor, featureFacts: Tensor): readonly [Tensor, Tensor] {
  const [slots, features, bins, channels] = histograms.shape as [number, number, number, number];
  const channel = (which: number): Tensor => histograms.at("...", which) as Tensor;
  const [gradient, hessian] = [channel(0), channel(1)];
  const trait = (which: number): Tensor => featureFacts.at(":", which).reshape([1, features, 1]) as Tensor;
  const { device } = histograms;
  const bin = arange(bins, { device, dtype: "i32" }).reshape([1, 1, bins]);
  const support = nodeFacts.at(":", 2).div(nodeFacts.at(":", 1).maximum(1e-300)).reshape([slots, 1, 1]);
  const isBin = bin.less(trait(0)).logicalOr(bin.equal(bins - 1).logicalAnd(trait(1).equal(1)));
  const counts = hessian
    .mul(channels === 2 ? 1 : support)
    .greaterEqual(CATEGORY_SUPPORT)
    .logicalAnd(isBin);
  const mean = gradient.div(hessian.add(CATEGORY_SUPPORT));
  const byMean = where(counts, mean, Number.POSITIVE_INFINITY).argsort({ axis: 2 });
  const order = where(trait(3).equal(1), byMean, bin.broadcastTo([slots, features, bins])).cast("i32") as Tensor;
  return [order.realize() as Tensor, counts.cast("i32").sum({ axis: 2 }).cast("i32").realize() as Tensor];
}

/** The order of the chosen feature's bins, and behind it how many of them count: [slots, 257]. */
function orderOfChosen([order, used]: readonly [Tensor, Tensor], found: Tensor): Tensor {
  const feature = found.at(":", 1).cast("i32").expandDims(1);
  const bins = order.shape[2] as number;
  const slots = order.shape[0] as number;
  const chosen = order.takeAlongAxis(feature.expandDims(2).broadcastTo([slots, 1, bins]), { axis: 1 }).squeeze(1);
  return concat([chosen, used.takeAlongAxis(feature, { axis: 1 })], { axis: 1 }) as Tensor;
}
