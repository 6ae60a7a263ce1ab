/**
 * Cuts groups that load from too many tensors. Drivers take a time that grows with the square of that number: the sum of
 * five hundred tensors as one kernel takes long to compile, while sums of thirty are a few small kernels that are all
 * alike. The scheduler asks here for every group it forms.
 */
import { inputsFirst, type Node } from "../../graph/node.js";

/** Nodes to store, so that no kernel on the way to the result loads from more than `maxLoads`, unless one node does. */
export function cutsForLoads(result: Node, nodes: ReadonlyMap<Node, unknown>, maxLoads: number): Node[] {
  const cuts = new Set<Node>();
  /** The tensors that each node of the group loads from, once the cuts are stored. */
  const loads = new Map<Node, ReadonlySet<Node>>();
  const loadsOf = (node: Node): ReadonlySet<Node> => (cuts.has(node) ? undefined : loads.get(node)) ?? new Set([node]);
  for (const node of inputsFirst([result], (each) => (nodes.has(each) ? each.inputs : []))) {
    if (!nodes.has(node)) continue;
    const inputs = [...new Set(node.inputs.map((input) => withoutMovement(input, nodes)))];
    const found = () => new Set(inputs.flatMap((input) => [...loadsOf(input)]));
    let own = found();
    while (own.size > maxLoads) {
      const heaviest = inputs.reduce((most, input) => (loadsOf(input).size > loadsOf(most).size ? input : most));
      if (loadsOf(heaviest).size === 1) break;
      cuts.add(heaviest);
      own = found();
    }
    loads.set(node, own);
  }
  return [...cuts];
}

/** The node behind movement of a single tensor: movement is not worth storing. */
function withoutMovement(node: Node, nodes: ReadonlyMap<Node, unknown>): Node {
  let at = node;
  while (nodes.has(at) && at.primitive.kind === "movement" && at.inputs.length === 1) [at] = at.inputs;
  return at;
}
