/** checkpoint: a function whose inner values are computed again for the backward pass rather than kept. */
import { makeNode } from "../build.js";
import { closeOver, GraphFunction, makePlaceholder } from "../function.js";
import type { Node } from "../node.js";
import type { CompositePrimitive } from "../primitive.js";
import { deviceOf, inferBundle, outputOf, partsOf } from "./bundle.js";

/** A function whose inner values are recomputed in reverse mode, not stored. Inputs: its arguments. Params: body. */
export const checkpoint: CompositePrimitive = {
  name: "checkpoint",
  kind: "composite",
  infer: inferBundle,
  expand: (_g, { params }, inputs) => (params.body as GraphFunction).apply(inputs),
  bundle: {
    jvp: (g, { params, inputs }, tangents) => {
      const body = params.body as GraphFunction;
      const own = body.parameters.map(makePlaceholder);
      const moved = own.map((parameter, i) => (tangents[i] ? makePlaceholder(parameter) : null));
      const results = body.apply(own);
      const changes = g.pushForward(results, own, moved).map((t, i) => t ?? g.zeros(results[i].shape, results[i]));
      const closed = closeOver(changes, [...own, ...moved.filter((each) => each !== null)]);
      const parts = checkpointNode(closed.body, [...closed.captured, ...inputs, ...tangents.filter((t) => t !== null)]);
      return parts.map((each) => (g.isDifferentiable(each.dtype) ? each : null));
    },
    vjp: (g, { params, inputs }, cotangents) => {
      const body = params.body as GraphFunction;
      // Nodes computed from these are not merged with the forward pass.
      const again = inputs.map((input) => g.recompute(input));
      return g.pullBack(body.apply(again), cotangents, again);
    },
    batch: (g, { params }, inputs, size) => {
      const body = params.body as GraphFunction;
      const own = inputs.map(({ node: each }) => makePlaceholder(each));
      const given = own.map((each, i) => ({ node: each, isBatched: inputs[i].isBatched }));
      const results = g.vectorize(body.results, body.parameters, given, size);
      const next = new GraphFunction(
        own,
        results.map((result) => result.node),
      );
      const parts = checkpointNode(
        next,
        inputs.map((input) => input.node),
      );
      return parts.map((each, i) => ({ node: each, isBatched: results[i].isBatched }));
    },
  },
};

export function checkpointNode(body: GraphFunction, inputs: readonly Node[]): Node[] {
  const outputs = body.results.map(outputOf);
  if (outputs.length === 0) return [];
  return partsOf(makeNode(checkpoint, inputs, { body, outputs }, deviceOf(inputs, body)));
}
