/**
 * Products of matrices, before scheduling. Large ones stay products and get the tile they are computed in; a long summation
 * may be split into parts. Small ones become sums of products, which fuse with everything. Operands that are cheap are
 * computed while tiles are loaded; costly ones are computed into memory first.
 */

import { DTYPES } from "../../core/dtype.js";
import { sizeOf } from "../../core/shape.js";
import { castNode, makeNode, permuteNode, reshapeNode, sourceOf } from "../../graph/build.js";
import type { Node } from "../../graph/node.js";
import type { Params } from "../../graph/primitive.js";
import { accumulatorDType, dot } from "../../graph/primitives/dot.js";
import { cast } from "../../graph/primitives/elementwise.js";
import { pad, stored as storedValue } from "../../graph/primitives/movement.js";
import * as R from "../../graph/primitives/reduce.js";
import type { MatmulPrecision } from "../../graph/product-precision.js";
import { g } from "../../graph/vocabulary.js";
import { areVectors } from "../schedule/loads.js";
import type { MatrixTile, TileProfile } from "../target/tile-profile.js";
import { productShapeOf } from "../tiles/operand-orders.js";
import { isTiled, type ProductPlan, planProduct } from "../tiles/plan.js";
import { splitProduct } from "./split-product.js";

/**
 * An operand of at most `cheap` additions is computed while tiles are loaded; of a dearer one storing pays from `worth` additions on,
 * over all loads of an element. The panels of a CPU are packed from memory that is near: a batch of bytes over 255 was better stored,
 * where its product loads it four times. Quantised weights, loaded once or twice, stay narrow.
 */
interface StoringCosts {
  readonly cheap: number;
  readonly worth: number;
}
const STORING = {
  usual: { cheap: 8, worth: 48 },
  panels: { cheap: 2, worth: 16 },
} as const satisfies Record<string, StoringCosts>;

interface ProductRewriter {
  /** The replacement of a product with these params and operands; null where it becomes a sum of products. */
  rewrite(params: Params, inputs: readonly Node[]): Node | null;
  /** Nodes to be computed into memory before a product loads them. */
  readonly stored: ReadonlySet<Node>;
}

export function productRewriter(profile: TileProfile): ProductRewriter {
  const stored = new Set<Node>();
  const store = (operand: Node, times: number, costs: StoringCosts) => {
    for (const node of computedOften(operand, times, costs)) stored.add(node);
  };
  return {
    stored,
    rewrite: ({ precision }, inputs) => {
      const [a, b] = inputs as readonly [Node, Node];
      const [, m, k] = a.shape;
      const n = b.shape[2];
      const wanted = productShapeOf([a, b], precision as MatmulPrecision | undefined, profile);
      if (profile.note && isTiled(wanted, profile)) profile.note([a, b], wanted.precision);
      const plan = planProduct(wanted, profile);
      const [rows, columns] = plan ? [plan.tile.rows, plan.tile.columns] : [1, 1];
      // A product without tiles becomes a sum, which fuses with its operands.
      const costs = plan && profile.kind === "panels" ? STORING.panels : STORING.usual;
      store(a, Math.ceil(n / columns), costs);
      store(b, Math.ceil(m / rows), costs);
      if (!plan) return null;
      for (const [operand, times] of [
        [a, n / columns],
        [b, m / rows],
      ] as const) {
        if (profile.kind !== "shared") continue;
        if (isWorthOrdering(operand, times)) stored.add(operand);
        const narrowed = castBehind(operand);
        if (narrowed && isWorthCasting(operand, times)) stored.add(narrowed);
      }
      const { tile, length } = plan;
      const multiply = (x: Operand, y: Operand) => (length >= k ? product(x, y, plan) : summedInParts(x, y, plan));
      if (a.dtype !== "f32" || tile.kind !== "matrix") return multiply([a], [b]);
      if (tile.parts === 1) return multiply([rounded(a, tile, stored)], [rounded(b, tile, stored)]);
      return splitProduct(a, b, (x, y) => {
        for (const part of [...x, ...y]) stored.add(part);
        return multiply(x, y);
      });
    },
  };
}

/** An operand, or the parts it is the sum of. */
type Operand = readonly Node[];

/** An f32 operand whose numbers are rounded to the dtype of the fragments, once, into memory. */
function rounded(operand: Node, { fragment }: MatrixTile, stored: Set<Node>): Node {
  const isNarrow = operand.primitive === cast && operand.inputs[0].dtype === fragment.operand;
  if (isNarrow) return operand;
  const narrow = castNode(operand, fragment.operand);
  stored.add(narrow);
  return castNode(narrow, operand.dtype);
}

/** The params of a planned product: how it is computed, and why so. */
const planned = ({ tile, reason }: ProductPlan) => ({ tile, reason });

function product(a: Operand, b: Operand, plan: ProductPlan): Node {
  const whole = (parts: Operand) => (parts.length === 1 ? parts[0] : g.add(...joined(parts)));
  const joined = (parts: Operand) => parts.map((part) => castNode(part, "f32")) as [Node, Node];
  return makeNode(dot, [whole(a), whole(b)], planned(plan), a[0].device);
}

/** The summation in parts, each a product of its own, added up. Parts of narrow floats are kept as f32. */
function summedInParts(a: Operand, b: Operand, plan: ProductPlan): Node {
  const { length } = plan;
  const [{ dtype, device, shape }] = a;
  const [batch, m, k] = shape;
  const n = b[0].shape[2];
  const wide = accumulatorDType(dtype);
  const count = Math.ceil(k / length);
  const byPart = (node: Node) => {
    const left = filled(castNode(node, wide), 2, count * length);
    const apart = permuteNode(reshapeNode(left, [batch, m, count, length]), [0, 2, 1, 3]);
    return reshapeNode(apart, [batch * count, m, length]);
  };
  const right = (node: Node) =>
    reshapeNode(filled(castNode(node, wide), 1, count * length), [batch * count, length, n]);
  const partial = product(a.map(byPart), b.map(right), plan);
  const summation = dtype === "bool" ? R.any : R.sum;
  const apart = reshapeNode(partial, [batch, count, m, n]);
  const total = makeNode(summation, [apart], { axes: [1] }, device);
  return a.length === 1 ? castNode(total, dtype) : total;
}

function filled(node: Node, axis: number, extent: number): Node {
  const amount = extent - node.shape[axis];
  if (amount === 0) return node;
  const none = node.shape.map(() => 0);
  const params = { low: none, high: none.with(axis, amount), interior: none, value: node.dtype === "bool" ? false : 0 };
  return makeNode(pad, [node], params, node.device);
}

/** The nodes behind the movement of an operand that cost too much to be computed each of the times they are loaded. */
function computedOften(operand: Node, times: number, { cheap, worth }: StoringCosts): Node[] {
  const found: Node[] = [];
  const seen = new Set<Node>();
  const stack = [operand];
  for (let node = stack.pop(); node; node = stack.pop()) {
    if (seen.has(node) || node.storage !== null) continue;
    seen.add(node);
    const { primitive } = node;
    if (primitive.kind === "movement" && primitive !== storedValue) stack.push(...node.inputs);
    else if (primitive === cast) stack.push(...node.inputs);
    else if (primitive.kind === "elementwise") {
      const cost = costOf(node);
      if (cost <= cheap || cost * times <= worth) continue;
      // A matrix of weights for each row: the weights alone are stored, where they are what costs.
      const repeated = repeatedParts(node);
      found.push(...(costOf(node, new Set(repeated)) <= cheap ? repeated : [node]));
    }
  }
  return found;
}

/** An operand is this many times the size of a part that is repeated for it. */
const REPEATED = 8;

/** What is computed for a node and is much smaller, such as a number for each of its rows. */
function repeatedParts(operand: Node): Node[] {
  const most = sizeOf(operand.shape) / REPEATED;
  const found = new Set<Node>();
  const seen = new Set<Node>();
  const stack = [operand];
  for (let node = stack.pop(); node; node = stack.pop()) {
    const { primitive, storage, shape, inputs } = node;
    if (seen.has(node) || storage !== null || primitive === storedValue) continue;
    seen.add(node);
    if (primitive.kind === "elementwise" && sizeOf(shape) <= most) found.add(node);
    else if (primitive.kind === "elementwise" || primitive.kind === "movement") stack.push(...inputs);
  }
  return [...found];
}

/** Loads from which on a copy in the order of the product pays: a kernel more, some microseconds. */
const WORTH_ORDERING = 1 << 22;
/** Elements of a vector of 16 bytes, at most. */
const VECTOR = 8;

/** Whether an operand is a rearrangement that has no vectors along any axis, and is loaded often: the kernels of a convolution. */
function isWorthOrdering(operand: Node, times: number): boolean {
  const source = sourceOf(operand);
  const size = sizeOf(operand.shape);
  if (size !== sizeOf(source.shape) || size * times < WORTH_ORDERING || times < 2) return false;
  const isLoaded = (node: Node) => node === source;
  return ![1, 2].some((axis) => areVectors(operand, isLoaded, axis, Math.min(VECTOR, operand.shape[axis])));
}

/** Loads of an element from which on its cast pays: 12 of them did on an H200, and 3 did not. */
const WORTH_CASTING = 8;

/** Whether an operand is loaded so often that it is better cast once: f32 weights beside bf16 activations took 1.4 times as long. */
const isWorthCasting = (operand: Node, times: number): boolean =>
  times >= WORTH_CASTING && sizeOf(operand.shape) * times >= WORTH_ORDERING;

/** The cast to fewer bytes that an operand is a rearrangement of, if there is one. */
function castBehind(operand: Node): Node | null {
  let node = operand;
  while (node.storage === null && node.primitive.kind === "movement" && node.inputs.length === 1) [node] = node.inputs;
  const isNarrowing = node.storage === null && node.primitive === cast && isNarrowerThan(node, node.inputs[0]);
  return isNarrowing ? node : null;
}

const isNarrowerThan = (a: Node, b: Node): boolean => DTYPES[a.dtype].bytes < DTYPES[b.dtype].bytes;

/** Additions that an element takes from what is in memory or `stored`; what is not elementwise is in memory, but better behind it. */
function costOf(node: Node, stored: ReadonlySet<Node> = new Set()): number {
  const seen = new Set<Node>();
  const stack = [node];
  let total = 0;
  for (let next = stack.pop(); next; next = stack.pop()) {
    const { primitive } = next;
    if (seen.has(next) || next.storage !== null || stored.has(next) || primitive === storedValue) continue;
    seen.add(next);
    if (primitive.kind === "elementwise") total += primitive.cost;
    else if (primitive.kind !== "movement" && primitive.kind !== "leaf") return Number.POSITIVE_INFINITY;
    stack.push(...next.inputs);
  }
  return total;
}
