/** Values of nodes by the fuzzer's interpreter: loops over arrays, without a compiler and without a device. */
import { inputsFirst, type Node } from "../../src/graph/node.js";
import type { Value } from "./element-oracle.js";
import { evaluate, type Plain } from "./graph-specs.js";

/** The elements of roots in row-major order, given those of the leaves. */
export function plainValues(roots: readonly Node[], given: ReadonlyMap<Node, readonly Value[]>): (readonly Value[])[] {
  const known = new Map<Node, Plain>();
  const inputsOf = (node: Node) => (given.has(node) ? [] : node.inputs);
  for (const node of inputsFirst(roots, inputsOf)) {
    const { shape, dtype, params, primitive } = node;
    const values = given.get(node);
    const spec = { op: values ? "buffer" : primitive.name, inputs: [], params, shape, dtype, values };
    const inputs = inputsOf(node).map((input) => known.get(input) as Plain);
    known.set(node, evaluate(spec, inputs));
  }
  return roots.map((root) => (known.get(root) as Plain).values);
}
