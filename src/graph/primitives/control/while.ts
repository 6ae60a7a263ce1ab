/** whileLoop: a loop that runs while a condition holds, with its derivative forward and its batching. */
import { UnsupportedError } from "../../../core/errors.js";
import { makeNode } from "../../build.js";
import { closeOverAll, GraphFunction, makePlaceholder } from "../../function.js";
import type { Node } from "../../node.js";
import type { BatchedInput, RoutinePrimitive } from "../../primitive.js";
import { batchedPlaceholders, deviceOf, inferBundle, outputOf, partsOf } from "../bundle.js";

export interface WhileParams {
  /** Parameters of both: constants, carries. The test has one bool as its result, the body the carries. */
  readonly test: GraphFunction;
  readonly body: GraphFunction;
  readonly constants: number;
  readonly maxRounds: number;
}

/** A loop that runs while its test holds. Inputs: constants, first carries. Parts: last carries. */
export const whileLoop: RoutinePrimitive = {
  name: "whileLoop",
  kind: "routine",
  infer: inferBundle,
  bundle: {
    jvp: (g, node, tangents) => {
      const { test, body, constants, maxRounds } = whileParams(node);
      const isMoving = node.inputs.map(
        (input, i) => tangents[i] !== null || (i >= constants && g.isDifferentiable(input.dtype)),
      );
      const own = body.parameters.map(makePlaceholder);
      const moved = own.map((parameter, i) => (isMoving[i] ? makePlaceholder(parameter) : null));
      const results = body.apply(own);
      const changes = g.pushForward(results, own, moved);
      const carried = changes.flatMap((change, i) =>
        isMoving[constants + i] ? [change ?? g.zeros(results[i].shape, results[i])] : [],
      );
      const present = (list: readonly (Node | null)[]) => list.filter((each) => each !== null);
      const parameters = [
        ...own.slice(0, constants),
        ...present(moved.slice(0, constants)),
        ...own.slice(constants),
        ...present(moved.slice(constants)),
      ];
      const start = tangents.map((t, i) => (isMoving[i] ? (t ?? g.zeros(node.inputs[i].shape, node.inputs[i])) : null));
      const inputs = [
        ...node.inputs.slice(0, constants),
        ...present(start.slice(0, constants)),
        ...node.inputs.slice(constants),
        ...present(start.slice(constants)),
      ];
      const { bodies, captured } = closeOverAll([test.apply(own), [...results, ...carried]], parameters);
      const parts = whileNode([...captured, ...inputs], {
        test: bodies[0],
        body: bodies[1],
        constants: captured.length + constants + present(moved.slice(0, constants)).length,
        maxRounds,
      });
      let at = results.length;
      return results.map((_, i) => (isMoving[constants + i] ? parts[at++] : null));
    },
    vjp: () => {
      throw new UnsupportedError(
        "grad: a whileLoop has no reverse derivative, because how many rounds it takes is not known beforehand. Use scan or " +
          'forLoop with a fixed number of rounds, forward mode (jvp, jacobian with { mode: "forward" }), or customGradient.',
      );
    },
    batch: (g, node, inputs, size) => {
      const { test, body, constants, maxRounds } = whileParams(node);
      const isBatched = inputs.map((input) => input.isBatched);
      const batchedBody = () => {
        const given = batchedPlaceholders(body.parameters, isBatched, size);
        return {
          own: given.map(({ node: each }) => each),
          results: g.vectorize(body.results, body.parameters, given, size),
          test: g.vectorize(test.results, test.parameters, given, size)[0],
        };
      };
      let made = batchedBody();
      for (;;) {
        const grown = made.results.flatMap((result, i) =>
          (result.isBatched || made.test.isBatched) && !isBatched[constants + i] ? [constants + i] : [],
        );
        if (grown.length === 0) break;
        for (const i of grown) isBatched[i] = true;
        made = batchedBody();
      }
      const whole = ({ node: each, isBatched: has }: BatchedInput) =>
        has ? each : g.broadcast(each, [size, ...each.shape]);
      const goesOn = made.test;
      // The loop runs while any member goes on; finished members keep their values.
      const results = made.results.map((result, i) => {
        if (!isBatched[constants + i]) return result.node;
        const next = whole(result);
        if (!goesOn.isBatched) return next;
        const mask = g.broadcast(g.reshape(goesOn.node, [size, ...next.shape.slice(1).map(() => 1)]), next.shape);
        return g.where(mask, next, made.own[constants + i]);
      });
      const parts = whileNode(
        inputs.map((input, i) => (isBatched[i] ? whole(input) : input.node)),
        {
          test: new GraphFunction(made.own, [goesOn.isBatched ? g.any(goesOn.node, [0]) : goesOn.node]),
          body: new GraphFunction(made.own, results),
          constants,
          maxRounds,
        },
      );
      return parts.map((each, i) => ({ node: each, isBatched: isBatched[constants + i] }));
    },
  },
};

const whileParams = ({ params }: Node): WhileParams => params as unknown as WhileParams;

export function whileNode(inputs: readonly Node[], params: WhileParams): Node[] {
  const outputs = params.body.results.map(outputOf);
  if (outputs.length === 0) return [];
  return partsOf(makeNode(whileLoop, inputs, { ...params, outputs }, deviceOf(inputs, params.body)));
}
