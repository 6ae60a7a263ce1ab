/**
 * Operations with several results. A node has one value, so such an operation is a bundle: a node without a value of its own,
 * whose results are `part`s of it. Params of every bundle: outputs, the shapes and dtypes of its parts. An operation without
 * results is no bundle; there is nothing to compute.
 */
import type { DType } from "../../core/dtype.js";
import type { Shape } from "../../core/shape.js";
import { makeNode } from "../build.js";
import { type GraphFunction, makePlaceholder } from "../function.js";
import type { Node } from "../node.js";
import type { BatchedInput, RoutinePrimitive } from "../primitive.js";

export interface Output {
  readonly shape: Shape;
  readonly dtype: DType;
}

/** One result of a bundle. Params: index. */
export const part: RoutinePrimitive = {
  name: "part",
  kind: "routine",
  infer: ([bundle], params) => outputsOf(bundle)[params.index as number],
};

export const outputsOf = ({ params }: Node): readonly Output[] => params.outputs as readonly Output[];

/** Whether a node is a bundle: it has no value of its own. */
export const isBundle = ({ params }: Node): boolean => params.outputs !== undefined;

/** The shape of a bundle itself has no meaning. */
export const inferBundle = () => ({ shape: [], dtype: "bool" as const });

export const outputOf = ({ shape, dtype }: Node): Output => ({ shape: [...shape], dtype });

export function partsOf(bundle: Node): Node[] {
  return outputsOf(bundle).map((_, index) => makeNode(part, [bundle], { index }, bundle.device));
}

/** The device of a bundle. */
export const deviceOf = (inputs: readonly Node[], body: GraphFunction) =>
  (inputs[0] ?? body.results[0] ?? body.parameters[0]).device;

/** Placeholders for the parameters of a loop's body, with the batch as first axis where the inputs have it. */
export function batchedPlaceholders(
  parameters: readonly Node[],
  isBatched: readonly boolean[],
  size: number,
): BatchedInput[] {
  return parameters.map((parameter, i) => {
    const { shape, dtype, device } = parameter;
    const like = isBatched[i] ? { shape: [size, ...shape], dtype, device } : parameter;
    return { node: makePlaceholder(like), isBatched: isBatched[i] };
  });
}
