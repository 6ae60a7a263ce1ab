/** Values of nodes by the fuzzer's interpreter: loops over arrays, without a compiler and without a device. */
import { inputsFirst, type Node } from "../../src/graph/node.js";
import type { ElementwisePrimitive } from "../../src/graph/primitive.js";
import { doubleOps } from "./double-ops.js";
import type { Value } from "./element-oracle.js";
import { evaluate, type Plain, primitiveOf } from "./graph-specs.js";

/** The elements of roots in row-major order, given those of the leaves. */
export function plainValues(roots: readonly Node[], given: ReadonlyMap<Node, readonly Value[]>): (readonly Value[])[] {
  const known = new Map<Node, Plain>();
  const inputsOf = (node: Node) => (given.has(node) ? [] : node.inputs);
  for (const node of inputsFirst(roots, inputsOf)) {
    const { shape, dtype, params, primitive } = node;
    const values = given.get(node);
    const spec = { op: values ? "buffer" : primitive.name, inputs: [], params, shape, dtype, values };
    const inputs = inputsOf(node).map((input) => known.get(input) as Plain);
    known.set(node, isOfRewriter(node) ? lowered(node, inputs) : evaluate(spec, inputs));
  }
  return roots.map((root) => (known.get(root) as Plain).values);
}

/** An elementwise operation that is not in the table: a rewriter made it, of what it rewrites. */
const isOfRewriter = ({ primitive }: Node): boolean =>
  primitive.kind === "elementwise" && primitiveOf(primitive.name) !== primitive;

/** By its own rule, in doubles. */
function lowered({ primitive, params, shape, dtype }: Node, inputs: readonly Plain[]): Plain {
  const { lower } = primitive as ElementwisePrimitive;
  const size = shape.reduce((product, extent) => product * extent, 1);
  const values = Array.from({ length: size }, (_, i) =>
    lower(
      doubleOps,
      inputs.map((input) => Number(input.values[i])),
      params,
      dtype,
    ),
  );
  return { shape, dtype, values, doubt: null, isApproximate: false };
}
