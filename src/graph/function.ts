/**
 * Functions as graphs: placeholders stand for the arguments, nodes built on them for the results. Applying such a function
 * is building its nodes again on other inputs.
 */
import { makeNode } from "./build.js";
import { type DeviceHandle, Node } from "./node.js";
import { placeholder } from "./primitives/leaf.js";

export function makePlaceholder({ shape, dtype, device }: Pick<Node, "shape" | "dtype" | "device">): Node {
  const node = new Node(placeholder, { shape: [...shape], dtype }, [], [...shape], dtype, device as DeviceHandle);
  node.isAbstract = true;
  return node;
}

/** The nodes that depend on placeholders, inputs before users. Iterative: graphs are deep. */
export function abstractInOrder(outputs: readonly Node[], placeholders: readonly Node[]): Node[] {
  const depends = new Map<Node, boolean>(placeholders.map((node) => [node, true]));
  const order: Node[] = [];
  const stack: { node: Node; next: number }[] = [];
  const enter = (node: Node) => {
    if (depends.has(node)) return;
    depends.set(node, false);
    if (node.isAbstract) stack.push({ node, next: 0 });
  };
  for (const output of outputs) {
    enter(output);
    while (stack.length > 0) {
      const frame = stack[stack.length - 1];
      const input = frame.node.inputs[frame.next];
      if (input) {
        frame.next++;
        enter(input);
      } else {
        stack.pop();
        if (frame.node.inputs.some((each) => depends.get(each))) {
          depends.set(frame.node, true);
          order.push(frame.node);
        }
      }
    }
  }
  return order;
}

/** The outputs with other nodes in the place of placeholders. What does not depend on them stays as it is. */
export function substitute(outputs: readonly Node[], from: readonly Node[], to: readonly Node[]): Node[] {
  const made = new Map<Node, Node>(from.map((node, i) => [node, to[i]]));
  for (const node of abstractInOrder(outputs, from)) {
    const inputs = node.inputs.map((input) => made.get(input) ?? input);
    made.set(node, makeNode(node.primitive, inputs, node.params, node.device));
  }
  return outputs.map((output) => made.get(output) ?? output);
}
