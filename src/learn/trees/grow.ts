/**
 * Grows trees of boosting on binned samples, those that scikit-learn's best-first growth gives. The device sums histograms, finds
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
  full,
  histogramByNode,
  routedRows,
  splitsByGain,
  stack,
  type Tensor,
  tensor,
  where,
  zeros,
} from "../../tensor/index.js";
import { jit } from "../../transforms/jit.js";
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

/** Grows trees on the same samples, each on gradients of its own. */
export function grower(
  data: BinnedSamples,
  limits: GrowLimits,
  device: string,
): (gradients: Gradients) => Promise<Grown> {
  const start = zeros([data.codes.shape[1] as number], { device, dtype: "i32" }).realize() as Tensor;
  const programs = growthPrograms(data, limits);
  return async (gradients) => {
    const growth = new Growth(data, limits, programs, gradients, start);
    await growth.begin();
    while (await growth.round()) {
      // Each round splits all nodes that may be part of the tree.
    }
    return growth.finish();
  };
}

/** Where the device stands: the node of each row, and the histograms of the nodes that were looked at last. */
interface Standing {
  readonly nodeOfRow: Tensor;
  readonly histograms: Tensor;
}

/** The best splits of nodes, and of categorical features the orders of bins. */
interface Found {
  readonly splits: Tensor;
  readonly orders: Tensor | null;
}

/** How rows move on: the split of each node, the feature and the first child of each split, and the codes that go left. */
interface Moves {
  readonly splitOfNode: Tensor;
  readonly splits: Tensor;
  readonly goesLeft: Tensor;
}

/** Nodes that are looked at: the slot of each node, the parent of each slot among the last ones, and facts of both children of each. */
interface Looks {
  readonly slotOfNode: Tensor;
  readonly parentOfSlot: Tensor;
  readonly nodeFacts: Tensor;
}

/** What the device does, each a program of its own. */
interface GrowthPrograms {
  /** Looks at the root, whose sums it finds as well: gradients and hessians. */
  root(nodeOfRow: Tensor, gradients: Gradients): Found & { readonly sums: Tensor; readonly histograms: Tensor };
  /** Moves rows to their next nodes. */
  route(nodeOfRow: Tensor, moves: Moves): Tensor;
  /** The same, and looks at these. */
  round(standing: Standing, gradients: Gradients, moves: Moves, looks: Looks): Found & Standing;
}

function growthPrograms(data: BinnedSamples, { monotonic, minSamplesLeaf, l2 }: GrowLimits): GrowthPrograms {
  const { codes, bins, isPrecise } = data;
  const [words, samples] = codes.shape as [number, number];
  const { device } = codes;
  const dtype = backendFor(device, "fit").hasDoubles ? "f64" : "f32";
  // Features that fill the last word have no bins.
  const facts = Array.from({ length: 4 * words }, (_, f) => [
    bins.counts[f] ?? 0,
    Number(bins.hasMissing[f] ?? false),
    monotonic[f] ?? 0,
    Number(bins.isCategorical[f] ?? false),
  ]);
  const featureFacts = tensor(facts, { device, dtype: "i32" }) as Tensor;
  const isAnyCategorical = bins.isCategorical.includes(true);
  const searched = (histograms: Tensor, nodeFacts: Tensor): Found => {
    const order = isAnyCategorical ? categoryOrder(histograms, nodeFacts, featureFacts) : null;
    const splits = splitsByGain(histograms, nodeFacts, featureFacts, order, {
      minSamplesLeaf,
      minHessian: MIN_HESSIAN,
      l2,
    });
    return { splits, orders: order ? orderOfChosen(order, splits) : null };
  };
  const route = (nodeOfRow: Tensor, { splitOfNode, splits, goesLeft }: Moves): Tensor =>
    routedRows(codes, nodeOfRow, splitOfNode, splits, goesLeft);
  return {
    root: jit((nodeOfRow: Tensor, gradients: Gradients) => {
      const slotOfNode = zeros([1], { device, dtype: "i32" }) as Tensor;
      const histograms = histogramByNode(codes, nodeOfRow, slotOfNode, gradients, null, { slots: 1, isPrecise });
      const gradient = gradients.gradients.cast(dtype).sum() as Tensor;
      const hessian = (gradients.hessians?.cast(dtype).sum() ?? full([], samples, { device, dtype })) as Tensor;
      const others = [samples, 0, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY].map(
        (value) => full([], value, { device, dtype }) as Tensor,
      );
      const nodeFacts = stack([gradient, hessian, ...others]).expandDims(0) as Tensor;
      return { ...searched(histograms, nodeFacts), histograms, sums: stack([gradient, hessian]) as Tensor };
    }),
    route: jit(route, { donate: 0 }),
    round: jit(
      (standing: Standing, gradients: Gradients, moves: Moves, { slotOfNode, parentOfSlot, nodeFacts }: Looks) => {
        const nodeOfRow = route(standing.nodeOfRow, moves);
        const parents = { histograms: standing.histograms, parentOfSlot };
        const slots = parentOfSlot.shape[0] as number;
        const histograms = histogramByNode(codes, nodeOfRow, slotOfNode, gradients, parents, { slots, isPrecise });
        return { ...searched(histograms, nodeFacts.cast(dtype) as Tensor), nodeOfRow, histograms };
      },
      { donate: 0 },
    ),
  };
}

/** Numbers about a node that the search of splits is given, and about its best split that it returns. */
const [NODE_FACTS, SPLIT_FACTS] = [6, 7];
/** Nodes for which lists have room, at least: few programs serve all trees. */
const LEAST_NODES = 128;

const powerOfTwo = (atLeast: number): number => 2 ** Math.ceil(Math.log2(Math.max(1, atLeast)));

class Growth {
  private readonly nodes: Growing[] = [];
  private histograms: Tensor | null = null;
  private nodeOfRow: Tensor;

  constructor(
    private readonly data: BinnedSamples,
    private readonly limits: GrowLimits,
    private readonly programs: GrowthPrograms,
    private readonly gradients: Gradients,
    start: Tensor,
  ) {
    // Programs are given it; the one who holds the start keeps it.
    this.nodeOfRow = start.again();
  }

  async begin(): Promise<void> {
    const { sums, histograms, ...found } = this.programs.root(this.nodeOfRow, this.gradients);
    this.histograms = histograms;
    const [gradient, hessian] = Array.from((await sums.data()) as ArrayLike<number>) as [number, number];
    const count = this.data.codes.shape[1] as number;
    const root: Growing = {
      ...{ id: 0, parent: null, depth: 0, gradient, hessian, count, value: 0, split: null, children: null },
      bounds: [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
      slot: 0,
    };
    this.nodes.push(root);
    if (this.isWorthwhile(root) && hessian >= MIN_HESSIAN) await this.noteSplits([root], found);
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
    const moves = this.movesOf(chosen);
    if (looked.length > 0) await this.look(looked, moves);
    else this.nodeOfRow = this.programs.route(this.nodeOfRow, moves);
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

  /** A list by node. */
  private byNode(known: ReadonlyMap<number, number>): Tensor {
    const list = new Int32Array(powerOfTwo(Math.max(LEAST_NODES, this.nodes.length))).fill(-1);
    for (const [id, value] of known) list[id] = value;
    return tensor(list, { device: this.data.codes.device }) as Tensor;
  }

  private movesOf(chosen: readonly Growing[]): Moves {
    const { device } = this.data.codes;
    const room = powerOfTwo(chosen.length);
    const splits = new Int32Array(2 * room);
    const goesLeft = new Uint8Array(room * (MISSING + 1));
    chosen.forEach((node, place) => {
      const { split, children } = node as { split: Split; children: readonly [Growing, Growing] };
      splits.set([split.feature, children[0].id], 2 * place);
      goesLeft.set(split.goesLeft, place * (MISSING + 1));
    });
    return {
      splitOfNode: this.byNode(new Map(chosen.map(({ id }, place) => [id, place]))),
      splits: tensor(splits, { device, shape: [room, 2] }) as Tensor,
      goesLeft: tensor(goesLeft, { device, shape: [room, MISSING + 1] }) as Tensor,
    };
  }

  /** Histograms of the smaller children are summed; those of their siblings are what is left of their parents'. */
  private async look(parents: readonly Growing[], moves: Moves): Promise<void> {
    const { device } = this.data.codes;
    // As many slots as there are moves: few programs serve all rounds.
    const room = moves.splits.shape[0] as number;
    const slots = new Map<number, number>();
    const parentOfSlot = new Int32Array(room).fill(-1);
    const searched: (Growing | null)[] = Array<Growing | null>(2 * room).fill(null);
    parents.forEach((parent, place) => {
      const [left, right] = parent.children as readonly [Growing, Growing];
      const [small, large] = left.count < right.count ? [left, right] : [right, left];
      slots.set(small.id, place);
      parentOfSlot[place] = parent.slot;
      [small.slot, large.slot] = [place, room + place];
      if (this.isWorthwhile(small)) searched[place] = small;
      if (this.isWorthwhile(large)) searched[room + place] = large;
    });
    const facts = new Float64Array(searched.length * NODE_FACTS);
    searched.forEach((node, slot) => {
      if (!node) return;
      const { gradient, hessian, count, value, bounds } = node;
      facts.set([gradient, hessian, count, value, ...bounds], NODE_FACTS * slot);
    });
    const standing = { nodeOfRow: this.nodeOfRow, histograms: this.histograms as Tensor };
    const { nodeOfRow, histograms, ...found } = this.programs.round(standing, this.gradients, moves, {
      slotOfNode: this.byNode(slots),
      parentOfSlot: tensor(parentOfSlot, { device }) as Tensor,
      nodeFacts: tensor(this.wide(facts), { device, shape: [searched.length, NODE_FACTS] }) as Tensor,
    });
    [this.nodeOfRow, this.histograms] = [nodeOfRow, histograms];
    await this.noteSplits(searched, found);
  }

  /** Numbers as the device has them. */
  private wide(numbers: Float64Array): Float64Array | Float32Array {
    return this.histograms?.dtype === "f64" ? numbers : Float32Array.from(numbers);
  }

  /** Reads the best split of each node; null stands for a slot without one. */
  private async noteSplits(searched: readonly (Growing | null)[], { splits, orders }: Found): Promise<void> {
    const [numbers, places] = await Promise.all([splits.data(), orders?.data()]);
    searched.forEach((node, slot) => {
      const row = Array.from((numbers as Float64Array).subarray(SPLIT_FACTS * slot, SPLIT_FACTS * (slot + 1)));
      if (!node || !((row[0] as number) > 0)) return;
      const own = (places as Int32Array | undefined)?.subarray((MISSING + 2) * slot, (MISSING + 2) * (slot + 1));
      node.split = this.splitOf(row, node, own);
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
    this.histograms?.dispose();
    const leafOfNode = Int32Array.from({ length: powerOfTwo(Math.max(LEAST_NODES, this.nodes.length)) }, (_, id) => {
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
  return [order, counts.cast("i32").sum({ axis: 2 }).cast("i32") as Tensor];
}

/** The order of the chosen feature's bins, and behind it how many of them count: [slots, 257]. */
function orderOfChosen([order, used]: readonly [Tensor, Tensor], found: Tensor): Tensor {
  const feature = found.at(":", 1).cast("i32").expandDims(1);
  const bins = order.shape[2] as number;
  const slots = order.shape[0] as number;
  const chosen = order.takeAlongAxis(feature.expandDims(2).broadcastTo([slots, 1, bins]), { axis: 1 }).squeeze(1);
  return concat([chosen, used.takeAlongAxis(feature, { axis: 1 })], { axis: 1 }) as Tensor;
}
