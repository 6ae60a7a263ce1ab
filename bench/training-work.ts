/**
 * Whole training steps as the rows measure them: networks and an optimiser written by hand, on pixels, labels and
 * weights that are hashes of their positions, so that peers in other languages (bench/peers) start from the same and must
 * arrive at the same losses. The first loss is proved against plain loops in double precision.
 */

import { jit, type Tensor, tree, valueAndGrad, zeros } from "../src/index.js";
import { adam, type Moments, noMoments } from "./adam.js";
import { timedSync } from "./harness.js";
import { crossEntropy, type Layer, type Model } from "./plain-models.js";
import { type Closeness, isClose } from "./results.js";
import {
  engineOf,
  free,
  positionAt,
  positions,
  repeatsOf,
  type TensorContext,
  uniform,
  uniformAt,
} from "./tensor-work.js";

const PIXELS = 784;
const CLASSES = 10;
export const RATE = 1e-3;
/** Losses that are compared with the peers'. */
const STEPS = 5;
/** Seeds of the hash: pixels, labels, and from here on the weights of each layer. */
const [PIXEL_SEED, LABEL_SEED, WEIGHT_SEED] = [0, 1, 2];

export interface TrainingWork {
  readonly model: Model;
  /** Of the weights of each layer: [inputs, results], or of kernels [results, channels, height, width]. */
  readonly shapes: readonly (readonly number[])[];
  /** The logits of one image, in plain numbers. */
  logits(image: number): number[];
}

const product = (shape: readonly number[]): number => shape.reduce((size, extent) => size * extent, 1);
const resultsOf = (shape: readonly number[]): number => (shape.length > 2 ? shape[0]! : shape[1]!);
/** Weights are spread evenly up to this on both sides, which keeps the size of what passes through. */
const spread = (shape: readonly number[]): number => Math.sqrt((6 * resultsOf(shape)) / product(shape));

function startingLayers(device: string, shapes: TrainingWork["shapes"]): Layer[] {
  return shapes.map((shape, i) => ({
    weights: uniform(device, shape, WEIGHT_SEED + i)
      .mul(2)
      .sub(1)
      .mul(spread(shape))
      .realize(),
    biases: zeros([resultsOf(shape)], { device }).realize(),
  }));
}

/** A compiled training step: new weights, new moments, and the loss. */
export function stepOf(model: Model) {
  const step = (
    layers: Layer[],
    moments: Moments<Layer[]>,
    pixels: Tensor,
    labels: Tensor,
    rate: Tensor,
    count: Tensor,
  ): [Layer[], Moments<Layer[]>, Tensor] => {
    const loss = (weights: Layer[]) => crossEntropy(model.logits(weights, pixels), labels);
    const [value, gradients] = valueAndGrad(loss)(layers);
    return [...adam(layers, gradients, moments, rate, count), value];
  };
  return jit(step, { donate: [0, 1] });
}

/** A training under way. */
export interface Training {
  /** Does a step and gives the loss, unread. */
  step(): Tensor;
  free(): void;
}

/** Pixels, labels and the first weights, by their hashes. */
export const hashedDigits = (device: string, shapes: TrainingWork["shapes"], batch: number) => ({
  pixels: uniform(device, [batch, PIXELS], PIXEL_SEED),
  labels: positions(device, batch, CLASSES, LABEL_SEED),
  layers: startingLayers(device, shapes),
});

export function startTraining(device: string, { model, shapes }: TrainingWork, batch: number) {
  const { pixels, labels, layers: first } = hashedDigits(device, shapes, batch);
  const compiled = stepOf(model);
  let layers = first;
  let moments = noMoments(layers);
  let count = 0;
  return {
    step(): Tensor {
      let loss: Tensor;
      [layers, moments, loss] = compiled(layers, moments, pixels, labels, RATE, ++count);
      return loss;
    },
    lower: () => compiled.lower(layers, moments, pixels, labels, RATE, count),
    free: () => free(device, [pixels, labels, ...tree.leaves([layers, moments])]),
  };
}

/** Milliseconds per step, after the first losses are proved and shown. */
export function stepMilliseconds(context: TensorContext, work: TrainingWork, batch: number): Promise<number[]> {
  const training = startTraining(context.tensors, work, batch);
  return trainingMilliseconds(context, training, ([first]) => {
    const right = firstLoss(work, batch);
    if (!isClose(first!, right)) throw new Error(`The first loss is ${first}; ${right} is right.`);
  });
}

/** Milliseconds per step of any training, several steps to a wait. `prove` sees the losses of the first steps. */
export async function trainingMilliseconds(
  context: TensorContext,
  training: Training,
  prove: (losses: readonly number[]) => void | Promise<void>,
  closeness?: Closeness,
): Promise<number[]> {
  const engine = engineOf(context.tensors);
  try {
    const losses: number[] = [];
    for (let i = 0; i < STEPS; i++) losses.push(Number(await training.step().item()));
    await prove(losses);
    context.show(losses, closeness);
    const repeats = repeatsOf(context, () => training.step().dispose());
    return await context.sample(() => {
      engine.finishSync();
      const ms = timedSync(() => {
        for (let i = 0; i < repeats; i++) training.step().dispose();
        engine.finishSync();
      });
      return ms / repeats;
    });
  } finally {
    training.free();
  }
}

// ---------------------------------------------------------------------------------------------- in plain numbers

function firstLoss({ logits }: TrainingWork, batch: number): number {
  let total = 0;
  for (let image = 0; image < batch; image++) {
    const row = logits(image);
    const most = Math.max(...row);
    const sum = row.reduce((powers, each) => powers + Math.exp(each - most), 0);
    total += most + Math.log(sum) - row[positionAt(image, CLASSES, LABEL_SEED)]!;
  }
  return total / batch;
}

export const pixelsOf = (image: number): Float64Array =>
  Float64Array.from({ length: PIXELS }, (_, i) => uniformAt(image * PIXELS + i, PIXEL_SEED));

const known = new Map<string, Float64Array>();
export function weightsOf(shape: readonly number[], layer: number): Float64Array {
  const key = `${layer}: ${shape}`;
  const weights =
    known.get(key) ??
    Float64Array.from(
      { length: product(shape) },
      (_, i) => (2 * uniformAt(i, WEIGHT_SEED + layer) - 1) * spread(shape),
    );
  known.set(key, weights);
  return weights;
}
