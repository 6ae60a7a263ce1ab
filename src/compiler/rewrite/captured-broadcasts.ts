/**
 * Broadcasts move into the bodies of scans. Values that a body captures are computed into memory before the loop. A
 * broadcast value (a scalar beside vectors, a row beside matrices) would take many times its size there, so the body takes
 * its source and broadcasts that itself. Derivatives are taken before this pass; they would otherwise add a sum to every
 * round of the backward loop. `chooseImplementations` asks for every scan.
 */
import { isComplex } from "../../core/dtype.js";
import { sizeOf } from "../../core/shape.js";
import { remakeNode } from "../../graph/build.js";
import { GraphFunction, makePlaceholder, substitute } from "../../graph/function.js";
import { Node } from "../../graph/node.js";
import type { ScanParams } from "../../graph/primitives/control/scan.js";
import { expand, reshape } from "../../graph/primitives/movement.js";

/** The scan with the sources of broadcast constants as inputs; null if no constant is broadcast. */
export function repeatingInside(scan: Node, inputs: readonly Node[]): Node | null {
  const params = scan.params as unknown as ScanParams;
  const { body, constants } = params;
  // A complex value has other shapes in memory and in the body; it is left alone.
  const ways = inputs.slice(0, constants).map((input, i) => (isComplex(body.parameters[i].dtype) ? [] : wayOf(input)));
  if (ways.every((way) => way.length === 0)) return null;
  const sources = inputs.map((input, i) => (i < constants ? (ways[i].at(-1)?.inputs[0] ?? input) : input));
  const parameters = body.parameters.map((parameter, i) =>
    sources[i] === inputs[i] ? parameter : makePlaceholder(sources[i]),
  );
  const repeated = parameters.map((parameter, i) =>
    (ways[i] ?? []).reduceRight((from, step) => remakeNode(step, [from]), parameter),
  );
  const results = substitute(body.results, body.parameters, repeated);
  const next = { ...scan.params, body: new GraphFunction(parameters, results) };
  return new Node(scan.primitive, next, sources, scan.shape, scan.dtype, scan.device);
}

/** The movement from a broadcast node back to its source, the last step first; empty if it is not broadcast. */
function wayOf(node: Node): Node[] {
  const way: Node[] = [];
  for (let at = node; at.storage === null && (at.primitive === expand || at.primitive === reshape); [at] = at.inputs) {
    way.push(at);
  }
  const source = way.at(-1)?.inputs[0];
  return source && sizeOf(source.shape) < sizeOf(node.shape) ? way : [];
}
