/** One tree of a model as the host reads it: texts and pruning paths are made of it. */
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import type { Tensor } from "../../tensor/index.js";
import type { TreeTensors } from "./grown-tree.js";

type Column = "feature" | "threshold" | "left" | "right" | "weight" | "impurity";

/** Facts of nodes by their number; -1 for the children of leaves. */
export interface HostTree extends Readonly<Record<Column, Float64Array>> {
  /** The predictions of a node. */
  valueOf(node: number): Float64Array;
  /** Categories that go left at a node; none where a threshold counts. */
  categoriesOf(node: number): number[];
}

/** Reads a tree by its number. */
export async function hostTree(operation: string, trees: TreeTensors, tree: number): Promise<HostTree> {
  const [count, , outputs] = trees.value.shape as [number, number, number];
  if (!Number.isInteger(tree) || tree < 0 || tree >= count) {
    throw new ArgumentError(`${operation}: tree is ${shown(tree)}; there are ${count}, from 0 on.`);
  }
  const read = async (values: Tensor): Promise<Float64Array> =>
    (await (values.at(tree) as Tensor).cast("f64").data()) as Float64Array;
  const [feature, threshold, left, right, weight, impurity, value] = (await Promise.all(
    [trees.feature, trees.threshold, trees.left, trees.right, trees.weight, trees.impurity, trees.value].map(read),
  )) as [Float64Array, Float64Array, Float64Array, Float64Array, Float64Array, Float64Array, Float64Array];
  const sets = trees.categories && ((await (trees.categories.at(tree) as Tensor).data()) as Uint32Array);
  return {
    ...{ feature, threshold, left, right, weight, impurity },
    valueOf: (node) => value.subarray(node * outputs, (node + 1) * outputs),
    categoriesOf: (node) =>
      sets
        ? Array.from({ length: 256 }, (_, c) => c).filter(
            (c) => ((sets[8 * node + (c >> 5)] as number) >>> (c & 31)) & 1,
          )
        : [],
  };
}
