/** Copies a graph and replaces nodes on the way. Every pass that rewrites the graph is a call of this. */
import { Node, pendingInOrder } from "../../graph/node.js";
import { part } from "../../graph/primitives/bundle.js";
import { expandComplex } from "./complex.js";

/** The node to put in place of a copy; a list for an operation with several results; null to copy the node. */
export type Replacement = Node | readonly Node[] | null;

/** The roots of the rewritten graph. `copies` maps nodes to their copies; those it already has are kept. */
export function rewriteNodes(
  roots: readonly Node[],
  copies: Map<Node, Node>,
  replace: (node: Node, inputs: readonly Node[]) => Replacement,
): Node[] {
  const bundles = new Map<Node, readonly Node[]>();
  for (const node of pendingInOrder(roots, (at) => at.storage !== null || copies.has(at))) {
    if (copies.has(node)) continue;
    if (node.storage !== null) {
      copies.set(node, node);
      continue;
    }
    const { primitive, params, shape, dtype, device } = node;
    const several = primitive === part && bundles.get(node.inputs[0]);
    if (several) {
      copies.set(node, several[params.index as number]);
      continue;
    }
    const inputs = node.inputs.map((input) => copies.get(input) as Node);
    const made = expandComplex(node, inputs) ?? replace(node, inputs);
    if (made instanceof Node) copies.set(node, made);
    else if (made) bundles.set(node, made);
    else {
      const copy = new Node(primitive, params, inputs, shape, dtype, device);
      copy.isAbstract = true;
      copies.set(node, copy);
    }
  }
  return roots.map((root) => copies.get(root) as Node);
}
