/**
 * Keeps intermediate values that are used a second time. An evaluation stores its roots; it fuses intermediate values into
 * kernels, does not store them, and marks them. A later evaluation that reads a marked value stores that value first. So a
 * loop that prints every step computes one step at a time, and does not compile a longer program for each step.
 *
 * The form of the first graph remembers the position of that value, and the next graph of this form stores the value at that
 * position at once. So does a graph of another form if the same operations lead from such a value to its root: this is the
 * second step of a loop whose first step began with a value that was not yet computed.
 */
import { tensorBytes } from "../core/bytes.js";
import { sameShape } from "../core/shape.js";
import { sourceOf } from "../graph/build.js";
import type { Node, PassedGraph } from "../graph/node.js";
import { isBundle } from "../graph/primitives/bundle.js";

/** A graph that is evaluated. */
interface Evaluated {
  readonly roots: readonly Node[];
  readonly order: readonly Node[];
  readonly form: PassedGraph;
}

/** A value made by at most this many operations may be computed again instead of kept. */
const FEW = 8;

/** Notes that the nodes of a graph are being computed. It is the graph that was walked last. */
export function markPassed({ order, form }: Evaluated): void {
  for (let i = 0; i < order.length; i++) {
    const node = order[i];
    if (node.isEnd) continue;
    node.passedIn = form;
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

/**
 * Expects that what was asked for again once will be so again: a value of this graph that is reached from its roots as `again`
 * was reached from those of an earlier one is marked as used later. In a graph of a new form, so are those that correspond to
 * its leaves which earlier evaluations kept for later.
 */
export function expectAgain({ roots, order, form }: Evaluated, again: readonly Node[], isNewForm = false): void {
  const values = isNewForm ? [...again, ...order.filter((node) => wasKept(node) && !again.includes(node))] : again;
  for (const value of values) {
    const { passedIn, passedAt } = value;
    if (!passedIn || passedIn === form || passedIn.roots.length !== roots.length) continue;
    const position = sameWay(passedIn, passedAt, form);
    if (position === null) continue;
    const { shape, dtype, isEnd } = order[position];
    if (!isEnd && dtype === value.dtype && sameShape(shape, value.shape)) form.usedLater.add(position);
  }
}

/**
 * Expects that the values of this graph which operations outside of it read will be asked for: those operations wait. A
 * differentiated function leaves operations behind that nobody will ask for, so its values do not count.
 */
export function expectWaiting({ order, form }: Evaluated, maxBytes: number): void {
  const usersInside = new Array<number>(order.length).fill(0);
  for (const node of order) if (!node.isEnd) for (const input of node.inputs) usersInside[input.position]++;
  for (const [position, node] of order.entries()) {
    const isRead = !node.isEnd && node.users > usersInside[position] && node.trace === null;
    if (!isRead || isBundle(node) || form.roots.includes(position)) continue;
    const value = sourceOf(node);
    if (!value.isEnd && value.storage === null && isWorthKeeping(value, maxBytes)) form.usedLater.add(value.position);
  }
}

/** True for a leaf of the graph that was walked last which was stored because it was expected to be asked for later. */
const wasKept = ({ isEnd, passedIn, passedAt }: Node): boolean => isEnd && passedIn?.usedLater.has(passedAt) === true;

/** The position in a graph that is reached by the way which leads to a position in another one from its root. */
function sameWay(from: PassedGraph, position: number, to: PassedGraph): number | null {
  for (const [i, root] of from.roots.entries()) {
    const way = wayBetween(from, root, position);
    if (!way) continue;
    let at = to.roots[i];
    let [there, isSame] = [root, true];
    for (const input of way) {
      isSame &&= to.parts[at].primitive === from.parts[there].primitive && input < to.parts[at].inputs.length;
      if (!isSame) break;
      at = to.parts[at].inputs[input];
      there = from.parts[there].inputs[input];
    }
    if (isSame && to.parts[at].primitive === from.parts[position].primitive) return at;
  }
  return null;
}

/** The path from a position to one that it depends on: at each node the input to follow. Null if there is none. */
function wayBetween({ parts }: PassedGraph, start: number, end: number): readonly number[] | null {
  const found = new Map<number, readonly number[]>([[start, []]]);
  for (const [at, way] of found) {
    if (at === end) return way;
    parts[at].inputs.forEach((input, i) => {
      // Inputs come before users, so what lies before the end cannot depend on it.
      if (input >= end && !found.has(input)) found.set(input, [...way, i]);
    });
  }
  return null;
}

/** The nodes that are not contiguous slices of others among them: a slice of memory needs no kernel. */
export function withoutSlices(nodes: readonly Node[]): readonly Node[] {
  const all = new Set(nodes);
  return nodes.filter((node) => {
    let source = node;
    while (isSlice(source)) {
      [source] = source.inputs;
      if (all.has(source)) return false;
    }
    return true;
  });
}

const isSlice = (node: Node): boolean =>
  node.storage === null && node.primitive.kind === "movement" && (node.primitive.beginsAt?.(node) ?? null) !== null;

const NONE: readonly Node[] = [];

/** True for a node of the graph that was walked last which an earlier evaluation computed and did not store. */
const isPassed = ({ passedIn, isEnd }: Node): boolean => passedIn !== null && !isEnd;

function remember({ passedIn, passedAt }: Node): void {
  passedIn?.usedLater.add(passedAt);
}

/**
 * Whether keeping a value may be worth its memory. One that a few elementwise operations make out of fewer bytes than it
 * has itself is computed again: that takes less time than reading it, and it may have been meant never to be in memory.
 * A view is read where it lies.
 */
function isWorthKeeping(value: Node, maxBytes: number): boolean {
  const byteLength = tensorBytes(value);
  if (value.primitive.kind === "leaf" || byteLength > maxBytes) return false;
  const seen = new Set<Node>([value]);
  let [operations, readBytes, isView] = [0, 0, true];
  for (const node of seen) {
    if (node.isEnd) {
      readBytes += tensorBytes(node);
      continue;
    }
    const { kind } = node.primitive;
    if (kind === "leaf") continue;
    if ((kind !== "elementwise" && kind !== "movement") || ++operations > FEW) return true;
    isView &&= kind === "movement";
    for (const input of node.inputs) seen.add(input);
  }
  return !isView && byteLength <= readBytes;
}
