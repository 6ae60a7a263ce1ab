/**
 * A graph as text: the same for graphs that compile to the same program, in whichever process, and for no others. What a
 * program is kept under on disk is made of it. Memory is not in it, as it is not in the program.
 */

import { isNumber } from "../compiler/rewrite/given-numbers.js";
import type { Node } from "../graph/node.js";
import { pendingInOrder } from "../graph/node.js";
import { paramsKey } from "../graph/params-key.js";

/**
 * The operations behind roots, one after another, each with its inputs by number. The value of a given number is not in it,
 * nor what leaves are made of.
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
