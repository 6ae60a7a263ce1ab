/**
 * The graph as the scheduler wants it: composite primitives are replaced by what they are made of, unless the target has
 * something better; what was written twice (the mean in a variance, beside the mean itself) is there once; reductions of
 * what is the same everywhere are gone. It works on a copy, because later passes rewrite nodes too and those of the
 * caller are not to change; leaves are copied as well, without their memory, so that a compilation holds on to nothing.
 */
import { derive } from "../graph/build.js";
import { Node, pendingInOrder } from "../graph/node.js";
import { buffer } from "../graph/primitives/leaf.js";
import { stored } from "../graph/primitives/movement.js";
import { MAX_I32 } from "./ir.js";
import { paramsKey } from "./params-key.js";
import { simpler } from "./simplify.js";

export interface Expanded {
  readonly roots: readonly Node[];
  /** Copies of the leaves, in their order. */
  readonly leaves: readonly Node[];
}

const sizeOf = (shape: readonly number[]): number => shape.reduce((product, extent) => product * extent, 1);

/** Stands for memory that the program is given when it runs. */
const SOME_MEMORY = { byteLength: 0 };

/** What a target puts in the place of a composite primitive of these inputs, if it has something of its own. */
export type Substitute = (primitive: Node["primitive"], inputs: readonly Node[]) => Node | null;

export function expandGraph(roots: readonly Node[], leaves: readonly Node[], substitute: Substitute): Expanded {
  const copies = new Map<Node, Node>();
  for (const leaf of leaves) {
    const { shape, dtype, device } = leaf;
    const copy = new Node(buffer, { shape, dtype }, [], shape, dtype, device);
    // What is built on it is only looked at: nothing may start computing it.
    copy.isAbstract = true;
    copy.realize(SOME_MEMORY);
    copies.set(leaf, copy);
  }
  const numbers = new Map<Node, number>();
  const known = new Map<string, Node>();
  for (const node of pendingInOrder(roots)) {
    if (copies.has(node)) continue;
    const inputs = node.inputs.map((input) => copies.get(input) as Node);
    const names = inputs.map((input) => {
      numbers.set(input, numbers.get(input) ?? numbers.size);
      return numbers.get(input);
    });
    const key = `${node.primitive.name}(${names})${paramsKey(node)}`;
    const copy = known.get(key) ?? simpler(node, inputs[0]) ?? copyOf(node, inputs, substitute);
    known.set(key, copy);
    copies.set(node, copy);
  }
  const inCopy = (node: Node) => copies.get(node) as Node;
  return { roots: apart(roots.map(inCopy)), leaves: leaves.map(inCopy) };
}

function copyOf(node: Node, inputs: readonly Node[], substitute: Substitute): Node {
  const { primitive, params, shape, dtype, device } = node;
  if (primitive.kind === "composite") {
    // What targets have of their own counts in 32 bits.
    const isShort = [node, ...inputs].every(({ shape }) => sizeOf(shape) <= MAX_I32);
    return (isShort ? substitute(primitive, inputs) : null) ?? primitive.expand(inputs, params);
  }
  const copy = new Node(primitive, params, inputs, shape, dtype, device);
  copy.isAbstract = true;
  return copy;
}

/** Every root needs memory of its own, also where it is a leaf or another root under a second name. */
function apart(roots: readonly Node[]): Node[] {
  const seen = new Set<Node>();
  return roots.map((root) => {
    const isOwn = root.storage === null && !seen.has(root);
    seen.add(root);
    return isOwn ? root : derive(stored, root, {});
  });
}
