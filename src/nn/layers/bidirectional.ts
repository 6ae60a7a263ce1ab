/**
 * Recurrent layers joined: `bidirectional` runs one in each direction (Schuster & Paliwal 1997), `stacked` one on the outputs of the other.
 * Masks, lengths and first states go to each of them. What they join may be joined itself.
 */
import { checkChoice, checkOptions } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { concat, type Tensor } from "../../tensor/index.js";
import { type AnyLayer, type Definition, Layer } from "../core/layer.js";
import type { Scope } from "../core/scope.js";
import { namedByKind } from "../core/sequential.js";
import { checkRate, dropped } from "./dropout.js";
import type { WithState } from "./recurrent-run.js";
import { type RecurrentInput, type Sequence, sequenceOf } from "./sequence-input.js";

/** Options of `bidirectional`. */
export interface BidirectionalOptions {
  /** Both outputs side by side ("concat", unless told), their sum, product or mean, or a list of the two ("none"). */
  readonly merge?: "concat" | "sum" | "mul" | "average" | "none";
}

/** Options of `stacked`. */
export interface StackedOptions {
  /** The share of outputs that is dropped between the layers while training; 0. */
  readonly dropout?: number;
}

const RECURRENT = ["rnn", "lstm", "gru", "convLstm", "bidirectional", "stacked"];

/** Any recurrent layer, whatever its state. */
type RecurrentLayer = Layer<RecurrentInput<never>, unknown>;

/** A recurrent layer as the joining ones call it. */
type Recurrent = Layer<RecurrentInput<unknown>, WithState<unknown>>;

/** A state for each direction. */
export interface Directions<S> {
  readonly forward: S;
  readonly backward: S;
}

/**
 * A recurrent layer and another like it that goes from the last step to the first: `bidirectional(lstm(64))`. With the layer's `returnState`
 * the state is { forward, backward }, and so is `initialState`.
 */
export function bidirectional<S, Out>(
  layer: Layer<RecurrentInput<S>, Out>,
  options: BidirectionalOptions & { readonly merge: "none" },
): Layer<RecurrentInput<Directions<S>>, readonly [Out, Out]>;
export function bidirectional<S, Out>(
  layer: Layer<RecurrentInput<S>, Out>,
  options?: BidirectionalOptions,
): Layer<RecurrentInput<Directions<S>>, Out extends WithState<S> ? WithState<Directions<S>> : Out>;
export function bidirectional(
  layer: Layer<RecurrentInput<never>, unknown>,
  options: BidirectionalOptions = {},
): Layer<never, unknown> {
  checkOptions("bidirectional", options, { merge: "text" });
  checkChoice("bidirectional", "the option merge", options.merge, ["concat", "sum", "mul", "average", "none"]);
  const forward = checkRecurrentLayer("bidirectional", layer);
  const backward = forward.withOptions({ reverse: forward.options.reverse !== true });
  return new Layer(directionsOf({ forward, backward }, options)) as unknown as Layer<never, unknown>;
}

const directionsOf = (
  parts: Readonly<Record<string, AnyLayer>>,
  options: BidirectionalOptions,
): Definition<RecurrentInput<Directions<unknown>>, unknown> => ({
  kind: "bidirectional",
  options: { ...options },
  parts,
  run(scope, input) {
    const { initialState, ...rest } = sequenceOf("bidirectional", input);
    const run = (name: "forward" | "backward") =>
      runPart(scope, name, parts[name] as AnyLayer, { ...rest, initialState: initialState?.[name] });
    const [forward, backward] = [run("forward"), run("backward")];
    const first = parts.forward as AnyLayer;
    const output = merged(forward.output, backward.output, featureAxis(first, forward.output), options);
    if (!returnsState(first)) return output;
    return { output, state: { forward: forward.state, backward: backward.state } };
  },
  withParts: (others) => directionsOf(others, options),
  withOptions({ reverse, ...changes }) {
    const turned = (part: AnyLayer, isTurned: boolean) =>
      part.withOptions(reverse === undefined ? changes : { ...changes, reverse: (reverse === true) !== isTurned });
    const { forward, backward } = parts as { forward: AnyLayer; backward: AnyLayer };
    return directionsOf({ forward: turned(forward, false), backward: turned(backward, true) }, options);
  },
});

function merged(forward: Tensor, backward: Tensor, axis: number, { merge = "concat" }: BidirectionalOptions): unknown {
  switch (merge) {
    case "concat":
      return concat([forward, backward], { axis });
    case "sum":
      return forward.add(backward);
    case "mul":
      return forward.mul(backward);
    case "average":
      return forward.add(backward).mul(0.5);
    case "none":
      return [forward, backward];
  }
}

/**
 * Recurrent layers one on the outputs of the other: `stacked([lstm(64), lstm(64)], { dropout: 0.2 })`; an object names them. All but the last give the outputs of
 * all steps, whatever they say. With the last layer's `returnState` the state is a list, and so is `initialState`.
 */
export function stacked<Out = Tensor>(
  layers: readonly RecurrentLayer[] | Readonly<Record<string, RecurrentLayer>>,
  options: StackedOptions = {},
): Layer<RecurrentInput<readonly unknown[]>, Out> {
  checkOptions("stacked", options, { dropout: "number" });
  checkRate("stacked", options.dropout ?? 0);
  const isObject = typeof layers === "object" && layers !== null && !(layers instanceof Layer);
  const given = isObject ? Object.entries(layers) : [];
  if (given.length === 0) {
    throw new ArgumentError(`stacked: takes a list of recurrent layers, as in stacked([lstm(64), lstm(64)]).`);
  }
  const checked = given.map(([name, each]) => [name, checkRecurrentLayer("stacked", each)] as const);
  const parts = Array.isArray(layers) ? namedByKind(checked.map(([, each]) => each)) : Object.fromEntries(checked);
  return new Layer(stackOf<Out>(parts, options));
}

const stackOf = <Out>(
  parts: Readonly<Record<string, AnyLayer>>,
  options: StackedOptions,
): Definition<RecurrentInput<readonly unknown[]>, Out> => ({
  kind: "stacked",
  options: { ...options },
  parts,
  run(scope, input) {
    const { initialState, x: first, ...rest } = sequenceOf("stacked", input);
    const names = Object.keys(parts);
    checkStates(initialState, names.length);
    const { dropout = 0 } = options;
    const states: unknown[] = [];
    let x = first;
    names.forEach((name, i) => {
      const isLast = i === names.length - 1;
      const part = parts[name] as AnyLayer;
      const inner = isLast ? part : part.withOptions({ returnSequences: true });
      const { output, state } = runPart(scope, name, inner, { x, ...rest, initialState: initialState?.[i] });
      states.push(state);
      x = isLast ? output : dropped(scope, output, dropout, output.shape);
    });
    const last = parts[names.at(-1) as string] as AnyLayer;
    return (returnsState(last) ? { output: x, state: states } : x) as Out;
  },
  withParts: (others) => stackOf(others, options),
  withOptions(changes) {
    const changed = Object.entries(parts).map(([name, part]) => [name, part.withOptions(changes)] as const);
    return stackOf(Object.fromEntries(changed), options);
  },
});

function checkStates(states: readonly unknown[] | undefined, count: number): void {
  if (states === undefined || (Array.isArray(states) && states.length === count)) return;
  throw new ArgumentError(`stacked: initialState is a list with a state for each of the ${count} layers.`);
}

/** A part's output and state, whether it returns the state or not. */
function runPart(scope: Scope, name: string, part: AnyLayer, input: Sequence<unknown>): WithState<unknown> {
  const inner = part.withOptions({ returnState: true }) as unknown as Recurrent;
  const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
  return inner.call(scope.inside(name, part.kind), given as unknown as Sequence<unknown>);
}

/** Whether a layer returns its state: that of joined ones is the last part's say. */
function returnsState(layer: AnyLayer): boolean {
  const inner = Object.values(layer.parts).at(-1);
  return inner ? returnsState(inner) : layer.options.returnState === true;
}

/** The axis of features of an output: the last, or that of the channels of images. */
function featureAxis(layer: AnyLayer, output: Tensor): number {
  const inner = Object.values(layer.parts).at(-1);
  if (inner) return featureAxis(inner, output);
  if (layer.kind !== "convLstm" || layer.options.channels === "last") return output.rank - 1;
  return layer.options.returnSequences ? 2 : 1;
}

function checkRecurrentLayer(operation: string, layer: unknown): AnyLayer {
  if (layer instanceof Layer && RECURRENT.includes(layer.kind)) return layer as unknown as AnyLayer;
  const given = layer instanceof Layer ? `the layer ${layer.kind}` : shown(layer);
  throw new ArgumentError(`${operation}: takes recurrent layers, ${RECURRENT.join(", ")}; not ${given}.`);
}
