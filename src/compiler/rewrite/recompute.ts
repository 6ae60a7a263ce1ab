/**
 * Removes the marks of values that are to be computed again rather than kept (checkpoints). They have kept equal nodes
 * apart while those were merged, and are no longer needed.
 */
import type { Node } from "../../graph/node.js";
import { recompute } from "../../graph/primitives/movement.js";
import { rewriteNodes } from "./rewriter.js";

export function dropRecomputeMarks(roots: readonly Node[]): { roots: Node[]; copies: ReadonlyMap<Node, Node> } {
  const copies = new Map<Node, Node>();
  const bare = rewriteNodes(roots, copies, ({ primitive }, [input]) => (primitive === recompute ? input : null));
  return { roots: bare, copies };
}
