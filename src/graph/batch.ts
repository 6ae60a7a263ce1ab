/**
 * Vectorisation: turns a graph for one member into a graph for a whole batch. The batching rule of its primitive rewrites
 * every node that depends on a batched input; the batch is the first axis of each rewritten node.
 */
import { UnsupportedError } from "../core/errors.js";
import { makeNode, remakeNode } from "./build.js";
import { abstractInOrder } from "./function.js";
import type { Node } from "./node.js";
import type { BatchedInput } from "./primitive.js";
import { part } from "./primitives/bundle.js";
import type { GraphOps } from "./vocabulary.js";

/** The outputs with inputs in place of the placeholders; some inputs have a batch as their first axis. */
export function vectorize(
  g: GraphOps,
  outputs: readonly Node[],
  placeholders: readonly Node[],
  inputs: readonly BatchedInput[],
  size: number,
): BatchedInput[] {
  const known = new Map<Node, BatchedInput>(placeholders.map((node, i) => [node, inputs[i]]));
  const inputOf = (node: Node): BatchedInput => known.get(node) ?? { node, isBatched: false };
  const parts = new Map<Node, readonly BatchedInput[]>();
  for (const node of abstractInOrder(outputs, placeholders)) {
    if (node.primitive === part && parts.has(node.inputs[0])) {
      known.set(node, (parts.get(node.inputs[0]) as readonly BatchedInput[])[node.params.index as number]);
      continue;
    }
    const operands = node.inputs.map(inputOf);
    const isBatched = operands.some((operand) => operand.isBatched);
    if (isBatched && node.primitive.bundle) {
      parts.set(node, node.primitive.bundle.batch(g, node, operands, size));
      continue;
    }
    known.set(node, { node: isBatched ? batched(g, node, operands, size) : rebuilt(node, operands), isBatched });
  }
  return outputs.map(inputOf);
}

function rebuilt(node: Node, operands: readonly BatchedInput[]): Node {
  return remakeNode(
    node,
    operands.map((operand) => operand.node),
  );
}

function batched(g: GraphOps, node: Node, operands: readonly BatchedInput[], size: number): Node {
  const { primitive, params, device } = node;
  if (primitive.batch) return primitive.batch(g, node, operands, size);
  if (primitive.kind !== "elementwise") throw new UnsupportedError(`vmap: ${primitive.name} has no rule for batches.`);
  const whole = operands.map((each) =>
    each.isBatched ? each.node : g.broadcast(each.node, [size, ...each.node.shape]),
  );
  return makeNode(primitive, whole, params, device);
}
