/**
 * Grown trees as lists of nodes, after pruning by cost and complexity (Breiman, Friedman, Olshen & Stone 1984): of all subtrees the
 * smallest whose impurity plus `alpha` for each leaf is least. Exact growth ends with it.
 */
import type { GrowingNode } from "./exact-growth.js";
import type { TreeNode } from "./grown-tree.js";

/** The nodes of a tree, from the root, left parts first. `isSplit` says which nodes with children keep them. */
export function prunedTree(
  root: GrowingNode,
  alpha: number,
  isSplit: (node: GrowingNode) => boolean,
): TreeNode[] {
  const kept = alpha > 0 ? keptSplits(root, alpha, isSplit) : null;
  const nodes: TreeNode[] = [];
  const visit = (node: GrowingNode): number => {
    const number = nodes.length;
    const leaf = leafOf(node);
    nodes.push(leaf);
    if (node.children && isSplit(node) && (kept === null || kept.has(node))) {
      const { feature, threshold, gain, children } = node;
      const [left, right] = children.map(visit) as [number, number];
      nodes[number] = { ...leaf, feature, threshold, gain, left, right };
    }
    return number;
  };
  visit(root);
  return nodes;
}

/** The splits that are worth their leaves. */
function keptSplits(root: GrowingNode, alpha: number, isSplit: (node: GrowingNode) => boolean): Set<GrowingNode> {
  const kept = new Set<GrowingNode>();
  const costOf = (node: GrowingNode): number => {
    const alone = (node.weight * node.impurity) / root.weight + alpha;
    if (!node.children || !isSplit(node)) return alone;
    const [left, right] = node.children.map(costOf) as [number, number];
    if (alone <= left + right) return alone;
    kept.add(node);
    return left + right;
  };
  costOf(root);
  return kept;
}

const leafOf = ({ sums, weight, count, impurity }: GrowingNode): TreeNode => ({
  ...{ feature: -1, threshold: 0, left: -1, right: -1, missingLeft: false, categories: null, gain: 0 },
  // Shares of classes, or means of targets.
  value: Array.from(sums, (sum) => sum / weight),
  count,
  weight,
  impurity,
});
