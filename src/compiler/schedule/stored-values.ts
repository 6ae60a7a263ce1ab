/**
 * Decides which values are stored although they could be computed where they are used: terms of sums that hold reductions
 * themselves, values that make a kernel too long, and values whose repeated computation costs more than loading them.
 */
import { productOf } from "../../core/shape.js";
import type { Node } from "../../graph/node.js";
import type { TargetProfile } from "../target/profile.js";
import type { Cluster } from "./siblings.js";
import { statementsOf } from "./statement-counts.js";
import type { Survey } from "./survey.js";

/** Additions that cost as much as a load: a cheaper value is computed again rather than stored. */
export const LOAD_COST = 24;
/** Additions that stand for a reduction which another kernel would compute again. */
export const REDUCTION_COST = 1000;

/**
 * Terms of sums that are made of the results of other reductions, one each: for example the losses of rows. A kernel of
 * their own computes them together with everything else of a row, gradients included.
 */
export function termsOf({ nodes, reductions }: Survey, endOf: (reduction: Node) => Node): Node[] {
  const terms = reductions.flatMap(({ node, isApart, outers }) => {
    if (!isApart) return [];
    return [...outers].flatMap((outer) => {
      let [term] = outer.inputs;
      while (term.primitive.kind === "movement" && term.inputs.length === 1 && nodes.has(term)) [term] = term.inputs;
      // The remaining movements have several inputs: a term may be an element picked from a row, as a label picks a loss.
      const isComputed = term.primitive.kind === "elementwise" || term.primitive.kind === "movement";
      const isTerm = isComputed && productOf(term.shape) === productOf(node.shape);
      // If all users share an epilogue of the reduction, that is stored and not the term.
      return isTerm && [node, term].includes(endOf(node)) && isReducedOnce(term, node, nodes) ? [term] : [];
    });
  });
  return [...new Set(terms)];
}

/** True if a term depends on the reduction directly and not also through other reductions. */
function isReducedOnce(term: Node, reduction: Node, nodes: ReadonlyMap<Node, unknown>): boolean {
  const behind = (from: readonly Node[], isEnd: (node: Node) => boolean): Set<Node> => {
    const seen = new Set<Node>(from);
    for (const node of seen) {
      if (isEnd(node)) continue;
      for (const input of node.inputs) if (nodes.has(input)) seen.add(input);
    }
    return seen;
  };
  const isReduction = ({ primitive }: Node) => primitive.kind === "reduce" || primitive.kind === "contraction";
  const direct = [...behind([term], isReduction)].filter(isReduction);
  const others = direct.filter((node) => node !== reduction).flatMap(({ inputs }) => inputs);
  return direct.includes(reduction) && !behind(others, () => false).has(reduction);
}

/**
 * Cuts a group whose code is too long. It cuts off the deepest part: the longest one that fits a kernel and has few values
 * that the rest needs, so that one kernel can store them all.
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

/** Statements of a group that compute its result once its reductions are known. */
export function statementsAfterReductions(result: Node, { nodes }: Survey): number {
  const after = new Set<Node>([result]);
  let statements = 0;
  for (const node of after) {
    if (node.primitive.kind === "reduce") continue;
    statements += statementsOf(node);
    for (const input of node.inputs) if (nodes.has(input)) after.add(input);
  }
  return statements;
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
export function sharedAndCostly(clusters: readonly Cluster[]): Node[] {
  const uses = new Map<Node, number>();
  const results = new Set<Node>();
  for (const { members } of clusters) {
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
  // Results are in memory for whoever uses them, whatever it took to compute them.
  for (const node of results) uses.delete(node);
  const costOf = costsWithin(uses, REDUCTION_COST);
  const found: Node[] = [];
  for (const [node, count] of uses) {
    const { kind } = node.primitive;
    if (count < 2 || (kind !== "elementwise" && kind !== "contraction")) continue;
    if (costOf(node) * (count - 1) > LOAD_COST) found.push(node);
  }
  return lastOfChains(found);
}

/**
 * The node that one group would compute several times per element (a softmax reads its input thrice) at too high a cost:
 * the one computed most often and, of a chain, the last. Once it is stored the rest may be cheap, so one at a time.
 */
export function costlyAgain({ nodes }: Survey, result: Node): readonly Node[] {
  const costOf = costsWithin(nodes, 0);
  let worst: Node | null = null;
  let most = 1;
  for (const [node, times] of nodes) {
    if (times < 2 || node === result || node.primitive.kind !== "elementwise") continue;
    if (costOf(node) * (times - 1) <= 3 * LOAD_COST) continue;
    if (times > most || (times === most && node.depth > (worst?.depth ?? 0))) {
      worst = node;
      most = times;
    }
  }
  return worst ? [worst] : [];
}

/** Terms that a reduction has at least, and terms of all its elements, before computing it again costs more than another kernel. */
const [LEAST_TERMS, LEAST_AGAIN] = [16, 2 ** 22];

/**
 * Reductions that each element of a result would compute at several places: the parts of a split product that is then added to its own
 * transpose, say.
 */
export function reducedAgain({ nodes, reductions }: Survey, result: Node): readonly Node[] {
  return reductions.flatMap(({ node, extent }) => {
    const again = (nodes.get(node) ?? 1) - 1;
    const isLong = extent >= LEAST_TERMS && again * extent * productOf(node.shape) >= LEAST_AGAIN;
    return node !== result && isLong ? [node] : [];
  });
}

/** A value that so many elements of a result share is small beside it. */
const LEAST_SHARING = 64;
/** Statements that take longer than another kernel: a few microseconds of a GPU. */
const LEAST_SAVED = 2 ** 27;

/**
 * Values that many elements of a result share and would each compute, in more statements than a load is worth: the factor of a channel, with its
 * root, beside the pixels. Reductions and products have rows and tiles, which compute such values once by themselves.
 */
export function costlyBroadcasts({ nodes, reductions, products }: Survey, result: Node): readonly Node[] {
  const elements = productOf(result.shape);
  if (reductions.length + products.length > 0 || elements < LEAST_SHARING) return [];
  const costOf = costsWithin(nodes, 0, statementsOf);
  const found = [...nodes.keys()].filter((node) => {
    if (node === result || node.primitive.kind !== "elementwise") return false;
    if (LEAST_SHARING * productOf(node.shape) > elements) return false;
    const cost = costOf(node);
    return cost > LOAD_COST && elements * cost >= LEAST_SAVED;
  });
  const read = new Set(found.flatMap((node) => [...computedInputs(node, nodes)]));
  return found.filter((node) => !read.has(node));
}

/** Only the last of a chain needs storing: its private inputs are then computed once. */
function lastOfChains(found: readonly Node[]): Node[] {
  const read = new Set(found.flatMap(({ inputs }) => inputs));
  return found.filter((node) => !read.has(node));
}

const additionsOf = ({ primitive }: Node): number => (primitive.kind === "elementwise" ? primitive.cost : 0);

/** Operations that the cost of an element goes back over: deep chains cost enough after a few. */
const COST_DEPTH = 8;

/**
 * The cost of computing an element of a node from what is loaded, among nodes that are computed together. Within one group a
 * reduction is computed once per row, whatever uses it; another group would compute it again.
 */
export function costsWithin(
  within: ReadonlyMap<Node, unknown>,
  reductionCost: number,
  ownCost: (node: Node) => number = additionsOf,
): (node: Node) => number {
  /** By node, and how far it is from where the question began: an operand that is read twice is looked at once. */
  const known = new Map<Node, number[]>();
  const costAt = (node: Node, depth: number): number => {
    if (depth > COST_DEPTH || !within.has(node)) return 0;
    const { primitive } = node;
    if (primitive.kind === "reduce" || primitive.kind === "contraction") return reductionCost;
    const costs = known.get(node) ?? new Array<number>(COST_DEPTH + 1).fill(-1);
    known.set(node, costs);
    if (costs[depth] < 0) {
      const own = primitive.kind === "elementwise" ? ownCost(node) : 0;
      costs[depth] = node.inputs.reduce((sum, input) => sum + costAt(input, depth + 1), own);
    }
    return costs[depth];
  };
  return (node) => costAt(node, 0);
}
