/**
 * Products of matrices, before scheduling. Large ones stay products and get the tile they are computed in; a long summation
 * may be split into parts. Small ones become sums of products, which fuse with everything. Operands that are cheap are
 * computed while tiles are loaded; costly ones are computed into memory first.
 */
import { castNode, makeNode, permuteNode, reshapeNode } from "../../graph/build.js";
import type { Node } from "../../graph/node.js";
import { accumulatorDType, dot } from "../../graph/primitives/dot.js";
import { cast } from "../../graph/primitives/elementwise.js";
import { pad, stored } from "../../graph/primitives/movement.js";
import * as R from "../../graph/primitives/reduce.js";
import type { Tile, TileProfile } from "../target/tile-profile.js";
import { planProduct } from "../tiles/plan.js";

/** An operand of at most so many additions is computed while tiles are loaded. */
const CHEAP = 8;
/** Additions over all loads of an element from which on storing the operand pays. */
const WORTH_STORING = 48;

interface ProductRewriter {
  /** The replacement of a product of these operands; null where it becomes a sum of products. */
  rewrite(primitive: Node["primitive"], inputs: readonly Node[]): Node | null;
  /** Nodes to be computed into memory before a product loads them. */
  readonly stored: ReadonlySet<Node>;
}

export function productRewriter(profile: TileProfile): ProductRewriter {
  const kept = new Set<Node>();
  return {
    stored: kept,
    rewrite: (primitive, inputs) => {
      if (primitive !== dot) return null;
      const [a, b] = inputs as readonly [Node, Node];
      const [batch, m, k] = a.shape;
      const n = b.shape[2];
      const plan = planProduct({ batch, m, n, k, dtype: a.dtype }, profile);
      const [rows, columns] = plan ? [plan.tile.rows, plan.tile.columns] : [1, 1];
      for (const node of computedOften(a, Math.ceil(n / columns))) kept.add(node);
      for (const node of computedOften(b, Math.ceil(m / rows))) kept.add(node);
      if (!plan) return null;
      return plan.length >= k ? product(a, b, plan.tile) : sumOfParts(a, b, plan.length, plan.tile);
    },
  };
}

function product(a: Node, b: Node, tile: Tile): Node {
  return makeNode(dot, [a, b], { tile }, a.device);
}

/** The summation in parts, each a product of its own, added up. Parts of narrow floats are kept as f32. */
function sumOfParts(a: Node, b: Node, length: number, tile: Tile): Node {
  const [batch, m, k] = a.shape;
  const n = b.shape[2];
  const wide = accumulatorDType(a.dtype);
  const count = Math.ceil(k / length);
  const left = filled(castNode(a, wide), 2, count * length);
  const right = filled(castNode(b, wide), 1, count * length);
  const byPart = permuteNode(reshapeNode(left, [batch, m, count, length]), [0, 2, 1, 3]);
  const partial = product(
    reshapeNode(byPart, [batch * count, m, length]),
    reshapeNode(right, [batch * count, length, n]),
    tile,
  );
  const summation = a.dtype === "bool" ? R.any : R.sum;
  const apart = reshapeNode(partial, [batch, count, m, n]);
  return castNode(makeNode(summation, [apart], { axes: [1] }, a.device), a.dtype);
}

function filled(node: Node, axis: number, extent: number): Node {
  const amount = extent - node.shape[axis];
  if (amount === 0) return node;
  const none = node.shape.map(() => 0);
  const params = { low: none, high: none.with(axis, amount), interior: none, value: node.dtype === "bool" ? false : 0 };
  return makeNode(pad, [node], params, node.device);
}

/** The nodes behind the movement of an operand that cost too much to be computed each of the times they are loaded. */
function computedOften(operand: Node, times: number): Node[] {
  const found: Node[] = [];
  const seen = new Set<Node>();
  const stack = [operand];
  for (let node = stack.pop(); node; node = stack.pop()) {
    if (seen.has(node) || node.storage !== null) continue;
    seen.add(node);
    const { primitive } = node;
    if (primitive.kind === "movement" && primitive !== stored) stack.push(...node.inputs);
    else if (primitive === cast) stack.push(...node.inputs);
    else if (primitive.kind === "elementwise") {
      const cost = costOf(node);
      if (cost > CHEAP && cost * times > WORTH_STORING) found.push(node);
    }
  }
  return found;
}

/** Additions that an element takes from what is in memory; what is not elementwise is in memory, but better behind it. */
function costOf(node: Node): number {
  const seen = new Set<Node>();
  const stack = [node];
  let total = 0;
  for (let next = stack.pop(); next; next = stack.pop()) {
    const { primitive } = next;
    if (seen.has(next) || next.storage !== null || primitive === stored) continue;
    seen.add(next);
    if (primitive.kind === "elementwise") total += primitive.cost;
    else if (primitive.kind !== "movement" && primitive.kind !== "leaf") return Number.POSITIVE_INFINITY;
    stack.push(...next.inputs);
  }
  return total;
}
