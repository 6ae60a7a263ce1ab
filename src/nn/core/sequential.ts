/** Layers one after the other: the output of each is the input of the next. */
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { isTensor, type Tensor } from "../../tensor/index.js";
import { type AnyLayer, checkName, type Definition, Layer, layer } from "./layer.js";

/** A layer, or a function of the user's own. */
export type Step = AnyLayer | ((x: never) => unknown);

/**
 * A model of layers and functions that follow one another: `sequential(dense(128), relu, dense(10))`. Layers are named after
 * their kind and counted, `dense0`, `dense1`; an object names them: `sequential({ hidden: dense(128), head: dense(10) })`.
 */
export function sequential<In = Tensor, Out = Tensor>(...steps: readonly Step[]): Layer<In, Out>;
export function sequential<In = Tensor, Out = Tensor>(steps: Readonly<Record<string, Step>>): Layer<In, Out>;
export function sequential<In, Out>(...given: readonly unknown[]): Layer<In, Out> {
  const [first] = given;
  const isNamed = given.length === 1 && typeof first === "object" && first !== null && !(first instanceof Layer);
  const parts = isNamed
    ? Object.fromEntries(Object.entries(first).map(([name, step]) => orderedPart(name, step)))
    : namedByKind(given.map(asLayer));
  return new Layer(definitionOf<In, Out>(parts));
}

const definitionOf = <In, Out>(parts: Readonly<Record<string, AnyLayer>>): Definition<In, Out> => ({
  kind: "sequential",
  options: {},
  parts,
  run(scope, input) {
    let value: unknown = input;
    for (const [name, part] of Object.entries(parts)) {
      const inside = scope.inside(name, part.kind);
      value = withMask(part, value, (input) => part.call(inside, input as never));
      if (value === undefined) {
        throw new ArgumentError(`${inside.label} gave undefined; its function returns a tensor.`);
      }
    }
    return value as Out;
  },
  withParts: definitionOf<In, Out>,
});

/** Kinds that act on each step of a sequence by itself, so that its mask holds for the result, too. */
// biome-ignore format: by family
const BY_STEP = new Set([
  "embedding", "quantizedEmbedding", "sinusoidalPositions", "learnedPositions",
  "dense", "quantizedDense", "lora", "bias", "prelu", "feedForward", "layerNorm", "rmsNorm",
  "dropout", "alphaDropout",
]);

/**
 * `{ x, mask }` goes past layers that act step by step, with the mask, to the layer that uses it: `sequential(masking(), embedding(…), lstm(…))`.
 * Others get the object.
 */
function withMask(part: AnyLayer, value: unknown, call: (input: unknown) => unknown): unknown {
  if (!BY_STEP.has(part.kind) || !isMasked(value)) return call(value);
  return { ...value, x: call(value.x) };
}

/** A tensor with what says which of its steps count, as recurrent and attention layers take it. */
const isMasked = (value: unknown): value is { readonly x: Tensor } =>
  typeof value === "object" &&
  value !== null &&
  !isTensor(value) &&
  "x" in value &&
  isTensor(value.x) &&
  Object.keys(value).every((name) => name === "x" || name === "mask" || name === "lengths");

/** A part of an object whose order counts. */
function orderedPart(name: string, step: unknown): [string, AnyLayer] {
  if (/^\d+$/.test(name)) {
    throw new ArgumentError(
      `sequential: the name "${name}" is a number, and objects have those first and sorted; give layers as arguments, or names.`,
    );
  }
  return namedPart("sequential", name, step);
}

/** A part that the user gave a name, as an entry. */
export function namedPart(operation: string, name: string, step: unknown): [string, AnyLayer] {
  checkName(operation, name);
  return [name, asLayer(step)];
}

/** A function as a layer without parameters. Its name is the function's, and its option `function` the function, for files. */
export function asLayer(step: unknown): AnyLayer {
  if (step instanceof Layer) return step as unknown as AnyLayer;
  if (typeof step !== "function") {
    throw new ArgumentError(`sequential: ${shown(step)} is neither a layer nor a function.`);
  }
  const f = step as (x: unknown) => unknown;
  return layer(f.name || "function", { function: f }, (_, x: unknown) => f(x)) as unknown as AnyLayer;
}

/** Names of layers by their kinds: dense0, relu0, dense1. A name that the user gave stays. */
export function namedByKind(layers: readonly AnyLayer[]): Record<string, AnyLayer> {
  const counts = new Map<string, number>();
  const named: Record<string, AnyLayer> = {};
  for (const each of layers) {
    // A kind of the user's own, or a function's name as "bound f", may hold what a path cannot.
    const kind = each.kind.replace(/[\s.]/g, "_");
    const count = counts.get(kind) ?? 0;
    const name = each.name ?? `${kind}${count}`;
    if (each.name === null) counts.set(kind, count + 1);
    if (Object.hasOwn(named, name)) throw new ArgumentError(`sequential: two layers are named "${name}".`);
    named[name] = each;
  }
  return named;
}
