/**
 * Training in plain functional style: a compiled step takes the weights, the optimiser's moments and a batch, and returns
 * new ones. What the step is given away (`donate`) it updates in place; the learning rate and the count are numbers, which
 * enter as data, so that one program serves all steps. The digits live on the device, and batches are drawn there.
 */
import { arange, jit, random, type Tensor, tree, valueAndGrad, zeros } from "pumice";
import { adam, type Moments, noMoments } from "./adam.js";
import type { Digits } from "./data.js";
import { correctCount, crossEntropy, type Layer, type Model } from "./models.js";

export interface TrainingOptions {
  readonly epochs: number;
  readonly batch: number;
  /** The first learning rate; it falls to zero along half a cosine. */
  readonly rate: number;
  /** The same seed gives the same weights. */
  readonly seed: number;
}

/** How far it is: means over the epoch so far. */
export interface Progress {
  readonly epoch: number;
  readonly step: number;
  readonly steps: number;
  readonly loss: number;
  readonly accuracy: number;
  readonly secondsLeft: number;
}

export interface Trained {
  readonly layers: readonly Layer[];
  /** Of each epoch. */
  readonly losses: readonly number[];
  readonly accuracies: readonly number[];
}

/** One step of a model's training, compiled; also the sums of loss and of right answers, for the progress line. */
export function trainingStep(model: Model) {
  const loss = (layers: Layer[], pixels: Tensor, labels: Tensor): [Tensor, Tensor] => {
    const logits = model.logits(layers, pixels);
    return [crossEntropy(logits, labels), correctCount(logits, labels)];
  };
  const step = (
    layers: Layer[],
    moments: Moments<Layer[]>,
    sums: Sums,
    pixels: Tensor,
    labels: Tensor,
    rate: Tensor,
    count: Tensor,
  ): [Layer[], Moments<Layer[]>, Sums] => {
    const [[value, correct], gradients] = valueAndGrad(loss, { aux: true })(layers, pixels, labels);
    const [moved, newMoments] = adam(layers, gradients, moments, rate, count);
    return [moved, newMoments, { loss: sums.loss.add(value), correct: sums.correct.add(correct) }];
  };
  return jit(step, { donate: [0, 1, 2] });
}

interface Sums {
  readonly loss: Tensor;
  readonly correct: Tensor;
}

const noSums = (): Sums => ({ loss: zeros([]), correct: zeros([], { dtype: "i32" }) });

/** Milliseconds between reports, which wait for the device. */
const REPORT_EVERY = 250;

export async function train(
  model: Model,
  { images, labels }: Digits,
  { epochs, batch, rate, seed }: TrainingOptions,
  report: (progress: Progress) => void = () => {},
): Promise<Trained> {
  const [initKey, orderKey] = random.split(random.key(seed));
  const [count] = labels.shape;
  const steps = Math.floor(count / batch);
  const draw = jit((images: Tensor, labels: Tensor, order: Tensor, start: Tensor): [Tensor, Tensor] => {
    const chosen = order.take(arange(batch).add(start).cast("i32"));
    return [asPixels(images.take(chosen, { axis: 0 })), labels.take(chosen)];
  });
  const step = trainingStep(model);
  let layers = tree.map((x) => x.realize(), model.init(initKey)) as Layer[];
  let moments = noMoments(layers);
  const losses: number[] = [];
  const accuracies: number[] = [];
  let [began, reported] = [0, performance.now()];
  for (let epoch = 0; epoch < epochs; epoch++) {
    const order = random.permutation(random.foldIn(orderKey, epoch), count).realize();
    let sums = noSums();
    for (let i = 0; i < steps; i++) {
      const done = epoch * steps + i;
      const progress = done / (epochs * steps);
      const [pixels, chosen] = draw(images, labels, order, i * batch);
      const slowed = 0.5 * rate * (1 + Math.cos(Math.PI * progress));
      [layers, moments, sums] = step(layers, moments, sums, pixels, chosen, slowed, done + 1);
      pixels.dispose();
      chosen.dispose();
      // The first step is compiled, which says nothing about the others.
      if (done === 0) [began, reported] = [performance.now(), performance.now()];
      const isLast = i === steps - 1;
      if (!isLast && performance.now() - reported < REPORT_EVERY) continue;
      const [loss, correct] = await Promise.all([sums.loss.item(), sums.correct.item()]);
      const [meanLoss, accuracy] = [Number(loss) / (i + 1), Number(correct) / ((i + 1) * batch)];
      reported = performance.now();
      const secondsLeft = (((reported - began) / 1000) * (epochs * steps - done - 1)) / Math.max(1, done);
      report({ epoch: epoch + 1, step: i + 1, steps, loss: meanLoss, accuracy, secondsLeft });
      if (!isLast) continue;
      losses.push(meanLoss);
      accuracies.push(accuracy);
    }
  }
  return { layers, losses, accuracies };
}

const asPixels = (bytes: Tensor): Tensor => bytes.cast("f32").div(255);

/** Digits that are looked at together in a test. */
const TEST_BATCH = 500;

/** The part of the digits that a model recognises. */
export async function accuracyOf(model: Model, layers: readonly Layer[], { images, labels }: Digits): Promise<number> {
  const [count] = labels.shape;
  const correctFrom = jit((layers: readonly Layer[], images: Tensor, labels: Tensor, start: Tensor): Tensor => {
    const chosen = arange(TEST_BATCH).add(start).cast("i32");
    const logits = model.logits(layers, asPixels(images.take(chosen, { axis: 0 })));
    // Past the end `take` gives the last digit again.
    const isRight = logits.argmax({ axis: -1 }).equal(labels.take(chosen)).logicalAnd(chosen.less(count));
    return isRight.sum();
  });
  let correct = 0;
  for (let start = 0; start < count; start += TEST_BATCH) {
    correct += Number(await correctFrom(layers, images, labels, start).item());
  }
  return correct / count;
}
