/**
 * Operations that nobody asked for must not wait for values: the runtime stores what waiting operations read
 * (src/runtime/kept-values.ts). An operation that is written with one step too many makes programs store more than they need.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Node } from "../../src/graph/node.js";
import { isBundle } from "../../src/graph/primitives/bundle.js";
import type { Tensor } from "../../src/tensor/index.js";
import { type Input, operationCases } from "../support/operation-cases.js";
import { toTensor } from "../support/tensors.js";

/** Functions that read values to decide what to do, or return some of the results that they compute. */
const KNOWN =
  /^(median|percentile|gatherNd|gather|nanArgmax|nanArgmin|slogdet|matrixExp|lstsq|randomizedSvd|ldl|solveSylvester)\b/;

/** An operand that is not in memory. */
function pending(input: Input): Tensor {
  const { dtype } = input;
  const given = toTensor(input, dtype === "float" ? "f32" : dtype).realize();
  return dtype === "bool" ? given.logicalNot().logicalNot() : given.mul(1);
}

/** Everything that nodes are computed from, themselves included. */
function behind(roots: readonly Node[]): ReadonlySet<Node> {
  const seen = new Set(roots);
  for (const node of seen) for (const input of node.inputs) seen.add(input);
  return seen;
}

test("the operations of a result are all that reads its operands", () => {
  const left = operationCases.flatMap(({ name, inputs, f }) => {
    const operands = inputs.map((rule) => pending(rule(1)));
    const roots = [f(...operands)].flat().map(({ node }: Tensor) => node);
    const nodes = behind(roots);
    const readers = new Map<Node, number>();
    for (const { inputs: read } of nodes) for (const each of read) readers.set(each, (readers.get(each) ?? 0) + 1);
    const isWaitedFor = (node: Node) => node.users > (readers.get(node) ?? 0) && node.storage === null;
    const waited = [...nodes].filter((node) => isWaitedFor(node) && !isBundle(node) && node.primitive.kind !== "leaf");
    return waited.length === 0 || KNOWN.test(name) ? [] : [`${name}: ${waited.map((each) => each.primitive.name)}`];
  });
  assert.deepEqual(left, []);
});
