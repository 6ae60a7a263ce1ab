/**
 * Networks over sequences as the rows measure them: a training step of transformer blocks, in f32 and in bf16 with f32
 * master weights, and an LSTM forwards and with its gradient. Too large for plain loops, they are proved by the same
 * functions at a small size, and at full size by the peers (bench/peers/sequences.py), which start from the same hashes.
 */

import { attention, type DType, grad, jit, ones, scan, type Tensor, tree, valueAndGrad, zeros } from "../src/index.js";
import { adam, type Moments, noMoments } from "./adam.js";
import { causalAttention } from "./contraction-work.js";
import { isClose } from "./results.js";
import {
  FROM_HIDDEN_SEED,
  FROM_INPUT_SEED,
  forwardLoss,
  INPUT_SEED,
  LAYER_NORM_EPSILON,
  lstmHidden,
  lstmSlope,
  SLOPE_SEED,
  TARGET_SEED,
  WEIGHT_SEED,
} from "./sequence-loops.js";
import { centred, checkBySmaller, closenessIn, free, type TensorContext, type Work } from "./tensor-work.js";
import { trainingMilliseconds } from "./training-work.js";

// ---------------------------------------------------------------------------------------------- transformer

export interface TransformerShape {
  readonly blocks: number;
  readonly width: number;
  readonly heads: number;
  readonly tokens: number;
  readonly batch: number;
}

/** Weights are [inputs, results]. The hidden layer of the dense part is four times as wide. */
interface Block {
  readonly gain1: Tensor;
  readonly bias1: Tensor;
  readonly projections: Tensor;
  readonly projectionBiases: Tensor;
  readonly output: Tensor;
  readonly outputBiases: Tensor;
  readonly gain2: Tensor;
  readonly bias2: Tensor;
  readonly up: Tensor;
  readonly upBiases: Tensor;
  readonly down: Tensor;
  readonly downBiases: Tensor;
}

export const TRANSFORMER_RATE = 1e-4;

function startingBlock(device: string, width: number, block: number): Block {
  const weights = (inputs: number, results: number, place: number) =>
    centred(device, [inputs, results], WEIGHT_SEED + 4 * block + place)
      .mul(1 / Math.sqrt(inputs))
      .realize();
  const one = () => ones([width], { device }).realize();
  const zero = (size: number) => zeros([size], { device }).realize();
  return {
    gain1: one(),
    bias1: zero(width),
    projections: weights(width, 3 * width, 0),
    projectionBiases: zero(3 * width),
    output: weights(width, width, 1),
    outputBiases: zero(width),
    gain2: one(),
    bias2: zero(width),
    up: weights(width, 4 * width, 2),
    upBiases: zero(4 * width),
    down: weights(4 * width, width, 3),
    downBiases: zero(width),
  };
}

function layerNorm(x: Tensor, gain: Tensor, bias: Tensor): Tensor {
  const centredRows = x.sub(x.mean({ axis: -1, keepDims: true }));
  const scale = x.variance({ axis: -1, keepDims: true }).add(LAYER_NORM_EPSILON).rsqrt();
  return centredRows.mul(scale).mul(gain).add(bias);
}

const gelu = (x: Tensor): Tensor => x.mul(x.div(Math.SQRT2).erf().add(1).mul(0.5));

/**
 * A block with the norms in front. Weights and the running sum are f32; products, attention and what lies between are in
 * `dtype`.
 */
function block(x: Tensor, p: Block, heads: number, dtype: DType): Tensor {
  const [batch, tokens, width] = x.shape as [number, number, number];
  const dense = (input: Tensor, weights: Tensor, biases: Tensor): Tensor =>
    input.cast(dtype).matmul(weights.cast(dtype)).add(biases.cast(dtype));
  const parts = dense(layerNorm(x, p.gain1, p.bias1), p.projections, p.projectionBiases)
    .reshape(batch, tokens, 3, heads, width / heads)
    .permute(2, 0, 3, 1, 4);
  const [q, k, v] = [0, 1, 2].map((part) => parts.at(part)) as [Tensor, Tensor, Tensor];
  const attended = dtype === "f32" ? causalAttention(q, k, v) : attention(q, k, v, { causal: true });
  const seen = attended.permute(0, 2, 1, 3).reshape(batch, tokens, width);
  const between = x.add(dense(seen, p.output, p.outputBiases));
  const hidden = gelu(dense(layerNorm(between, p.gain2, p.bias2), p.up, p.upBiases));
  return between.add(dense(hidden, p.down, p.downBiases));
}

export function startTransformer(device: string, shape: TransformerShape, dtype: DType) {
  const { blocks, width, heads, tokens, batch } = shape;
  const [inputs, targets] = [INPUT_SEED, TARGET_SEED].map((seed) => centred(device, [batch, tokens, width], seed)) as [
    Tensor,
    Tensor,
  ];
  let parameters = Array.from({ length: blocks }, (_, i) => startingBlock(device, width, i));
  let moments = noMoments(parameters);
  let count = 0;
  const step = (
    parameters: Block[],
    moments: Moments<Block[]>,
    inputs: Tensor,
    targets: Tensor,
    rate: Tensor,
    count: Tensor,
  ): [Block[], Moments<Block[]>, Tensor] => {
    const loss = (all: Block[]): Tensor =>
      all
        .reduce((x, p) => block(x, p, heads, dtype), inputs)
        .sub(targets)
        .square()
        .mean();
    const [value, gradients] = valueAndGrad(loss)(parameters);
    return [...adam(parameters, gradients, moments, rate, count), value];
  };
  const compiled = jit(step, { donate: [0, 1] });
  return {
    step() {
      let loss: Tensor;
      [parameters, moments, loss] = compiled(parameters, moments, inputs, targets, TRANSFORMER_RATE, ++count);
      return loss;
    },
    lower: () => compiled.lower(parameters, moments, inputs, targets, TRANSFORMER_RATE, count),
    free: () => free(device, [inputs, targets, ...tree.leaves([parameters, moments])]),
  };
}

/** Small enough for plain loops. */
const SMALL: TransformerShape = { blocks: 2, width: 32, heads: 2, tokens: 7, batch: 2 };

/** Milliseconds per training step (forwards, backwards, Adam; mean squared error). */
export function transformerMilliseconds(
  context: TensorContext,
  shape: TransformerShape,
  dtype: DType,
): Promise<number[]> {
  const closeness = { ...closenessIn(dtype, 1e-3), relative: dtype === "f32" ? 1e-3 : 1e-2 };
  const prove = async (losses: readonly number[]): Promise<void> => {
    const small = startTransformer(context.tensors, SMALL, dtype);
    const [seen, right] = [Number(await small.step().item()), forwardLoss(SMALL)];
    small.free();
    if (!isClose(seen, right, closeness)) throw new Error(`A small model's loss is ${seen}; ${right} is right.`);
    if (!(losses.at(-1)! < losses[0]!)) throw new Error(`The losses do not fall: ${losses.join(", ")}.`);
  };
  return trainingMilliseconds(context, startTransformer(context.tensors, shape, dtype), prove, closeness);
}

// ---------------------------------------------------------------------------------------------- LSTM

export interface LstmShape {
  readonly steps: number;
  readonly batch: number;
  /** Of the inputs and of the hidden state. */
  readonly width: number;
}

interface Lstm {
  /** [width, 4·width]: gates in the order input, forget, candidate, output, as PyTorch has them. */
  readonly fromInput: Tensor;
  readonly fromHidden: Tensor;
  readonly biases: Tensor;
}

/** Hidden states of all steps, [steps, batch, width], from inputs of the same shape. */
function lstm({ fromInput, fromHidden, biases }: Lstm, inputs: Tensor): Tensor {
  const [, batch, width] = inputs.shape as [number, number, number];
  const start = zeros([batch, width], { device: inputs.device });
  // The part that does not depend on the previous step is one product for all steps.
  const given = inputs.matmul(fromInput).add(biases);
  const step = ([hidden, cell]: [Tensor, Tensor], x: Tensor): [[Tensor, Tensor], Tensor] => {
    const [input, forget, candidate, output] = x.add(hidden.matmul(fromHidden)).split(4, { axis: 1 });
    const newCell = forget!.sigmoid().mul(cell).add(input!.sigmoid().mul(candidate!.tanh()));
    const newHidden = output!.sigmoid().mul(newCell.tanh());
    return [[newHidden, newCell], newHidden];
  };
  return scan(step, [start, start] as [Tensor, Tensor], given)[1];
}

function lstmOperands(device: string, { steps, batch, width }: LstmShape) {
  const weights = (seed: number) =>
    centred(device, [width, 4 * width], seed)
      .mul(1 / Math.sqrt(width))
      .realize();
  const parameters: Lstm = {
    fromInput: weights(FROM_INPUT_SEED),
    fromHidden: weights(FROM_HIDDEN_SEED),
    biases: zeros([4 * width], { device }).realize(),
  };
  const [inputs, slopes] = [0, SLOPE_SEED].map((seed) => centred(device, [steps, batch, width], seed));
  return { parameters, inputs: inputs!, slopes: slopes! };
}

const SMALL_LSTM: LstmShape = { steps: 5, batch: 3, width: 16 };

/** The hidden states; those of a few are compared. */
export function lstmForward(device: string, shape: LstmShape): Work {
  const { parameters, inputs, slopes } = lstmOperands(device, shape);
  const run = jit(lstm);
  const work = {
    inputs: [inputs, slopes, ...tree.leaves(parameters)],
    closeness: { relative: 1e-3, floor: 0.1 },
    compute: () => run(parameters, inputs),
  };
  if (shape === SMALL_LSTM) return { ...work, expected: (i) => lstmHidden(SMALL_LSTM, i) };
  return { ...work, check: checkBySmaller(device, lstmForward(device, SMALL_LSTM)) };
}

/** The gradients of Σ slope·hidden by the weights and biases. */
export function lstmGradient(device: string, shape: LstmShape): Work {
  const { parameters, inputs, slopes } = lstmOperands(device, shape);
  const run = jit(grad((p: Lstm, x: Tensor, s: Tensor) => lstm(p, x).mul(s).sum()));
  const work = {
    inputs: [inputs, slopes, ...tree.leaves(parameters)],
    closeness: { relative: 2e-3, floor: 1 },
    compute: () => {
      const { fromInput, fromHidden, biases } = run(parameters, inputs, slopes) as Lstm;
      return [fromInput, fromHidden, biases];
    },
  };
  if (shape === SMALL_LSTM) return { ...work, expected: (i, result) => lstmSlope(SMALL_LSTM, result, i) };
  return { ...work, check: checkBySmaller(device, lstmGradient(device, SMALL_LSTM)) };
}
