/** Every root gets memory of its own, also one that is a leaf or another root under a second name: those are copied. */
import { derive } from "../../graph/build.js";
import type { Node } from "../../graph/node.js";
import { stored } from "../../graph/primitives/movement.js";

export function separateRoots(roots: readonly Node[]): Node[] {
  const seen = new Set<Node>();
  return roots.map((root) => {
    const isOwn = root.storage === null && !seen.has(root);
    seen.add(root);
    return isOwn ? root : derive(stored, root, {});
  });
}
