/**
 * Large products leave the loop of a reverse scan, on either side.
 *
 * A round of reverse mode computes the round's values again, from the carries that it began with. They do not depend on the
 * cotangents, which go from round to round, so they can be computed for all rounds before the loop, and the products in them
 * become one large product (`hoistable`). And the cotangent of a matrix that all rounds multiply by is a sum of products, one
 * of each round. After the loop it is one product along a longer axis (`sinkable`). An LSTM is left with one product to a round
 * instead of three.
 *
 * Both need memory in proportion to the rounds, as reverse mode does anyway; no more than a few times of that is taken.
 */
import { bytesOf } from "../../../core/bytes.js";
import { abstractInOrder, substitute } from "../../function.js";
import { dependingOn, type Node } from "../../node.js";
import type { GraphOps } from "../../vocabulary.js";
import { dot, matrixProduct } from "../dot.js";

/** Multiplications of a product that is worth a kernel of its own. Smaller ones may be part of a loop inside one kernel. */
const LEAST_PRODUCT = 1 << 16;
/** Additions that an element-wise operation must cost to be computed before the loop rather than in it. */
const LEAST_COST = 10;
/** Bytes of a round that may be kept for it, in terms of those that are kept anyway. */
const MOST_MEMORY = 4;

export const bytesTogether = (nodes: readonly Node[]): number => nodes.reduce((sum, node) => sum + bytesOf(node), 0);

const isProduct = ({ primitive }: Node): boolean => primitive === dot || primitive === matrixProduct;

function isLargeProduct(node: Node): boolean {
  const summed = node.inputs[0]?.shape.at(-1) ?? 0;
  return isProduct(node) && node.shape.reduce((size, extent) => size * extent, summed) >= LEAST_PRODUCT;
}

/** The values of a round that are better computed for all rounds before the loop; none where no large product is among them. */
export function hoistable(
  outputs: readonly Node[],
  given: { readonly perRound: readonly Node[]; readonly carried: readonly Node[]; readonly keptBytes: number },
): Node[] {
  const { perRound, carried, keptBytes } = given;
  const isAbstract = (node: Node) => node.isAbstract;
  const late = new Set(dependingOn(outputs, carried, isAbstract));
  const early = dependingOn(outputs, perRound, isAbstract).filter((node) => !late.has(node));
  if (!early.some(isLargeProduct) || !early.every(isBatchable)) return [];
  const isEarly = new Set(early);
  const found = new Set<Node>();
  const seen = new Set<Node>();
  // From where the loop reads early values back to what is costly; what is cheap is computed again from that.
  const waiting = [...late].flatMap(({ inputs }) => inputs).concat(outputs);
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (!isEarly.has(node) || seen.has(node)) continue;
    seen.add(node);
    if (isCostly(node)) found.add(node);
    else waiting.push(...node.inputs);
  }
  const hoisted = [...found];
  return bytesTogether(hoisted) <= MOST_MEMORY * keptBytes ? hoisted : [];
}

/** Operations whose rules for batches cost no more than a round times the rounds. */
function isBatchable(node: Node): boolean {
  const { kind } = node.primitive;
  return kind === "elementwise" || kind === "movement" || kind === "reduce" || isProduct(node);
}

function isCostly({ primitive }: Node): boolean {
  return primitive.kind === "elementwise" ? primitive.cost >= LEAST_COST : primitive.kind !== "movement";
}

/** A sum over the rounds that is made of products. */
export interface SumOfProducts {
  /** The sum's element of a round. */
  readonly term: Node;
  readonly products: readonly Node[];
  /** The values of a round that the products' operands are views of. */
  readonly sources: readonly Node[];
}

/** How a sum is made of large products of which both operands change from round to round; null where it is not. */
export function sinkable(term: Node, isOfRound: (node: Node) => boolean): SumOfProducts | null {
  const [products, sources] = [new Set<Node>(), new Set<Node>()];
  const waiting = [term];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    const { primitive, inputs } = node;
    if (primitive.name === "add" || isPlainView(node)) waiting.push(...inputs);
    else if (primitive === dot && isLargeProduct(node) && inputs.map(sourceOf).every(isOfRound)) {
      products.add(node);
      for (const input of inputs) sources.add(sourceOf(input));
    } else return null;
  }
  return { term, products: [...products], sources: [...sources] };
}

/** Movement that only orders elements anew, so that it may be done to a sum instead of its terms. */
const isPlainView = ({ primitive, inputs }: Node): boolean =>
  inputs.length === 1 && (primitive.name === "reshape" || primitive.name === "permute");

function sourceOf(operand: Node): Node {
  let source = operand;
  while (isPlainView(source) && source.isAbstract) [source] = source.inputs;
  return source;
}

/** The sum over all rounds, from the sources stacked over the rounds. */
export function sumOverRounds(
  g: GraphOps,
  { term, products, sources }: SumOfProducts,
  stacked: (source: Node) => Node,
  rounds: number,
): Node {
  const given = sources.map((source) => ({ node: stacked(source), isBatched: true }));
  const totals = products.map(({ inputs, params }) => {
    const [a, b] = g.vectorize(inputs, sources, given, rounds).map(({ node }) => node);
    const [, batch, m, k] = a.shape;
    const left = g.reshape(g.permute(a, [1, 2, 0, 3]), [batch, m, rounds * k]);
    const right = g.reshape(g.permute(b, [1, 0, 2, 3]), [batch, rounds * k, b.shape[3]]);
    return g.dot(left, right, params);
  });
  return substitute([term], products, totals)[0];
}

/** Whether a value depends on any of these. */
export const dependsOnAny = (node: Node, sources: readonly Node[]): boolean =>
  sources.includes(node) || abstractInOrder([node], sources).length > 0;
