/**
 * Common subexpressions: nodes that apply the same primitive to the same inputs become one. Differentiation writes many
 * twice, and so do users (the mean inside a variance, beside the mean).
 */
import { type Node, pendingInOrder } from "../../graph/node.js";
import { paramsKey } from "../../graph/params-key.js";

interface Merged {
  readonly roots: Node[];
  /** The node that now stands for a node. */
  keptFor(node: Node): Node;
}

export function mergeEqual(roots: readonly Node[]): Merged {
  const known = new Map<string, Node>();
  const numbers = new Map<Node, number>();
  const kept = new Map<Node, Node>();
  for (const node of pendingInOrder(roots)) {
    const inputs = node.inputs.map((input) => kept.get(input) as Node);
    const key =
      node.storage !== null
        ? `#${numbers.size}`
        : `${node.primitive.name}(${inputs.map((input) => numbers.get(input))})${paramsKey(node)}`;
    let own = known.get(key);
    if (!own) {
      if (inputs.some((input, i) => input !== node.inputs[i])) node.replaceInputs(inputs, node.params);
      own = node;
      known.set(key, own);
      numbers.set(own, numbers.size);
    }
    kept.set(node, own);
  }
  const keptFor = (node: Node) => kept.get(node) ?? node;
  return { roots: roots.map(keptFor), keptFor };
}
