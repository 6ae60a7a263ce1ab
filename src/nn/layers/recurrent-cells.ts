/**
 * One step of recurrent networks: the simple cell (Elman 1990), LSTM (Hochreiter & Schmidhuber 1997) and GRU (Cho et al. 2014). A cell
 * tells the part of its sums that depends on the input alone, which recurrent.ts computes for all steps at once, from the step
 * itself, which needs the state before it.
 */
import type { Shape } from "../../core/shape.js";
import type { Tensor } from "../../tensor/index.js";
import { hardSigmoid, linear, sigmoid, tanh } from "../activations/curves.js";
import { silu } from "../activations/gates.js";
import { relu } from "../activations/rectifiers.js";
import type { Initializer } from "../core/initializer.js";
import type { Scope } from "../core/scope.js";
import { zeros } from "../initializers/constants.js";
import { glorotUniform, orthogonal } from "../initializers/random.js";

/** The state of a recurrent layer; `hidden` is also the output of the step. */
export interface RecurrentState {
  readonly hidden: Tensor;
}

/** The state of an LSTM. */
export interface LstmState extends RecurrentState {
  readonly cell: Tensor;
}

/** Functions that cells may take for tanh and the sigmoid, by name, so that a layer's options can be written to a file. */
export const CELL_ACTIVATIONS = { tanh, relu, sigmoid, hardSigmoid, silu, linear };
/** The name of a function in a cell. */
export type CellActivation = keyof typeof CELL_ACTIVATIONS;

/** A cell, for inputs of any width. */
export interface Cell<S extends RecurrentState> {
  /** Its parameters for these inputs, `positions` of them: steps times examples. */
  bind(scope: Scope, x: Tensor, positions: number): BoundCell<S>;
}

/** A cell with its parameters. */
export interface BoundCell<S extends RecurrentState> {
  /** The part of the sums that comes from the input, for inputs of any number of steps: [...steps, batch, …] in, and out. */
  fromInput(x: Tensor): Tensor;
  /** The shapes of the state, from the shape of one step of `fromInput`. */
  shapes(given: Shape): { readonly [K in keyof S]: Shape };
  /** The next state. `seen` is the hidden state as the products see it: itself, or with parts dropped. */
  step(state: S, given: Tensor, seen: Tensor): S;
}

/** Options that all cells share. */
export interface CellOptions {
  /** Whether a vector is added to the sums; true. */
  readonly useBias?: boolean;
  readonly weights?: Initializer;
  /** First values of the weights of the hidden state; orthogonal. */
  readonly recurrent?: Initializer;
  readonly biases?: Initializer;
}

/** Options of `rnnCell`. */
export interface RnnCellOptions extends CellOptions {
  /** "tanh" unless told. */
  readonly activation?: CellActivation;
}

/** Options of `lstmCell`. */
export interface LstmCellOptions extends CellOptions {
  /** The function of candidates and of the cell's output; "tanh". */
  readonly activation?: CellActivation;
  /** The function of the gates; "sigmoid". */
  readonly gate?: CellActivation;
  /** Whether gates see the cell (Gers & Schmidhuber 2000); false. */
  readonly peephole?: boolean;
  /** The width that the output is projected to (Sak et al. 2014); none unless told. */
  readonly projection?: number;
  /** First value of the forget gate's bias: 1, as in Keras (Jozefowicz et al. 2015). PyTorch has 0. */
  readonly forgetBias?: number;
}

/** Options of `gruCell`. */
export interface GruCellOptions extends CellOptions {
  /** The function of candidates; "tanh". */
  readonly activation?: CellActivation;
  /** The function of the gates; "sigmoid". */
  readonly gate?: CellActivation;
  /** Whether the reset gate multiplies the product with the hidden state, as in PyTorch and Keras, or the state itself; true. */
  readonly resetAfter?: boolean;
}

/** The weights of inputs and of the hidden state, side by side for each gate, and the product of all inputs. */
function gates(scope: Scope, x: Tensor, positions: number, sizes: { hidden: number; results: number }, o: CellOptions) {
  const inputs = x.shape[x.rank - 1] as number;
  const { hidden, results } = sizes;
  const { weights = glorotUniform, recurrent = orthogonal(), biases = zeros, useBias = true } = o;
  const w = scope.parameter("weights", [inputs, results], weights, { fanIn: inputs, fanOut: results });
  const u = scope.parameter("recurrent", [hidden, results], recurrent, { fanIn: hidden, fanOut: results });
  const b = useBias ? scope.parameter("biases", [results], biases) : undefined;
  scope.countMultiplyAdds(positions * (inputs + hidden) * results);
  const fromInput = (all: Tensor): Tensor => (b ? all.matmul(w).add(b) : all.matmul(w));
  return { u, fromInput };
}

/** tanh(x·W + h·U + b). */
export const simpleCell = (units: number, options: RnnCellOptions): Cell<RecurrentState> => ({
  bind(scope, x, positions) {
    const activation = CELL_ACTIVATIONS[options.activation ?? "tanh"];
    const { u, fromInput } = gates(scope, x, positions, { hidden: units, results: units }, options);
    return {
      fromInput,
      shapes: (shape) => ({ hidden: [...shape.slice(0, -1), units] }),
      step: (_, given, seen) => ({ hidden: activation(given.add(seen.matmul(u))) }),
    };
  },
});

/** The gates input, forget, candidate, output, in PyTorch's and Keras' order. */
export const lstmCellOf = (units: number, options: LstmCellOptions): Cell<LstmState> => ({
  bind(scope, x, positions) {
    const { projection, peephole = false } = options;
    const hidden = projection ?? units;
    const biases = options.biases ?? forgetting(units, options.forgetBias ?? 1);
    const { u, fromInput } = gates(scope, x, positions, { hidden, results: 4 * units }, { ...options, biases });
    const peepholes = peephole ? scope.parameter("peepholes", [3, units], zeros) : undefined;
    const fans = { fanIn: units, fanOut: hidden };
    const narrow = projection && scope.parameter("projection", [units, projection], glorotUniform, fans);
    if (projection) scope.countMultiplyAdds(positions * units * projection);
    return {
      fromInput,
      shapes: (shape) => ({ hidden: [...shape.slice(0, -1), hidden], cell: [...shape.slice(0, -1), units] }),
      step({ cell }, given, seen) {
        const next = lstmStep(given.add(seen.matmul(u)), cell, -1, options, peepholes);
        return narrow ? { ...next, hidden: next.hidden.matmul(narrow) } : next;
      },
    };
  },
});

/** The next state of an LSTM from the sums of its four gates, side by side along an axis. */
export function lstmStep(
  sums: Tensor,
  cell: Tensor,
  axis: number,
  options: Pick<LstmCellOptions, "activation" | "gate">,
  peepholes?: Tensor,
): LstmState {
  const [activation, gate] = [
    CELL_ACTIVATIONS[options.activation ?? "tanh"],
    CELL_ACTIVATIONS[options.gate ?? "sigmoid"],
  ];
  const [input, forget, candidate, output] = sums.split(4, { axis }) as [Tensor, Tensor, Tensor, Tensor];
  const seeing = (sum: Tensor, which: number, of: Tensor) => (peepholes ? sum.add(peepholes.at(which).mul(of)) : sum);
  const kept = gate(seeing(forget, 1, cell)).mul(cell);
  const next = kept.add(gate(seeing(input, 0, cell)).mul(activation(candidate)));
  return { hidden: gate(seeing(output, 2, next)).mul(activation(next)), cell: next };
}

/** Zeros, and another value for the second of four gates. */
export const forgetting =
  (units: number, value: number): Initializer =>
  (key, shape, info) => {
    const none = zeros(key, shape, info);
    return value === 0 ? none : none.set(`${units}:${2 * units}`, value);
  };

/** The gates reset, update, candidate, in PyTorch's order. */
export const gruCellOf = (units: number, options: GruCellOptions): Cell<RecurrentState> => ({
  bind(scope, x, positions) {
    const { resetAfter = true, useBias = true, biases = zeros } = options;
    const { u, fromInput } = gates(scope, x, positions, { hidden: units, results: 3 * units }, options);
    const hasOwn = resetAfter && useBias;
    const own = hasOwn ? scope.parameter("recurrentBiases", [units], biases) : undefined;
    return {
      fromInput,
      shapes: (shape) => ({ hidden: [...shape.slice(0, -1), units] }),
      step: ({ hidden }, given, seen) => ({ hidden: gruStep(hidden, given, seen, { u, own, options }) }),
    };
  },
});

function gruStep(
  hidden: Tensor,
  given: Tensor,
  seen: Tensor,
  { u, own, options }: { u: Tensor; own: Tensor | undefined; options: GruCellOptions },
): Tensor {
  const { activation: a = "tanh", gate: g = "sigmoid", resetAfter = true } = options;
  const [activation, gate] = [CELL_ACTIVATIONS[a], CELL_ACTIVATIONS[g]];
  const units = hidden.shape[hidden.rank - 1] as number;
  const [r, z, n] = given.split(3, { axis: -1 }) as [Tensor, Tensor, Tensor];
  const sums = seen.matmul(resetAfter ? u : u.at(":", `:${2 * units}`));
  const reset = gate(r.add(sums.at("...", `:${units}`)));
  const update = gate(z.add(sums.at("...", `${units}:${2 * units}`)));
  const product = (): Tensor => {
    if (!resetAfter) return reset.mul(seen).matmul(u.at(":", `${2 * units}:`));
    const last = sums.at("...", `${2 * units}:`) as Tensor;
    return reset.mul(own ? last.add(own) : last);
  };
  const candidate = activation(n.add(product()));
  return candidate.add(update.mul(hidden.sub(candidate)));
}
