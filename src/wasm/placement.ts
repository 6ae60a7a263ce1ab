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

/** After every position. */
const NEVER = 0x7fffffff;

/**
 * The places where the nodes of a function are computed and used, by the number of a node (`numberOf`). A function may have a
 * hundred thousand nodes, so these are columns of integers, and the nodes themselves stay small.
 */
export class Placement {
  /** The number of uses of the result in written code. */
  readonly uses: Int32Array;
  /** The position at which it is computed; -1: it is not. */
  readonly at: Int32Array;
  /** The first and the last position at which it is used. */
  private readonly firstUse: Int32Array;
  private readonly lastUse: Int32Array;
  /** The number of values on the stack above the statement's own when it is computed. */
  private readonly height: Int32Array;
  /** It is used in a loop that it was made outside of. */
  readonly isUsedInside: Uint8Array;
  /** Each use reads the variable itself; there is no copy. */
  readonly isReadInPlace: Uint8Array;

  constructor(
    private readonly nodes: readonly Node[],
    vectorConstants: number,
  ) {
    const size = nodes.length + vectorConstants;
    this.uses = new Int32Array(size);
    this.at = new Int32Array(size).fill(-1);
    this.firstUse = new Int32Array(size).fill(NEVER);
    this.lastUse = new Int32Array(size).fill(-1);
    this.height = new Int32Array(size);
    this.isUsedInside = new Uint8Array(size);
    this.isReadInPlace = new Uint8Array(size);
    for (let i = nodes.length - 1; i >= 0; i--) if (this.place(i)) this.noteUses(i);
  }

  /** The number of nodes. */
  get size(): number {
    return this.uses.length;
  }

  /** A node's position or, of a vector constant, a number after those; -1 for scalar constants and locals, which need none. */
  numberOf({ index }: Node): number {
    return index >= -1 ? index : this.nodes.length - 2 - index;
  }

  /** Decides on a node whose users are placed; false if it is not written at all. */
  private place(i: number): boolean {
    const { nodes, at, firstUse } = this;
    const node = nodes[i] as Node;
    if (isStatement(node)) at[i] = i;
    else if (this.uses[i] === 0) return false;
    else if (this.canReadInPlace(node)) {
      this.isReadInPlace[i] = 1;
      at[i] = firstUse[i] as number;
    } else if (this.canMove(node)) at[i] = firstUse[i] as number;
    else {
      at[i] = i;
      this.height[i] = 0;
    }
    return true;
  }

  private noteUses(i: number): void {
    const { nodes, uses, firstUse, lastUse, height } = this;
    const { operands } = nodes[i] as Node;
    const at = this.at[i] as number;
    const { loop } = (nodes[at] as Node).scope;
    for (let k = 0; k < operands.length; k++) {
      const operand = operands[k] as Node;
      const number = this.numberOf(operand);
      if (number < 0) continue;
      (uses[number] as number)++;
      if (at < (firstUse[number] as number)) firstUse[number] = at;
      if (at > (lastUse[number] as number)) lastUse[number] = at;
      const above = (height[i] as number) + k;
      if (above > (height[number] as number)) height[number] = above;
      if (operand.scope.loop !== loop) this.isUsedInside[number] = 1;
    }
  }

  /** If a variable is not written before the last use of this reading, each use reads the variable itself: no copy. */
  private canReadInPlace({ step, index }: Node): boolean {
    if (step.kind !== "get" || this.isUsedInside[index]) return false;
    return !isWrittenBetween(step.local, index, this.lastUse[index] as number);
  }

  private canMove({ scope, reads, index }: Node): boolean {
    const firstUse = this.firstUse[index] as number;
    const target = (this.nodes[firstUse] as Node).scope;
    if (this.uses[index] === 1 ? target.loop !== scope.loop : target !== scope) return false;
    if ((this.height[index] as number) > MAX_HEIGHT) return false;
    return reads === null || !isWrittenBetween(reads, index, firstUse);
  }
}

function isStatement({ type, step }: Node): boolean {
  if (type === "none" || step.kind === "call") return true;
  return step.kind === "instruction" && step.instruction.effect === "effect";
}
