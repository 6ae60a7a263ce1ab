/**
 * `vmap`: a function of single examples becomes one of batches. The function runs once, on placeholders without the batch
 * axis; its graph is rewritten by the rules of the primitives. Nothing loops.
 */

import { checkFunction, checkOptions } from "../core/arguments.js";
import { checkCount } from "../core/arity.js";
import { ArgumentError, ShapeError } from "../core/errors.js";
import { formatShape, normalizeAxis } from "../core/shape.js";
import { broadcastNode, permuteNode } from "../graph/build.js";
import { makePlaceholder } from "../graph/function.js";
import type { Node } from "../graph/node.js";
import type { BatchedInput } from "../graph/primitive.js";
import { g } from "../graph/vocabulary.js";
import { isTensor, Tensor } from "../tensor/index.js";
import { tracedOn } from "./trace.js";
import { flattenAny, flattenTensors, pathOf, spreadLeaves, type TreeStructure, unflatten } from "./trees.js";

/**
 * The axis that counts the members of a batch; null where all members share the value. Or a tree of these, like that of the
 * tensors or ending earlier: an axis in place of a tree applies to all tensors in that tree.
 */
export type BatchAxes = number | null | readonly BatchAxes[] | { readonly [key: string]: BatchAxes };

export interface VmapOptions {
  /** For all arguments one axis (0 unless told), or a list with an entry for each argument. */
  readonly in?: BatchAxes;
  /** The axis of the batch in the results: 0 unless told; a number, or a tree like the result. */
  readonly out?: BatchAxes;
}

/**
 * A function that applies f to every member of a batch. Tensors in the arguments are cut along their batch axis, f sees one
 * member's part, and the results are stacked. Arguments that are not tensors go to f as they are.
 */
export function vmap<A extends readonly unknown[], R>(
  f: (...args: A) => R,
  options: VmapOptions = {},
): (...args: A) => R {
  checkCount("vmap", 2, arguments);
  checkFunction("vmap", f);
  checkOptions("vmap", options, { in: "any", out: "any" });
  return (...args) => {
    const given = flattenAny(args, "vmap");
    const axes = axesFor(options.in === undefined ? 0 : options.in, args, given.leaves.length);
    const inputs = given.leaves.map((leaf, i) => member(leaf, axes[i], given.structure, i));
    const size = batchSize(given.leaves, axes, given.structure);
    const placeholders = inputs.map((input) => (input?.isBatched ? makePlaceholder(memberOf(input.node)) : null));
    const used = placeholders.flatMap((node, i) => (node ? [{ node, input: inputs[i] as BatchedInput }] : []));
    const members = given.leaves.map((leaf, i) => asTensor(placeholders[i]) ?? leaf);
    const result = tracedOn(
      "vmap",
      used.map(({ node }) => node),
      () => f(...(unflatten(given.structure, members) as never)),
    );
    const outputs = flattenTensors(result, "vmap, results");
    const batched = g.vectorize(
      outputs.leaves.map(({ node }) => node),
      used.map(({ node }) => node),
      used.map(({ input }) => input),
      size,
    );
    const places = spreadAxes(options.out === undefined ? 0 : options.out, outputs.structure);
    const tensors = batched.map((output, i) => new Tensor(placed(output, places[i], size)));
    return unflatten(outputs.structure, tensors) as R;
  };
}

const asTensor = (node: Node | null): Tensor | null => node && new Tensor(node);

/** A batched node as one member sees it. */
const memberOf = ({ shape, dtype, device }: Node) => ({ shape: shape.slice(1), dtype, device });

function member(leaf: unknown, axis: number | null, structure: TreeStructure, i: number): BatchedInput | null {
  if (!isTensor(leaf)) return null;
  if (axis === null) return { node: leaf.node, isBatched: false };
  if (leaf.rank === 0) {
    throw new ShapeError(
      `vmap: ${pathOf(structure, i)} is a scalar, which has no axis to cut; pass { in: [...] } with null for it.`,
    );
  }
  const at = normalizeAxis(axis, leaf.rank, "vmap");
  const order = [at, ...leaf.shape.flatMap((_, k) => (k === at ? [] : [k]))];
  return { node: permuteNode(leaf.node, order), isBatched: true };
}

function batchSize(leaves: readonly unknown[], axes: readonly (number | null)[], structure: TreeStructure): number {
  let size: number | null = null;
  let first = "";
  leaves.forEach((leaf, i) => {
    const axis = axes[i];
    if (!isTensor(leaf) || axis === null) return;
    const extent = leaf.shape[normalizeAxis(axis, leaf.rank, "vmap")];
    if (size === null) {
      size = extent;
      first = pathOf(structure, i);
    } else if (extent !== size) {
      throw new ShapeError(
        `vmap: argument ${first} has ${size} members along its axis, argument ${pathOf(structure, i)} has ${extent} ` +
          `along axis ${axis} of ${formatShape(leaf.shape)}; name the axes in { in }, with null for what all members share.`,
      );
    }
  });
  if (size === null)
    throw new ArgumentError("vmap: no tensor among the arguments has a batch axis; name one in { in }.");
  return size;
}

/** The axis of every leaf of the arguments. */
function axesFor(axes: BatchAxes, args: readonly unknown[], count: number): (number | null)[] {
  if (isAxis(axes)) return new Array<number | null>(count).fill(axes);
  if (!Array.isArray(axes) || axes.length !== args.length) {
    throw new ArgumentError(
      `vmap: { in } is a number, or a list with an entry for each of the ${args.length} arguments.`,
    );
  }
  return args.flatMap((arg, i) => spreadAxes(axes[i], flattenAny(arg, "vmap").structure));
}

const isAxis = (value: unknown): value is number | null => typeof value === "number" || value === null;

/** One axis for a whole tree, or a tree of axes, each for the tensors below. */
const spreadAxes = (axes: BatchAxes, structure: TreeStructure): (number | null)[] =>
  spreadLeaves(structure, axes, isAxis, 2, "vmap");

/** A result with its batch where it is wanted. */
function placed({ node, isBatched }: BatchedInput, axis: number | null, size: number): Node {
  if (axis === null) {
    if (!isBatched) return node;
    throw new ArgumentError("vmap: a result with { out: null } differs between the members; give it an axis.");
  }
  const whole = isBatched ? node : broadcastNode(node, [size, ...node.shape]);
  const at = normalizeAxis(axis, whole.shape.length, "vmap");
  const rest = whole.shape.flatMap((_, i) => (i === 0 ? [] : [i]));
  return permuteNode(whole, [...rest.slice(0, at), 0, ...rest.slice(at)]);
}
