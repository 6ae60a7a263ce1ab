/**
 * Nodes that may share memory. One that is another's elements in the same order, under another shape, is the same memory:
 * routines take their inputs, and leave their results, without a kernel that copies them into shape. And a routine that
 * changes a copy of its first input may change the input itself, if nobody else needs it.
 */
import { sizeOf } from "../../core/shape.js";
import type { Node } from "../../graph/node.js";

function isView(node: Node): boolean {
  const { primitive, shape, inputs } = node;
  if (primitive.kind !== "movement" || !primitive.beginsAt) return false;
  return sizeOf(shape) === sizeOf(inputs[0].shape) && primitive.beginsAt(node) === 0;
}

/** The first node on the way down through views that is wanted, or the one they all are views of. */
export function viewed(node: Node, isWanted: (node: Node) => boolean): Node {
  let at = node;
  while (at.storage === null && !isWanted(at) && isView(at)) [at] = at.inputs;
  return at;
}

/**
 * What to compute for roots: a root that is a view of what a routine makes, and no other root is, is made by the routine
 * itself.
 */
export function withoutViews(roots: readonly Node[]): Node[] {
  const taken = new Set(roots);
  return roots.map((root) => {
    const source = viewed(root, () => false);
    if (source.storage !== null || source.primitive.kind !== "routine" || taken.has(source)) return root;
    taken.add(source);
    return source;
  });
}

/** What is computed for a node's first input and nothing else: from there on its memory is the node's. */
export function ownedInput(node: Node, order: readonly Node[]): Node | null {
  const source = viewed(node.inputs[0], () => false);
  const isOnWay = (at: Node) => at === source || (isView(at) && viewed(at, () => false) === source);
  for (const user of order) {
    const uses = user.inputs.filter(isOnWay).length;
    if (uses > 0 && !isOnWay(user) && (user !== node || uses > 1)) return null;
  }
  return source.storage === null ? source : null;
}
