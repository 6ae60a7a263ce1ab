/**
 * Cuts the graph into groups, each of which becomes one kernel.
 *
 * A value is stored when it is asked for, when it is a reduction that its user cannot compute once per row, when a kernel
 * would grow too large, when several kernels would compute it again at more than it costs to load, or when it is a sum whose
 * rows an earlier kernel goes over. Everything else is computed where it is used. Movement is never stored for its own sake.
 */

import { bytesOf } from "../../core/bytes.js";
import { productOf } from "../../core/shape.js";
import { type Node, pendingInOrder } from "../../graph/node.js";
import { MAX_I32 } from "../ir/ir.js";
import type { TargetProfile } from "../target/profile.js";
import type { Group } from "./group.js";
import { cutsForLoads } from "./load-limit.js";
import { endOfEpilogue, fusedProduct, type GraphOrder, graphOrder, narrowedBy } from "./product-fusion.js";
import { chooseLanes, chooseRows, rowsTogether, tilingFor } from "./row-mapping.js";
import { rowProduct } from "./row-products.js";
import { type Cluster, joinSiblings, type Member, type Sibling } from "./siblings.js";
import { statementsOf, usualStatementsOf } from "./statement-counts.js";
import {
  costlyAgain,
  costlyBroadcasts,
  costsWithin,
  frontier,
  LOAD_COST,
  REDUCTION_COST,
  reducedAgain,
  sharedAndCostly,
  statementsAfterReductions,
  termsOf,
} from "./stored-values.js";
import { nothing, type Survey, surveyFrom } from "./survey.js";
import { transposedAxes } from "./transposed-axes.js";
import { viewed } from "./views.js";
import { walkedAgain } from "./walked-again.js";

/** Rows that are shared out several to a thread. */
const MANY_ROWS = 1 << 16;

/** One thing to run: a fused group, or a routine with kernels of its own. */
export type Task =
  | { readonly kind: "group"; readonly group: Group }
  | { readonly kind: "routine"; readonly node: Node };

/** The tasks that compute the roots, in the order to run them. Some nodes on the way may be asked to be stored, too. */
export function schedule(roots: readonly Node[], profile: TargetProfile, wanted?: ReadonlySet<Node>): Task[] {
  const order = pendingInOrder(roots).filter((node) => node.storage === null);
  const graph = graphOrder(order);
  const asked = new Set([...roots, ...[...(wanted ?? [])].map((node) => narrowedBy(node, graph))]);
  const stored = new Set<Node>(order.filter((node) => asked.has(node)));
  const join = (groups: ReadonlyMap<Node, Grown>) => {
    const members = order.flatMap((node) => groups.get(node) ?? []).map((grown) => asMember(grown, stored));
    return joinSiblings(members, { ...profile, loadCost: LOAD_COST });
  };
  const clusters = join(grow(stored, graph, profile));
  for (const node of [...sharedAndCostly(clusters), ...walkedAgain(clusters)]) stored.add(narrowedBy(node, graph));
  return join(grow(stored, graph, profile)).map((cluster) => taskOf(cluster, stored, profile));
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
      statements: [...survey.nodes.keys()].reduce((sum, each) => sum + statementsOf(each), 0),
      bytesMoved: [...survey.loads.keys(), node].reduce((sum, each) => sum + bytesOf(each), 0),
      costOf: costsWithin(survey.nodes, REDUCTION_COST),
      isPlain: survey.reductions.length === 0 && rowAxes.length === node.shape.length,
      rowsTogether: rowsTogether(group.results[0], survey),
    },
  };
}

function taskOf({ members }: Cluster, stored: ReadonlySet<Node>, profile: TargetProfile): Task {
  const [first] = members;
  if (first.kind === "routine") return { kind: "routine", node: first.node };
  const siblings = members.flatMap((member) => (member.kind === "group" ? member.sibling : []));
  const groups = siblings.map(({ group }) => group);
  const { tiling } = groups.reduce((most, next) => (next.tiling.lanes > most.tiling.lanes ? next : most));
  const rows = productOf(first.sibling.group.results[0].node.shape);
  const isPlain = siblings.every((sibling) => sibling.isPlain);
  const statements = siblings.reduce((sum, sibling) => sum + sibling.statements, 0);
  const width = isPlain && rows >= MANY_ROWS ? widthOf(siblings, statements, rows, profile) : null;
  const columns = siblings.every((sibling) => sibling.isColumnReduction) ? profile.columnReduction : null;
  const areDivided = columns !== null && rows % (columns.lanes * columns.turns) === 0;
  const [{ rowsTogether: together }] = siblings;
  const areTogether = tiling.lanes === 1 && siblings.every((sibling) => sibling.rowsTogether === together);
  return {
    kind: "group",
    group: {
      results: groups.flatMap((group) => group.results),
      tiling: areDivided ? { ...tiling, lanes: columns.lanes } : tiling,
      rowsPerThread: areDivided ? columns.lanes * columns.turns : (width ?? (areTogether ? together : 1)),
      isLoaded: (node) => stored.has(node),
      isReadAgain: profile.rowCacheBytes === 0,
      product: groups[0].product,
      transposed: groups[0].transposed,
    },
  };
}

/** Neighbours that a thread computes, for accesses of 16 bytes; null where their code is too long, or their number odd. */
function widthOf(
  siblings: readonly Sibling[],
  statements: number,
  rows: number,
  profile: TargetProfile,
): number | null {
  const { width, maxWideStatements } = profile;
  const fits = (each: number, length: number) => rows % each === 0 && each * length <= maxWideStatements;
  if (width > 1 && rows >= 8 * MANY_ROWS && siblings.every(isOfBrains)) {
    const usual = siblings.reduce(
      (sum, { nodes }) => [...nodes].reduce((s, node) => s + usualStatementsOf(node), sum),
      0,
    );
    if (fits(2 * width, usual)) return 2 * width;
  }
  return fits(width, statements) ? width : null;
}

/** Whether all that a group loads and stores is bf16. */
const isOfBrains = ({ group, loads }: Sibling): boolean =>
  [...loads.keys(), ...group.results.map(({ node }) => node)].every(({ dtype }) => dtype === "bf16");

/** Forms a group for every stored node; whatever cannot be part of its user's group is stored as well. */
function grow(stored: Set<Node>, graph: GraphOrder, profile: TargetProfile): Map<Node, Grown> {
  const groups = new Map<Node, Group | null>();
  const waiting = [...stored];
  const store = (wanted: Node) => {
    const narrow = narrowedBy(wanted, graph);
    // The cast may be the very group that asks for its own input.
    const node = stored.has(narrow) ? wanted : narrow;
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
  const stores: Stores = { store, storeApart, endOf, isLoaded };
  for (let result = waiting.pop(); result; result = waiting.pop()) {
    if (result.primitive.kind === "routine") {
      for (const input of result.inputs) {
        const source = viewed(input, isLoaded);
        if (source.storage === null) store(source);
      }
      groups.set(result, null);
    } else groups.set(result, groupOf(result, stores, profile));
  }
  // A node stored late may have been lowered into a group formed early: look at every group again with all known.
  return new Map([...groups].map(([node, group]) => [node, withAllStored(node, group, isLoaded, profile)]));
}

/** The values that are stored while groups grow. */
interface Stores {
  store(node: Node): void;
  /** Stores a product or reduction, with the epilogue that its own group can compute. */
  storeApart(source: Node, result: Node): void;
  endOf(source: Node): Node;
  isLoaded(node: Node): boolean;
}

/** The group that computes a result; inputs that cannot be part of it are stored. */
function groupOf(result: Node, stores: Stores, profile: TargetProfile): Group {
  const { storeApart, isLoaded } = stores;
  const survey = surveyAfterCuts(result, stores, profile);
  const product = fusedProduct(result, survey) ?? rowProduct(result, survey, profile.tiles);
  if (product) {
    const rowAxes = result.shape.map((_, axis) => axis);
    const tiling = tilingFor(1, profile, false);
    return { results: [{ node: result, rowAxes }], tiling, rowsPerThread: 1, isLoaded, product };
  }
  const { rowAxes, inlined } = chooseRows(result, survey.reductions, profile);
  const apart = survey.reductions.filter(({ node }) => !inlined.includes(node) && node !== result);
  for (const { node } of apart) storeApart(node, result);
  const { reductions, nodes } = apart.length > 0 ? surveyFrom(result, isLoaded, null) : survey;
  const lanes = chooseLanes(result, rowAxes, reductions, profile);
  const tiling = tilingFor(lanes, profile, [...nodes.keys()].some(isWide));
  return { results: [{ node: result, rowAxes }], tiling, rowsPerThread: 1, isLoaded };
}

/** The survey of a result, once everything that its kernel cannot hold is stored. */
function surveyAfterCuts(result: Node, { store, storeApart, endOf, isLoaded }: Stores, profile: TargetProfile): Survey {
  let survey = surveyFrom(result, isLoaded, profile);
  // Cutting also removes private inputs; survey again.
  for (;;) {
    const cuts = firstOf(
      () => termsOf(survey, endOf),
      () => survey.cuts,
      () => (survey.loads.size > profile.maxLoads ? cutsForLoads(result, survey.nodes, profile.maxLoads) : []),
      () => (survey.statements > profile.maxStatements ? frontier(survey, profile) : []),
      () => costlyAgain(survey, result),
      () => reducedAgain(survey, result),
      () => costlyBroadcasts(survey, result),
    );
    const apart =
      cuts.length > 0
        ? []
        : firstOf(
            () => apartFromProduct(result, survey, profile, isLoaded),
            () => beforeLongEpilogue(result, survey, profile),
          );
    if (cuts.length + apart.length === 0) return survey;
    for (const node of cuts) store(node);
    for (const node of apart) storeApart(node, result);
    survey = surveyFrom(result, isLoaded, profile);
  }
}

/** A group as it is once all stored values are known. */
function withAllStored(
  node: Node,
  group: Group | null,
  isLoaded: (node: Node) => boolean,
  profile: TargetProfile,
): Grown {
  const rowAxes = group?.results[0].rowAxes;
  const survey = rowAxes ? surveyFrom(node, isLoaded, null, rowAxes) : nothing;
  // Once its product is stored a group has nothing left that it could not compute row by row.
  const product = group?.product && survey.products.includes(group.product.dot) ? group.product : undefined;
  // Squares are counted in 32 bits.
  const isShort = [node, ...survey.loads.keys()].every(({ shape }) => productOf(shape) <= MAX_I32);
  const isPlain = !product && survey.reductions.length === 0 && isShort;
  const transposed = isPlain
    ? (transposedAxes(node, isLoadedIn(node, isLoaded), profile.tiles) ?? undefined)
    : undefined;
  return { node, group: group && { ...group, product, transposed }, survey };
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
 * In a group with products: those that are not fused and, beside a fused one, the reductions that its tiles cannot compute. In the place of a
 * product that the group needs only for a reduction of its rows, the reduction.
 */
function apartFromProduct(
  result: Node,
  survey: Survey,
  { tiles }: TargetProfile,
  isLoaded: (node: Node) => boolean,
): Node[] {
  if (survey.products.length === 0) return [];
  const fused = fusedProduct(result, survey) ?? rowProduct(result, survey, tiles);
  const products = survey.products.filter((node) => node !== fused?.dot);
  const reductions = survey.reductions.map(({ node }) => node).filter((node) => !fused?.reductions?.has(node));
  if (fused) return [...products, ...reductions];
  const reduced = survey.reductions.map(({ node }) => node).filter((node) => node !== result);
  return products.map((dot) => {
    const isEnd = (node: Node) =>
      rowProduct(node, surveyFrom(node, isLoaded, null), tiles)?.dot === dot && isBehind(dot, node, result, survey);
    return reduced.find(isEnd) ?? dot;
  });
}

/** Whether a result needs a node only for another. */
function isBehind(source: Node, end: Node, result: Node, { nodes }: Survey): boolean {
  const seen = new Set([result]);
  for (const node of seen) {
    if (node === source) return false;
    if (node !== end) for (const input of node.inputs) if (nodes.has(input)) seen.add(input);
  }
  return true;
}

/** The reductions of a group along columns, if what follows them is too long to be written for every column of a thread. */
function beforeLongEpilogue(result: Node, survey: Survey, { columnReduction }: TargetProfile): Node[] {
  if (!columnReduction || !survey.isColumnReduction) return [];
  const { lanes, turns, maxStatements } = columnReduction;
  if (productOf(result.shape) % (lanes * turns) !== 0) return [];
  return turns * statementsAfterReductions(result, survey) > maxStatements
    ? survey.reductions.map(({ node }) => node)
    : [];
}

/** Whether the group of a result loads a node, and does not compute it. */
const isLoadedIn = (result: Node, isStored: (node: Node) => boolean) => (node: Node) =>
  node.storage !== null || (node !== result && isStored(node));

const isWide = ({ dtype }: Node): boolean => dtype === "i64" || dtype === "u64";
