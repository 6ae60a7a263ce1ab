/** The kernels of decision trees as functions of tensors (graph/primitives/trees.ts); `pumice/learn` grows trees with them. */
import {
  bestSplits,
  nodeHistogram,
  nodesOfRows,
  partedRows,
  partTotals,
  rootRows,
  routeRows,
  sortedSplits,
  treeLeaves,
} from "../graph/primitives/trees.js";
import { backendOf, makeNode } from "./build.js";
import { Tensor } from "./tensor.js";

const made = (
  primitive: typeof bestSplits,
  inputs: readonly Tensor[],
  params: Readonly<Record<string, unknown>>,
): Tensor =>
  new Tensor(
    makeNode(
      primitive,
      inputs.map(({ node }) => node),
      params,
      backendOf(inputs[0].node),
    ),
  );

/** Gradients of rows, and hessians where they are not all 1; `largest` are the largest absolute values of both, [2]. */
interface Gradients {
  readonly gradients: Tensor;
  readonly hessians: Tensor | null;
  readonly largest: Tensor;
}

/** Histograms of parents, and the parent of each slot among them; -1 for a slot that is not asked for. */
interface Parents {
  readonly histograms: Tensor;
  readonly parentOfSlot: Tensor;
}

/**
 * Sums of gradients, hessians and counts by slot, feature and bin, f64 where the device has it. With parents, what is left of them stands
 * behind: the histograms of siblings.
 */
export function histogramByNode(
  codes: Tensor,
  standing: Tensor,
  slotOfNode: Tensor,
  { gradients, hessians, largest }: Gradients,
  parents: Parents | null,
  { slots, isPrecise }: { readonly slots: number; readonly isPrecise: boolean },
): Tensor {
  const dtype = backendOf(codes.node).hasDoubles ? "f64" : "f32";
  const inputs = [codes, standing, slotOfNode, largest, gradients, ...(hessians ? [hessians] : [])];
  if (parents) inputs.push(parents.histograms, parents.parentOfSlot);
  const params = { slots, dtype, hasHessians: hessians !== null, isPrecise, hasParents: parents !== null };
  return made(nodeHistogram, inputs, params);
}

/** Limits of splits. */
interface SplitLimits {
  readonly minSamplesLeaf: number;
  readonly minHessian: number;
  readonly l2: number;
  /** Whether any feature is monotone; bounds of nodes do not count else. */
  readonly isMonotone: boolean;
}

/** The best split of each slot, [slots, 7]; `order` are the orders of bins of categories and how many of them count. */
export const splitsByGain = (
  histograms: Tensor,
  nodeFacts: Tensor,
  featureFacts: Tensor,
  order: readonly [Tensor, Tensor] | null,
  { minSamplesLeaf, minHessian, l2, isMonotone }: SplitLimits,
): Tensor =>
  made(bestSplits, [histograms, nodeFacts, featureFacts, ...(order ?? [])], {
    minSamplesLeaf,
    minHessian,
    l2,
    isMonotone,
  });

/** Where rows stand at first: at the root. */
export const rowsAtRoot = (codes: Tensor): Tensor => made(rootRows, [codes], {});

/** Where rows stand after splits. */
export const routedRows = (
  codes: Tensor,
  standing: Tensor,
  splitOfNode: Tensor,
  splits: Tensor,
  goesLeft: Tensor,
): Tensor => made(routeRows, [codes, standing, splitOfNode, splits, goesLeft], {});

/** The node of each row. */
export const nodesOf = (standing: Tensor, rows: number): Tensor => made(nodesOfRows, [standing], { rows });

/** Nodes of trees, [trees, nodes] each; `categories` [trees, nodes, 8] where some features are categorical. */
interface TreeNodes {
  readonly feature: Tensor;
  readonly threshold: Tensor;
  readonly left: Tensor;
  readonly right: Tensor;
  readonly missingLeft: Tensor;
  readonly categories: Tensor | null;
}

/** The leaf of each tree that a sample ends in, i32 [samples, trees]. */
export function leavesOfTrees(x: Tensor, nodes: TreeNodes, depth: number): Tensor {
  const { feature, threshold, left, right, missingLeft, categories } = nodes;
  const inputs = [x, feature, threshold, left, right, missingLeft, ...(categories ? [categories] : [])];
  return made(treeLeaves, inputs, { depth });
}

/** Rows of growing trees: their order, the place, number and tree of nodes, targets, and weights by tree. */
interface NodeRows {
  /** Values and their ranks, [features, rows]. */
  readonly values: Tensor;
  readonly ranks: Tensor;
  readonly targets: Tensor;
  readonly weights: Tensor;
  /** What the second total of a node sums, [rows]. */
  readonly spreads: Tensor;
  /** Rows in the order of nodes, i32 [places]. */
  readonly order: Tensor;
  /** First place, number of rows and tree of each node, i32 [nodes, 3]. */
  readonly nodes: Tensor;
}

/** The best split of each node, exact: [nodes, 5] (graph/primitives/trees.ts). */
export const exactSplits = (
  { values, ranks, targets, weights, order, nodes }: NodeRows,
  candidates: Tensor,
  totals: Tensor,
  draws: Tensor | null,
  params: { readonly criterion: string; readonly minSamplesLeaf: number; readonly hasLeastWeight?: boolean },
): Tensor =>
  made(sortedSplits, [ranks, values, order, nodes, candidates, targets, weights, totals, ...(draws ? [draws] : [])], {
    ...params,
    isRandom: draws !== null,
  });

/** The order of rows after splits. */
export const rowsByPart = ({ values, order, nodes }: NodeRows, splits: Tensor): Tensor =>
  made(partedRows, [values, order, nodes, splits], {});

/** Totals of both parts of each node, [2 · nodes, 2 + channels]. `order` is that after the splits. */
export const totalsByPart = (
  { order, nodes, targets, weights, spreads }: NodeRows,
  splits: Tensor,
  params: { readonly channels: number; readonly isByClass: boolean; readonly isByMedian?: boolean },
): Tensor => made(partTotals, [order, nodes, splits, targets, weights, spreads], params);
