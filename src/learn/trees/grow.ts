/**
 * Grows trees of boosting on binned samples, those that scikit-learn's best-first growth gives. The device sums histograms, finds
 * splits and moves rows; the host reads the best split of each new node and keeps the shape of the tree.
 *
 * Best-first growth splits the node with the largest gain, one at a time. A node whose turn would come only after as many others as the
 * tree can have, among those known, is out for good, whatever is found later. All nodes that are not out are split together: a tree of 31
 * leaves takes about nine rounds, not thirty. At the end, splits of nodes that turned out to be out are left out.
 */
import { rowsAtRoot, type Tensor, tensor } from "../../tensor/index.js";
import { MISSING } from "./bins.js";
import type { TreeNode } from "./grown-tree.js";
import {
  type BinnedSamples,
  type Found,
  type GrowthPrograms,
  growthPrograms,
  MIN_HESSIAN,
  type Moves,
} from "./growth-programs.js";
import type { Gradients } from "./losses.js";

/** Limits of a tree. */
export interface GrowLimits {
  readonly maxLeafNodes: number | null;
  readonly maxDepth: number | null;
  readonly minSamplesLeaf: number;
  readonly l2: number;
  /** -1, 0 or 1 for each feature. */
  readonly monotonic: readonly number[];
  /** Sets of features that may stand together in a branch; null where all may. */
  readonly interactions: readonly (readonly number[])[] | null;
}

/** A node while the tree grows. */
interface Growing extends Sums {
  readonly id: number;
  readonly parent: Growing | null;
  readonly depth: number;
  readonly value: number;
  readonly bounds: readonly [number, number];
  /** The sets of features that the way to the node keeps to; null where there are none. */
  readonly sets: GrowLimits["interactions"];
  split: Split | null;
  children: readonly [Growing, Growing] | null;
  slot: number;
}

/** Sums over the samples of a node: of gradients, of hessians, and how many there are. */
interface Sums {
  readonly gradient: number;
  readonly hessian: number;
  readonly count: number;
}

/** A split, and the sums on its left. */
interface Split extends Sums {
  readonly gain: number;
  readonly feature: number;
  readonly position: number;
  readonly missingLeft: boolean;
  /** Codes that go left, of a categorical feature; null: those up to the position. */
  readonly categories: readonly number[] | null;
}

/** A grown tree: its nodes, and for each node that the device knows, the leaf it belongs to. */
export interface Grown {
  readonly nodes: TreeNode[];
  /** Where rows stand, as the device knows it (`nodesOf`). */
  readonly rows: Tensor;
  /** The number among `nodes` of the leaf that a known node belongs to. */
  readonly leafOfNode: Int32Array;
}

/** Grows trees on the same samples, each on gradients of its own. */
export function grower(data: BinnedSamples, limits: GrowLimits): (gradients: Gradients) => Promise<Grown> {
  const start = rowsAtRoot(data.codes).realize() as Tensor;
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

/** Numbers about a node that the search of splits is given, and about its best split that it returns. */
const [NODE_FACTS, SPLIT_FACTS] = [6, 7];
/** Nodes for which lists have room, at least: few programs serve all trees. */
const LEAST_NODES = 128;

const powerOfTwo = (atLeast: number): number => 2 ** Math.ceil(Math.log2(Math.max(1, atLeast)));

class Growth {
  private readonly nodes: Growing[] = [];
  private histograms: Tensor | null = null;
  private rows: Tensor;

  constructor(
    private readonly data: BinnedSamples,
    private readonly limits: GrowLimits,
    private readonly programs: GrowthPrograms,
    private readonly gradients: Gradients,
    start: Tensor,
  ) {
    // Programs are given it; the one who holds the start keeps it.
    this.rows = start.again();
  }

  async begin(): Promise<void> {
    const { sums, histograms, ...found } = this.programs.root(this.rows, this.gradients);
    this.histograms = histograms;
    const [gradient, hessian] = Array.from((await sums.data()) as ArrayLike<number>) as [number, number];
    const count = this.data.codes.shape[1] as number;
    const { NEGATIVE_INFINITY, POSITIVE_INFINITY } = Number;
    const root = this.made(null, { gradient, hessian, count }, 0, [NEGATIVE_INFINITY, POSITIVE_INFINITY]);
    root.slot = 0;
    if (this.isWorthwhile(root) && hessian >= MIN_HESSIAN) await this.noteSplits([root], found);
  }

  /** Splits the nodes that may be part of the tree, and looks at their children; false where there were none. */
  async round(): Promise<boolean> {
    const ahead = this.ahead();
    // The last ones of a full tree: their children cannot be split any more.
    const last = this.limits.maxLeafNodes === null ? ahead.length : this.limits.maxLeafNodes - 2;
    const [chosen, looked]: [Growing[], Growing[]] = [[], []];
    ahead.forEach((node, rank) => {
      if (node.children) return;
      node.children = this.childrenOf(node, node.split as Split);
      chosen.push(node);
      if (rank < last && node.children.some((child) => this.isWorthwhile(child))) looked.push(node);
    });
    if (chosen.length === 0) return false;
    const moves = this.movesOf(chosen);
    if (looked.length > 0) await this.look(looked, moves);
    else this.rows = this.programs.route(this.rows, moves);
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
      for (const child of node.children ?? []) if (child.split) waiting.push(child);
    }
    return taken;
  }

  private isWorthwhile({ depth, count }: Growing): boolean {
    const { maxDepth, minSamplesLeaf } = this.limits;
    return (maxDepth === null || depth < maxDepth) && count >= 2 * minSamplesLeaf;
  }

  private childrenOf(node: Growing, split: Split): readonly [Growing, Growing] {
    const { l2, monotonic } = this.limits;
    const right = {
      gradient: node.gradient - split.gradient,
      hessian: node.hessian - split.hessian,
      count: node.count - split.count,
    };
    const [lower, upper] = node.bounds;
    const leafValue = ({ gradient, hessian }: Sums): number =>
      Math.min(Math.max(-gradient / (hessian + l2 + 1e-15), lower), upper);
    const [a, b] = [leafValue(split), leafValue(right)];
    const middle = (a + b) / 2;
    const rises = monotonic[split.feature] ?? 0;
    const low: readonly [number, number] = rises === 0 ? node.bounds : [lower, middle];
    const high: readonly [number, number] = rises === 0 ? node.bounds : [middle, upper];
    return [this.made(node, split, a, rises < 0 ? high : low), this.made(node, right, b, rises < 0 ? low : high)];
  }

  /** A new node. Nodes are many, so this is written out: objects that are spread into others are slow. */
  private made(
    parent: Growing | null,
    { gradient, hessian, count }: Sums,
    value: number,
    bounds: readonly [number, number],
  ): Growing {
    const [id, depth] = [this.nodes.length, parent ? parent.depth + 1 : 0];
    const sets = parent ? this.setsBelow(parent) : this.limits.interactions;
    const [split, children, slot] = [null, null, -1];
    const node = { id, parent, depth, gradient, hessian, count, value, bounds, sets, split, children, slot };
    this.nodes.push(node);
    return node;
  }

  /** The sets that a node's split keeps to, for its children. */
  private setsBelow({ sets, split }: Growing): GrowLimits["interactions"] {
    return sets?.filter((set) => set.includes((split as Split).feature)) ?? null;
  }

  /** Whether the search of each slot looks at a feature, [slots, features]; null where all are looked at. */
  private allowed(searched: readonly (Growing | null)[]): Tensor | null {
    if (!this.limits.interactions) return null;
    const { codes } = this.data;
    const features = 4 * (codes.shape[0] as number);
    const isAllowed = new Uint8Array(searched.length * features);
    searched.forEach((node, slot) => {
      for (const feature of node?.sets?.flat() ?? []) isAllowed[slot * features + feature] = 1;
    });
    return tensor(isAllowed, { device: codes.device, shape: [searched.length, features] }) as Tensor;
  }

  /** An empty list by node. */
  private byNode(): Int32Array {
    return new Int32Array(powerOfTwo(Math.max(LEAST_NODES, this.nodes.length))).fill(-1);
  }

  private movesOf(chosen: readonly Growing[]): Moves {
    const { device } = this.data.codes;
    const room = powerOfTwo(chosen.length);
    const splitOfNode = this.byNode();
    const splits = new Int32Array(2 * room);
    const goesLeft = new Uint8Array(room * (MISSING + 1));
    chosen.forEach(({ id, split, children }, place) => {
      const { feature, position, categories, missingLeft } = split as Split;
      splitOfNode[id] = place;
      splits[2 * place] = feature;
      splits[2 * place + 1] = (children as readonly [Growing, Growing])[0].id;
      const first = place * (MISSING + 1);
      if (categories) for (const code of categories) goesLeft[first + code] = 1;
      else goesLeft.fill(1, first, first + position + 1);
      goesLeft[first + MISSING] = missingLeft ? 1 : 0;
    });
    return {
      splitOfNode: tensor(splitOfNode, { device }) as Tensor,
      splits: tensor(splits, { device, shape: [room, 2] }) as Tensor,
      goesLeft: tensor(goesLeft, { device, shape: [room, MISSING + 1] }) as Tensor,
    };
  }

  /** Histograms of the smaller children are summed; those of their siblings are what is left of their parents'. */
  private async look(parents: readonly Growing[], moves: Moves): Promise<void> {
    const { device } = this.data.codes;
    // As many slots as there are moves: few programs serve all rounds.
    const room = moves.splits.shape[0] as number;
    const slotOfNode = this.byNode();
    const parentOfSlot = new Int32Array(room).fill(-1);
    const searched: (Growing | null)[] = Array<Growing | null>(2 * room).fill(null);
    const facts = new Float64Array(searched.length * NODE_FACTS);
    const search = (node: Growing): void => {
      if (!this.isWorthwhile(node)) return;
      searched[node.slot] = node;
      const { gradient, hessian, count, value, bounds } = node;
      const own = [gradient, hessian, count, value, bounds[0], bounds[1]];
      for (let at = 0; at < NODE_FACTS; at++) facts[NODE_FACTS * node.slot + at] = own[at] as number;
    };
    parents.forEach((parent, place) => {
      const [left, right] = parent.children as readonly [Growing, Growing];
      const [small, large] = left.count < right.count ? [left, right] : [right, left];
      slotOfNode[small.id] = place;
      parentOfSlot[place] = parent.slot;
      [small.slot, large.slot] = [place, room + place];
      search(small);
      search(large);
    });
    const standing = { rows: this.rows, histograms: this.histograms as Tensor };
    const { rows, histograms, ...found } = this.programs.round(standing, this.gradients, moves, {
      slotOfNode: tensor(slotOfNode, { device }) as Tensor,
      parentOfSlot: tensor(parentOfSlot, { device }) as Tensor,
      nodeFacts: tensor(this.wide(facts), { device, shape: [searched.length, NODE_FACTS] }) as Tensor,
      allowed: this.allowed(searched),
    });
    [this.rows, this.histograms] = [rows, histograms];
    await this.noteSplits(searched, found);
  }

  /** Numbers as the device has them. */
  private wide(numbers: Float64Array): Float64Array | Float32Array {
    return this.histograms?.dtype === "f64" ? numbers : Float32Array.from(numbers);
  }

  /** Reads the best split of each node; null stands for a slot without one. */
  private async noteSplits(searched: readonly (Growing | null)[], { splits, orders }: Found): Promise<void> {
    const [numbers, places] = await Promise.all([splits.data(), orders?.data()]);
    const facts = numbers as Float64Array;
    searched.forEach((node, slot) => {
      const at = SPLIT_FACTS * slot;
      if (!node || !((facts[at] as number) > 0)) return;
      const own = (places as Int32Array | undefined)?.subarray((MISSING + 2) * slot, (MISSING + 2) * (slot + 1));
      node.split = this.splitOf(facts, at, node, own);
    });
  }

  /** The split that the device has written from a place on. */
  private splitOf(facts: Float64Array, at: number, node: Growing, places: Int32Array | undefined): Split {
    const { bins } = this.data;
    const fact = (which: number): number => facts[at + which] as number;
    const [feature, position, isFromRight, count] = [fact(1), fact(2), fact(3) !== 0, fact(6)];
    let categories: readonly number[] | null = null;
    if (bins.isCategorical[feature] && places) {
      const used = places[MISSING + 1] as number;
      categories = Array.from(isFromRight ? places.subarray(position, used) : places.subarray(0, position + 1));
    }
    const isMissingLeft = categories ? categories.includes(MISSING) : isFromRight;
    // Where the fit had no missing value, later ones go where most samples went.
    const missingLeft = bins.hasMissing[feature] ? isMissingLeft : count > node.count - count;
    return { gain: fact(0), feature, position, gradient: fact(4), hessian: fact(5), count, missingLeft, categories };
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
        nodes[number] = this.splitNode(node, node.split as Split, left, right);
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
    return { nodes, rows: this.rows, leafOfNode };
  }

  private splitNode(node: Growing, split: Split, left: number, right: number): TreeNode {
    const { feature, position, categories, missingLeft, gain } = split;
    const { thresholds, isCategorical, counts } = this.data.bins;
    const values = thresholds[feature] as Float64Array;
    const isOfMissing = position === (counts[feature] as number) - 1;
    const threshold = isOfMissing ? Number.POSITIVE_INFINITY : (values[position] as number);
    return {
      feature,
      threshold: isCategorical[feature] ? 0 : threshold,
      left,
      right,
      missingLeft,
      categories: categories && Array.from(values).filter((_, code) => categories.includes(code)),
      gain,
      impurity: 0,
      value: [node.value],
      count: node.count,
      weight: node.hessian,
    };
  }
}

const gainOf = (node: Growing | undefined): number => node?.split?.gain ?? 0;

const leafNode = ({ value, count, hessian }: Growing): TreeNode => ({
  feature: -1,
  threshold: 0,
  left: -1,
  right: -1,
  missingLeft: false,
  categories: null,
  gain: 0,
  impurity: 0,
  value: [value],
  count,
  weight: hessian,
});
