/**
 * A node of the lazy graph: an operation on other nodes that has not run yet, or memory that holds its result.
 *
 * Nodes are immutable but for one thing: when a node's value has been computed it becomes a leaf, drops its inputs and
 * keeps the storage. Whoever holds the node holds the memory; when nobody does, the garbage collector returns it.
 */
import type { DType } from "../core/dtype.js";
import type { Primitive } from "./primitive.js";

/** Memory on a device, as the graph sees it: the engines know more. */
export interface Storage {
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

export class Node {
  /** The computed value; null while the node waits. */
  storage: Storage | null = null;
  /** Pending nodes that read this one, and tensors that hold it: memory is freed early only when there are none. */
  users = 0;
  handles = 0;
  /** Length of the longest chain of operations behind this node that have not run. */
  depth: number;
  /** It depends on a placeholder of a function that is being traced, so that it has no value and cannot be computed. */
  isAbstract = false;
  /** What goes with the node without being part of what it computes: derivatives given by hand. */
  attachment: unknown = null;
  /** It stands for a JavaScript number, which takes the dtype of what it meets. */
  isWeak = false;
  /** The innermost differentiation whose variables it depends on. */
  trace: Trace | null = null;
  /** Its place in the last walk that met it, and which walk that was: cheaper than a table per walk. */
  position = 0;
  walk = 0;

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
    if (isUnderWay(this.trace)) {
      this.depth = 0;
      return;
    }
    for (const input of this.inputs) input.users--;
    this.inputs = [];
    this.depth = 0;
  }
}

/** Whether a trace, or one around it, is still being differentiated. */
export function isUnderWay(trace: Trace | null): boolean {
  for (let each = trace; each; each = each.outer) if (each.isOpen) return true;
  return false;
}

let walks = 0;

/**
 * Every node the roots depend on that has not run, and the leaves they read, inputs before users; until the next walk,
 * each node's `position` is its index. Iterative: graphs are deep.
 */
export function pendingInOrder(roots: readonly Node[]): Node[] {
  const walk = ++walks;
  const order: Node[] = [];
  // The path from a root to the node being visited, and which input of each of them is next.
  const path: Node[] = [];
  const next: number[] = [];
  for (const root of roots) {
    if (root.walk === walk) continue;
    root.walk = walk;
    path.push(root);
    next.push(0);
    while (path.length > 0) {
      const top = path.length - 1;
      const node = path[top];
      const at = next[top];
      if (node.storage === null && at < node.inputs.length) {
        next[top] = at + 1;
        const input = node.inputs[at];
        if (input.walk === walk) continue;
        input.walk = walk;
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
