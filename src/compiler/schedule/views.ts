/**
 * Nodes that share memory. A view has the elements of another node in the same order, under another shape: it is the same
 * memory, so routines need no kernel that copies their inputs and results into shape. A routine that changes a copy of its
 * first input may change the input itself, if nobody else needs that.
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
 * The nodes to compute for roots. A root that is the only view of a routine's result is replaced by that result.
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

/** The source of a node's first input, if nothing else reads it: the node may take over its memory. */
export function ownedInput(node: Node, order: readonly Node[]): Node | null {
  const source = viewed(node.inputs[0], () => false);
  const isOnWay = (at: Node) => at === source || (isView(at) && viewed(at, () => false) === source);
  for (const user of order) {
    const uses = user.inputs.filter(isOnWay).length;
    if (uses > 0 && !isOnWay(user) && (user !== node || uses > 1)) return null;
  }
  return source.storage === null ? source : null;
}
