/**
 * What is asked for a second time is kept. An evaluation stores what was asked for, and fuses the values on the way into
 * kernels without storing them. It marks those. A later evaluation that reads a marked value computes it again and stores
 * it, so that a third one finds it in memory: a loop that reads something of every step computes one step at a time, and
 * does not compile a longer program for each.
 *
 * The form of the first graph remembers the position of that value. The next graph of this form stores the value of that
 * position at once: in a loop nothing is computed twice after the first rounds.
 */
import { bytesOf } from "../core/bytes.js";
import { sourceOf } from "../graph/build.js";
import type { Node } from "../graph/node.js";
import { isBundle } from "../graph/primitives/bundle.js";

/** Operations behind a value that is computed again rather than kept, at most. */
const FEW = 8;

/** Notes that the nodes of a graph are being computed. `usedLater`: of the form of this graph. */
export function markPassed(order: readonly Node[], usedLater: Set<number>): void {
  for (let i = 0; i < order.length; i++) {
    const node = order[i];
    if (node.isEnd) continue;
    node.passedIn = usedLater;
    node.passedAt = i;
  }
}

/**
 * The nodes of a graph that an earlier evaluation computed and did not store, and that a new node reads. `order`: the graph
 * that was walked last. Nodes of more than `maxBytes` are left out.
 */
export function askedAgain(roots: readonly Node[], order: readonly Node[], maxBytes: number): readonly Node[] {
  if (!order.some(isPassed)) return NONE;
  const again = new Set<Node>();
  for (const root of roots) if (isPassed(root)) remember(root);
  for (const node of order) {
    if (node.isEnd || isPassed(node)) continue;
    for (const input of node.inputs) {
      if (!isPassed(input)) continue;
      // A bundle has no value of its own; what was asked for is this part of it.
      const value = sourceOf(isBundle(input) ? node : input);
      if (value.isEnd || value.storage !== null || !isWorthKeeping(value, maxBytes)) continue;
      remember(value);
      again.add(value);
    }
  }
  for (const root of roots) again.delete(root);
  return [...again];
}

/** The nodes that are not contiguous slices of others among them: a slice of memory needs no kernel. */
export function withoutSlices(nodes: ReadonlySet<Node>): Node[] {
  return [...nodes].filter((node) => {
    let source = node;
    while (
      source.storage === null &&
      source.primitive.kind === "movement" &&
      source.primitive.beginsAt?.(source) != null
    ) {
      [source] = source.inputs;
      if (nodes.has(source)) return false;
    }
    return true;
  });
}

const NONE: readonly Node[] = [];

/** True for a node of the graph that was walked last which an earlier evaluation computed and did not store. */
const isPassed = ({ passedIn, isEnd }: Node): boolean => passedIn !== null && !isEnd;

function remember({ passedIn, passedAt }: Node): void {
  passedIn?.add(passedAt);
}

/**
 * Whether keeping a value may be worth its memory. One that a few elementwise operations make out of fewer bytes than it
 * has itself is computed again: that takes less time than reading it, and it may have been meant never to be in memory.
 */
function isWorthKeeping(value: Node, maxBytes: number): boolean {
  const byteLength = bytesOf(value);
  if (value.primitive.kind === "leaf" || byteLength > maxBytes) return false;
  const seen = new Set<Node>([value]);
  let [operations, readBytes] = [0, 0];
  for (const node of seen) {
    if (node.isEnd) {
      readBytes += bytesOf(node);
      continue;
    }
    const { kind } = node.primitive;
    if (kind === "leaf") continue;
    if ((kind !== "elementwise" && kind !== "movement") || ++operations > FEW) return true;
    for (const input of node.inputs) seen.add(input);
  }
  return byteLength <= readBytes;
}
