/**
 * The networks of bench/sequence-work.ts in plain loops of double precision, for small sizes: the loss of transformer blocks,
 * the hidden states of an LSTM, and its gradients by central differences. What the proofs of those rows compare with.
 */
import { erf } from "./data-work.js";
import type { LstmShape, TransformerShape } from "./sequence-work.js";
import { centredAt, total } from "./tensor-work.js";

type Row = readonly number[];

/** x · weights, where the weights are hashes of a seed, divided by the root of the inputs. */
function dense(x: Row, results: number, seed: number): number[] {
  const scale = 1 / Math.sqrt(x.length);
  return Array.from({ length: results }, (_, j) =>
    total(x.length, (i) => x[i]! * scale * centredAt(i * results + j, seed)),
  );
}

const add = (a: Row, b: Row): number[] => a.map((value, i) => value + b[i]!);
const sumOf = (row: Row): number => row.reduce((sum, value) => sum + value, 0);

// ---------------------------------------------------------------------------------------------- transformer

/** Seeds of the hash: inputs, what they are to become, and from here on the weights, four to a block. */
export const [INPUT_SEED, TARGET_SEED, WEIGHT_SEED] = [0, 1, 2];
export const LAYER_NORM_EPSILON = 1e-5;

function normed(x: Row): number[] {
  const mean = sumOf(x) / x.length;
  const variance = sumOf(x.map((value) => (value - mean) ** 2)) / x.length;
  return x.map((value) => (value - mean) / Math.sqrt(variance + LAYER_NORM_EPSILON));
}

const gelu = (x: number): number => x * 0.5 * (1 + erf(x / Math.SQRT2));

/** Tokens of one sequence, each attending in every head to itself and those before. */
function attended(parts: readonly Row[], width: number, heads: number): number[][] {
  const size = width / heads;
  return parts.map((own, token) =>
    Array.from({ length: width }, (_, column) => {
      const start = column - (column % size);
      const weights = parts.slice(0, token + 1).map((other) => {
        const score = total(size, (j) => own[start + j]! * other[width + start + j]!);
        return Math.exp(score / Math.sqrt(size));
      });
      return total(weights.length, (k) => weights[k]! * parts[k]![2 * width + column]!) / sumOf(weights);
    }),
  );
}

/** The mean squared error before the first step. */
export function forwardLoss({ blocks, width, heads, tokens, batch }: TransformerShape): number {
  const tokenAt = (sequence: number, token: number, seed: number): number[] =>
    Array.from({ length: width }, (_, j) => centredAt((sequence * tokens + token) * width + j, seed));
  const errors = Array.from({ length: batch }, (_, sequence) => {
    let x = Array.from({ length: tokens }, (_, token) => tokenAt(sequence, token, INPUT_SEED));
    for (let i = 0; i < blocks; i++) {
      const seed = WEIGHT_SEED + 4 * i;
      const parts = x.map((row) => dense(normed(row), 3 * width, seed));
      const seen = attended(parts, width, heads).map((row) => dense(row, width, seed + 1));
      x = x.map((row, token) => add(row, seen[token]!));
      x = x.map((row) => add(row, dense(dense(normed(row), 4 * width, seed + 2).map(gelu), width, seed + 3)));
    }
    return sumOf(
      x.map((row, token) =>
        sumOf(
          add(
            row,
            tokenAt(sequence, token, TARGET_SEED).map((t) => -t),
          ).map((e) => e * e),
        ),
      ),
    );
  });
  return sumOf(errors) / (batch * tokens * width);
}

// ---------------------------------------------------------------------------------------------- LSTM

/** A weight or bias that is moved from its place: which of the three, where, by how much. */
interface Nudge {
  readonly parameter: number;
  readonly position: number;
  readonly by: number;
}

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

/** Hidden states [steps, batch, width], flattened. */
function lstmStates({ steps, batch, width }: LstmShape, nudge?: Nudge): number[] {
  const scale = 1 / Math.sqrt(width);
  const moved = (parameter: number, position: number): number =>
    nudge?.parameter === parameter && nudge.position === position ? nudge.by : 0;
  const weight = (parameter: number, position: number): number =>
    centredAt(position, FROM_INPUT_SEED + parameter) * scale + moved(parameter, position);
  const states: number[] = [];
  let [hidden, cell] = [0, 0].map(() => Array.from({ length: batch }, () => new Array<number>(width).fill(0)));
  for (let step = 0; step < steps; step++) {
    const gates = Array.from({ length: batch }, (_, b) =>
      Array.from({ length: 4 * width }, (_, j) => {
        const own = total(width, (i) => {
          const x = centredAt((step * batch + b) * width + i, 0);
          return x * weight(0, i * 4 * width + j) + hidden![b]![i]! * weight(1, i * 4 * width + j);
        });
        return own + moved(2, j);
      }),
    );
    cell = gates.map((gate, b) =>
      Array.from({ length: width }, (_, j) => {
        const [input, forget, candidate] = [gate[j]!, gate[width + j]!, gate[2 * width + j]!];
        return sigmoid(forget) * cell![b]![j]! + sigmoid(input) * Math.tanh(candidate);
      }),
    );
    hidden = gates.map((gate, b) => cell![b]!.map((value, j) => sigmoid(gate[3 * width + j]!) * Math.tanh(value)));
    states.push(...hidden.flat());
  }
  return states;
}

/** Seeds of the weights of the inputs and of the hidden state, and of the slopes; inputs have 0. */
export const [FROM_INPUT_SEED, FROM_HIDDEN_SEED, SLOPE_SEED] = [1, 2, 3];
const NUDGE = 1e-5;

export const lstmHidden = (shape: LstmShape, position: number): number => lstmStates(shape)[position]!;

/** The gradient of Σ slope·hidden by an element of a parameter: weights of the input, of the hidden state, biases. */
export function lstmSlope(shape: LstmShape, parameter: number, position: number): number {
  const value = (by: number): number =>
    sumOf(lstmStates(shape, { parameter, position, by }).map((state, i) => state * centredAt(i, SLOPE_SEED)));
  return (value(NUDGE) - value(-NUDGE)) / (2 * NUDGE);
}
