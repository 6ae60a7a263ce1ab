/**
 * Decides which values of a function of a thread are kept in memory: those for which computing them each time they are
 * needed costs more than to write each element once and read it back. inline.ts asks until nothing more pays.
 *
 * All prices are in additions. How often a node is computed comes from the surveys of everything that will be written. What
 * an element costs includes what is computed for it alone; what would be kept in any case costs a read.
 */
import { sizeOf } from "../../core/shape.js";
import type { Node } from "../../graph/node.js";
import type { ElementSurvey } from "./element-survey.js";

/** Additions that each lane must save: a value that is kept needs a loop of its own. */
const LEAST_GAIN = 64;
/** Nodes that the price of an element goes back over: after so many it is dear enough. */
const MAX_BEHIND = 100;
/** The most elements that a row keeps of a value. */
const MAX_KEPT = 1 << 20;

interface Prices {
  /** Additions that writing or reading an element costs. */
  readonly accessCost: number;
  /** Lanes that share a loop. */
  readonly lanes: number;
}

/** The nodes to keep next; none where everything that is left is cheap. `order`: inputs come before their users. */
export function worthKeeping(
  order: readonly Node[],
  surveys: Iterable<ElementSurvey>,
  isLoaded: (node: Node) => boolean,
  { accessCost, lanes }: Prices,
): Node[] {
  const times = new Map<Node, number>();
  for (const survey of surveys) {
    for (const [node, count] of survey.times) times.set(node, (times.get(node) ?? 0) + count);
  }
  const isCandidate = ({ primitive: { kind } }: Node) => kind === "elementwise" || kind === "reduce";
  const paying = new Set<Node>();
  for (const node of order) {
    const count = times.get(node) ?? 0;
    const size = sizeOf(node.shape);
    if (count <= size || size > MAX_KEPT || !isCandidate(node) || isLoaded(node)) continue;
    const isAtHand = (each: Node) => isLoaded(each) || paying.has(each);
    const saved = (count - size) * priceOf(node, times, isAtHand, accessCost);
    if (saved - (size + count) * accessCost > LEAST_GAIN * lanes) paying.add(node);
  }
  // Below a node that is kept less is computed: those nodes are looked at again.
  const below = new Set<Node>();
  return order.toReversed().filter((node) => {
    const isBelow = below.has(node);
    if ((isBelow || paying.has(node)) && !isLoaded(node)) for (const input of node.inputs) below.add(input);
    return paying.has(node) && !isBelow;
  });
}

/** Additions for an element of a node, beyond what is at hand. */
function priceOf(
  node: Node,
  times: ReadonlyMap<Node, number>,
  isAtHand: (node: Node) => boolean,
  accessCost: number,
): number {
  const total = times.get(node) as number;
  const seen = new Set<Node>([node]);
  let price = 0;
  const add = (each: Node, count: number) => {
    price += count * ownPrice(each);
    for (const input of each.inputs) {
      if (seen.has(input) || seen.size >= MAX_BEHIND) continue;
      seen.add(input);
      const wanted = count * termsOf(each);
      if (isAtHand(input)) price += wanted * accessCost;
      // Loop-invariant: computed once, before the loop.
      else add(input, Math.min(wanted, (times.get(input) ?? 0) / total));
    }
  };
  add(node, 1);
  return price;
}

function ownPrice(node: Node): number {
  const { primitive } = node;
  if (primitive.kind === "elementwise") return primitive.cost;
  return primitive.kind === "reduce" ? termsOf(node) : 0;
}

/** Elements of its input that an element of a node needs. */
function termsOf(node: Node): number {
  if (node.primitive.kind !== "reduce") return 1;
  const [{ shape }] = node.inputs;
  return sizeOf((node.params.axes as readonly number[]).map((axis) => shape[axis]));
}
