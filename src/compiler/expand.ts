/**
 * The graph as the scheduler wants it: composite primitives are replaced by what they are made of, complex numbers by their
 * parts, and what was written twice (the mean in a variance, beside the mean itself) is there once. It works on a copy,
 * because later passes rewrite nodes too and those of the caller are not to change; leaves are copied as well, without
 * their memory, so that a compilation holds on to nothing.
 */
import { isComplex, realDType } from "../core/dtype.js";
import { derive } from "../graph/build.js";
import { Node, pendingInOrder } from "../graph/node.js";
import * as g from "../graph/ops.js";
import { paramsKey } from "../graph/params-key.js";
import { part } from "../graph/primitives/control.js";
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
  let copied = rewritten(roots, copies);
  // What a composite is made of may be composite again.
  while (pendingInOrder(copied).some(({ primitive }) => primitive.kind === "composite")) {
    copied = rewritten(copied, new Map());
  }
  const written = copied.map((root) => (isComplex(root.dtype) ? memoryOfComplex(root) : root));
  return { roots: apart(merged(withoutComplex(written))), leaves: memory };
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

/** A copy of the graph behind the roots, with composites replaced. Some nodes have copies already. */
function rewritten(roots: readonly Node[], copies: Map<Node, Node>): Node[] {
  const bundles = new Map<Node, readonly Node[]>();
  for (const node of pendingInOrder(roots)) {
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
    const ofComplex = expandComplex(node, inputs);
    if (ofComplex) copies.set(node, ofComplex);
    else if (primitive.kind === "composite") {
      const made = primitive.expand(g, node, inputs);
      if (made instanceof Node) copies.set(node, made);
      else bundles.set(node, made);
    } else {
      const copy = new Node(primitive, params, inputs, shape, dtype, device);
      copy.isAbstract = true;
      copies.set(node, copy);
    }
  }
  return roots.map((root) => copies.get(root) as Node);
}

/** Nodes that compute the same of the same become one: differentiation, above all, writes many twice. */
function merged(roots: readonly Node[]): Node[] {
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
  return roots.map((root) => kept.get(root) as Node);
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
