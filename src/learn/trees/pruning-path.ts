/**
 * The way from a grown tree to its root alone by minimal cost and complexity (Breiman, Friedman, Olshen & Stone 1984): each step prunes the
 * node whose leaves gain least for their number. `ccpAlpha` of a tree is chosen from it.
 */
import { type Tensor, tensor } from "../../tensor/index.js";
import type { HostTree } from "./host-tree.js";

/** A number for each step, the unpruned tree first. */
export interface PruningPath {
  /** From this `ccpAlpha` on the tree of the step is the best one. */
  readonly ccpAlphas: Tensor;
  /** The impurity of the leaves that are left, by their shares of all samples. */
  readonly impurities: Tensor;
}

/** The path of a tree; as tensors like the given one. */
export function pruningPath({ left, right, weight, impurity }: HostTree, { device, dtype }: Tensor): PruningPath {
  const nodes = left.length;
  const own = Float64Array.from(weight, (each, node) => (each * (impurity[node] as number)) / (weight[0] as number));
  const branch = own.slice();
  const leaves = new Int32Array(nodes).fill(1);
  const parent = new Int32Array(nodes).fill(-1);
  const isInner = Uint8Array.from(left, (child) => Number(child >= 0));
  const childrenOf = (node: number): [number, number] => [left[node] as number, right[node] as number];
  // Children stand behind their parents.
  for (let node = nodes - 1; node >= 0; node--) {
    if (!isInner[node]) continue;
    const [a, b] = childrenOf(node);
    parent[a] = parent[b] = node;
    branch[node] = (branch[a] as number) + (branch[b] as number);
    leaves[node] = (leaves[a] as number) + (leaves[b] as number);
  }
  const [alphas, impurities] = [[0], [branch[0] as number]];
  while (isInner[0]) {
    let [weakest, least] = [-1, Number.POSITIVE_INFINITY];
    for (let node = 0; node < nodes; node++) {
      if (!isInner[node]) continue;
      const alpha = ((own[node] as number) - (branch[node] as number)) / ((leaves[node] as number) - 1);
      if (alpha < least) [weakest, least] = [node, alpha];
    }
    const [cost, count] = [(own[weakest] as number) - (branch[weakest] as number), (leaves[weakest] as number) - 1];
    for (let node = weakest; node >= 0; node = parent[node] as number) {
      branch[node] = (branch[node] as number) + cost;
      leaves[node] = (leaves[node] as number) - count;
    }
    const below = [weakest];
    for (let node = below.pop(); node !== undefined; node = below.pop()) {
      if (!isInner[node]) continue;
      isInner[node] = 0;
      below.push(...childrenOf(node));
    }
    alphas.push(least);
    impurities.push(branch[0] as number);
  }
  const list = (values: readonly number[]): Tensor => tensor([...values], { device, dtype }) as Tensor;
  return { ccpAlphas: list(alphas), impurities: list(impurities) };
}
