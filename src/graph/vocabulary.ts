/**
 * The vocabulary in which the rules of primitives are written: functions of nodes, and derivatives and batches of whole
 * graphs, for operations that have graphs inside. Rules get it as an argument, because the files of the primitives cannot
 * import each other in a circle.
 */
import { vectorize } from "./batch.js";
import { pullBack, pushForward } from "./differentiate.js";
import type { Node } from "./node.js";
import * as ops from "./ops.js";
import type { BatchedInput } from "./primitive.js";

export type GraphOps = typeof ops & {
  /** Cotangents of the variables, given those of the outputs; null stands for zero. */
  pullBack(outputs: readonly Node[], cotangents: readonly (Node | null)[], variables: readonly Node[]): (Node | null)[];
  /** Tangents of the outputs, given those of the variables; null stands for zero. */
  pushForward(
    outputs: readonly Node[],
    variables: readonly Node[],
    tangents: readonly (Node | null)[],
  ): (Node | null)[];
  /** The outputs with inputs in place of the placeholders; some inputs have a batch as their first axis. */
  vectorize(
    outputs: readonly Node[],
    placeholders: readonly Node[],
    inputs: readonly BatchedInput[],
    size: number,
  ): BatchedInput[];
};

export const g: GraphOps = {
  ...ops,
  pullBack: (...args) => pullBack(g, ...args),
  pushForward: (...args) => pushForward(g, ...args),
  vectorize: (...args) => vectorize(g, ...args),
};
