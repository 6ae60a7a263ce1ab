/**
 * Surveys a group before it is cut out of the graph: the nodes it computes and how often, the nodes it loads, the axes of
 * its result that each reduction depends on. The scheduler surveys a group again after every cut.
 */
import { DTYPES } from "../../core/dtype.js";
import { type Atom, atomsOf, describe, type IndexExpr, IndexSpace, ravel } from "../../core/index-expr.js";
import { productOf } from "../../core/shape.js";
import type { Node } from "../../graph/node.js";
import { stored as storedPrimitive } from "../../graph/primitives/movement.js";
import { forEachRead, indexKey, productAt, reductionAt } from "../../graph/reads.js";
import { MAX_I32 } from "../ir/ir.js";
import type { TargetProfile } from "../target/profile.js";
import { statementsOf } from "./statement-counts.js";

/**
 * Places at which a kernel may compute the same value before it is stored: a stencil of a stencil of a stencil would
 * otherwise compute the first one at every path that leads to it. Movement alone costs less, and may be read more often.
 */
const MAX_PLACES = { compute: 8, movement: 64 } as const;

/** A reduction that a group computes. */
export interface FoundReduction {
  readonly node: Node;
  /** Axes of the result that its index depends on. */
  readonly axes: readonly number[];
  readonly extent: number;
  readonly isInnermost: boolean;
  /** It is needed again in each round of another reduction, or only where some bounds hold. */
  readonly isApart: boolean;
  /** The reductions it is needed for. */
  readonly outers: ReadonlySet<Node>;
}

/** A group in numbers and names. */
export interface Survey {
  /** Nodes the group computes, and at how many different indices. */
  readonly nodes: ReadonlyMap<Node, number>;
  readonly reductions: readonly FoundReduction[];
  /** Products of matrices that are computed in tiles. */
  readonly products: readonly Node[];
  /** Nodes it loads, and the indices at which it does, in words. */
  readonly loads: ReadonlyMap<Node, ReadonlySet<string>>;
  readonly ownIndex: string;
  /** Neighbouring rows load neighbouring elements, and neighbouring rounds of its reductions do not, but for what all rows load alike beside a matrix. */
  readonly isColumnReduction: boolean;
  /** Additions in each round of its reductions that do not depend on the last axis of the result. */
  readonly sharedAlongLast: number;
}

/** The survey of a routine: empty. */
export const nothing: Survey = {
  nodes: new Map(),
  reductions: [],
  products: [],
  loads: new Map(),
  ownIndex: "",
  isColumnReduction: false,
  sharedAlongLast: 0,
};

type Limits = Pick<TargetProfile, "maxNodes" | "maxStatements">;

/**
 * Walks a group from its result: which nodes it computes and loads, and which axes of the result each reduction depends
 * on. Past the limits further nodes are cut off, to be stored, and so are nodes that would be computed at too many places.
 * Indices are named in words when the rows are known.
 */
export function surveyFrom(
  result: Node,
  isLoaded: (node: Node) => boolean,
  limits: Limits | null,
  rowAxes: readonly number[] | null = null,
): Survey & { readonly cuts: readonly Node[]; readonly statements: number } {
  const found = begin(result, rowAxes);
  const cuts = new Set<Node>();
  let statements = 0;
  const stack: Visit[] = [{ node: result, index: found.variables, isGated: false, outer: null }];
  for (let visit = stack.pop(); visit; visit = stack.pop()) {
    const { node } = visit;
    if (node.storage !== null || (node !== result && isLoaded(node))) {
      noteLoad(found, visit);
      continue;
    }
    const places = placesWith(found, visit);
    if (places === null) continue;
    if (limits) statements += statementsOf(node);
    const isTooMany = limits !== null && isOverLimit(found, node, limits) && !isMovedLoad(node, isLoaded);
    if (isTooMany || isTooOften(found, node, places) || isApart(found, node)) {
      cuts.add(node);
      continue;
    }
    found.nodes.set(node, places);
    noteShared(found, visit);
    pushReads(found, visit, stack);
  }
  const { nodes, loads, reductions, products, variables } = found;
  return {
    nodes,
    reductions: [...reductions.values()],
    products: [...products],
    loads,
    ownIndex: words(found, variables, result),
    isColumnReduction: isColumnReduction(found),
    sharedAlongLast: found.sharedAlongLast,
    cuts: [...cuts],
    statements,
  };
}

/** An element that a group needs: under bounds that may not hold, for a reduction or product that goes over it. */
interface Visit {
  readonly node: Node;
  readonly index: readonly IndexExpr[];
  readonly isGated: boolean;
  readonly outer: Node | null;
}

/** State of a survey. */
interface Found {
  readonly result: Node;
  readonly space: IndexSpace;
  /** The index of the result, by axis, and the axes by what counts along them. */
  readonly variables: readonly IndexExpr[];
  readonly axisOf: ReadonlyMap<Atom | undefined, number>;
  readonly unitAxes: readonly number[];
  /** The loop variable of the last axis with more than one element. */
  readonly innermost: Atom | undefined;
  readonly isWorded: boolean;
  /** Indices at which each node was seen, by their keys, and the keys of indices: chains of operations share one. */
  readonly seen: Map<Node, Set<string>>;
  readonly keys: Map<readonly IndexExpr[], string>;
  readonly nodes: Map<Node, number>;
  readonly loads: Map<Node, Set<string>>;
  readonly reductions: Map<Node, FoundReduction>;
  readonly products: Set<Node>;
  /** Loads whose neighbours in memory are those of neighbouring rows, and of neighbouring rounds of a loop over what is a row's own. */
  neighboursByRow: number;
  neighboursByRound: number;
  /** Loads that neighbouring rounds make beside each other and all rows alike, such as weights of the rounds. */
  sharedByRows: number;
  /** Some load is of a matrix: neighbouring rows load neighbours, another row of them in each round. */
  hasColumns: boolean;
  sharedAlongLast: number;
}

function begin(result: Node, rowAxes: readonly number[] | null): Found {
  const space = new IndexSpace();
  const variables = result.shape.map((extent, axis) => space.variable(axisName(result, axis, rowAxes), extent));
  return {
    result,
    space,
    variables,
    axisOf: new Map(variables.map((variable, axis) => [variable.terms[0]?.atom, axis])),
    unitAxes: result.shape.flatMap((extent, axis) => (extent === 1 ? [axis] : [])),
    innermost: variables.findLast(({ terms }) => terms.length > 0)?.terms[0].atom,
    isWorded: rowAxes !== null,
    seen: new Map(),
    keys: new Map(),
    nodes: new Map(),
    loads: new Map(),
    reductions: new Map(),
    products: new Set(),
    neighboursByRow: 0,
    neighboursByRound: 0,
    sharedByRows: 0,
    hasColumns: false,
    sharedAlongLast: 0,
  };
}

/** An index as text, the same for the same rows of other groups. Empty if the rows are not known yet. */
const words = ({ isWorded }: Found, index: readonly IndexExpr[], { shape }: Node): string =>
  isWorded ? describe(ravel(index, shape)) : "";

function noteLoad(found: Found, { node, index }: Visit): void {
  const { loads, innermost, axisOf } = found;
  loads.set(node, (loads.get(node) ?? new Set()).add(words(found, index, node)));
  const nearest = ravel(index, node.shape).terms.find(({ factor }) => factor === 1)?.atom;
  if (!nearest) return;
  const hasRound = index.some((part) => [...atomsOf(part)].some((atom) => !axisOf.has(atom)));
  if (nearest === innermost) {
    found.neighboursByRow++;
    found.hasColumns ||= hasRound;
  } else if (!axisOf.has(nearest)) {
    if (dependsOn(index, innermost)) found.neighboursByRound++;
    else found.sharedByRows++;
  }
}

const dependsOn = (index: readonly IndexExpr[], atom: Atom | undefined): boolean =>
  atom !== undefined && index.some((part) => atomsOf(part).has(atom));

/** Counts what neighbours along the last axis compute alike in each round of a reduction. */
function noteShared(found: Found, { node: { primitive }, index, outer }: Visit): void {
  const { innermost } = found;
  if (!outer || !innermost || primitive.kind !== "elementwise") return;
  if (index.every((part) => !atomsOf(part).has(innermost))) found.sharedAlongLast += primitive.cost;
}

/** Counts the places where a node is needed, with this one; null if this one was counted before. */
function placesWith({ seen, keys }: Found, { node, index }: Visit): number | null {
  let key = keys.get(index);
  if (key === undefined) {
    key = indexKey(index);
    keys.set(index, key);
  }
  const places = seen.get(node);
  if (!places) {
    seen.set(node, new Set([key]));
    return 1;
  }
  if (places.has(key)) return null;
  return places.add(key).size;
}

/** The group has as many nodes as it may have, and this would be another. */
const isOverLimit = ({ nodes }: Found, node: Node, { maxNodes }: Limits): boolean =>
  nodes.size >= maxNodes && !nodes.has(node) && node.inputs.length > 0;

function isTooOften({ result }: Found, node: Node, places: number): boolean {
  const most = node.primitive.kind === "movement" ? MAX_PLACES.movement : MAX_PLACES.compute;
  return places > most && node.inputs.length > 0 && node !== result;
}

/** It is computed by a kernel of its own: a routine, or what was asked to be stored. */
const isApart = ({ result }: Found, node: Node): boolean =>
  node.primitive.kind === "routine" || (node.primitive === storedPrimitive && node !== result);

/** Pushes the elements that an element is computed from. */
function pushReads(found: Found, visit: Visit, stack: Visit[]): void {
  const { space, products } = found;
  const { node, index, isGated, outer } = visit;
  const { primitive } = node;
  forEachRead(space, node, index, (input, at, isBounded) => {
    stack.push({ node: input, index: at, isGated: isGated || isBounded, outer });
  });
  if (primitive.kind === "reduce") {
    const { extent, at } = reductionAt(space, node, primitive.op, index);
    stack.push({ node: node.inputs[0], index: at(space.variable("k", extent)), isGated, outer: node });
    noteReduction(found, visit, extent);
  } else if (primitive.kind === "contraction") {
    const inner = space.variable("k", node.inputs[0].shape[2]);
    products.add(node);
    for (const operand of productAt(node, index, inner)) stack.push({ ...operand, isGated, outer: node });
  }
}

/** A reduction that is seen at several indices depends on all axes that some of them do. */
function noteReduction({ reductions, unitAxes, axisOf }: Found, visit: Visit, extent: number): void {
  const { node, index, isGated, outer } = visit;
  const known = reductions.get(node);
  const dependsOn = new Set(known?.axes ?? unitAxes);
  let isNeededApart = known?.isApart === true || isGated;
  for (const expression of index) {
    for (const atom of atomsOf(expression)) {
      const axis = axisOf.get(atom);
      if (axis === undefined) isNeededApart = true;
      else dependsOn.add(axis);
    }
  }
  reductions.set(node, {
    node,
    axes: [...dependsOn].sort((a, b) => a - b),
    extent,
    isInnermost: (node.params.axes as readonly number[]).includes(node.inputs[0].shape.length - 1),
    isApart: isNeededApart,
    outers: new Set([...(known?.outers ?? []), ...(outer ? [outer] : [])]),
  });
}

/** Whether rows of a reduction are best computed side by side: see `Survey`. Lanes are of 32 bits. */
function isColumnReduction(found: Found): boolean {
  const { result, reductions, nodes, loads, neighboursByRow, neighboursByRound, sharedByRows, hasColumns } = found;
  const isCountable = ({ shape }: Node) => productOf(shape) <= MAX_I32;
  return (
    reductions.size > 0 &&
    [...reductions.values()].every(({ axes }) => axes.length === result.shape.length) &&
    neighboursByRow > 0 &&
    neighboursByRound === 0 &&
    (sharedByRows === 0 || hasColumns) &&
    [...nodes.keys()].every((node) => DTYPES[node.dtype].bytes <= 4 && isCountable(node)) &&
    [result, ...loads.keys()].every((node) => DTYPES[node.dtype].bytes === 4 && isCountable(node))
  );
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
