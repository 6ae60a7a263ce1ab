/**
 * Composite primitives are replaced by the primitives they are made of, and autodiff markers are dropped; so are routines with a
 * definition that is better here than their kernels. Products of matrices stay: implementations.ts decides on them once their
 * operands are expanded.
 */
import { type Node, pendingInOrder } from "../../graph/node.js";
import type { CompositePrimitive } from "../../graph/primitive.js";
import { choice } from "../../graph/primitives/control/choice.js";
import { stopped, variable } from "../../graph/primitives/movement.js";
import { g } from "../../graph/vocabulary.js";
import { isExpandedAttention } from "../routines/attention/plan.js";
import { isExpandedReflections } from "../routines/linalg/qr/reflected-columns.js";
import type { TileProfile } from "../target/tile-profile.js";
import { inBlocks, isBlocked } from "./blocked.js";
import { branched, isWorthBranching } from "./branching.js";
import { isExpandedComplex } from "./complex.js";
import { begunAt, type Places } from "./given-places.js";
import { type Replacement, rewriteNodes } from "./rewriter.js";
import { simpler } from "./simplify.js";

/** `places`: where movements of the given graph begin, as far as that is data (given-places.ts). */
export function expandComposites(
  roots: readonly Node[],
  copies: Map<Node, Node>,
  tiles: TileProfile,
  places: Places = new Map(),
): Node[] {
  const expand = (node: Node, inputs: readonly Node[]): Replacement => {
    const { primitive } = node;
    const given = places.get(node);
    if (given) return begunAt(node, inputs[0], given);
    if (primitive.kind === "routine" && primitive.expand && isExpandedRoutine(node, tiles)) {
      return primitive.expand(g, node, inputs);
    }
    if (isBlocked(node, tiles)) return inBlocks(node, inputs, tiles);
    if (node.primitive === choice && tiles.kind !== "none" && isWorthBranching(node)) return branched(node, inputs);
    return (
      (isMarker(node.primitive) ? inputs[0] : simpler(node, inputs)) ??
      (isExpanded(node.primitive) ? node.primitive.expand(g, node, inputs) : null)
    );
  };
  let copied = rewriteNodes(roots, copies, expand);
  // An expansion may hold composites again, and operations on complex numbers that are expanded.
  const isLeft = (node: Node) =>
    isExpanded(node.primitive) || isExpandedComplex(node) || isBlocked(node, tiles) || isExpandedRoutine(node, tiles);
  while (pendingInOrder(copied).some(isLeft)) {
    copied = rewriteNodes(copied, new Map(), expand);
  }
  return copied;
}

/** Whether a routine's definition is better on this device than its kernels, or it has none for the shape. */
const isExpandedRoutine = (node: Node, tiles: TileProfile): boolean =>
  isExpandedAttention(node, tiles) || isExpandedReflections(node, tiles);

/** Autodiff markers; they compute nothing. */
const isMarker = (primitive: Node["primitive"]): boolean => primitive === variable || primitive === stopped;

const isExpanded = (primitive: Node["primitive"]): primitive is CompositePrimitive => primitive.kind === "composite";
