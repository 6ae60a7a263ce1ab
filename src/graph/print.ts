/** A graph as text, for `jit(f).lower(…)` and `PUMICE_DEBUG`. */
import { formatShape } from "../core/shape.js";
import { type Node, pendingInOrder } from "./node.js";
import { paramsKey } from "./params-key.js";
import { constant } from "./primitives/leaf.js";

/** Parameters that are longer, as the bodies of loops are, are cut. */
const MAX_PARAMS = 60;

/** One line per operation: %3 = sum %1 {axes=[1]} : f32[2]. */
export function printGraph(roots: readonly Node[]): string {
  const names = new Map<Node, string>();
  const lines = pendingInOrder(roots).map((node, i) => {
    names.set(node, `%${i}`);
    const inputs = node.inputs.map((input) => names.get(input));
    const parts = node.storage ? ["memory"] : [node.primitive.name, ...inputs, ...paramsOf(node)];
    return `  %${i} = ${parts.join(" ")} : ${node.dtype}${formatShape(node.shape)}`;
  });
  return [...lines, `  return ${roots.map((root) => names.get(root)).join(", ")}`].join("\n");
}

/** A leaf's shape and dtype are said anyway. */
function paramsOf(node: Node): string[] {
  const { primitive, params } = node;
  if (primitive === constant) return [String(params.value)];
  const text = primitive.kind === "leaf" ? "" : paramsKey(node).replace(/;$/, "").replaceAll(";", ", ");
  if (!text) return [];
  return [`{${text.length > MAX_PARAMS ? `${text.slice(0, MAX_PARAMS)}…` : text}}`];
}
