/**
 * Groups that compute the same: two groups with one key are lowered to one kernel. The layers of a network, the steps of an
 * unrolled loop and the stretches of a long chain are such groups, and lowering and emitting a kernel takes far longer than
 * writing its key. compile.ts asks before it lowers a group.
 */
import { inputsFirst, type Node } from "../../graph/node.js";
import { paramsKey } from "../../graph/params-key.js";
import type { Group } from "./group.js";

interface GroupKey {
  /** All that the kernel of a group follows from, on one target. */
  readonly key: string;
  /** The nodes that the group computes or loads. Those of groups with the same key correspond. */
  readonly nodes: readonly Node[];
}

/** The key of a group that the scheduler made. */
export function keyOfGroup(group: Group): GroupKey {
  const { results, tiling, rowsPerThread, product, transposed } = group;
  const isResult = new Set(results.map(({ node }) => node));
  const isLoaded = (node: Node) => node.storage !== null || (!isResult.has(node) && group.isLoaded(node));
  const nodes = inputsFirst([...isResult], (node) => (isLoaded(node) ? [] : node.inputs));
  const numbers = new Map(nodes.map((node, number) => [node, number]));
  const numberOf = (node: Node) => numbers.get(node) as number;
  let key = "";
  for (const node of nodes) {
    if (isLoaded(node)) key += `${node.dtype}[${node.shape}]\n`;
    else key += `${node.primitive.name}(${node.inputs.map(numberOf)})${paramsKey(node)}\n`;
  }
  const parts = [
    results.map(({ node, rowAxes }) => [numberOf(node), rowAxes]),
    tiling,
    rowsPerThread,
    product && [product.dot, ...product.path].map(numberOf),
    transposed && { ...transposed, node: numberOf(transposed.node) },
  ];
  return { key: key + JSON.stringify(parts), nodes };
}
