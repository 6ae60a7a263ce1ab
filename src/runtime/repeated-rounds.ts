/**
 * Cuts a graph in which a part repeats into its rounds. A loop that is read after 3, 7 and 4 steps makes three graphs of
 * different forms, and a program for each would be compiled for this one use. Their rounds are alike. So the backend stores
 * the values between two rounds, one round after the other, which takes one program for all lengths.
 *
 * The first graph may be no loop but work that is done again, as that of a network or of a fit. When it comes a second time, it is
 * compiled as a whole, which fuses across rounds; that costs a third more than compiling it at once, at most. A loop seldom begins
 * twice. Where rounds add numbers up, it is whole the first time, too: kernels of one round and of many may add in other orders,
 * and the same work should give the same bits. Other graphs are worth their own programs when they come again and again. What a
 * differentiation made is left whole: a step of training is one program.
 */
import { tensorBytes } from "../core/bytes.js";
import { sameShape } from "../core/shape.js";
import { sourceOf } from "../graph/build.js";
import type { Node } from "../graph/node.js";
import type { Primitive } from "../graph/primitive.js";
import { isBundle } from "../graph/primitives/bundle.js";
import { expand, permute, reshape } from "../graph/primitives/movement.js";
import { hashString, isSameValue, mix } from "./same-form.js";

/** A graph without a program. */
interface NewGraph {
  readonly roots: readonly Node[];
  /** All nodes, inputs before users. It is the graph that was walked last. */
  readonly order: readonly Node[];
  readonly hash: number;
}

/** The graphs that repeat the same round. */
interface Chain {
  /** The first graph, if it is to be whole, from its second time on at the latest. */
  readonly first: number | null;
  /** How often each of the others came. */
  readonly times: Map<number, number>;
}

/** Fewer rounds are compiled as they are. */
const FEW_ROUNDS = 3;

/** A part that repeats less often than this is a loop only if it is so much of the graph. */
const [SURE_ROUNDS, MOST_OF_GRAPH] = [16, 0.7];

/** The first graph is left whole if cuts would store more bytes than this: they take longer than compiling then. */
const FIRST_BYTES = 64 * 1024 * 1024;

/** A graph of so many rounds takes long to compile: it is not, the second time. */
const MANY_ROUNDS = 16;

/**
 * Rounds of elementwise operations fuse into one kernel. They are not cut if they are a few operations in all, or if what lies
 * between them has more bytes than this: storing it would take longer than computing it.
 */
const [FEW_OPERATIONS, FEW_BYTES] = [16, 64 * 1024];

/** A graph that came so often is worth a program, which takes about as long to compile as these cuts have cost. */
const OFTEN = 256;

/** Chains, and graphs of each, that are remembered. */
const MOST_REMEMBERED = 256;

const NONE: readonly (readonly Node[])[] = [];

/** Decides which graphs are cut: it remembers the rounds that it has seen. */
export class RepeatedRounds {
  private readonly chains = new Map<number, Chain>();

  /** `maxBytes`: of the values that cuts may store. */
  constructor(private readonly maxBytes: number) {}

  /** The values to store one after the other before the graph is computed; none if it is to be computed as a whole. */
  cutsOf(graph: NewGraph): readonly (readonly Node[])[] {
    const rounds = graph.order.length < FEW_ROUNDS || graph.roots.some(({ trace }) => trace) ? null : roundsOf(graph);
    if (!rounds) return NONE;
    const bytes = storedBytes(rounds.cuts);
    if (bytes > this.maxBytes) return NONE;
    const { hash } = graph;
    const known = this.chains.get(rounds.key);
    if (!known) {
      const isSmall = bytes <= FIRST_BYTES;
      const isLong = isSmall && rounds.count >= MANY_ROUNDS;
      forgetFirst(this.chains);
      this.chains.set(rounds.key, { first: isLong ? null : hash, times: new Map() });
      return isLong || (isSmall && !rounds.addsUp) ? rounds.cuts : NONE;
    }
    if (known.first === hash) return NONE;
    const times = (known.times.get(hash) ?? 0) + 1;
    if (times === 1) forgetFirst(known.times);
    known.times.set(hash, times);
    return times > OFTEN ? NONE : rounds.cuts;
  }
}

function forgetFirst(map: Map<number, unknown>): void {
  if (map.size >= MOST_REMEMBERED) map.delete(map.keys().next().value as number);
}

/** Bytes of the values that are stored between rounds. */
function storedBytes(cuts: readonly (readonly Node[])[]): number {
  let bytes = 0;
  for (const node of new Set(cuts.flat())) bytes += tensorBytes(node);
  return bytes;
}

/** The rounds of a graph: what is stored between each two of them, and a number for what one round does. */
interface Rounds {
  readonly key: number;
  readonly count: number;
  /** Some of its operations combine many elements: sums, products, routines. */
  readonly addsUp: boolean;
  readonly cuts: readonly (readonly Node[])[];
}

/** The operations of a graph in order, without leaves and constants. */
interface Operations {
  readonly nodes: readonly Node[];
  /** For each node of the graph by its position: which operation it is, or -1. */
  readonly at: Int32Array;
}

/** Finds the part that repeats. Null if there is none, or if no round reads what the one before it made. */
function roundsOf({ roots, order }: NewGraph): Rounds | null {
  const operations = operationsOf(order);
  const { nodes } = operations;
  const region = repeatedRegion(operations);
  if (!region) return null;
  const { start, end, period } = region;
  const lastUse = lastUses(operations, roots);
  const valuesAt = (cut: number) => valuesAcross(nodes, lastUse, cut);
  // The cut at which fewest bytes are alive; by default where the region ends, so that nothing of a round is left over. Counted in
  // the second round: what the first one begins with may be in memory.
  const whole = start + 1 + ((end - start - 1) % period);
  let [first, least] = [0, Infinity];
  for (let i = 0; i < period; i++) {
    const cut = whole - i > start ? whole - i : whole - i + period;
    const later = cut + period;
    const bytes = storedBytes([valuesAt(later)]) + (hasBundle(nodes, lastUse, later) ? Infinity : 0);
    if (bytes < least) [first, least] = [cut, bytes];
  }
  const isFused = nodes.slice(start, end).every(isElementwise);
  if (isFused && (end - start < FEW_OPERATIONS || least > FEW_BYTES)) return null;
  if (least === Infinity || !isChain(operations, first, period)) return null;
  const cuts: (readonly Node[])[] = first === start + period && start > 0 ? [valuesAt(start)] : [];
  for (let cut = first; cut <= Math.min(end, nodes.length - 1); cut += period) cuts.push(valuesAt(cut));
  const count = Math.floor((end - start) / period);
  const addsUp = nodes
    .slice(start, end)
    .some(({ primitive: { kind } }) => kind !== "elementwise" && kind !== "movement");
  // A stencil repeats what it does for each neighbour, in a part of a round.
  if (count < SURE_ROUNDS && end - start < MOST_OF_GRAPH * nodes.length) return null;
  return count < FEW_ROUNDS ? null : { key: keyOf(operations, first, period), count, addsUp, cuts };
}

const ARRANGING: readonly Primitive[] = [reshape, expand, permute];

const isElementwise = ({ primitive }: Node): boolean =>
  primitive.kind === "elementwise" || ARRANGING.includes(primitive);

function operationsOf(order: readonly Node[]): Operations {
  const nodes: Node[] = [];
  const at = new Int32Array(order.length).fill(-1);
  for (const [position, node] of order.entries()) {
    if (node.isEnd || node.primitive.kind === "leaf") continue;
    at[position] = nodes.length;
    nodes.push(node);
  }
  return { nodes, at };
}

/** Operations that repeat: from `start` to `end`, every `period` of them. */
interface Region {
  readonly start: number;
  readonly end: number;
  readonly period: number;
}

/** The longest part of a graph that repeats. */
function repeatedRegion(operations: Operations): Region | null {
  const { length } = operations.nodes;
  let best: Region | null = null;
  for (const period of likelyPeriods(operations)) {
    // The rest has no room for a longer one.
    if (best && best.end - best.start > length / 2) break;
    let run = 0;
    for (let i = 0; i + period <= length; i++) {
      if (i + period < length && isShifted(operations, i, period)) {
        run++;
        continue;
      }
      const region: Region = { start: i - run, end: i + period, period };
      // Twice a period is a period as well.
      const gain = run + period - (best ? best.end - best.start : 0);
      if (run >= period && gain > (best ? period : 0)) best = region;
      run = 0;
    }
  }
  return best;
}

/** Distances of some operations from earlier ones like them, whose inputs are as far apart. */
function likelyPeriods(operations: Operations): readonly number[] {
  const { nodes } = operations;
  const periods = new Set<number>();
  for (const part of [1 / 4, 1 / 2, 3 / 4]) {
    const from = Math.floor(nodes.length * part);
    for (let i = from - 1, found = 0; i >= 0 && found < MOST_ALIKE; i--) {
      if (!isAlike(nodes[i], nodes[from])) continue;
      if (isShifted(operations, i, from - i)) periods.add(from - i);
      found++;
    }
  }
  return [...periods].sort((a, b) => a - b);
}

/** Operations of one kind that a round may have, for its period to be found. */
const MOST_ALIKE = 16;

const isAlike = (a: Node, b: Node): boolean => a.primitive === b.primitive && hasTypeOf(a, b);
const hasTypeOf = (a: Node, b: Node): boolean => a.dtype === b.dtype && sameShape(a.shape, b.shape);

/** Whether an operation is the same as the one a period later, on inputs of that round. */
function isShifted({ nodes, at }: Operations, i: number, period: number): boolean {
  const [node, later] = [nodes[i], nodes[i + period]];
  if (!isAlike(node, later) || node.inputs.length !== later.inputs.length) return false;
  // The beginning of a movement may be data.
  if (node.primitive.kind !== "movement" && !isSameValue(node.params, later.params)) return false;
  return node.inputs.every((input, k) => {
    const [here, there] = [at[input.position], at[later.inputs[k].position]];
    // The first round begins with what is given; the same may be read in all rounds.
    return here < 0 || here === there ? hasTypeOf(input, later.inputs[k]) : there - here === period;
  });
}

/** For each operation the last one that reads it. */
function lastUses({ nodes, at }: Operations, roots: readonly Node[]): Int32Array {
  const last = new Int32Array(nodes.length);
  for (const [i, node] of nodes.entries()) {
    for (const input of node.inputs) if (at[input.position] >= 0) last[at[input.position]] = i;
  }
  for (const root of roots) if (at[root.position] >= 0) last[at[root.position]] = nodes.length;
  return last;
}

/** The values before a cut that operations behind it read. */
function valuesAcross(nodes: readonly Node[], lastUse: Int32Array, cut: number): readonly Node[] {
  const values = new Set<Node>();
  for (let i = 0; i < cut; i++) {
    if (lastUse[i] < cut) continue;
    const value = sourceOf(nodes[i]);
    if (!value.isEnd && value.primitive.kind !== "leaf") values.add(value);
  }
  return [...values];
}

/** A bundle of results has no value of its own, so no cut may separate it from its parts. */
function hasBundle(nodes: readonly Node[], lastUse: Int32Array, cut: number): boolean {
  for (let i = 0; i < cut; i++) if (lastUse[i] >= cut && isBundle(sourceOf(nodes[i]))) return true;
  return false;
}

/** Whether the round after a cut reads what the round before it made. */
function isChain({ nodes, at }: Operations, cut: number, period: number): boolean {
  const isOfRoundBefore = (input: Node) => at[input.position] >= cut - period && at[input.position] < cut;
  return nodes.slice(cut, cut + period).some(({ inputs }) => inputs.some(isOfRoundBefore));
}

/** A number for the operations of a round; the same for all lengths of the loop, and hardly ever for other rounds. */
function keyOf({ nodes, at }: Operations, cut: number, period: number): number {
  let hash = period;
  for (const { primitive, dtype, shape, inputs } of nodes.slice(cut, cut + period)) {
    hash = hashString(hashString(hash, primitive.name), dtype);
    for (const extent of shape) hash = mix(hash, extent);
    for (const input of inputs) {
      const from = at[input.position] - cut;
      hash = mix(hash, from >= 0 ? from : -1);
    }
  }
  return hash;
}
