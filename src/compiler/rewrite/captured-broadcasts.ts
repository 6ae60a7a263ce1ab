/**
 * What the body of a scan captures is in memory before the loop begins. Of something repeated along axes (a scalar beside
 * vectors, a row beside matrices) that would be many times its size, written and read for nothing: here the body takes the
 * source and repeats it itself. Derivatives are taken before, so it is no matter to them that this would put a sum into
 * every round of the way back. `chooseImplementations` asks for every scan.
 */
import { isComplex } from "../../core/dtype.js";
import { sizeOf } from "../../core/shape.js";
import { remakeNode } from "../../graph/build.js";
import { GraphFunction, makePlaceholder, substitute } from "../../graph/function.js";
import { Node } from "../../graph/node.js";
import type { ScanParams } from "../../graph/primitives/control.js";
import { expand, reshape } from "../../graph/primitives/movement.js";

/** The scan on such inputs, with their sources in the place of repeated constants; null where there are none. */
export function repeatingInside(scan: Node, inputs: readonly Node[]): Node | null {
  const params = scan.params as unknown as ScanParams;
  const { body, constants } = params;
  // What is complex is two numbers in memory and one in the body.
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

/** The steps from a node back to what it repeats, the last one first; none if it repeats nothing. */
function wayOf(node: Node): Node[] {
  const way: Node[] = [];
  for (let at = node; at.storage === null && (at.primitive === expand || at.primitive === reshape); [at] = at.inputs) {
    way.push(at);
  }
  const source = way.at(-1)?.inputs[0];
  return source && sizeOf(source.shape) < sizeOf(node.shape) ? way : [];
}
