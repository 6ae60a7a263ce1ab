/** Shared by several movements: rules of batching, and readings without conditions. */
import type { IndexExpr } from "../../../core/index-expr.js";
import type { Node } from "../../node.js";
import type { BatchedInput, ElementIndex, MovementPrimitive, Params, Reading } from "../../primitive.js";
import type { GraphOps } from "../../vocabulary.js";

/** A list with a number in front. */
export const prepend = (value: number, list: unknown): number[] => [value, ...(list as readonly number[])];

/** The batch rule of a movement with one input: its parameters, with the batch as a first axis. */
export const batched =
  (params: (params: Params, size: number, node: Node) => Params): NonNullable<MovementPrimitive["batch"]> =>
  (g, node, [{ node: x }], size) =>
    g.move(node.primitive, [x], params(node.params, size, node));

/** An input with the batch as its first axis, repeated where it is the same for all. */
export const withBatch = (g: GraphOps, { node, isBatched }: BatchedInput, size: number): Node =>
  isBatched ? node : g.broadcast(node, [size, ...node.shape]);

/** A reading without conditions. */
export const always = (index: readonly (IndexExpr | ElementIndex)[], input = 0): Reading => ({
  input,
  index,
  bounds: [],
});
