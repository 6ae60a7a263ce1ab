/**
 * A graph as text. Two graphs have the same text exactly if they compile to the same program, also in two processes. The key
 * of a program on disk is a hash of this text. Memory is no part of it.
 */

import { isNumber } from "../compiler/rewrite/given-numbers.js";
import type { Node } from "../graph/node.js";
import { pendingInOrder } from "../graph/node.js";
import { paramsKey } from "../graph/params-key.js";

/**
 * The operations behind the roots in order, each with the positions of its inputs. Leaves and constants that are data appear
 * without their values.
 */
export function graphText(roots: readonly Node[], leaves: readonly Node[]): string {
  const numbers = new Map(leaves.map((leaf, i) => [leaf, i]));
  const parts = leaves.map((leaf) => (isNumber(leaf) ? `number ${typeText(leaf)}` : typeText(leaf)));
  for (const node of pendingInOrder(roots, (at) => at.storage !== null || numbers.has(at))) {
    const leaf = numbers.get(node);
    parts.push(leaf === undefined ? operationText(node) : `#${leaf}`);
  }
  return `${parts.join("|")}→${roots.map(({ position }) => position)}`;
}

const typeText = ({ dtype, shape, isWeak }: Node): string => `${dtype}[${shape}]${isWeak ? "~" : ""}`;

function operationText(node: Node): string {
  let inputs = "";
  for (const { position } of node.inputs) inputs += `${position},`;
  return `${node.primitive.name}(${inputs})${paramsKey(node)}${typeText(node)}`;
}
