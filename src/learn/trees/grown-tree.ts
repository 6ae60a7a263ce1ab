/**
 * A tree as the host knows it while it grows, and the nodes of several trees as tensors: what models of this family learn. Nodes are
 * numbered from the root, left parts first.
 */
import type { DType } from "../../core/dtype.js";
import { arange, leavesOfTrees, type Tensor, tensor, where } from "../../tensor/index.js";

/** A node: a leaf where `left` is -1. */
export interface TreeNode {
  readonly feature: number;
  readonly threshold: number;
  readonly left: number;
  readonly right: number;
  readonly missingLeft: boolean;
  /** Categories that go left; null where the threshold counts. */
  readonly categories: readonly number[] | null;
  /** The prediction: a number, or one for each output. */
  value: number[];
  /** The reduction of the loss, or of the impurity, by the split. */
  readonly gain: number;
  /** Samples of the fit, and the sum of their weights. */
  readonly count: number;
  readonly weight: number;
  readonly impurity: number;
}

/** Trees as tensors, [trees, nodes] each, padded with leaves. */
export interface TreeTensors {
  /** The predictions of nodes, [trees, nodes, outputs]. */
  readonly value: Tensor;
  readonly threshold: Tensor;
  readonly feature: Tensor;
  /** Children, i32; -1 in leaves. */
  readonly left: Tensor;
  readonly right: Tensor;
  /** Whether missing values go left, i32. */
  readonly missingLeft: Tensor;
  /** The reduction of loss or impurity by each split. */
  readonly gain: Tensor;
  /** Weights of the samples of the fit in each node. */
  readonly weight: Tensor;
  readonly count: Tensor;
  readonly impurity: Tensor;
  /** Categories that go left as bits, u32 [trees, nodes, 8]; null where no feature is categorical. */
  readonly categories: Tensor | null;
  readonly [name: string]: Tensor | null;
}

interface Placing {
  readonly device: string;
  readonly dtype: DType;
  /** Nodes of each tree, at least. */
  readonly nodes?: number;
  readonly hasCategories?: boolean;
}

/** Trees as tensors. */
export function treeTensors(trees: readonly (readonly TreeNode[])[], placing: Placing): TreeTensors {
  const { device, dtype, hasCategories = false } = placing;
  const nodes = Math.max(1, placing.nodes ?? 0, ...trees.map(({ length }) => length));
  const outputs = trees[0]?.[0]?.value.length ?? 1;
  const shape = [trees.length, nodes];
  const filled = (empty: number, read: (node: TreeNode) => number): Float64Array => {
    const values = new Float64Array(trees.length * nodes).fill(empty);
    trees.forEach((tree, t) => {
      tree.forEach((node, n) => {
        values[t * nodes + n] = read(node);
      });
    });
    return values;
  };
  const of = (values: Float64Array, type: DType, to: readonly number[] = shape): Tensor =>
    tensor(values, { device, dtype: type, shape: to }) as Tensor;
  const value = new Float64Array(trees.length * nodes * outputs);
  trees.forEach((tree, t) => {
    tree.forEach((node, n) => {
      value.set(node.value, (t * nodes + n) * outputs);
    });
  });
  return {
    value: of(value, dtype, [...shape, outputs]),
    threshold: of(
      filled(0, ({ threshold }) => threshold),
      dtype,
    ),
    feature: of(
      filled(0, ({ feature }) => Math.max(0, feature)),
      "i32",
    ),
    left: of(
      filled(-1, ({ left }) => left),
      "i32",
    ),
    right: of(
      filled(-1, ({ right }) => right),
      "i32",
    ),
    missingLeft: of(
      filled(0, ({ missingLeft }) => Number(missingLeft)),
      "i32",
    ),
    gain: of(
      filled(0, ({ gain }) => gain),
      dtype,
    ),
    weight: of(
      filled(0, ({ weight }) => weight),
      dtype,
    ),
    count: of(
      filled(0, ({ count }) => count),
      "i32",
    ),
    impurity: of(
      filled(0, ({ impurity }) => impurity),
      dtype,
    ),
    categories: hasCategories ? categoryBits(trees, nodes, device) : null,
  };
}

function categoryBits(trees: readonly (readonly TreeNode[])[], nodes: number, device: string): Tensor {
  const bits = new Uint32Array(trees.length * nodes * 8);
  trees.forEach((tree, t) => {
    tree.forEach(({ categories }, n) => {
      for (const category of categories ?? []) {
        const at = (t * nodes + n) * 8 + (category >> 5);
        bits[at] = (bits[at] as number) | (1 << (category & 31));
      }
    });
  });
  return tensor(bits, { device, dtype: "u32", shape: [trees.length, nodes, 8] }) as Tensor;
}

/** The leaf that each sample ends in, i32 [samples, trees]. */
export function leavesOf(trees: TreeTensors, x: Tensor): Tensor {
  const { threshold, categories } = trees;
  const nodes = threshold.shape[1] as number;
  return leavesOfTrees(x.cast(threshold.dtype) as Tensor, { ...trees, categories }, (nodes - 1) / 2);
}

/** What each tree predicts for each sample, [samples, trees, outputs]. */
export function predictionsOf(trees: TreeTensors, x: Tensor): Tensor {
  const [count, nodes, outputs] = trees.value.shape as [number, number, number];
  const leaves = leavesOf(trees, x);
  const { device } = x;
  const first = tensor(
    Int32Array.from({ length: count }, (_, t) => t * nodes),
    { device },
  );
  return trees.value.reshape([count * nodes, outputs]).take(leaves.add(first), { axis: 0 }) as Tensor;
}

/** The nodes of each tree that each sample passes, its leaf among them, bool [samples, trees, nodes]. */
export function passedNodes(trees: TreeTensors, x: Tensor): Tensor {
  const nodes = trees.left.shape[1] as number;
  const place = arange(nodes, { device: x.device, dtype: "i32" }) as Tensor;
  // Nodes stand left parts first: what is below a node stands behind it, up to the last leaf on its right.
  let last = where(trees.left.less(0), place, trees.right) as Tensor;
  for (let reach = 1; reach < nodes; reach *= 2) last = last.takeAlongAxis(last, { axis: 1 }) as Tensor;
  const leaf = leavesOf(trees, x).expandDims(2);
  return leaf.greaterEqual(place).logicalAnd(leaf.lessEqual(last)) as Tensor;
}
