/**
 * Epilogues of matrix products: element-wise operations on the result of a product (a bias, an activation) that its kernel
 * computes on the tile before it stores it.
 */
import { productOf } from "../../core/shape.js";
import type { Node } from "../../graph/node.js";
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
  const { order, positions, users } = graph;
  const size = productOf(source.shape);
  const lastUser = (node: Node) =>
    Math.max(-1, ...(users.get(node) ?? []).map((user) => positions.get(user) as number));
  const region = new Set<Node>([source]);
  let end = source;
  let cost = 0;
  let reach = lastUser(source);
  for (let at = (positions.get(source) as number) + 1; at <= reach; at++) {
    const node = order[at];
    if (!node.inputs.some((input) => region.has(input))) continue;
    const isElementwise = node.primitive.kind === "elementwise";
    if (!(isElementwise || keepsAll(node)) || productOf(node.shape) !== size) break;
    region.add(node);
    if (node.primitive.kind === "elementwise") cost += node.primitive.cost;
    // All users of the region so far lie before this node.
    if (at === reach && isElementwise && cost <= MOST_COST) end = node;
    if (isStored(node)) break;
    reach = Math.max(reach, lastUser(node));
  }
  return end;
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
