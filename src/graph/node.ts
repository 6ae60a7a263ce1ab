/**
 * A node of the lazy graph: an operation on other nodes that has not run yet, or memory that holds its result.
 *
 * Nodes are immutable but for one thing: when a node's value has been computed it becomes a leaf, drops its inputs and
 * keeps the storage. Whoever holds the node holds the memory; when nobody does, the garbage collector returns it.
 */
import type { DType } from "../core/dtype.js";
import type { Primitive } from "./primitive.js";

/** Memory on a device, as the graph sees it: the engines know more. */
interface Storage {
  readonly byteLength: number;
}

/** Where a node runs. One object per open device. */
export interface DeviceHandle {
  /** "cpu", "vulkan:0" … */
  readonly id: string;
  /** Computes nodes; returns when the work is under way. */
  realize(nodes: readonly Node[]): void;
}

/** A differentiation: while it is open, nodes that depend on its variables keep their inputs for the way back. */
export interface Trace {
  isOpen: boolean;
  /** The one inside which it began. */
  readonly outer: Trace | null;
  /** Counts all traces: one that began later has a higher number. */
  readonly level: number;
}

const NONE: readonly Node[] = [];

export class Node {
  /** The computed value; null while the node waits. */
  storage: Storage | null = null;
  /** Pending nodes that read this one, and tensors that hold it: memory is freed early only when there are none. */
  users = 0;
  handles = 0;
  /** Length of the longest chain of operations behind this node that have not run. */
  depth: number;
  /** It was computed on the way to the end of a long chain, and not kept. */
  wasPassed = false;
  /** It depends on a placeholder of a function that is being traced, so that it has no value and cannot be computed. */
  isAbstract = false;
  /** What goes with the node without being part of what it computes: derivatives given by hand. */
  attachment: unknown = null;
  /** It stands for a JavaScript number, which takes the dtype of what it meets. */
  isWeak = false;
  /** The innermost differentiation whose variables it depends on. */
  trace: Trace | null = null;
  /** Its place in the last walk that met it, which walk that was, and whether it ended here: cheaper than a table per walk. */
  position = 0;
  walk = 0;
  isEnd = false;
  /** While it waits: values that are computed together with it, see `computeTogether`, and whether it needs one with such. */
  companions: readonly Node[] = NONE;
  isAccompanied = false;

  constructor(
    readonly primitive: Primitive,
    /** Static parameters: axes, paddings, constants. Part of the program's identity. */
    public params: Readonly<Record<string, unknown>>,
    public inputs: readonly Node[],
    readonly shape: readonly number[],
    readonly dtype: DType,
    readonly device: DeviceHandle,
  ) {
    let depth = 0;
    for (const input of inputs) {
      depth = Math.max(depth, input.depth);
      input.users++;
      if (input.isAbstract) this.isAbstract = true;
      if (input.isAccompanied) this.isAccompanied = true;
      if (input.trace && input.trace.level > (this.trace?.level ?? -1)) this.trace = input.trace;
    }
    this.depth = depth + 1;
  }

  /** Computes the same value another way. Shape and dtype stay. */
  replaceInputs(inputs: readonly Node[], params: Readonly<Record<string, unknown>>): void {
    for (const input of this.inputs) input.users--;
    for (const input of inputs) input.users++;
    this.inputs = inputs;
    this.params = params;
  }

  /** Turns the node into a leaf that holds its value. */
  realize(storage: Storage): void {
    this.storage = storage;
    this.companions = NONE;
    this.isAccompanied = false;
    if (isUnderWay(this.trace)) {
      this.depth = 0;
      return;
    }
    for (const input of this.inputs) input.users--;
    this.inputs = [];
    this.depth = 0;
  }
}

/**
 * The first of some nodes that is needed takes the others along. A loss and its gradients share most of their work, which
 * a loop that reads only the loss would otherwise do again and again for the rest.
 */
export function computeTogether(nodes: readonly Node[]): void {
  const companions = nodes.filter(({ storage }) => storage === null);
  for (const node of companions) {
    node.companions = companions;
    node.isAccompanied = true;
  }
}

/** Nodes to compute, with those that go with what they need, unless nobody wants them any more. */
export function withCompanions(nodes: readonly Node[]): readonly Node[] {
  if (!nodes.some(({ isAccompanied }) => isAccompanied)) return nodes;
  const all = new Set(nodes);
  for (const { companions, device } of pendingInOrder(nodes)) {
    for (const node of companions) if (node.device === device && (node.handles > 0 || node.users > 0)) all.add(node);
  }
  return [...all];
}

/** Whether a trace, or one around it, is still being differentiated. */
export function isUnderWay(trace: Trace | null): boolean {
  for (let each = trace; each; each = each.outer) if (each.isOpen) return true;
  return false;
}

/** The length of the longest chain behind a node that has still not run. */
export function measureDepth(node: Node): number {
  for (const each of pendingInOrder([node])) {
    each.depth = each.storage === null ? 1 + each.inputs.reduce((most, { depth }) => Math.max(most, depth), 0) : 0;
  }
  return node.depth;
}

let walks = 0;

const hasRun = ({ storage }: Node): boolean => storage !== null;

/**
 * Every node the roots depend on that has not run, and the leaves they read, inputs before users; until the next walk,
 * each node's `position` is its index. The walk does not go beyond nodes that have run, or those that `isEnd` says.
 * Iterative: graphs are deep.
 */
export function pendingInOrder(roots: readonly Node[], isEnd: (node: Node) => boolean = hasRun): Node[] {
  const walk = ++walks;
  const order: Node[] = [];
  // The path from a root to the node being visited, and which input of each of them is next.
  const path: Node[] = [];
  const next: number[] = [];
  for (const root of roots) {
    if (root.walk === walk) continue;
    root.walk = walk;
    root.isEnd = isEnd(root);
    path.push(root);
    next.push(0);
    while (path.length > 0) {
      const top = path.length - 1;
      const node = path[top];
      const at = next[top];
      if (!node.isEnd && at < node.inputs.length) {
        next[top] = at + 1;
        const input = node.inputs[at];
        if (input.walk === walk) continue;
        input.walk = walk;
        input.isEnd = isEnd(input);
        path.push(input);
        next.push(0);
      } else {
        path.pop();
        next.pop();
        node.position = order.length;
        order.push(node);
      }
    }
  }
  return order;
}

/** The nodes behind roots and the roots, each once, inputs before users; `inputsOf` says where a walk goes on. */
export function inputsFirst(roots: readonly Node[], inputsOf: (node: Node) => readonly Node[]): Node[] {
  const order: Node[] = [];
  const seen = new Set<Node>();
  const path: { readonly node: Node; readonly inputs: readonly Node[]; next: number }[] = [];
  const enter = (node: Node) => {
    if (seen.has(node)) return;
    seen.add(node);
    path.push({ node, inputs: inputsOf(node), next: 0 });
  };
  for (const root of roots) {
    enter(root);
    for (let top = path.at(-1); top; top = path.at(-1)) {
      if (top.next < top.inputs.length) enter(top.inputs[top.next++]);
      else {
        path.pop();
        order.push(top.node);
      }
    }
  }
  return order;
}

/** The nodes on the way from sources to outputs, inputs before users, without the sources. `mayDepend` cuts walks short. */
export function dependingOn(
  outputs: readonly Node[],
  sources: readonly Node[],
  mayDepend: (node: Node) => boolean,
): Node[] {
  const depending = new Set<Node>(sources);
  const goesOn = (node: Node) => !depending.has(node) && mayDepend(node);
  return inputsFirst(outputs, (node) => (goesOn(node) ? node.inputs : [])).filter((node) => {
    if (!goesOn(node) || !node.inputs.some((input) => depending.has(input))) return false;
    depending.add(node);
    return true;
  });
}
