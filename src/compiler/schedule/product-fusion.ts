/**
 * Epilogues of matrix products: element-wise operations on the result of a product (a bias, an activation) that its kernel
 * computes on the tile before it stores it.
 */
import { DTYPES } from "../../core/dtype.js";
import { productOf } from "../../core/shape.js";
import type { Node } from "../../graph/node.js";
import { cast } from "../../graph/primitives/elementwise.js";
import { permute, reshape, stored } from "../../graph/primitives/movement.js";
import type { FusedProduct } from "./group.js";

/** Additions per element that an epilogue may cost; more is a kernel of its own. */
const MOST_COST = 40;

interface Found {
  /** Nodes that are computed, and at how many places each. */
  readonly nodes: ReadonlyMap<Node, number>;
  readonly products: readonly Node[];
}

/** The product that a result is to be computed with: itself, or the largest that it follows from element by element. */
export function fusedProduct(result: Node, { nodes, products }: Found): FusedProduct | null {
  if (products.includes(result)) return { dot: result, path: [] };
  const work = (dot: Node) => productOf(dot.shape) * dot.inputs[0].shape[2];
  const candidates = products
    .filter((dot) => nodes.get(dot) === 1 && productOf(dot.shape) === productOf(result.shape))
    .sort((a, b) => work(b) - work(a));
  for (const dot of candidates) {
    const path = pathBetween(dot, result, nodes);
    if (path && costAfter(dot, result, nodes) <= MOST_COST) return { dot, path };
  }
  return null;
}

/** The nodes in the order they are computed in, and the users of each. */
export interface GraphOrder {
  readonly order: readonly Node[];
  readonly positions: ReadonlyMap<Node, number>;
  readonly users: ReadonlyMap<Node, readonly Node[]>;
}

export function graphOrder(order: readonly Node[]): GraphOrder {
  const users = new Map<Node, Node[]>(order.map((node) => [node, []]));
  for (const node of order) for (const input of node.inputs) users.get(input)?.push(node);
  return { order, positions: new Map(order.map((node, position) => [node, position])), users };
}

/**
 * The node to store for a product or a reduction that its users cannot compute: the last element-wise operation on it that
 * all its users read it through, or the node itself. A bias and an activation are then part of the kernel that computes
 * the product, and not of every kernel that reads it.
 */
export function endOfEpilogue(source: Node, graph: GraphOrder, isStored: (node: Node) => boolean): Node {
  const size = productOf(source.shape);
  // From user to user, in the order of the graph: a last user may be far away, behind many nodes that read something else.
  const readers = new ReadersInOrder(graph);
  readers.add(source);
  let end = source;
  let cost = 0;
  for (let node = readers.next(); node; node = readers.next()) {
    const isElementwise = node.primitive.kind === "elementwise";
    if (!(isElementwise || keepsAll(node)) || productOf(node.shape) !== size) break;
    if (node.primitive.kind === "elementwise") cost += node.primitive.cost;
    if (cost > MOST_COST) break;
    // All users of the region so far lie before this node.
    if (readers.isLast && isElementwise && !isWidening(node)) end = node;
    if (isStored(node)) break;
    readers.add(node);
  }
  return end;
}

/** The nodes that read some nodes, in the order of the graph, each once. Nodes may be added on the way. */
class ReadersInOrder {
  /** Users of a node, in order, and which is next. */
  private readonly lists: { readonly users: readonly Node[]; next: number }[] = [];
  private at = -1;
  private last = -1;

  constructor(private readonly graph: GraphOrder) {}

  add(node: Node): void {
    const users = this.graph.users.get(node) ?? [];
    if (users.length === 0) return;
    this.lists.push({ users, next: 0 });
    this.last = Math.max(this.last, this.positionOf(users[users.length - 1]));
  }

  /** The reader that `next` returned last is the last of all. */
  get isLast(): boolean {
    return this.at === this.last;
  }

  next(): Node | null {
    let first = this.last + 1;
    for (const list of this.lists) {
      while (list.next < list.users.length && this.positionOf(list.users[list.next]) <= this.at) list.next++;
      if (list.next < list.users.length) first = Math.min(first, this.positionOf(list.users[list.next]));
    }
    if (first > this.last) return null;
    this.at = first;
    return this.graph.order[first];
  }

  private positionOf(node: Node): number {
    return this.graph.positions.get(node) as number;
  }
}

/** A cast to more bytes: those who read the value widen it themselves, and half as much is stored. */
const isWidening = ({ primitive, dtype, inputs }: Node): boolean =>
  primitive === cast && DTYPES[dtype].bytes > DTYPES[inputs[0].dtype].bytes;

/** A cast to fewer bytes. */
const isNarrowing = ({ primitive, dtype, inputs }: Node): boolean =>
  primitive === cast && DTYPES[dtype].bytes < DTYPES[inputs[0].dtype].bytes;

/** The value to store for one that is read only in a narrower dtype: its cast. */
export function narrowedBy(node: Node, { users }: GraphOrder): Node {
  const [first, ...others] = users.get(node) ?? [];
  return first && isNarrowing(first) && others.every((user) => user === first) ? first : node;
}

/** Movement that neither drops nor repeats elements. */
const keepsAll = ({ primitive }: Node): boolean =>
  primitive === reshape || primitive === permute || primitive === stored;

/** The operations from a product to a result, if none of them drops or repeats elements. */
function pathBetween(dot: Node, result: Node, nodes: ReadonlyMap<Node, number>): Node[] | null {
  const failed = new Set<Node>();
  const find = (node: Node): Node[] | null => {
    if (node === dot) return [];
    if (failed.has(node) || !nodes.has(node)) return null;
    if (node.primitive.kind === "elementwise" || keepsAll(node)) {
      for (const input of node.inputs) {
        const path = find(input);
        if (path) return [...path, node];
      }
    }
    failed.add(node);
    return null;
  };
  return find(result);
}

function costAfter(dot: Node, result: Node, nodes: ReadonlyMap<Node, number>): number {
  const seen = new Set<Node>([dot]);
  const stack = [result];
  let cost = 0;
  for (let node = stack.pop(); node; node = stack.pop()) {
    if (seen.has(node) || !nodes.has(node)) continue;
    seen.add(node);
    if (node.primitive.kind === "elementwise") cost += node.primitive.cost;
    stack.push(...node.inputs);
  }
  return cost;
}
