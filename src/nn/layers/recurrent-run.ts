/**
 * Recurrent layers from cells. What depends on the input alone is one product over all steps; the loop over time, a `scan`, holds the
 * products with the state only. recurrent.ts and conv-lstm.ts make their layers here.
 */
import { checkWhole, type OptionKinds } from "../../core/arguments.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape, type Shape, sameShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { bernoulli } from "../../random/index.js";
import { isTensor, stack, type Tensor, where, zeros, zerosLike } from "../../tensor/index.js";
import { scan } from "../../transforms/control.js";
import * as tree from "../../transforms/tree.js";
import { type Definition, Layer, layer } from "../core/layer.js";
import { toDType } from "../core/policy.js";
import type { Scope } from "../core/scope.js";
import type { BoundCell, Cell, CellOptions, RecurrentState } from "./recurrent-cells.js";
import { type RecurrentInput, stepsOf } from "./sequence-input.js";

/** Options that all recurrent layers share. */
export interface RecurrentOptions {
  /** The outputs of all steps, [batch, time, …], instead of the last; false. */
  readonly returnSequences?: boolean;
  /** `{ output, state }` instead of the output alone; false. */
  readonly returnState?: boolean;
  /** From the last step to the first; false. Outputs stay at their steps. */
  readonly reverse?: boolean;
  /** The steps as one long program instead of a loop, for short sequences; false. */
  readonly unroll?: boolean;
  /** Inputs and outputs are [time, batch, …]; false. */
  readonly timeMajor?: boolean;
  /** The share of the input's features that is dropped while training, the same at all steps (Gal & Ghahramani 2016); 0. */
  readonly dropout?: number;
  /** The share of the hidden state that products do not see while training, the same at all steps; 0. */
  readonly recurrentDropout?: number;
  /** Zeros as the output of masked steps, instead of the output before them; false. */
  readonly zeroMasked?: boolean;
}

/** The result of a layer with `returnState`. */
export interface WithState<S> {
  readonly output: Tensor;
  readonly state: S;
}

/** An input of a cell: one step [batch, features], alone or with the state before it. */
export type CellInput<S> = Tensor | { readonly x: Tensor; readonly state?: S };

export const CELL_KINDS: OptionKinds<CellOptions> = {
  useBias: "flag",
  weights: "function",
  recurrent: "function",
  biases: "function",
};

// biome-ignore format: a row for each kind
export const RECURRENT_KINDS: OptionKinds<RecurrentOptions> = {
  returnSequences: "flag", returnState: "flag", reverse: "flag", unroll: "flag", timeMajor: "flag", zeroMasked: "flag",
  dropout: "number", recurrentDropout: "number",
};

export function checkRecurrent(kind: string, size: number, options: RecurrentOptions, what = "units"): void {
  checkWhole(kind, `the number of ${what}`, size, 1);
  for (const name of ["dropout", "recurrentDropout"] as const) {
    const rate = options[name] ?? 0;
    if (rate >= 0 && rate < 1) continue;
    throw new ArgumentError(`${kind}: the option ${name} is a probability from 0 to less than 1, not ${shown(rate)}.`);
  }
}

/** What a kind of recurrent layer is made of. */
interface Making<S extends RecurrentState> {
  readonly kind: string;
  /** Arguments that are no options, by name. */
  readonly given: Readonly<Record<string, unknown>>;
  readonly cell: Cell<S>;
  /** Axes after batch and time, for messages. */
  readonly axes: string;
}

/** A layer that takes a cell over a sequence. */
export function recurrentLayer<S extends RecurrentState, Out>(
  making: Making<S>,
  options: RecurrentOptions,
): Layer<RecurrentInput<S>, Out> {
  const { kind, given } = making;
  const definitionOf = (own: RecurrentOptions): Definition<RecurrentInput<S>, Out> => ({
    kind,
    options: { ...given, ...own },
    parts: {},
    run: (scope, input) => overTime(scope, input, making, own) as Out,
    withOptions: (changes) => definitionOf({ ...own, ...changes }),
  });
  return new Layer(definitionOf(options));
}

/** A layer of one step, with the parameters of the layer over sequences. */
export function cellLayer<S extends RecurrentState>(
  { kind, given, cell }: Omit<Making<S>, "axes">,
  options: CellOptions,
): Layer<CellInput<S>, WithState<S>> {
  return layer(kind, { ...given, ...options }, (scope, input: CellInput<S>) => {
    const { x, state } = isTensor(input) ? { x: input, state: undefined } : input;
    if (!isTensor(x) || x.rank !== 2) {
      const found = isTensor(x) ? formatShape(x.shape) : shown(x);
      throw new ShapeError(`${kind} takes one step, [batch, features] or { x, state }, but the input is ${found}.`);
    }
    const bound = cell.bind(scope, x, x.shape[0] as number);
    const given = bound.fromInput(x);
    const before = startingState(kind, bound, given, given.shape, state);
    const next = bound.step(before, given, before.hidden);
    return { output: next.hidden, state: next };
  });
}

function overTime<S extends RecurrentState>(
  scope: Scope,
  input: RecurrentInput<S>,
  { kind, cell, axes }: Making<S>,
  options: RecurrentOptions,
): Tensor | WithState<S> {
  const { timeMajor = false, dropout = 0, recurrentDropout = 0, returnSequences = false } = options;
  const { x: all, mask, initialState } = stepsOf<S>(kind, input, timeMajor, axes);
  // Padding may hold anything. The gradient of the weights sums over all steps, and 0 times NaN is NaN.
  const isOn = mask?.reshape([...mask.shape, ...all.shape.slice(2).map(() => 1)]);
  const x = isOn ? (where(isOn, all, 0).cast(all.dtype) as Tensor) : all;
  const [time, batch] = x.shape as [number, number];
  const bound = cell.bind(scope, x, time * batch);
  const kept = keptShares(scope, dropout, x.shape.slice(1), x);
  const given = bound.fromInput(kept ? x.mul(kept) : x);
  const start = startingState(kind, bound, given, given.shape.slice(1), initialState);
  const seenShare = keptShares(scope, recurrentDropout, start.hidden.shape, start.hidden);
  const step = (state: S, now: Tensor): S =>
    bound.step(state, now, seenShare ? state.hidden.mul(seenShare) : state.hidden);
  const round = (state: S, now: Tensor, isOn: Tensor | undefined): S => {
    const next = step(state, now);
    if (!isOn) return next;
    const among = (like: Tensor): Tensor => isOn.reshape([batch, ...like.shape.slice(1).map(() => 1)]);
    return tree.map((a: Tensor, b: Tensor) => where(among(a), a, b) as Tensor, next, state as never) as S;
  };
  const loop = options.unroll ? unrolled : scanned;
  const { state, outputs } = loop(round, start, { given, ...(mask && { mask }) }, options.reverse === true);
  const output = returnSequences ? inOrder(outputs, mask, options) : state.hidden;
  return options.returnState ? { output, state } : output;
}

/** The state given, or zeros. */
function startingState<S extends RecurrentState>(
  kind: string,
  bound: BoundCell<S>,
  like: Tensor,
  given: Shape,
  state: S | undefined,
): S {
  const shapes = bound.shapes(given);
  const { dtype, device } = like;
  const entries = (Object.keys(shapes) as (keyof S & string)[]).map((name) => {
    const shape = shapes[name];
    if (state === undefined) return [name, zeros(shape, { dtype, device })];
    const found: unknown = state[name];
    if (isTensor(found) && sameShape(found.shape, shape)) return [name, toDType(found, dtype)];
    const what = isTensor(found) ? `has shape ${formatShape(found.shape)}` : `is ${shown(found)}`;
    throw new ShapeError(`${kind}: the state's ${name} ${what}; here it is ${formatShape(shape)}.`);
  });
  return Object.fromEntries(entries) as S;
}

/** Factors that drop a share and scale the rest, or null where nothing is dropped. */
function keptShares(scope: Scope, rate: number, shape: Shape, { dtype }: Tensor): Tensor | null {
  if (!scope.isTraining || rate === 0) return null;
  const isKept = bernoulli(scope.key("dropout"), 1 - rate, shape);
  return isKept.cast(dtype).mul(1 / (1 - rate)) as Tensor;
}

/** What goes along with the steps. */
interface Along {
  readonly given: Tensor;
  readonly mask?: Tensor;
}
type Round<S> = (state: S, given: Tensor, mask: Tensor | undefined) => S;

/** The last state, and the outputs of all steps, time first. */
interface Looped<S> {
  readonly state: S;
  readonly outputs: Tensor;
}

function scanned<S extends RecurrentState>(round: Round<S>, start: S, along: Along, reverse: boolean): Looped<S> {
  const body = (state: S, now: Along): readonly [S, Tensor] => {
    const next = round(state, now.given, now.mask);
    return [next, next.hidden];
  };
  const [state, outputs] = scan(body, start, along, { reverse });
  return { state, outputs };
}

function unrolled<S extends RecurrentState>(round: Round<S>, start: S, along: Along, reverse: boolean): Looped<S> {
  const time = along.given.shape[0] as number;
  const order = Array.from({ length: time }, (_, i) => (reverse ? time - 1 - i : i));
  const outputs = new Array<Tensor>(time);
  let state = start;
  for (const t of order) {
    state = round(state, along.given.at(t) as Tensor, along.mask?.at(t) as Tensor | undefined);
    outputs[t] = state.hidden;
  }
  if (time === 0) return { state, outputs: zerosLike(start.hidden).expandDims(0).at(":0") as Tensor };
  return { state, outputs: stack(outputs, { axis: 0 }) };
}

/** Outputs in the order of the input's axes; zeros at masked steps where asked. */
function inOrder(outputs: Tensor, mask: Tensor | null, { timeMajor, zeroMasked }: RecurrentOptions): Tensor {
  const isOn = mask?.reshape([...mask.shape, ...outputs.shape.slice(2).map(() => 1)]);
  const shown = zeroMasked && isOn ? (where(isOn, outputs, 0).cast(outputs.dtype) as Tensor) : outputs;
  return timeMajor ? shown : shown.moveAxis(0, 1);
}
