/** Models of the user's own shape: named parts, and a function that says how values go through them. */
import { checkFunction } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import type { Tensor } from "../../tensor/index.js";
import { type AnyLayer, type Definition, Layer } from "./layer.js";
import type { Scope } from "./scope.js";
import { namedPart, type Step } from "./sequential.js";
import { findAt, isSubtree, type VariableTree } from "./variables.js";

/** A part inside the function of a block: called, it computes with its own parameters. */
export interface Part<In, Out> {
  (input: In): Out;
  /** Its parameters, for those who share them otherwise: an embedding whose table is also the last layer. */
  readonly params: VariableTree;
}

/** The parts of a block as its function gets them. */
export type PartsOf<P> = {
  readonly [K in keyof P]: P[K] extends Layer<infer In, infer Out>
    ? Part<In, Out>
    : P[K] extends (input: infer In) => infer Out
      ? Part<In, Out>
      : never;
};

/** Facts about a run besides its input. */
export interface BlockRun {
  readonly training: boolean;
}

/**
 * A model from parts and a function of them: residuals, several inputs and several outputs are plain TypeScript.
 *
 *     const residual = block({ first: dense(64), second: dense(64) }, ({ first, second }, x: Tensor) =>
 *       second(relu(first(x))).add(x),
 *     );
 *
 * A part that is called twice uses the same parameters twice.
 */
export function block<
  const P extends Readonly<Record<string, Step | Layer<never, unknown>>>,
  In = Tensor,
  Out = Tensor,
>(parts: P, forward: (parts: PartsOf<P>, input: In, run: BlockRun) => Out): Layer<In, Out> {
  checkFunction("block", forward);
  const layers = Object.fromEntries(Object.entries(parts).map(([name, part]) => namedPart("block", name, part)));
  const run = forward as unknown as (parts: unknown, input: In, run: BlockRun) => Out;
  return new Layer(definitionOf(layers, run));
}

const definitionOf = <In, Out>(
  parts: Readonly<Record<string, AnyLayer>>,
  forward: (parts: unknown, input: In, run: BlockRun) => Out,
): Definition<In, Out> => ({
  kind: "block",
  options: { forward },
  parts,
  run(scope, input) {
    const output = forward(boundParts(scope, parts), input, { training: scope.isTraining });
    if (output !== undefined) return output;
    throw new ArgumentError(`${scope.label}: its function gave undefined; return a tensor.`);
  },
  withParts: (others) => definitionOf(others, forward),
});

function boundParts(scope: Scope, parts: Readonly<Record<string, AnyLayer>>): Record<string, Part<unknown, unknown>> {
  const bound: Record<string, Part<unknown, unknown>> = {};
  for (const [name, part] of Object.entries(parts)) {
    const call = (input: unknown) => part.call(scope.inside(name, part.kind), input as never);
    bound[name] = Object.defineProperty(call, "params", {
      get: () => {
        const found = findAt(scope.run.params, [...scope.path, name]);
        return found !== undefined && isSubtree(found) ? found : {};
      },
    }) as Part<unknown, unknown>;
  }
  return bound;
}
