/**
 * What a product takes into its kernel besides its operands: the operations on its result that go element by element, as
 * adding a bias and cutting off at zero. They are computed on the tile before it is stored, at most moved to another place.
 */
import type { Node } from "../../graph/node.js";
import { permute, reshape, stored } from "../../graph/primitives/movement.js";
import type { FusedProduct } from "../lower.js";

/** Additions per element that are worth writing out for every element of a tile; more is a kernel of its own. */
const MOST_COST = 40;

const sizeOf = (shape: readonly number[]): number => shape.reduce((product, extent) => product * extent, 1);

interface Found {
  /** Nodes that are computed, and at how many places each. */
  readonly nodes: ReadonlyMap<Node, number>;
  readonly products: readonly Node[];
}

/** The product that a result is to be computed with: itself, or the largest that it follows from element by element. */
export function fusedProduct(result: Node, { nodes, products }: Found): FusedProduct | null {
  if (products.includes(result)) return { dot: result, path: [] };
  const work = (dot: Node) => sizeOf(dot.shape) * dot.inputs[0].shape[2];
  const candidates = products
    .filter((dot) => nodes.get(dot) === 1 && sizeOf(dot.shape) === sizeOf(result.shape))
    .sort((a, b) => work(b) - work(a));
  for (const dot of candidates) {
    const path = pathBetween(dot, result, nodes);
    if (path && costAfter(dot, result, nodes) <= MOST_COST) return { dot, path };
  }
  return null;
}

/** The operations from a product to a result, if none of them drops or repeats elements. */
function pathBetween(dot: Node, result: Node, nodes: ReadonlyMap<Node, number>): Node[] | null {
  const failed = new Set<Node>();
  const find = (node: Node): Node[] | null => {
    if (node === dot) return [];
    if (failed.has(node) || !nodes.has(node)) return null;
    const { primitive } = node;
    const keepsAll = primitive === reshape || primitive === permute || primitive === stored;
    if (primitive.kind === "elementwise" || keepsAll) {
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
