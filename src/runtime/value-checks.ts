/** Errors for values that are asked for inside a trace, where tensors stand for values to come. */
import { TraceError } from "../core/errors.js";
import { leftTraceOf } from "../graph/function.js";
import type { Node } from "../graph/node.js";

/** Throws where a tensor stands for values to come. */
export function checkHasValue(node: Node): void {
  if (node.isAbstract) throw valueInTrace(node);
}

function valueInTrace(node: Node): TraceError {
  const { shape, dtype } = node;
  const tracer = leftTraceOf(node);
  if (tracer !== undefined) {
    return new TraceError(
      `The value of a tensor [${shape}] of ${dtype} was asked for, but it left the function that ${tracer} traced, and has ` +
        "none: there it stood for the values of every call. Return it from that function, and read what the call returns.",
    );
  }
  return new TraceError(
    `The value of a tensor [${shape}] of ${dtype} was asked for inside a function that jit, vmap or a loop is tracing, ` +
      "where it has none yet. Return the tensor and read it outside; for choices use where() or cond(), for loops scan(), " +
      "whileLoop() or forLoop(); pass what the program should depend on as a static argument.",
  );
}
