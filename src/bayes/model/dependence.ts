/**
 * Which tensors depend on others, read off the graph. `Posterior` leaves out terms that do not depend on what is sampled,
 * and checks data against supports that do not.
 */
import type { Tensor } from "../../tensor/tensor.js";

type Node = Tensor["node"];

/**
 * A test for dependence on some tensors, a list that may still grow. `data` are leaves that do not count. What has been computed has lost its past,
 * and is taken to depend: the answer errs on that side.
 */
export function dependenceOn(sources: readonly Tensor[], data: readonly Tensor[]): (x: Tensor) => boolean {
  const known = new Map<Node, boolean>();
  for (const { node } of data) known.set(node, false);
  return ({ node: root }) => {
    for (const { node } of sources) known.set(node, true);
    const stack = [root];
    while (stack.length > 0) {
      const node = stack[stack.length - 1] as Node;
      if (known.has(node)) {
        stack.pop();
        continue;
      }
      const open = node.inputs.filter((input) => !known.has(input));
      if (open.length > 0) {
        stack.push(...open);
        continue;
      }
      const isComputed = node.storage !== null && node.primitive.kind !== "leaf";
      known.set(node, isComputed || node.inputs.some((input) => known.get(input)));
      stack.pop();
    }
    return known.get(root) as boolean;
  };
}
