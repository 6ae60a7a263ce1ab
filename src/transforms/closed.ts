/** A function of tensors as a closed graph, to be written into kernels. Tensors that it reaches by closure are computed first. */
import { closeOver, type GraphFunction, makePlaceholder } from "../graph/function.js";
import type { Node } from "../graph/node.js";
import { Tensor } from "../tensor/index.js";
import { tracedOn } from "./trace.js";

interface ClosedFunction {
  /** Its first parameters stand for `captured`, the rest for the arguments. */
  readonly body: GraphFunction;
  /** Tensors from outside, in memory. */
  readonly captured: readonly Tensor[];
}

/** Traces `f` on arguments of these shapes, dtypes and devices. Values that do not depend on them are computed now, once. */
export function closed(
  f: (...args: Tensor[]) => readonly Tensor[],
  like: readonly Pick<Node, "shape" | "dtype" | "device">[],
): ClosedFunction {
  const placeholders = like.map(makePlaceholder);
  const results = tracedOn("closed", placeholders, () => f(...placeholders.map((node) => new Tensor(node))));
  const { body, captured } = closeOver(
    results.map(({ node }) => node),
    placeholders,
  );
  if (captured.length > 0) captured[0].device.realize(captured);
  return { body, captured: captured.map((node) => new Tensor(node)) };
}

/** A function of tensors traced on arguments like these. Computes nothing; `captured` is what it reaches by closure. */
function tracedLike(
  operation: string,
  f: (...args: Tensor[]) => readonly Tensor[],
  like: readonly Tensor[],
): ReturnType<typeof closeOver> {
  const placeholders = like.map(({ node }) => makePlaceholder(node));
  const results = tracedOn(operation, placeholders, () => f(...placeholders.map((node) => new Tensor(node))));
  return closeOver(
    results.map(({ node }) => node),
    placeholders,
  );
}

/**
 * The operations of a function as text: the same for functions that do the same with arguments of these shapes and dtypes, also in another
 * process. Numbers are part of it; tensors that it reaches by closure count by their dtypes and shapes.
 */
export const operationsOf = (
  operation: string,
  f: (...args: Tensor[]) => readonly Tensor[],
  like: readonly Tensor[],
): string => tracedLike(operation, f, like).body.key;

/** A function without closure: `apply` takes what it captured first. Unlike `closed` it computes nothing, so derivatives flow. */
export interface OpenFunction {
  readonly captured: readonly Tensor[];
  apply(captured: readonly Tensor[], args: readonly Tensor[]): Tensor[];
}

/**
 * Traces `f` on arguments of these shapes, dtypes and devices, and makes what it reaches by closure its arguments. So a rule of
 * `customGradient` can send gradients to tensors that a user's function captured.
 */
export function withoutClosure(
  operation: string,
  f: (...args: Tensor[]) => readonly Tensor[],
  like: readonly Tensor[],
): OpenFunction {
  const { body, captured } = tracedLike(operation, f, like);
  return {
    captured: captured.map((node) => new Tensor(node)),
    apply: (own, args) => body.apply([...own, ...args].map(({ node }) => node)).map((node) => new Tensor(node)),
  };
}
