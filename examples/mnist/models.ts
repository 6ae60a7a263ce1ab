/** Two networks that tell digits apart, and the recipe by which each is trained: 98.5 % and 99.5 % of the test digits. */
import { arange, random, type Tensor } from "pumice";
import {
  activations,
  batchNorm,
  conv,
  dense,
  dropout,
  flatten,
  type Layer,
  layer,
  maxPool,
  optimizers,
  schedules,
  sequential,
  type Trained,
  type TrainingRun,
  train,
} from "pumice/nn";
import type { Digits } from "./data.js";

const { relu } = activations;

/** Bytes as numbers from 0 to 1. */
const pixels = (bytes: Tensor): Tensor => bytes.cast("f32").div(255);

/** Moves each image by up to so many pixels along both axes, anew in every step of training: more digits to learn from. */
const shift = (most: number): Layer =>
  layer("shift", { most }, (scope, x: Tensor) => {
    if (!scope.isTraining) return x;
    const [count, height, width] = x.shape as [number, number, number];
    const [rows, columns] = random
      .randint(scope.key("shift"), [2, count, 1, 1], 0, 2 * most + 1)
      .split(2, { axis: 0 }) as [Tensor, Tensor];
    const padded = x.pad([[0, 0], [most, most], [most, most]]); // biome-ignore format: a row
    const across = width + 2 * most;
    const image = arange(count, { dtype: "i32", device: x.device }).mul((height + 2 * most) * across);
    const row = arange(height, { dtype: "i32", device: x.device }).expandDims(1);
    const column = arange(width, { dtype: "i32", device: x.device });
    const places = rows
      .reshape(count, 1, 1)
      .add(row)
      .mul(across)
      .add(columns.reshape(count, 1, 1))
      .add(column);
    return padded.flatten().take(places.add(image.reshape(count, 1, 1)));
  });

/** Images [batch, 784] for convolutions. */
const images = (x: Tensor): Tensor => x.reshape(-1, 28, 28);
const oneChannel = (x: Tensor): Tensor => x.expandDims(1);

/** A convolution that keeps the edges, a norm, and of each 2×2 pixels the largest. */
const block = (filters: number): Layer =>
  sequential(conv(filters, 3, { padding: "same", useBias: false }), batchNorm(), relu, maxPool(2));

export interface Recipe {
  model(): Layer;
  readonly epochs: number;
  /** The largest learning rate: it rises to there for a third of the steps, and falls to zero. */
  readonly rate: number;
}

export const RECIPES = {
  mlp: {
    model: () => sequential(pixels, dense(256), relu, dense(128), relu, dense(10)),
    epochs: 5,
    rate: 4e-3,
  },
  cnn: {
    model: () =>
      sequential(pixels, images, shift(2), oneChannel, block(32), block(64), flatten(), dropout(0.3), dense(128), relu, dropout(0.3), dense(10)), // biome-ignore format: a row
    epochs: 10,
    rate: 4e-3,
  },
} as const satisfies Record<string, Recipe>;

export interface TrainingSettings {
  readonly epochs: number;
  readonly batch: number;
  readonly seed: number;
  /** As `train` takes it: a line of progress. */
  readonly progress?: boolean;
}

/** Trains a network by its recipe. */
export function learn(
  { model, rate }: Recipe,
  { images: x, labels: y }: Digits,
  { epochs, batch, seed, progress }: TrainingSettings,
): TrainingRun<Trained<Tensor, Tensor>> {
  const steps = epochs * Math.ceil((y.shape[0] as number) / batch);
  return train(model(), {
    data: { x, y },
    batchSize: batch,
    loss: ["categoricalCrossEntropy", { fromLogits: true }],
    metrics: ["accuracy"],
    optimizer: optimizers.adamw(schedules.oneCycle(rate, Math.max(steps, 10))),
    epochs,
    seed,
    ...(progress !== undefined && { progress }),
  });
}

/** The share of digits that a trained network recognises. */
export async function accuracyOf(trained: Trained<Tensor, Tensor>, { images: x, labels: y }: Digits): Promise<number> {
  const isRight = trained.predict(x).argmax({ axis: -1 }).equal(y);
  return Number(await isRight.sum().item()) / (y.shape[0] as number);
}
