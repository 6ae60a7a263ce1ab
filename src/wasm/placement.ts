/**
 * Decides where each recorded node is computed: at its own position, its result kept in a local, or later, as part of the
 * statement that uses it, its result left on the stack.
 *
 * A statement is a node with an effect. The nodes are visited from the last to the first, so that a node's users have
 * their positions before it gets its own; it can then move to the first of them when that is sound:
 * - nothing that it reads (memory, a variable, a global) is written in between;
 * - its user runs as often as it does: same loop, and if it is used again, the same scope, so that the local it sets
 *   (local.tee) is set whenever a later use needs it;
 * - the stack does not get deep. Expressions that lean left can be of any length, those that lean right are cut.
 *
 * A node without uses gets no position and is not written at all.
 */
import { isWrittenBetween, type Node } from "./value.js";

/** Most values on the stack below an operand; deeper expressions go through a local. */
const MAX_HEIGHT = 64;

export function placeNodes(nodes: readonly Node[]): void {
  for (let i = nodes.length - 1; i >= 0; i--) {
    const node = nodes[i] as Node;
    if (isStatement(node)) node.at = i;
    else if (node.uses === 0) continue;
    else if (isReadInPlace(node)) {
      node.isReadInPlace = true;
      node.at = node.firstUse;
    } else if (canMove(node, nodes)) node.at = node.firstUse;
    else {
      node.at = i;
      node.height = 0;
    }
    const { loop } = (nodes[node.at] as Node).scope;
    const { operands, at, height } = node;
    for (let k = 0; k < operands.length; k++) {
      const operand = operands[k] as Node;
      operand.uses++;
      if (at < operand.firstUse) operand.firstUse = at;
      if (at > operand.lastUse) operand.lastUse = at;
      if (height + k > operand.height) operand.height = height + k;
      if (operand.scope.loop !== loop) operand.isUsedInItsLoop = false;
    }
  }
}

function isStatement({ type, step }: Node): boolean {
  if (type === "none" || step.kind === "call") return true;
  return step.kind === "instruction" && step.instruction.effect === "effect";
}

/** If a variable is not written before the last use of this reading, each use reads the variable itself: no copy. */
function isReadInPlace({ step, isUsedInItsLoop, index, lastUse }: Node): boolean {
  return step.kind === "get" && isUsedInItsLoop && !isWrittenBetween(step.local, index, lastUse);
}

function canMove(node: Node, nodes: readonly Node[]): boolean {
  const { scope, reads, index, firstUse, uses, height } = node;
  const target = (nodes[firstUse] as Node).scope;
  if (uses === 1 ? target.loop !== scope.loop : target !== scope) return false;
  if (height > MAX_HEIGHT) return false;
  return reads === null || !isWrittenBetween(reads, index, firstUse);
}
