/**
 * Short reductions of broadcast expressions are written out: a sum of three squares becomes two additions.
 *
 * The distances between all pairs of points are such sums, of [n, n, 3]. When they are reduced again, one kernel should do
 * both: stored, they would fill n² elements that came from 3 n. A loop inside a loop is computed for every lane by itself and
 * shares nothing; operations on slices are fused and shared like any others.
 */
import { DTYPES } from "../../core/dtype.js";
import { productOf } from "../../core/shape.js";
import { makeNode } from "../../graph/build.js";
import { type Node, pendingInOrder } from "../../graph/node.js";
import { reductionOf } from "../../graph/reduction.js";
import { g } from "../../graph/vocabulary.js";

/** Elements of a reduction that are written out, at most: as many places as a kernel computes one value at. */
const MAX_WRITTEN_OUT = 8;
/** A result with so many times the elements of its input is not worth storing. */
const LEAST_SPREAD = 4;
/** Nodes behind a reduction that are looked at: a longer expression is worth storing anyway. */
const MAX_SEARCHED = 200;

/** The reductions that are better written out: short, of many more elements than went in, and reduced again. */
export function shortReductions(roots: readonly Node[]): ReadonlySet<Node> {
  const order = pendingInOrder(roots).filter(({ storage }) => storage === null);
  const short = order.filter((node) => isShort(node));
  if (short.length === 0) return new Set();
  const reduced = new Set<Node>();
  for (const node of order.toReversed()) {
    const { kind } = node.primitive;
    const passes = (kind === "elementwise" || kind === "movement") && reduced.has(node);
    if (kind === "reduce" || passes) for (const input of node.inputs) reduced.add(input);
  }
  return new Set(short.filter((node) => reduced.has(node) && isSpread(node)));
}

function isShort({ primitive, params, inputs, dtype }: Node): boolean {
  if (primitive.kind !== "reduce") return false;
  const extent = productOf((params.axes as readonly number[]).map((axis) => inputs[0].shape[axis]));
  // Narrow dtypes are summed in wider ones, and complex numbers in parts.
  const isPlain = DTYPES[dtype].bytes >= 4 && DTYPES[dtype].kind !== "complex";
  return extent > 1 && extent <= MAX_WRITTEN_OUT && isPlain;
}

/** Whether a node has many more elements than the memory, or the results of reductions, that it is computed from. */
function isSpread(node: Node): boolean {
  const seen = new Set<Node>(node.inputs);
  let elements = 0;
  for (const each of seen) {
    const { kind } = each.primitive;
    if (each.storage !== null || (kind !== "elementwise" && kind !== "movement")) elements += productOf(each.shape);
    else for (const input of each.inputs) seen.add(input);
    if (seen.size > MAX_SEARCHED) return false;
  }
  return productOf(node.shape) >= LEAST_SPREAD * elements;
}

/** A reduction of x as operations on its slices, in order. */
export function writtenOut({ primitive, params }: Node, x: Node): Node | null {
  if (primitive.kind !== "reduce") return null;
  const axes = params.axes as readonly number[];
  const { elementwise } = reductionOf(primitive.op);
  const kept = x.shape.filter((_, axis) => !axes.includes(axis));
  const sizes = x.shape.map((extent, axis) => (axes.includes(axis) ? 1 : extent));
  const places = axes.reduce<readonly (readonly number[])[]>(
    (starts, axis) => starts.flatMap((start) => Array.from({ length: x.shape[axis] }, (_, at) => start.with(axis, at))),
    [x.shape.map(() => 0)],
  );
  return places
    .map((start) => g.reshape(g.slice(x, start, sizes), kept))
    .reduce((total, next) => makeNode(elementwise, [total, next], {}, x.device));
}
