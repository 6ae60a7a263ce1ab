/**
 * The loads behind an element, and their strides: how an address changes with the index of the element. Strides decide along
 * which axis neighbouring lanes read. Products ask for their operands, and the scheduler for transposed results.
 */
import { type Atom, atomsOf, evaluate, type IndexExpr, IndexSpace, ravel } from "../../core/index-expr.js";
import type { Node } from "../../graph/node.js";
import { forEachRead, indexKey } from "../../graph/reads.js";

export interface FoundLoad {
  readonly node: Node;
  readonly index: readonly IndexExpr[];
  /** Made only where some bounds hold. */
  readonly isGated: boolean;
}

/** The loads that an element is computed from, each place once. Reductions and products have none of their own. */
export function loadsOf(
  space: IndexSpace,
  result: Node,
  at: readonly IndexExpr[],
  isLoaded: (node: Node) => boolean,
): FoundLoad[] {
  const found: FoundLoad[] = [];
  const seen = new Set<string>();
  const numbers = new Map<Node, number>();
  const visit = (node: Node, index: readonly IndexExpr[], isGated: boolean) => {
    const number = numbers.get(node) ?? numbers.size;
    numbers.set(node, number);
    const key = `${number}@${indexKey(index)}`;
    if (seen.has(key)) return;
    seen.add(key);
    if (isLoaded(node)) found.push({ node, index, isGated });
    else forEachRead(space, node, index, (input, at, isBounded) => visit(input, at, isGated || isBounded));
  };
  visit(result, at, false);
  return found;
}

/** Places tried to see how far apart neighbours lie. */
const SAMPLES = 12;

/**
 * The stride of each load along each axis of a node, in the order of `loadsOf`. A window or a reshape may jump now and then,
 * so it is the most frequent distance among a few samples. It is 0 along an axis that does not change the load.
 */
export function loadStrides(node: Node, isLoaded: (node: Node) => boolean): number[][] {
  const space = new IndexSpace();
  // Axes of extent 1 have no neighbours, and no variable.
  const variables = node.shape.map((extent, axis) => space.variable(`i${axis}`, extent));
  return loadsOf(space, node, variables, isLoaded).map(({ node: source, index }) => {
    const flat = ravel(index, source.shape);
    return variables.map(({ terms }, axis) => (terms[0] ? usualStride(flat, terms[0].atom, node.shape[axis]) : 0));
  });
}

/**
 * Whether `width` neighbours along an axis, from a multiple of the width on, are neighbours in memory, from such a multiple on,
 * wherever the node is loaded from; or one element for all of them. So it is not in a window, whose places lie one apart.
 */
export function areVectors(node: Node, isLoaded: (node: Node) => boolean, axis: number, width: number): boolean {
  const space = new IndexSpace();
  const variables = node.shape.map((extent, i) => space.variable(`i${i}`, extent));
  const along = variables[axis].terms[0]?.atom;
  const isMultiple = (value: number) => value % width === 0;
  const dependsOn = (atom: Atom) =>
    atom === along || ("of" in atom && along !== undefined && atomsOf(atom.of).has(along));
  const isPlain = (x: IndexExpr): boolean =>
    isMultiple(x.constant) &&
    x.terms.every(({ atom, factor }) => {
      if (atom === along) return factor === 1;
      if (!("of" in atom) || !dependsOn(atom) || isSameWithin(atom)) return isMultiple(factor);
      return isMultiple(atom.by) && isPlain(atom.of) && atom.kind === "remainder" && factor === 1;
    });
  /** Whether an atom has one value for all of a vector: a quotient by a multiple of its width, and what is computed of that. */
  const isSameWithin = (atom: Atom): boolean => {
    if (!("of" in atom)) return atom !== along;
    if (atom.of.terms.every((term) => isSameWithin(term.atom))) return true;
    return atom.kind === "quotient" && isMultiple(atom.by) && isPlain(atom.of);
  };
  return loadsOf(space, node, variables, isLoaded).every(({ node: source, index }) => {
    const flat = ravel(index, source.shape);
    return !flat.terms.some(({ atom }) => dependsOn(atom)) || isPlain(flat);
  });
}

/** For each axis of a node, whether it is split where the node is loaded from, as the places of a window are: that divides. */
export function splitAxes(node: Node, isLoaded: (node: Node) => boolean): boolean[] {
  const space = new IndexSpace();
  const variables = node.shape.map((extent, axis) => space.variable(`i${axis}`, extent));
  const split = new Set<Atom>();
  for (const { node: source, index } of loadsOf(space, node, variables, isLoaded)) {
    for (const { atom } of ravel(index, source.shape).terms) if ("of" in atom) atomsOf(atom.of, split);
  }
  return variables.map(({ terms }) => terms.some(({ atom }) => split.has(atom)));
}

function usualStride(flat: IndexExpr, along: Atom, extent: number): number {
  const isHidden = flat.terms.some(({ atom }) => "of" in atom && atomsOf(atom.of).has(along));
  if (!isHidden) return flat.terms.find(({ atom }) => atom === along)?.factor ?? 0;
  const counts = new Map<number, number>();
  for (let sample = 0; sample < SAMPLES; sample++) {
    // Places spread by the golden ratio, the same every time.
    const spread = (atom: Atom, size: number) => Math.floor((((sample + 1) * (atom.id + 1) * 0.6180339887) % 1) * size);
    const from = Math.min(spread(along, extent), extent - 2);
    const at = (i: number) =>
      evaluate(flat, (atom) => {
        if (atom === along) return i;
        if (atom.kind === "variable") return spread(atom, atom.extent);
        return atom.kind === "computed" ? atom.min + spread(atom, atom.max - atom.min + 1) : 0;
      });
    const stride = at(from + 1) - at(from);
    counts.set(stride, (counts.get(stride) ?? 0) + 1);
  }
  return [...counts].reduce((best, next) => (next[1] > best[1] ? next : best))[0];
}
