/**
 * A node of the lazy graph: an operation on other nodes that has not run yet, or memory that holds its result.
 *
 * Nodes are immutable except that a computed node becomes a leaf: it drops its inputs and keeps the storage. The memory
 * lives as long as the node. The garbage collector frees it, unless the graph shows earlier that nobody needs it: no tensor
 * holds the node and no operation that waits reads it.
 */
import type { DType } from "../core/dtype.js";
import { sameShape } from "../core/shape.js";
import type { Primitive } from "./primitive.js";

/** Memory on a device; the engines extend it. */
interface Storage {
  readonly byteLength: number;
  dispose?(): void;
}

/** The place a node runs on. One object per open device. */
export interface DeviceHandle {
  /** "cpu", "vulkan:0" … */
  readonly id: string;
  /** Computes nodes; returns when the work is under way. */
  realize(nodes: readonly Node[]): void;
}

/** A differentiation: while it is open, nodes that depend on its variables keep their inputs for reverse mode. */
export interface Trace {
  isOpen: boolean;
  /** The trace around it. */
  readonly outer: Trace | null;
  /** Counts all traces: one that began later has a higher number. */
  readonly level: number;
}

/** A graph that was computed, as later evaluations see it. */
export interface PassedGraph {
  /** Its nodes; inputs by position. */
  readonly parts: readonly { readonly primitive: Primitive | null; readonly inputs: readonly number[] }[];
  /** Positions. */
  readonly roots: readonly number[];
  /** Positions of values that were not stored, and that a later evaluation asked for. */
  readonly usedLater: Set<number>;
}

/** Values that are computed together, such as a loss and its gradients. */
interface Kin {
  /** Of sets that were made later it is higher. */
  readonly serial: number;
  /** None when they have been computed: what still waits must not keep their memory. */
  nodes: readonly Node[];
  /** Memory written from them since, which nothing else reads: the next parameters of a training step. */
  readonly updates: Set<Node>;
}

/** Updates that are remembered for each of the values that are computed together. */
const MOST_UPDATES = 4;

const NONE: readonly Node[] = [];

let made = 0;

/** The number of the node that was made last. */
export const lastSerial = (): number => made;

export class Node {
  /** The computed value; null while the node waits. */
  storage: Storage | null = null;
  /** Pending nodes that read this one, and tensors that hold it: memory is freed early only when there are none. */
  users = 0;
  handles = 0;
  /** Length of the longest chain of operations behind this node that have not run. */
  depth: number;
  /** The graph in which it was computed and not stored, and its position there; see runtime/kept-values.ts. */
  passedIn: PassedGraph | null = null;
  passedAt = 0;
  /** It was dropped before it was computed, so it counts no more as a user of its inputs. */
  isAbandoned = false;
  /** It depends on a placeholder of a traced function, so it has no value and cannot be computed. */
  isAbstract = false;
  /** Data that does not affect its value: custom derivative rules. */
  attachment: unknown = null;
  /** It stands for a JavaScript number and takes the dtype of the other operand. */
  isWeak = false;
  /** The innermost differentiation whose variables it depends on. */
  trace: Trace | null = null;
  /** Scratch of the last walk that met it: its index, the walk's number, and whether the walk ended here. Faster than a Map. */
  position = 0;
  walk = 0;
  isEnd = false;
  /** While pending: what it is computed together with (`computeTogether`), and whether it or an input has such. */
  kin: Kin | null = null;
  isAccompanied = false;
  /** Later nodes have higher numbers. */
  readonly serial = ++made;

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
    if (this.isAccompanied && primitive.kind === "elementwise") joinAsUpdate(this);
  }

  /** Replaces the computation by another one of the same value, shape and dtype. */
  replaceInputs(inputs: readonly Node[], params: Readonly<Record<string, unknown>>): void {
    for (const input of this.inputs) input.users--;
    for (const input of inputs) input.users++;
    this.inputs = inputs;
    this.params = params;
  }

  /** Turns the node into a leaf that holds its value. */
  realize(storage: Storage): void {
    this.storage = storage;
    if (this.kin) this.leaveKin(this.kin);
    this.isAccompanied = false;
    if (isUnderWay(this.trace)) {
      this.depth = 0;
      return;
    }
    const { inputs } = this;
    this.inputs = NONE;
    this.depth = 0;
    if (this.isAbandoned) return;
    for (const input of inputs) input.users--;
    freeDropped(inputs);
  }

  /** The others are computed in the same run. */
  private leaveKin(kin: Kin): void {
    kin.nodes = NONE;
    kin.updates.clear();
    this.kin = null;
  }
}

/**
 * Frees the memory of nodes that no tensor holds and no waiting operation reads. One that was never computed needs its inputs
 * no more, so that these are looked at too. Iterative: a dropped chain may be long.
 */
export function freeDropped(nodes: readonly Node[]): void {
  // Most often nothing is dropped.
  if (!nodes.some(isDropped)) return;
  const waiting = nodes.filter(isDropped);
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (node.storage) node.storage.dispose?.();
    else if (!node.isAbandoned) {
      node.isAbandoned = true;
      for (const input of node.inputs) {
        input.users--;
        if (isDropped(input)) waiting.push(input);
      }
    }
  }
}

/**
 * Nodes of functions and of differentiations may be used again, through a pullback for instance: no tensor holds those graphs.
 */
const isDropped = ({ handles, users, storage, isAbstract, trace }: Node): boolean =>
  handles === 0 && users === 0 && trace === null && (storage !== null || !isAbstract);

/**
 * Computes these nodes together as soon as one of them is needed. A loss and its gradients share most of their work; reading
 * only the loss and then the gradients would otherwise do that work twice.
 */
export function computeTogether(nodes: readonly Node[]): void {
  const waiting = nodes.filter(({ storage }) => storage === null);
  const kin = { serial: ++made, nodes: waiting, updates: new Set<Node>() };
  for (const node of waiting) {
    node.kin?.updates.delete(node);
    node.kin = kin;
    node.isAccompanied = true;
  }
}

/**
 * A new node that computes element by element from one of such values, in its shape, is computed with them too if a tensor
 * holds it then. So a step of training is one program, whether its loss is read or the next step begins.
 */
function joinAsUpdate(node: Node): void {
  if (node.isAbstract || isUnderWay(node.trace)) return;
  let latest: Kin | null = null;
  for (const { kin, shape } of node.inputs) {
    if (!kin || !sameShape(shape, node.shape)) continue;
    // Values that were computed together earlier belong to another step.
    if (!latest || latest.serial < kin.serial) latest = kin;
  }
  if (!latest) return;
  for (const input of node.inputs) input.kin?.updates.delete(input);
  if (latest.updates.size >= MOST_UPDATES * latest.nodes.length) return;
  latest.updates.add(node);
  node.kin = latest;
}

/** The nodes to compute, and what is computed together with them and still in use. In the order in which they were made. */
export function withCompanions(nodes: readonly Node[]): readonly Node[] {
  if (!nodes.some(({ isAccompanied }) => isAccompanied)) return nodes;
  const all = new Set(nodes);
  for (const { kin, device } of pendingInOrder(nodes)) {
    if (!kin) continue;
    for (const node of kin.nodes) {
      if (node.storage === null && node.device === device && (node.handles > 0 || node.users > 0)) all.add(node);
    }
    for (const node of kin.updates) {
      if (node.storage === null && node.device === device && node.handles > 0) all.add(node);
    }
  }
  // One order whichever was asked for: the same roots are the same program.
  return [...all].sort((a, b) => a.serial - b.serial);
}

/** Whether a trace, or one around it, is still being differentiated. */
export function isUnderWay(trace: Trace | null): boolean {
  for (let each = trace; each; each = each.outer) if (each.isOpen) return true;
  return false;
}

/** The length of the longest chain of pending operations behind a node. */
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
 * each node's `position` is its index. The walk stops at computed nodes, or where `isEnd` says so. Iterative: graphs are deep.
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

/** The roots and everything behind them, each once, inputs before users; `inputsOf` gives the inputs to follow. */
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
