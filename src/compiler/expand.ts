/**
 * The graph as the scheduler wants it: composite primitives are replaced by what they are made of, and complex numbers by
 * their parts. It works on a copy,
 * because later passes rewrite nodes too and those of the caller are not to change; leaves are copied as well, without
 * their memory, so that a compilation holds on to nothing.
 */
import { isComplex, realDType } from "../core/dtype.js";
import { derive } from "../graph/build.js";
import { Node, pendingInOrder } from "../graph/node.js";
import { buffer } from "../graph/primitives/leaf.js";
import { stored } from "../graph/primitives/movement.js";
import { complexOfMemory, expandComplex, memoryOfComplex, withoutComplex } from "./complex.js";

export interface Expanded {
  readonly roots: readonly Node[];
  /** Copies of the leaves, in their order. */
  readonly leaves: readonly Node[];
}

/** Stands for memory that the program is given when it runs. */
const SOME_MEMORY = { byteLength: 0 };

export function expandGraph(roots: readonly Node[], leaves: readonly Node[]): Expanded {
  const copies = new Map<Node, Node>();
  const memory = leaves.map((leaf) => {
    const copy = memoryLike(leaf);
    copies.set(leaf, isComplex(leaf.dtype) ? complexOfMemory(copy) : copy);
    return copy;
  });
  for (const node of pendingInOrder(roots)) {
    if (copies.has(node)) continue;
    const { primitive, params, shape, dtype, device } = node;
    const inputs = node.inputs.map((input) => copies.get(input) as Node);
    const ofComplex = expandComplex(primitive, inputs, params);
    if (ofComplex) copies.set(node, ofComplex);
    else if (primitive.kind === "composite") copies.set(node, primitive.expand(inputs, params));
    else {
      const copy = new Node(primitive, params, inputs, shape, dtype, device);
      copy.isAbstract = true;
      copies.set(node, copy);
    }
  }
  const written = roots.map((root) => {
    const copy = copies.get(root) as Node;
    return isComplex(copy.dtype) ? memoryOfComplex(copy) : copy;
  });
  return { roots: apart(withoutComplex(written)), leaves: memory };
}

/** A leaf without its memory. Complex numbers are two real ones there, side by side. */
function memoryLike({ shape: elements, dtype: element, device }: Node): Node {
  const shape = isComplex(element) ? [...elements, 2] : elements;
  const dtype = realDType(element);
  const node = new Node(buffer, { shape, dtype }, [], shape, dtype, device);
  // What is built on it is only looked at: nothing may start computing it.
  node.isAbstract = true;
  node.realize(SOME_MEMORY);
  return node;
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
