/** Recurrent layers, `rnn`, `lstm` and `gru`, and their cells, for programs that go step by step. */
import { checkChoice, checkOptions, checkWhole, type OptionKinds } from "../../core/arguments.js";
import type { Tensor } from "../../tensor/index.js";
import type { Layer } from "../core/layer.js";
import {
  CELL_ACTIVATIONS,
  type GruCellOptions,
  gruCellOf,
  type LstmCellOptions,
  type LstmState,
  lstmCellOf,
  type RecurrentState,
  type RnnCellOptions,
  simpleCell,
} from "./recurrent-cells.js";
import {
  CELL_KINDS,
  type CellInput,
  cellLayer,
  checkRecurrent,
  RECURRENT_KINDS,
  type RecurrentOptions,
  recurrentLayer,
  type WithState,
} from "./recurrent-run.js";
import type { RecurrentInput } from "./sequence-input.js";

/** Options of `rnn`. */
export interface RnnOptions extends RnnCellOptions, RecurrentOptions {}
/** Options of `lstm`. */
export interface LstmOptions extends LstmCellOptions, RecurrentOptions {}
/** Options of `gru`. */
export interface GruOptions extends GruCellOptions, RecurrentOptions {}

const RNN: OptionKinds<RnnCellOptions> = { ...CELL_KINDS, activation: "text" };
// biome-ignore format: one row
const LSTM: OptionKinds<LstmCellOptions> = { ...RNN, gate: "text", peephole: "flag", projection: "number", forgetBias: "number" };
const GRU: OptionKinds<GruCellOptions> = { ...RNN, gate: "text", resetAfter: "flag" };
const AXES = "features";

/** Checks of options that name functions, when the layer is made. */
function checkNames(kind: string, options: { readonly activation?: string; readonly gate?: string }): void {
  checkChoice(kind, "the option activation", options.activation, Object.keys(CELL_ACTIVATIONS));
  checkChoice(kind, "the option gate", options.gate, Object.keys(CELL_ACTIVATIONS));
}

function checkProjection(kind: string, { projection }: LstmCellOptions): void {
  if (projection !== undefined) checkWhole(kind, "the width of the projection", projection, 1);
}

/**
 * A simple recurrent layer, h = tanh(x·weights + h·recurrent + biases) at each step: `rnn(64)`. It takes [batch, time, features], and
 * gives the last output, [batch, units], unless told otherwise.
 */
export function rnn(
  units: number,
  options: RnnOptions & { readonly returnState: true },
): Layer<RecurrentInput, WithState<RecurrentState>>;
export function rnn(units: number, options?: RnnOptions): Layer<RecurrentInput, Tensor>;
export function rnn(units: number, options: RnnOptions = {}): Layer<RecurrentInput, unknown> {
  checkOptions("rnn", options, { ...RNN, ...RECURRENT_KINDS });
  checkRecurrent("rnn", units, options);
  checkNames("rnn", options);
  return recurrentLayer({ kind: "rnn", given: { units }, cell: simpleCell(units, options), axes: AXES }, options);
}

/**
 * Long short-term memory: `lstm(128, { returnSequences: true })`. Its state is { hidden, cell }. `weights` and `recurrent` hold the gates
 * input, forget, candidate and output side by side, in PyTorch's and Keras' order.
 */
export function lstm(
  units: number,
  options: LstmOptions & { readonly returnState: true },
): Layer<RecurrentInput<LstmState>, WithState<LstmState>>;
export function lstm(units: number, options?: LstmOptions): Layer<RecurrentInput<LstmState>, Tensor>;
export function lstm(units: number, options: LstmOptions = {}): Layer<RecurrentInput<LstmState>, unknown> {
  checkOptions("lstm", options, { ...LSTM, ...RECURRENT_KINDS });
  checkRecurrent("lstm", units, options);
  checkNames("lstm", options);
  checkProjection("lstm", options);
  return recurrentLayer({ kind: "lstm", given: { units }, cell: lstmCellOf(units, options), axes: AXES }, options);
}

/** Gated recurrent units: `gru(128)`. `weights` and `recurrent` hold the gates reset, update and candidate, in PyTorch's order. */
export function gru(
  units: number,
  options: GruOptions & { readonly returnState: true },
): Layer<RecurrentInput, WithState<RecurrentState>>;
export function gru(units: number, options?: GruOptions): Layer<RecurrentInput, Tensor>;
export function gru(units: number, options: GruOptions = {}): Layer<RecurrentInput, unknown> {
  checkOptions("gru", options, { ...GRU, ...RECURRENT_KINDS });
  checkRecurrent("gru", units, options);
  checkNames("gru", options);
  return recurrentLayer({ kind: "gru", given: { units }, cell: gruCellOf(units, options), axes: AXES }, options);
}

/** One step of `rnn`, with the same parameters: `rnnCell(64).apply(params, { x, state })` gives { output, state }. */
export function rnnCell(
  units: number,
  options: RnnCellOptions = {},
): Layer<CellInput<RecurrentState>, WithState<RecurrentState>> {
  checkOptions("rnnCell", options, RNN);
  checkRecurrent("rnnCell", units, {});
  checkNames("rnnCell", options);
  return cellLayer({ kind: "rnnCell", given: { units }, cell: simpleCell(units, options) }, options);
}

/** One step of `lstm`, with the same parameters. */
export function lstmCell(
  units: number,
  options: LstmCellOptions = {},
): Layer<CellInput<LstmState>, WithState<LstmState>> {
  checkOptions("lstmCell", options, LSTM);
  checkRecurrent("lstmCell", units, {});
  checkNames("lstmCell", options);
  checkProjection("lstmCell", options);
  return cellLayer({ kind: "lstmCell", given: { units }, cell: lstmCellOf(units, options) }, options);
}

/** One step of `gru`, with the same parameters. */
export function gruCell(
  units: number,
  options: GruCellOptions = {},
): Layer<CellInput<RecurrentState>, WithState<RecurrentState>> {
  checkOptions("gruCell", options, GRU);
  checkRecurrent("gruCell", units, {});
  checkNames("gruCell", options);
  return cellLayer({ kind: "gruCell", given: { units }, cell: gruCellOf(units, options) }, options);
}
