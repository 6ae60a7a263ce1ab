/**
 * Derivatives of graphs, as graphs. `pullBack` goes from outputs to inputs (reverse mode), `pushForward` from inputs to
 * outputs (forward mode). Both visit only nodes that depend on the variables, each once, by its primitive's rule.
 */
import { DTypeError } from "../core/errors.js";
import { dependingOn, type Node } from "./node.js";
import { outputsOf, part } from "./primitives/bundle.js";
import type { GraphOps } from "./vocabulary.js";

/** The nodes on the way from the variables to the outputs. */
function dependentsInOrder(outputs: readonly Node[], variables: readonly Node[]): Node[] {
  // Nodes of no trace, or of outer traces only, cannot depend on the variables of this trace.
  const level = variables[0]?.trace?.level ?? -1;
  return dependingOn(outputs, variables, (node) => (node.trace?.level ?? -1) >= level);
}

/** Cotangents of the variables, given those of the outputs; null stands for zero. */
export function pullBack(
  g: GraphOps,
  outputs: readonly Node[],
  cotangents: readonly (Node | null)[],
  variables: readonly Node[],
): (Node | null)[] {
  const order = dependentsInOrder(outputs, variables);
  const wanted = new Set<Node>([...order, ...variables]);
  const collected = new Map<Node, Node>();
  const collect = (node: Node, cotangent: Node | null) => {
    if (!cotangent || !wanted.has(node) || !g.isDifferentiable(node.dtype)) return;
    const typed = g.cast(cotangent, node.dtype);
    const known = collected.get(node);
    collected.set(node, known ? g.add(known, typed) : typed);
  };
  /** Cotangents of the parts of bundles. The reverse walk meets the parts before their bundle. */
  const ofParts = new Map<Node, (Node | null)[]>();
  outputs.forEach((output, i) => {
    collect(output, cotangents[i]);
  });
  for (let i = order.length - 1; i >= 0; i--) {
    const node = order[i];
    const { bundle } = node.primitive;
    if (bundle) {
      const parts = ofParts.get(node);
      if (!parts) continue;
      const isWanted = (input: number) => wanted.has(node.inputs[input]);
      bundle.vjp(g, node, parts, isWanted).forEach((each, input) => {
        collect(node.inputs[input], each);
      });
      continue;
    }
    const cotangent = collected.get(node);
    if (!cotangent) continue;
    collected.delete(node);
    if (node.primitive === part) {
      const [whole] = node.inputs;
      const parts = ofParts.get(whole) ?? outputsOf(whole).map(() => null);
      const index = node.params.index as number;
      const known = parts[index];
      parts[index] = known ? g.add(known, cotangent) : cotangent;
      ofParts.set(whole, parts);
      continue;
    }
    vjpOf(g, node, cotangent, wanted).forEach((each, input) => {
      collect(node.inputs[input], each);
    });
  }
  return variables.map((variable) => collected.get(variable) ?? null);
}

function vjpOf(g: GraphOps, node: Node, cotangent: Node, wanted: ReadonlySet<Node>): readonly (Node | null)[] {
  const { primitive } = node;
  if (primitive.vjp) return primitive.vjp(g, node, cotangent, (input) => wanted.has(node.inputs[input]));
  if (primitive.kind !== "elementwise" || !primitive.slopes) throw withoutDerivative(node);
  const { slopes } = primitive;
  return node.inputs.map((input, i) => {
    const slope = slopes[i];
    return slope && wanted.has(input) && g.isDifferentiable(input.dtype) ? slope(g, cotangent, node) : null;
  });
}

/** Tangents of the outputs, given those of the variables; null stands for zero. */
export function pushForward(
  g: GraphOps,
  outputs: readonly Node[],
  variables: readonly Node[],
  tangents: readonly (Node | null)[],
): (Node | null)[] {
  const known = new Map<Node, Node | null>(variables.map((variable, i) => [variable, tangents[i]]));
  const ofParts = new Map<Node, readonly (Node | null)[]>();
  for (const node of dependentsInOrder(outputs, variables)) {
    const incoming = node.inputs.map((input) => known.get(input) ?? null);
    const { bundle } = node.primitive;
    if (bundle) {
      if (incoming.some((t) => t !== null)) ofParts.set(node, bundle.jvp(g, node, incoming));
      continue;
    }
    if (node.primitive === part) {
      known.set(node, ofParts.get(node.inputs[0])?.[node.params.index as number] ?? null);
      continue;
    }
    const isFlat = !g.isDifferentiable(node.dtype) || incoming.every((t) => t === null);
    known.set(node, isFlat ? null : jvpOf(g, node, incoming));
  }
  return outputs.map((output) => known.get(output) ?? null);
}

function jvpOf(g: GraphOps, node: Node, tangents: readonly (Node | null)[]): Node | null {
  const { primitive, params } = node;
  if (primitive.jvp) return primitive.jvp(g, node, tangents);
  // A movement is linear in its first input, the data; the others are positions.
  if (primitive.kind === "movement") {
    const [t] = tangents;
    return t && g.move(primitive, [t, ...node.inputs.slice(1)], params);
  }
  if (primitive.kind !== "elementwise" || !primitive.slopes) throw withoutDerivative(node);
  let total: Node | null = null;
  tangents.forEach((t, i) => {
    const slope = primitive.slopes?.[i];
    if (!t || !slope) return;
    const part = g.cast(slope(g, t, node), node.dtype);
    total = total ? g.add(total, part) : part;
  });
  return total;
}

function withoutDerivative(node: Node): DTypeError {
  return new DTypeError(
    `grad: ${node.primitive.name} has no derivative; wrap what comes before it in stopGradient, or give one with customGradient.`,
  );
}
