/** Running a function on variables or placeholders, to record its graph. */
import { ArgumentError } from "../core/errors.js";
import { derive } from "../graph/build.js";
import { makePlaceholder, runOn } from "../graph/function.js";
import type { Node, Trace } from "../graph/node.js";
import { variable } from "../graph/primitives/movement.js";
import { Tensor } from "../tensor/index.js";

let current: Trace | null = null;
let count = 0;

/** Runs work in a trace of its own. Nodes that depend on its variables keep their inputs while the trace is open. */
export function withTrace<T>(work: (trace: Trace) => T): T {
  const trace: Trace = { isOpen: true, outer: current, level: ++count };
  current = trace;
  try {
    return work(trace);
  } finally {
    trace.isOpen = false;
    current = trace.outer;
  }
}

/** A tensor of the same value that a trace can be differentiated by. */
export function variableOf(trace: Trace, { node }: Tensor): Tensor {
  const own = derive(variable, node, {});
  own.trace = trace;
  return new Tensor(own);
}

/** A tensor without a value, of the shape, dtype and device of a node. */
export function placeholderLike(like: Pick<Node, "shape" | "dtype" | "device">): Tensor {
  return new Tensor(makePlaceholder(like));
}

/** A placeholder for a node, a number where that is one. */
export function standInFor(node: Node): Node {
  const own = makePlaceholder(node);
  own.isWeak = node.isWeak;
  return own;
}

/** The transforms whose functions are running, the outermost first. */
const running: string[] = [];

/** The transforms around the running function, the outermost first. */
export const runningTransforms = (): readonly string[] => running;

/** Runs a function for a transform. */
export function runningFor<T>(operation: string, run: () => T): T {
  running.push(operation);
  try {
    return run();
  } finally {
    running.pop();
  }
}

/** Runs a user's function on placeholders. */
export function tracedOn<T>(operation: string, placeholders: readonly Node[], run: () => T): T {
  const result = runOn(placeholders, operation, () => runningFor(operation, run));
  checkNotAsync(result, operation);
  return result;
}

/** Functions under a transform return trees of tensors, at once. */
export function checkNotAsync(result: unknown, operation: string): void {
  if (!(result instanceof Promise)) return;
  // Nobody awaits this promise; without a handler its rejection would end the process.
  result.catch(() => {});
  throw new ArgumentError(
    `${operation}: the function returned a promise. Transforms take functions that return tensors at once: values cannot be ` +
      "read inside them, so await before or after the call; return what you want to read.",
  );
}
