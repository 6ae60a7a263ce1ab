/**
 * What a group would consist of, were it cut out of the graph as it stands: the nodes it computes and how often, what it
 * loads, which axes of its result each reduction depends on. The scheduler surveys a group again after every cut.
 */
import { DTYPES } from "../../core/dtype.js";
import { atomsOf, describe, type IndexExpr, IndexSpace, ravel } from "../../core/index-expr.js";
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
  /** It is needed anew in each round of another reduction, or only where some bounds hold. */
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
  /** Neighbouring rows load neighbours, and reductions do not. */
  readonly isAcross: boolean;
}

/** What there is to a routine. */
export const nothing: Survey = {
  nodes: new Map(),
  reductions: [],
  products: [],
  loads: new Map(),
  ownIndex: "",
  isAcross: false,
};

/**
 * Walks a group from its result: which nodes it computes and loads, and which axes of the result each reduction depends
 * on. Past the limits further nodes are cut off, to be stored, and so are nodes that would be computed at too many places.
 * Indices are named in words when the rows are known.
 */
export function surveyFrom(
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
    const key = indexKey(index);
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
    forEachRead(space, node, index, (input, at, isBounded) => {
      stack.push({ node: input, index: at, isGated: isGated || isBounded, outer });
    });
    if (primitive.kind === "reduce") {
      const { extent, at } = reductionAt(space, node, primitive.op, index);
      const inner = space.variable("k", extent);
      stack.push({ node: node.inputs[0], index: at(inner), isGated, outer: node });
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
        extent,
        isInnermost: (node.params.axes as readonly number[]).includes(node.inputs[0].shape.length - 1),
        isApart,
        outers: new Set([...(known?.outers ?? []), ...(outer ? [outer] : [])]),
      });
    } else if (primitive.kind === "composite") {
      const inner = space.variable("k", node.inputs[0].shape[2]);
      products.add(node);
      for (const operand of productAt(node, index, inner)) stack.push({ ...operand, isGated, outer: node });
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
      [...nodes.keys()].every((node) => DTYPES[node.dtype].bytes <= 4 && productOf(node.shape) <= MAX_I32) &&
      [result, ...loads.keys()].every((node) => DTYPES[node.dtype].bytes === 4 && productOf(node.shape) <= MAX_I32),
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
