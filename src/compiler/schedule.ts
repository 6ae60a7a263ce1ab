/**
 * Cuts the graph into groups, each of which becomes one kernel.
 *
 * A value is stored when it is asked for, when it is a reduction that its user cannot compute once per row, when a kernel
 * would grow too large, or when several kernels would compute it again at more than it costs to load. Everything else is
 * computed where it is used. Movement is never stored for its own sake.
 */
import { atomsOf, type IndexExpr, IndexSpace, keyOf, unravel } from "../core/index-expr.js";
import type { Node } from "../graph/node.js";
import { pendingInOrder } from "../graph/node.js";
import { stored as storedPrimitive } from "../graph/primitives/movement.js";
import { type Group, symbolicIndex } from "./lower.js";
import { type SplitWish, splitReductions } from "./split.js";

/** What is good on a target. */
export interface TargetProfile {
  /** Lanes that may share a row; 1 on the CPU. */
  readonly maxLanes: number;
  /** Rows below which a reduction is not worth fusing into the kernel that uses it. */
  readonly minRows: number;
  /** Nodes in one kernel, at most. */
  readonly maxNodes: number;
  /** When to do a reduction in two steps. */
  readonly split: SplitWish;
}

export const gpuProfile: TargetProfile = {
  maxLanes: 256,
  minRows: 64,
  maxNodes: 400,
  split: { parallelism: 131072, lanes: 256, leastPerThread: 32, leastPerChunk: 1024 },
};
export const cpuProfile: TargetProfile = {
  maxLanes: 1,
  minRows: 4,
  maxNodes: 400,
  split: { parallelism: 32, lanes: 1, leastPerThread: 32768, leastPerChunk: 32768 },
};

/**
 * Places at which a kernel may compute the same value before it is stored: a stencil of a stencil of a stencil would
 * otherwise compute the first one at every path that leads to it. Movement alone costs less, and may be read more often.
 */
const MAX_PLACES = { compute: 8, movement: 64 } as const;

/** Additions a load is worth: computing again what costs less is cheaper than storing it. */
const LOAD_COST = 24;

const sizeOf = (shape: readonly number[]): number => shape.reduce((product, extent) => product * extent, 1);

interface FoundReduction {
  readonly node: Node;
  /** Axes of the result that its index depends on. */
  readonly axes: readonly number[];
  readonly extent: number;
  readonly isInnermost: boolean;
  /** It stands inside another reduction and is needed anew in each of its rounds. */
  readonly isNested: boolean;
}

interface Survey {
  /** Nodes the group computes, and at how many different indices. */
  readonly nodes: ReadonlyMap<Node, number>;
  readonly reductions: readonly FoundReduction[];
}

/** One thing to run: a fused group, or a routine with kernels of its own. */
export type Task =
  | { readonly kind: "group"; readonly group: Group }
  | { readonly kind: "routine"; readonly node: Node };

const resultOf = (task: Task): Node => (task.kind === "group" ? task.group.result : task.node);

/** The tasks that compute the roots, in the order to run them. */
export function schedule(roots: readonly Node[], profile: TargetProfile): Task[] {
  splitReductions(roots, profile.split);
  const order = pendingInOrder(roots).filter((node) => node.storage === null);
  const position = new Map(order.map((node, i) => [node, i]));
  const stored = new Set<Node>(roots.filter((node) => node.storage === null));
  let groups = grow(stored, profile);
  for (const node of sharedAndCostly(groups)) stored.add(node);
  groups = grow(stored, profile);
  return [...groups.values()]
    .map(({ task }) => task)
    .sort((a, b) => (position.get(resultOf(a)) as number) - (position.get(resultOf(b)) as number));
}

interface Grown {
  readonly task: Task;
  readonly survey: Survey;
}

/** Forms a group for every stored node; whatever cannot be part of its user's group is stored as well. */
function grow(stored: Set<Node>, profile: TargetProfile): Map<Node, Grown> {
  const groups = new Map<Node, Grown>();
  const waiting = [...stored];
  const store = (node: Node) => {
    if (stored.has(node)) return;
    stored.add(node);
    waiting.push(node);
  };
  const isLoaded = (node: Node) => stored.has(node);
  for (let result = waiting.pop(); result; result = waiting.pop()) {
    if (result.primitive.kind === "routine") {
      for (const input of result.inputs) if (input.storage === null) store(input);
      groups.set(result, { task: { kind: "routine", node: result }, survey: { nodes: new Map(), reductions: [] } });
      continue;
    }
    let survey = surveyFrom(result, isLoaded, profile.maxNodes);
    // What is cut off takes with it what only it needs, so each time the rest is looked at anew.
    for (;;) {
      const costly = survey.cuts.length > 0 ? null : costlyAgain(survey, result);
      for (const node of costly ? [costly] : survey.cuts) store(node);
      if (!costly && survey.cuts.length === 0) break;
      survey = surveyFrom(result, isLoaded, profile.maxNodes);
    }
    const { rowAxes, inlined } = chooseRows(result, survey.reductions, profile);
    for (const { node } of survey.reductions) if (!inlined.includes(node) && node !== result) store(node);
    survey = surveyFrom(result, isLoaded, Number.POSITIVE_INFINITY);
    const lanes = chooseLanes(result, rowAxes, survey.reductions, profile);
    groups.set(result, { task: { kind: "group", group: { result, rowAxes, lanes, isLoaded } }, survey });
  }
  // A node stored late may have been lowered into a group formed early: look at every group again with all known.
  for (const [result, { task }] of groups) {
    if (task.kind === "group") {
      groups.set(result, { task, survey: surveyFrom(result, isLoaded, Number.POSITIVE_INFINITY) });
    }
  }
  return groups;
}

/** Nodes that several groups would compute, at a cost that makes storing them better. */
function sharedAndCostly(groups: ReadonlyMap<Node, Grown>): Node[] {
  const uses = new Map<Node, number>();
  for (const { survey } of groups.values()) {
    for (const node of survey.nodes.keys()) uses.set(node, (uses.get(node) ?? 0) + 1);
  }
  const found: Node[] = [];
  for (const [node, count] of uses) {
    if (count < 2 || groups.has(node)) continue;
    if (node.primitive.kind === "elementwise" && costOf(node, uses, 1000) * (count - 1) > LOAD_COST) found.push(node);
  }
  return lastOfChains(found);
}

/**
 * The node that one group would compute several times per element (a softmax reads its input thrice) at too high a cost:
 * the one computed most often and, of a chain, the last. Once it is stored the rest may be cheap, so one at a time.
 */
function costlyAgain({ nodes }: Survey, result: Node): Node | null {
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
  return worst;
}

/** Only the last of a chain needs storing: what feeds it alone is then computed once. */
function lastOfChains(found: readonly Node[]): Node[] {
  return found.filter((node) => !found.some((other) => other !== node && other.inputs.includes(node)));
}

/**
 * Cost of computing an element from what is loaded. Shallow: deep chains cost enough after a few steps. Within one group a
 * reduction is computed once per row, whatever uses it; another group would compute it again.
 */
function costOf(node: Node, within: ReadonlyMap<Node, unknown>, reductionCost: number, depth = 0): number {
  if (depth > 8 || !within.has(node)) return 0;
  const { primitive } = node;
  if (primitive.kind === "reduce") return reductionCost;
  const own = primitive.kind === "elementwise" ? primitive.cost : 0;
  return node.inputs.reduce((sum, input) => sum + costOf(input, within, reductionCost, depth + 1), own);
}

/**
 * Walks a group from its result: which nodes it computes, and which axes of the result each reduction depends on.
 * Past `maxNodes` further nodes are cut off, to be stored, and so are nodes that would be computed at too many places.
 */
function surveyFrom(
  result: Node,
  isLoaded: (node: Node) => boolean,
  maxNodes: number,
): Survey & { readonly cuts: readonly Node[] } {
  const space = new IndexSpace();
  const variables = result.shape.map((extent, axis) => space.variable(`i${axis}`, extent));
  const axisOf = new Map(variables.map((variable, axis) => [variable.terms[0]?.atom, axis]));
  const nodes = new Map<Node, number>();
  const seen = new Map<Node, Set<string>>();
  const reductions = new Map<Node, FoundReduction>();
  const cuts = new Set<Node>();
  const stack: { node: Node; index: readonly IndexExpr[] }[] = [{ node: result, index: variables }];
  for (let next = stack.pop(); next; next = stack.pop()) {
    const { node, index } = next;
    if (node.storage !== null || (node !== result && isLoaded(node))) continue;
    const key = index.map(keyOf).join(";");
    let keys = seen.get(node);
    if (!keys) {
      keys = new Set();
      seen.set(node, keys);
    }
    if (keys.has(key)) continue;
    keys.add(key);
    const isTooMany = !nodes.has(node) && nodes.size >= maxNodes && node.inputs.length > 0;
    const isApart = node.primitive.kind === "routine" || (node.primitive === storedPrimitive && node !== result);
    const maxPlaces = node.primitive.kind === "movement" ? MAX_PLACES.movement : MAX_PLACES.compute;
    const isTooOften = keys.size > maxPlaces && node.inputs.length > 0 && node !== result;
    if (isTooMany || isTooOften || isApart) {
      cuts.add(node);
      continue;
    }
    nodes.set(node, keys.size);
    const { primitive } = node;
    if (primitive.kind === "elementwise") for (const input of node.inputs) stack.push({ node: input, index });
    else if (primitive.kind === "movement") {
      for (const reading of primitive.read(space, index, node)) {
        for (const part of reading.index) {
          if (!("terms" in part)) stack.push({ node: node.inputs[part.input], index: part.index });
        }
        stack.push({ node: node.inputs[reading.input], index: symbolicIndex(space, reading, node) });
      }
    } else if (primitive.kind === "reduce") {
      const axes = node.params.axes as readonly number[];
      const { shape } = node.inputs[0];
      const extents = axes.map((axis) => shape[axis]);
      const inner = space.variable("k", sizeOf(extents));
      const reduced = unravel(space, inner, extents);
      let kept = 0;
      const at = shape.map((_, axis) => (axes.includes(axis) ? reduced[axes.indexOf(axis)] : index[kept++]));
      stack.push({ node: node.inputs[0], index: at });
      const known = reductions.get(node);
      const dependsOn = new Set(known?.axes);
      let isNested = known?.isNested === true;
      for (const expression of index) {
        for (const atom of atomsOf(expression)) {
          const axis = axisOf.get(atom);
          if (axis === undefined) isNested = true;
          else dependsOn.add(axis);
        }
      }
      reductions.set(node, {
        node,
        axes: [...dependsOn].sort((a, b) => a - b),
        extent: sizeOf(extents),
        isInnermost: axes.includes(shape.length - 1),
        isNested,
      });
    }
  }
  return { nodes, reductions: [...reductions.values()], cuts: [...cuts] };
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
  for (const { node, axes, extent, isNested } of reductions) {
    if (isNested) continue;
    const key = axes.join();
    const rows = sizeOf(axes.map((axis) => result.shape[axis]));
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
  if (profile.maxLanes === 1 || longest < 32 || rows * 4 > 65536 * longest) return 1;
  let lanes = 32;
  while (lanes < profile.maxLanes && lanes * 4 <= longest) lanes *= 2;
  return lanes;
}
