/**
 * Which values of a group, or of several, are better stored and loaded than computed where they are used: terms of sums that
 * are reductions themselves, what makes a kernel too long, and what would be computed again at more than it costs to load.
 */
import { productOf } from "../../core/shape.js";
import type { Node } from "../../graph/node.js";
import type { TargetProfile } from "../target/profile.js";
import type { Family } from "./siblings.js";
import { statementsOf } from "./statement-counts.js";
import type { Survey } from "./survey.js";

/** Additions a load is worth: computing again what costs less is cheaper than storing it. */
export const LOAD_COST = 24;
/** And what a reduction costs that another kernel would compute again. */
export const REDUCTION_COST = 1000;

/**
 * What reductions add up whose terms are made of the results of other reductions, one each: the losses of rows, say, which
 * a kernel of their own computes with all there is to a row, their slopes included.
 */
export function termsOf({ nodes, reductions }: Survey, endOf: (reduction: Node) => Node): Node[] {
  const terms = reductions.flatMap(({ node, isApart, outers }) => {
    if (!isApart) return [];
    return [...outers].flatMap((outer) => {
      let [term] = outer.inputs;
      while (term.primitive.kind === "movement" && term.inputs.length === 1 && nodes.has(term)) [term] = term.inputs;
      const isTerm = term.primitive.kind === "elementwise" && productOf(term.shape) === productOf(node.shape);
      // What all see of a reduction is better stored than what one makes of that.
      return isTerm && [node, term].includes(endOf(node)) && isReducedOnce(term, node, nodes) ? [term] : [];
    });
  });
  return [...new Set(terms)];
}

/** Whether a term takes the result of a reduction as it is, and not also of other reductions over it. */
function isReducedOnce(term: Node, reduction: Node, nodes: ReadonlyMap<Node, unknown>): boolean {
  const behind = (from: readonly Node[], isEnd: (node: Node) => boolean): Set<Node> => {
    const seen = new Set<Node>(from);
    for (const node of seen) {
      if (isEnd(node)) continue;
      for (const input of node.inputs) if (nodes.has(input)) seen.add(input);
    }
    return seen;
  };
  const isReduction = ({ primitive }: Node) => primitive.kind === "reduce" || primitive.kind === "composite";
  const direct = [...behind([term], isReduction)].filter(isReduction);
  const others = direct.filter((node) => node !== reduction).flatMap(({ inputs }) => inputs);
  return direct.includes(reduction) && !behind(others, () => false).has(reduction);
}

/**
 * What to store of a group whose code is too long. The deepest part of it is cut off: the longest that one kernel can
 * compute and from which few values lead to the rest, so that one kernel can store them.
 */
export function frontier({ nodes }: Survey, { maxStatements, maxBuffers }: TargetProfile): readonly Node[] {
  const computed = [...nodes.keys()].filter(
    ({ primitive }) => primitive.kind !== "movement" && primitive.kind !== "leaf",
  );
  const inputsOf = new Map(computed.map((node) => [node, computedInputs(node, nodes)]));
  const users = new Map<Node, number>();
  for (const inputs of inputsOf.values()) for (const input of inputs) users.set(input, (users.get(input) ?? 0) + 1);
  const open = new Set<Node>();
  let best: readonly Node[] = [];
  let statements = 0;
  for (const node of computed.sort((a, b) => a.depth - b.depth)) {
    statements += statementsOf(node) * (nodes.get(node) as number);
    if (statements > maxStatements) break;
    if (users.has(node)) open.add(node);
    for (const input of inputsOf.get(node) as Iterable<Node>) {
      const left = (users.get(input) as number) - 1;
      users.set(input, left);
      if (left === 0) open.delete(input);
    }
    const isFew = 4 * open.size <= 3 * maxBuffers;
    if (open.size > 0 && (isFew || best.length === 0 || open.size <= best.length)) best = [...open];
  }
  return best;
}

/** The nodes that a node is computed from, beyond the movement of data. */
function computedInputs(node: Node, within: ReadonlyMap<Node, unknown>): ReadonlySet<Node> {
  const seen = new Set(node.inputs.filter((input) => within.has(input)));
  for (const input of seen) {
    if (input.primitive.kind !== "movement") continue;
    for (const behind of input.inputs) if (within.has(behind)) seen.add(behind);
  }
  return new Set([...seen].filter(({ primitive }) => primitive.kind !== "movement" && primitive.kind !== "leaf"));
}

/** Nodes that several kernels would compute, at a cost that makes storing them better. */
export function sharedAndCostly(families: readonly Family[]): Node[] {
  const uses = new Map<Node, number>();
  const results = new Set<Node>();
  for (const { members } of families) {
    const nodes = new Set<Node>();
    for (const member of members) {
      if (member.kind === "routine") results.add(member.node);
      else {
        for (const { node } of member.sibling.group.results) results.add(node);
        for (const node of member.sibling.nodes) nodes.add(node);
      }
    }
    for (const node of nodes) uses.set(node, (uses.get(node) ?? 0) + 1);
  }
  const found: Node[] = [];
  for (const [node, count] of uses) {
    const { kind } = node.primitive;
    if (count < 2 || results.has(node) || (kind !== "elementwise" && kind !== "composite")) continue;
    if (costOf(node, uses, REDUCTION_COST) * (count - 1) > LOAD_COST) found.push(node);
  }
  return lastOfChains(found);
}

/**
 * The node that one group would compute several times per element (a softmax reads its input thrice) at too high a cost:
 * the one computed most often and, of a chain, the last. Once it is stored the rest may be cheap, so one at a time.
 */
export function costlyAgain({ nodes }: Survey, result: Node): readonly Node[] {
  let worst: Node | null = null;
  let most = 1;
  for (const [node, times] of nodes) {
    if (times < 2 || node === result || node.primitive.kind !== "elementwise") continue;
    if (costOf(node, nodes, 0) * (times - 1) <= 3 * LOAD_COST) continue;
    if (times > most || (times === most && node.depth > (worst?.depth ?? 0))) {
      worst = node;
      most = times;
    }
  }
  return worst ? [worst] : [];
}

/** Only the last of a chain needs storing: what feeds it alone is then computed once. */
function lastOfChains(found: readonly Node[]): Node[] {
  const read = new Set(found.flatMap(({ inputs }) => inputs));
  return found.filter((node) => !read.has(node));
}

/**
 * Cost of computing an element from what is loaded. Shallow: deep chains cost enough after a few steps. Within one group a
 * reduction is computed once per row, whatever uses it; another group would compute it again.
 */
export function costOf(node: Node, within: ReadonlyMap<Node, unknown>, reductionCost: number, depth = 0): number {
  if (depth > 8 || !within.has(node)) return 0;
  const { primitive } = node;
  if (primitive.kind === "reduce" || primitive.kind === "composite") return reductionCost;
  const own = primitive.kind === "elementwise" ? primitive.cost : 0;
  return node.inputs.reduce((sum, input) => sum + costOf(input, within, reductionCost, depth + 1), own);
}
