/**
 * scan: a loop over the first axis of sequences, with its derivatives and batching.
 *
 * A derivative given by hand may use tensors from anywhere. So the derivative of a body is closed over again: tensors that a
 * rule inside it brought along become its first parameters, and the first inputs of the loop.
 */
import { makeNode } from "../../build.js";
import { closeOver, GraphFunction, makePlaceholder } from "../../function.js";
import type { Node } from "../../node.js";
import type { BatchedInput, RoutinePrimitive } from "../../primitive.js";
import { batchedPlaceholders, deviceOf, inferBundle, type Output, outputOf, outputsOf, partsOf } from "../bundle.js";
import { reversed } from "./reverse-scan.js";

export interface ScanParams {
  /** Parameters: constants, carries, one element of each sequence. Results: carries, one element of each stacked result. */
  readonly body: GraphFunction;
  readonly constants: number;
  readonly carries: number;
  readonly length: number;
  readonly isReverse: boolean;
}

/**
 * A loop over the first axis of sequences. Inputs: constants, first carries, sequences. Parts: last carries, stacked results,
 * and, for reverse mode, the carries at the start of each round, stacked too. Unused parts are not computed.
 */
export const scan: RoutinePrimitive = {
  name: "scan",
  kind: "routine",
  infer: inferBundle,
  bundle: {
    jvp: (g, node, tangents) => {
      const { body, constants, carries, length, isReverse } = paramsOf(node);
      const isMoving = node.inputs.map(
        (input, i) =>
          tangents[i] !== null || (i >= constants && i < constants + carries && g.isDifferentiable(input.dtype)),
      );
      const own = body.parameters.map(makePlaceholder);
      const moved = own.map((parameter, i) => (isMoving[i] ? makePlaceholder(parameter) : null));
      const results = body.apply(own);
      const changes = g.pushForward(results, own, moved);
      const solid = changes.map((change, i) => {
        if (change) return change;
        const isCarried = i < carries && isMoving[constants + i];
        return isCarried ? g.zeros(results[i].shape, results[i]) : null;
      });
      const pick = <T>(list: readonly T[], from: number, to: number) => list.slice(from, to);
      const end = node.inputs.length;
      const ranges = [
        [0, constants],
        [constants, constants + carries],
        [constants + carries, end],
      ] as const;
      const parameters = ranges.flatMap(([from, to]) => [...pick(own, from, to), ...present(pick(moved, from, to))]);
      const start = tangents.map((t, i) => (isMoving[i] ? (t ?? g.zeros(node.inputs[i].shape, node.inputs[i])) : null));
      const inputs = ranges.flatMap(([from, to]) => [
        ...pick(node.inputs, from, to),
        ...present(pick(start, from, to)),
      ]);
      const carried = present(pick(solid, 0, carries));
      const stacked = present(pick(solid, carries, results.length));
      const { body: next, captured } = closeOver(
        [...pick(results, 0, carries), ...carried, ...pick(results, carries, results.length), ...stacked],
        parameters,
      );
      const parts = scanNode([...captured, ...inputs], {
        body: next,
        constants: captured.length + constants + present(pick(moved, 0, constants)).length,
        carries: carries + carried.length,
        length,
        isReverse,
      });
      // Tangents follow the values they belong to: among the carries, the stacked results, the stacked carries.
      const count = results.length - carries;
      let carriedAt = carries;
      let stackedAt = carries + carried.length + count;
      let begunAt = next.results.length + carries;
      return outputsOf(node).map((_, i) => {
        if (i >= results.length) return isMoving[constants + i - results.length] ? parts[begunAt++] : null;
        if (solid[i] === null) return null;
        return parts[i < carries ? carriedAt++ : stackedAt++];
      });
    },
    vjp: (g, node, cotangents, isWanted = () => true) => reversed(g, node, cotangents, isWanted, scanNode),
    batch: (g, node, inputs, size) => {
      const params = paramsOf(node);
      const { body, constants, carries, length } = params;
      const isSequence = (i: number) => i >= constants + carries;
      // A carry is batched if its start is, or if a round makes it so: iterate until nothing changes.
      const isBatched = inputs.map((input) => input.isBatched);
      const batchedBody = () => {
        const given = batchedPlaceholders(body.parameters, isBatched, size);
        const results = g.vectorize(body.results, body.parameters, given, size);
        return { own: given.map(({ node: each }) => each), results };
      };
      let made = batchedBody();
      for (;;) {
        const grown = made.results
          .slice(0, carries)
          .flatMap((result, i) => (result.isBatched && !isBatched[constants + i] ? [constants + i] : []));
        if (grown.length === 0) break;
        for (const i of grown) isBatched[i] = true;
        made = batchedBody();
      }
      const whole = ({ node: each, isBatched: has }: BatchedInput) =>
        has ? each : g.broadcast(each, [size, ...each.shape]);
      const results = made.results.map((result, i) =>
        i < carries && isBatched[constants + i] ? whole(result) : result.node,
      );
      const given = inputs.map((input, i) => {
        if (!isBatched[i]) return input.node;
        if (!isSequence(i)) return whole(input);
        // Rounds first, then members.
        return g.permute(input.node, [1, 0, ...input.node.shape.slice(2).map((_, k) => k + 2)]);
      });
      const parts = scanNode(given, { ...params, body: new GraphFunction(made.own, results) });
      return parts.map((each, i): BatchedInput => {
        if (i < carries) return { node: each, isBatched: isBatched[constants + i] };
        const isOne = i < results.length ? made.results[i].isBatched : isBatched[constants + i - results.length];
        if (!isOne) return { node: each, isBatched: false };
        return {
          node: length === 0 ? g.zeros([size, 0, ...each.shape.slice(2)], each) : g.axisFirst(each, 1),
          isBatched: true,
        };
      });
    },
  },
};

const present = (list: readonly (Node | null)[]): Node[] => list.filter((each) => each !== null);

const paramsOf = ({ params }: Node): ScanParams => params as unknown as ScanParams;

/** The parts of a scan. */
export function scanNode(inputs: readonly Node[], params: ScanParams): Node[] {
  const { body, carries, constants, length } = params;
  const stacked = ({ shape, dtype }: Node): Output => ({ shape: [length, ...shape], dtype });
  const outputs = [
    ...body.results.slice(0, carries).map(outputOf),
    ...body.results.slice(carries).map(stacked),
    ...body.parameters.slice(constants, constants + carries).map(stacked),
  ];
  if (outputs.length === 0) return [];
  return partsOf(makeNode(scan, inputs, { ...params, outputs }, deviceOf(inputs, body)));
}
