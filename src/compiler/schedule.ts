/**
 * Cuts the graph into groups, each of which becomes one kernel.
 *
 * A value is stored when it is asked for, when it is a reduction that its user cannot compute once per row, when a kernel
 * would grow too large, or when several kernels would compute it again at more than it costs to load. Everything else is
 * computed where it is used. Movement is never stored for its own sake.
 */
import { DTYPES } from "../core/dtype.js";
import { atomsOf, describe, type IndexExpr, IndexSpace, keyOf, ravel, unravel } from "../core/index-expr.js";
import type { Node } from "../graph/node.js";
import { pendingInOrder } from "../graph/node.js";
import { stored as storedPrimitive } from "../graph/primitives/movement.js";
import { MAX_I32 } from "./ir.js";
import { cutsForLoads } from "./load-limit.js";
import { type Group, symbolicIndex } from "./lower.js";
import type { SortProfile } from "./routines/radix-sort.js";
import { type Family, joinSiblings, type Member } from "./siblings.js";
import { type SplitWish, splitReductions } from "./split.js";
import { statementsOf } from "./statements.js";
import { endOfEpilogue, fusedProduct, type GraphOrder, graphOrder } from "./tiles/fusion.js";
import type { TileProfile } from "./tiles/plan.js";
import { transposedAxes } from "./tiles/transpose.js";
import { viewed } from "./views.js";
import type { Tiling } from "./walk.js";

/** What is good on a target. */
export interface TargetProfile {
  /** Lanes that may share a row; 1 on the CPU. */
  readonly maxLanes: number;
  /** Neighbours that are moved at once, and steps of the lanes of a row that are under way together. */
  readonly width: number;
  readonly unroll: number;
  /** The same for numbers of 64 bits. */
  readonly unrollWide: number;
  /** Elements a thread may hold at once. */
  readonly held: number;
  /** Bytes of values that a thread with a row to itself keeps rather than compute them again; 0: none. */
  readonly kept: number;
  /** How rows are shared out where each is reduced by one thread, across memory: lanes that have a row each, and turns. */
  readonly across: { readonly lanes: number; readonly turns: number } | null;
  /** Rows below which a reduction is not worth fusing into the kernel that uses it. */
  readonly minRows: number;
  /** Nodes in one kernel, at most, and statements that they take. */
  readonly maxNodes: number;
  readonly maxStatements: number;
  /** Tensors that a kernel loads from, at most, where it can be helped: beyond that drivers take long to compile it. */
  readonly maxLoads: number;
  /** Buffers of a kernel with several results, at most. */
  readonly maxBuffers: number;
  /** Kernels that need nothing of each other run at the same time. */
  readonly isConcurrent: boolean;
  /** The host waits long for what it reads: rounds of a loop that may end are sent off before that is known. */
  readonly runsAhead: boolean;
  /** When to do a reduction in two steps. */
  readonly split: SplitWish;
  /** How products of matrices are computed. */
  readonly tiles: TileProfile;
  /** How rows are sorted. */
  readonly sort: SortProfile;
}

export const gpuProfile: TargetProfile = {
  maxLanes: 256,
  width: 4,
  unroll: 2,
  unrollWide: 2,
  held: 16,
  kept: 0,
  across: null,
  minRows: 64,
  maxNodes: 400,
  maxLoads: 32,
  // A software driver takes 0.1 ms over each. Few programs come near: 40 divisions do, or 45 sines.
  maxStatements: 8000,
  // As many addresses as fit the push block.
  maxBuffers: 14,
  isConcurrent: true,
  runsAhead: true,
  split: { parallelism: 131072, lanes: 256, leastPerThread: 32, leastExtent: 512 },
  // What Vulkan guarantees; a device that offers more has a profile of its own.
  tiles: { kind: "shared", sharedBytes: 16384, maxLanes: 128, units: 64 },
  // On an H200 a single row of 4096 takes as long either way, many of them a quarter of the time.
  sort: { digitsFrom: 4096, lanes: 256, sharedBytes: 16384 },
};
export const cpuProfile: TargetProfile = {
  maxLanes: 1,
  width: 1,
  // Four rounds, or rows, are done at once by the emitter, but only of 32 bits.
  unroll: 1,
  unrollWide: 4,
  held: 4,
  // A part of the second-level cache, four rows at once included.
  kept: 1 << 16,
  // Two cache lines.
  across: { lanes: 4, turns: 8 },
  minRows: 4,
  maxNodes: 400,
  maxLoads: 32,
  maxStatements: 8000,
  maxBuffers: 32,
  isConcurrent: false,
  runsAhead: false,
  split: { parallelism: 32, lanes: 1, leastPerThread: 32768, leastExtent: 65536 },
  tiles: { kind: "panels", sharedBytes: 0, maxLanes: 4, units: 1 },
  sort: { digitsFrom: 512, lanes: 1, sharedBytes: 0 },
};

/**
 * Places at which a kernel may compute the same value before it is stored: a stencil of a stencil of a stencil would
 * otherwise compute the first one at every path that leads to it. Movement alone costs less, and may be read more often.
 */
const MAX_PLACES = { compute: 8, movement: 64 } as const;

/** Additions a load is worth: computing again what costs less is cheaper than storing it. */
const LOAD_COST = 24;
/** And what a reduction costs that another kernel would compute again. */
const REDUCTION_COST = 1000;

/** Elements that may be reduced in all, for a result that several rows compute again. */
const MAX_REPEATED = 16;

/** Rows that are shared out several to a thread. */
const MANY_ROWS = 1 << 16;
/** Lanes of a row that need no barriers, on most devices. */
const SHORT_ROW_LANES = 32;
/** Threads that keep a device busy. */
const BUSY_THREADS = 1 << 17;

const sizeOf = (shape: readonly number[]): number => shape.reduce((product, extent) => product * extent, 1);

interface FoundReduction {
  readonly node: Node;
  /** Axes of the result that its index depends on. */
  readonly axes: readonly number[];
  readonly extent: number;
  readonly isInnermost: boolean;
  /** It is needed anew in each round of another reduction, or only where some bounds hold. */
  readonly isApart: boolean;
  /** The reductions it is needed for. */
  readonly outers: ReadonlySet<Node>;
}

interface Survey {
  /** Nodes the group computes, and at how many different indices. */
  readonly nodes: ReadonlyMap<Node, number>;
  readonly reductions: readonly FoundReduction[];
  /** Products of matrices that are computed in tiles. */
  readonly products: readonly Node[];
  /** Nodes it loads, and the indices at which it does, in words. */
  readonly loads: ReadonlyMap<Node, ReadonlySet<string>>;
  readonly ownIndex: string;
  /** Neighbouring rows load neighbours, and reductions do not. */
  readonly isAcross: boolean;
}

/** One thing to run: a fused group, or a routine with kernels of its own. */
export type Task =
  | { readonly kind: "group"; readonly group: Group }
  | { readonly kind: "routine"; readonly node: Node };

/** The tasks that compute the roots, in the order to run them. Some nodes on the way may be asked to be stored, too. */
export function schedule(roots: readonly Node[], profile: TargetProfile, wanted?: ReadonlySet<Node>): Task[] {
  splitReductions(roots, profile.split);
  const order = pendingInOrder(roots).filter((node) => node.storage === null);
  const graph = graphOrder(order);
  const asked = new Set([...roots, ...(wanted ?? [])]);
  const stored = new Set<Node>(order.filter((node) => asked.has(node)));
  const join = (groups: ReadonlyMap<Node, Grown>) => {
    const members = order.flatMap((node) => groups.get(node) ?? []).map((grown) => asMember(grown, stored));
    return joinSiblings(members, { ...profile, loadCost: LOAD_COST });
  };
  for (const node of sharedAndCostly(join(grow(stored, graph, profile)))) stored.add(node);
  return join(grow(stored, graph, profile)).map((family) => taskOf(family, stored, profile));
}

interface Grown {
  readonly node: Node;
  /** Null: a routine. */
  readonly group: Group | null;
  readonly survey: Survey;
}

function asMember({ node, group, survey }: Grown, stored: ReadonlySet<Node>): Member {
  if (!group)
    return { kind: "routine", node, loads: node.inputs.map((input) => viewed(input, (at) => stored.has(at))) };
  const [{ rowAxes }] = group.results;
  return {
    kind: "group",
    sibling: {
      ...survey,
      group,
      nodes: new Set(survey.nodes.keys()),
      costOf: (shared) => costOf(shared, survey.nodes, REDUCTION_COST),
      isPlain: survey.reductions.length === 0 && rowAxes.length === node.shape.length,
    },
  };
}

function taskOf({ members }: Family, stored: ReadonlySet<Node>, profile: TargetProfile): Task {
  const [first] = members;
  if (first.kind === "routine") return { kind: "routine", node: first.node };
  const siblings = members.flatMap((member) => (member.kind === "group" ? member.sibling : []));
  const groups = siblings.map(({ group }) => group);
  const { tiling } = groups.reduce((most, next) => (next.tiling.lanes > most.tiling.lanes ? next : most));
  const rows = sizeOf(first.sibling.group.results[0].node.shape);
  const isPlain = siblings.every((sibling) => sibling.isPlain);
  const canShare = isPlain && rows >= MANY_ROWS && rows % profile.width === 0;
  const across = siblings.every((sibling) => sibling.isAcross) ? profile.across : null;
  const isAcross = across !== null && rows % (across.lanes * across.turns) === 0;
  return {
    kind: "group",
    group: {
      results: groups.flatMap((group) => group.results),
      tiling: isAcross ? { ...tiling, lanes: across.lanes } : tiling,
      rowsPerThread: isAcross ? across.lanes * across.turns : canShare ? profile.width : 1,
      isLoaded: (node) => stored.has(node),
      product: groups[0].product,
      transposed: groups[0].transposed,
    },
  };
}

/** Forms a group for every stored node; whatever cannot be part of its user's group is stored as well. */
function grow(stored: Set<Node>, graph: GraphOrder, profile: TargetProfile): Map<Node, Grown> {
  const groups = new Map<Node, Group | null>();
  const waiting = [...stored];
  const store = (node: Node) => {
    if (stored.has(node)) return;
    stored.add(node);
    waiting.push(node);
  };
  const isLoaded = (node: Node) => stored.has(node);
  const endOf = (source: Node) => endOfEpilogue(source, graph, isLoaded);
  const storeApart = (source: Node, result: Node) => {
    const end = endOf(source);
    store(end === result ? source : end);
  };
  for (let result = waiting.pop(); result; result = waiting.pop()) {
    if (result.primitive.kind === "routine") {
      for (const input of result.inputs) {
        const source = viewed(input, isLoaded);
        if (source.storage === null) store(source);
      }
      groups.set(result, null);
      continue;
    }
    let survey = surveyFrom(result, isLoaded, profile);
    // What is cut off takes with it what only it needs, so each time the rest is looked at anew.
    for (;;) {
      const cuts = firstOf(
        () => termsOf(survey, endOf),
        () => survey.cuts,
        () => (survey.loads.size > profile.maxLoads ? cutsForLoads(result, survey.nodes, profile.maxLoads) : []),
        () => (survey.statements > profile.maxStatements ? frontier(survey, profile) : []),
        () => costlyAgain(survey, result),
      );
      const apart = cuts.length > 0 ? [] : apartFromProduct(result, survey);
      if (cuts.length + apart.length === 0) break;
      for (const node of cuts) store(node);
      for (const node of apart) storeApart(node, result);
      survey = surveyFrom(result, isLoaded, profile);
    }
    const product = fusedProduct(result, survey);
    if (product) {
      const rowAxes = result.shape.map((_, axis) => axis);
      const tiling = tilingFor(1, profile, false);
      groups.set(result, { results: [{ node: result, rowAxes }], tiling, rowsPerThread: 1, isLoaded, product });
      continue;
    }
    const { rowAxes, inlined } = chooseRows(result, survey.reductions, profile);
    for (const { node } of survey.reductions) if (!inlined.includes(node) && node !== result) storeApart(node, result);
    survey = surveyFrom(result, isLoaded, null);
    const lanes = chooseLanes(result, rowAxes, survey.reductions, profile);
    const tiling = tilingFor(lanes, profile, [...survey.nodes.keys()].some(isWide));
    groups.set(result, { results: [{ node: result, rowAxes }], tiling, rowsPerThread: 1, isLoaded });
  }
  // A node stored late may have been lowered into a group formed early: look at every group again with all known.
  return new Map(
    [...groups].map(([node, group]) => {
      const rowAxes = group?.results[0].rowAxes;
      const survey = rowAxes ? surveyFrom(node, isLoaded, null, rowAxes) : nothing;
      // Once its product is stored a group has nothing left that it could not compute row by row.
      const product = group?.product && survey.products.includes(group.product.dot) ? group.product : undefined;
      // Squares are counted in 32 bits.
      const isShort = [node, ...survey.loads.keys()].every(({ shape }) => sizeOf(shape) <= MAX_I32);
      const isPlain = !product && survey.reductions.length === 0 && isShort;
      const transposed = isPlain
        ? (transposedAxes(node, isLoadedIn(node, isLoaded), profile.tiles) ?? undefined)
        : undefined;
      return [node, { node, group: group && { ...group, product, transposed }, survey }];
    }),
  );
}

/** The first list that has anything in it. */
function firstOf(...lists: readonly (() => readonly Node[])[]): readonly Node[] {
  for (const list of lists) {
    const found = list();
    if (found.length > 0) return found;
  }
  return [];
}

/**
 * What reductions add up whose terms are made of the results of other reductions, one each: the losses of rows, say, which
 * a kernel of their own computes with all there is to a row, their slopes included.
 */
function termsOf({ nodes, reductions }: Survey, endOf: (reduction: Node) => Node): Node[] {
  const terms = reductions.flatMap(({ node, isApart, outers }) => {
    if (!isApart) return [];
    return [...outers].flatMap((outer) => {
      let [term] = outer.inputs;
      while (term.primitive.kind === "movement" && term.inputs.length === 1 && nodes.has(term)) [term] = term.inputs;
      const isTerm = term.primitive.kind === "elementwise" && sizeOf(term.shape) === sizeOf(node.shape);
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
function frontier({ nodes }: Survey, { maxStatements, maxBuffers }: TargetProfile): readonly Node[] {
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

/** Whether the group of a result loads a node, and does not compute it. */
const isLoadedIn = (result: Node, isStored: (node: Node) => boolean) => (node: Node) =>
  node.storage !== null || (node !== result && isStored(node));

const nothing: Survey = {
  nodes: new Map(),
  reductions: [],
  products: [],
  loads: new Map(),
  ownIndex: "",
  isAcross: false,
};

/** Where a group computes a product: the other products, and reductions. They are not computed tile by tile. */
function apartFromProduct(result: Node, survey: Survey): Node[] {
  if (survey.products.length === 0) return [];
  const fused = fusedProduct(result, survey);
  const products = survey.products.filter((node) => node !== fused?.dot);
  return fused ? [...products, ...survey.reductions.map(({ node }) => node)] : products;
}

/** Nodes that several kernels would compute, at a cost that makes storing them better. */
function sharedAndCostly(families: readonly Family[]): Node[] {
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
function costlyAgain({ nodes }: Survey, result: Node): readonly Node[] {
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
function costOf(node: Node, within: ReadonlyMap<Node, unknown>, reductionCost: number, depth = 0): number {
  if (depth > 8 || !within.has(node)) return 0;
  const { primitive } = node;
  if (primitive.kind === "reduce" || primitive.kind === "composite") return reductionCost;
  const own = primitive.kind === "elementwise" ? primitive.cost : 0;
  return node.inputs.reduce((sum, input) => sum + costOf(input, within, reductionCost, depth + 1), own);
}

/**
 * Walks a group from its result: which nodes it computes and loads, and which axes of the result each reduction depends
 * on. Past the limits further nodes are cut off, to be stored, and so are nodes that would be computed at too many places.
 * Indices are named in words when the rows are known.
 */
function surveyFrom(
  result: Node,
  isLoaded: (node: Node) => boolean,
  limits: Pick<TargetProfile, "maxNodes" | "maxStatements"> | null,
  rowAxes: readonly number[] | null = null,
): Survey & { readonly cuts: readonly Node[]; readonly statements: number } {
  const space = new IndexSpace();
  const variables = result.shape.map((extent, axis) => space.variable(axisName(result, axis, rowAxes), extent));
  const axisOf = new Map(variables.map((variable, axis) => [variable.terms[0]?.atom, axis]));
  const unitAxes = result.shape.flatMap((extent, axis) => (extent === 1 ? [axis] : []));
  const nodes = new Map<Node, number>();
  const loads = new Map<Node, Set<string>>();
  const seen = new Map<Node, Set<string>>();
  const reductions = new Map<Node, FoundReduction>();
  const products = new Set<Node>();
  const cuts = new Set<Node>();
  let statements = 0;
  const words = (index: readonly IndexExpr[], { shape }: Node) => (rowAxes ? describe(ravel(index, shape)) : "");
  const last = variables.findLast(({ terms }) => terms.length > 0)?.terms[0].atom;
  const steps = { ofRow: 0, ofLoop: 0 };
  const stack: { node: Node; index: readonly IndexExpr[]; isGated: boolean; outer: Node | null }[] = [
    { node: result, index: variables, isGated: false, outer: null },
  ];
  for (let next = stack.pop(); next; next = stack.pop()) {
    const { node, index, isGated, outer } = next;
    if (node.storage !== null || (node !== result && isLoaded(node))) {
      loads.set(node, (loads.get(node) ?? new Set()).add(words(index, node)));
      const nearest = ravel(index, node.shape).terms.find(({ factor }) => factor === 1)?.atom;
      if (nearest && nearest === last) steps.ofRow++;
      else if (nearest && !axisOf.has(nearest)) steps.ofLoop++;
      continue;
    }
    const key = index.map(keyOf).join(";");
    let keys = seen.get(node);
    if (!keys) {
      keys = new Set();
      seen.set(node, keys);
    }
    if (keys.has(key)) continue;
    keys.add(key);
    if (limits) statements += statementsOf(node);
    const isTooMany =
      limits &&
      !nodes.has(node) &&
      nodes.size >= limits.maxNodes &&
      node.inputs.length > 0 &&
      !isMovedLoad(node, isLoaded);
    const isApart = node.primitive.kind === "routine" || (node.primitive === storedPrimitive && node !== result);
    const maxPlaces = node.primitive.kind === "movement" ? MAX_PLACES.movement : MAX_PLACES.compute;
    const isTooOften = keys.size > maxPlaces && node.inputs.length > 0 && node !== result;
    if (isTooMany || isTooOften || isApart) {
      cuts.add(node);
      continue;
    }
    nodes.set(node, keys.size);
    const { primitive } = node;
    if (primitive.kind === "elementwise") {
      for (const input of node.inputs) stack.push({ node: input, index, isGated, outer });
    } else if (primitive.kind === "movement") {
      for (const reading of primitive.read(space, index, node)) {
        for (const part of reading.index) {
          if (!("terms" in part)) stack.push({ node: node.inputs[part.input], index: part.index, isGated, outer });
        }
        const isBounded = reading.bounds.some(({ value, low, high }) => value.min < low || value.max >= high);
        stack.push({
          node: node.inputs[reading.input],
          index: symbolicIndex(space, reading, node),
          isGated: isGated || isBounded,
          outer,
        });
      }
    } else if (primitive.kind === "reduce") {
      const axes = node.params.axes as readonly number[];
      const { shape } = node.inputs[0];
      const extents = axes.map((axis) => shape[axis]);
      const inner = space.variable("k", sizeOf(extents));
      const reduced = unravel(space, inner, extents);
      let kept = 0;
      const at = shape.map((_, axis) => (axes.includes(axis) ? reduced[axes.indexOf(axis)] : index[kept++]));
      stack.push({ node: node.inputs[0], index: at, isGated, outer: node });
      const known = reductions.get(node);
      const dependsOn = new Set(known?.axes ?? unitAxes);
      let isApart = known?.isApart === true || isGated;
      for (const expression of index) {
        for (const atom of atomsOf(expression)) {
          const axis = axisOf.get(atom);
          if (axis === undefined) isApart = true;
          else dependsOn.add(axis);
        }
      }
      reductions.set(node, {
        node,
        axes: [...dependsOn].sort((a, b) => a - b),
        extent: sizeOf(extents),
        isInnermost: axes.includes(shape.length - 1),
        isApart,
        outers: new Set([...(known?.outers ?? []), ...(outer ? [outer] : [])]),
      });
    } else if (primitive.kind === "composite") {
      const [a, b] = node.inputs;
      const [batch, row, column] = index;
      const inner = space.variable("k", a.shape[2]);
      products.add(node);
      const operands = [
        { node: a, index: [batch, row, inner] },
        { node: b, index: [batch, inner, column] },
      ];
      for (const operand of operands) stack.push({ ...operand, isGated, outer: node });
    }
  }
  const ownIndex = words(variables, result);
  return {
    nodes,
    reductions: [...reductions.values()],
    products: [...products],
    loads,
    ownIndex,
    isAcross:
      reductions.size > 0 &&
      [...reductions.values()].every(({ axes }) => axes.length === result.shape.length) &&
      steps.ofRow > 0 &&
      steps.ofLoop === 0 &&
      [...nodes.keys()].every((node) => DTYPES[node.dtype].bytes <= 4 && sizeOf(node.shape) <= MAX_I32) &&
      [result, ...loads.keys()].every((node) => DTYPES[node.dtype].bytes === 4 && sizeOf(node.shape) <= MAX_I32),
    cuts: [...cuts],
    statements,
  };
}

/** Whether a node only moves what is in memory: storing it would save nothing. */
function isMovedLoad(node: Node, isLoaded: (node: Node) => boolean): boolean {
  let at = node;
  while (at.storage === null && !isLoaded(at)) {
    if (at.primitive.kind !== "movement" || at.inputs.length !== 1) return false;
    [at] = at.inputs;
  }
  return true;
}

/** The same for the same rows, and columns, of other results: axes of extent 1 do not count. */
function axisName({ shape }: Node, axis: number, rowAxes: readonly number[] | null): string {
  if (!rowAxes) return `i${axis}`;
  const isRow = rowAxes.includes(axis);
  const kin = shape.map((_, i) => i).filter((i) => shape[i] !== 1 && rowAxes.includes(i) === isRow);
  const name = `${isRow ? "row" : "column"}${kin.indexOf(axis)}`;
  return isRow ? name : `${name}<${shape[axis]}`;
}

/** The split into rows and columns that lets the most reduction work be done in the kernel. */
function chooseRows(
  result: Node,
  reductions: readonly FoundReduction[],
  profile: TargetProfile,
): { rowAxes: readonly number[]; inlined: readonly Node[] } {
  const everyAxis = result.shape.map((_, axis) => axis);
  const own = reductions.find(({ node }) => node === result);
  const byAxes = new Map<string, { axes: readonly number[]; nodes: Node[]; work: number }>();
  for (const { node, axes, extent, isApart } of reductions) {
    const key = axes.join();
    const rows = sizeOf(axes.map((axis) => result.shape[axis]));
    // Rows that share a result, as the pixels of a window do, would each compute it.
    const isRepeated = rows > sizeOf(node.shape) && rows * extent > MAX_REPEATED * sizeOf(node.shape);
    if (isApart || isRepeated) continue;
    const entry = byAxes.get(key) ?? { axes, nodes: [], work: 0 };
    entry.nodes.push(node);
    entry.work += rows * extent;
    byAxes.set(key, entry);
  }
  const candidates = [...byAxes.values()]
    .filter(({ axes }) => {
      if (axes.length === everyAxis.length) return true;
      // A reduction that the result is not a row-wise function of stays a kernel of its own when rows are few.
      return !own && sizeOf(axes.map((axis) => result.shape[axis])) >= profile.minRows;
    })
    .sort((a, b) => b.work - a.work);
  const best = candidates[0];
  if (!best) return { rowAxes: everyAxis, inlined: [] };
  return { rowAxes: best.axes, inlined: best.nodes };
}

/** A workgroup per row where the row is long and read along memory; a thread per row otherwise. */
function chooseLanes(
  result: Node,
  rowAxes: readonly number[],
  reductions: readonly FoundReduction[],
  profile: TargetProfile,
): number {
  const rows = sizeOf(rowAxes.map((axis) => result.shape[axis]));
  const longest = Math.max(0, ...reductions.filter(({ isInnermost }) => isInnermost).map(({ extent }) => extent));
  if (profile.maxLanes === 1 || longest < 8 * profile.width) return 1;
  let lanes = 8;
  while (lanes < SHORT_ROW_LANES && lanes * 2 * profile.width <= longest) lanes *= 2;
  // As many elements per lane as it can hold, fewer where there are not enough rows to keep the device busy.
  while (lanes < profile.maxLanes && lanes * profile.held <= longest / 2) lanes *= 2;
  while (lanes < profile.maxLanes && lanes * 2 * profile.width <= longest && rows * lanes < BUSY_THREADS) lanes *= 2;
  return lanes;
}

/** A thread by itself takes one element at a time, its neighbours take those beside it: it needs more under way. */
function tilingFor(lanes: number, profile: TargetProfile, isWide: boolean): Tiling {
  const { width, held } = profile;
  const unroll = isWide ? profile.unrollWide : profile.unroll;
  return lanes > 1 ? { lanes, width, unroll, held } : { lanes, width: 1, unroll: unroll * width, held };
}

const isWide = ({ dtype }: Node): boolean => DTYPES[dtype].bytes === 8;
