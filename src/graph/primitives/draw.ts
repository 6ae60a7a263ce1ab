/**
 * A draw of random numbers: a function of a key alone, of some twenty operations, which a loop repeats with other keys. It is
 * one node until it is compiled, so that a round makes one. Input: the key. Params: body, a function of the key.
 */
import { makeNode, remakeNode } from "../build.js";
import type { GraphFunction } from "../function.js";
import { inputsFirst, type Node } from "../node.js";
import type { CompositePrimitive } from "../primitive.js";

const bodyOf = ({ params }: Pick<Node, "params">): GraphFunction => params.body as GraphFunction;

/** @internal for tests: its rules are called by themselves */
export const draw: CompositePrimitive = {
  name: "draw",
  kind: "composite",
  infer: (_inputs, params) => {
    const [{ shape, dtype }] = bodyOf({ params }).results;
    return { shape, dtype };
  },
  // Keys are integers.
  jvp: () => null,
  vjp: () => [null],
  batch: (g, node, inputs, size) => {
    const { parameters, results } = bodyOf(node);
    return g.vectorize(results, parameters, inputs, size)[0].node;
  },
  expand: (_g, node, [key]) => {
    const { parameters, results } = bodyOf(node);
    // Counters do not depend on the key. They are made anew, too: programs share no nodes.
    const made = new Map<Node, Node>([[parameters[0], key]]);
    for (const each of inputsFirst(results, ({ inputs }) => inputs)) {
      if (made.has(each)) continue;
      made.set(
        each,
        remakeNode(
          each,
          each.inputs.map((input) => made.get(input) as Node),
        ),
      );
    }
    return made.get(results[0]) as Node;
  },
};

export const drawNode = (body: GraphFunction, key: Node): Node => makeNode(draw, [key], { body }, key.device);
