/** The kernels of decision trees as functions of tensors (graph/primitives/trees.ts); `pumice/learn` grows trees with them. */
import { bestSplits, nodeHistogram, routeRows, treeLeaves } from "../graph/primitives/trees.js";
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

/** Sums of gradients, hessians and counts by slot, feature and bin, f64 where the device has it. */
export function histogramByNode(
  codes: Tensor,
  nodeOfRow: Tensor,
  slotOfNode: Tensor,
  { gradients, hessians, largest }: Gradients,
  slots: number,
  isPrecise: boolean,
): Tensor {
  const dtype = backendOf(codes.node).hasDoubles ? "f64" : "f32";
  const inputs = [codes, nodeOfRow, slotOfNode, largest, gradients, ...(hessians ? [hessians] : [])];
  return made(nodeHistogram, inputs, { slots, dtype, hasHessians: hessians !== null, isPrecise });
}

/** Limits of splits. */
interface SplitLimits {
  readonly minSamplesLeaf: number;
  readonly minHessian: number;
  readonly l2: number;
}

/** The best split of each slot, [slots, 7]; `order` are the orders of bins of categories and how many of them count. */
export const splitsByGain = (
  histograms: Tensor,
  nodeFacts: Tensor,
  featureFacts: Tensor,
  order: readonly [Tensor, Tensor] | null,
  { minSamplesLeaf, minHessian, l2 }: SplitLimits,
): Tensor =>
  made(bestSplits, [histograms, nodeFacts, featureFacts, ...(order ?? [])], { minSamplesLeaf, minHessian, l2 });

/** The next node of each row. */
export const routedRows = (
  codes: Tensor,
  nodeOfRow: Tensor,
  splitOfNode: Tensor,
  splits: Tensor,
  goesLeft: Tensor,
): Tensor => made(routeRows, [codes, nodeOfRow, splitOfNode, splits, goesLeft], {});

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
