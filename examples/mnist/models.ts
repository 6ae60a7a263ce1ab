/** Two networks that tell digits apart, as plain functions: one makes the weights, one computes from weights and pixels. */
import { random, type Tensor, zeros } from "pumice";
import { PIXELS } from "./data.js";

/** Weights and biases of a layer: a tree of tensors, which is all that `grad`, `jit` and the optimiser know of it. */
export interface Layer {
  readonly weights: Tensor;
  readonly biases: Tensor;
}

export interface Model {
  init(key: random.Key): Layer[];
  /** [n, 784] pixels from 0 to 1 → [n, 10]: the larger a number, the likelier the digit. */
  logits(layers: readonly Layer[], pixels: Tensor): Tensor;
}

export const CLASSES = 10;

/** Normal numbers that keep the size of what passes through (He et al. 2015); results are the last axis or, of kernels, the first. */
function layer(key: random.Key, shape: readonly number[]): Layer {
  const isKernel = shape.length > 2;
  const results = isKernel ? shape[0] : shape[1];
  const inputs = shape.reduce((product, extent) => product * extent, 1) / results;
  return {
    weights: random.normal(key, [...shape]).mul(Math.sqrt(2 / inputs)),
    biases: zeros([results]),
  };
}

const dense = (x: Tensor, { weights, biases }: Layer): Tensor => x.matmul(weights).add(biases);

/** A convolution that keeps the edges, and of each 2×2 pixels the largest. */
function convolution(x: Tensor, { weights, biases }: Layer): Tensor {
  const features = x
    .conv(weights, { padding: "same" })
    .add(biases.reshape(-1, 1, 1))
    .relu();
  return features.windowMax(2, { axis: [2, 3], stride: 2 });
}

/** Dense layers of 256, 128 and 10. */
export const mlp: Model = {
  init(key) {
    const widths = [PIXELS, 256, 128, CLASSES];
    return random.split(key, 3).map((each, i) => layer(each, [widths[i], widths[i + 1]]));
  },
  logits([first, second, last], pixels) {
    return dense(dense(dense(pixels, first).relu(), second).relu(), last);
  },
};

/** Two 3×3 convolutions, of 32 and 64 channels, and dense layers of 128 and 10. */
export const cnn: Model = {
  init(key) {
    const shapes = [
      [32, 1, 3, 3],
      [64, 32, 3, 3],
      [64 * 7 * 7, 128],
      [128, CLASSES],
    ];
    return random.split(key, shapes.length).map((each, i) => layer(each, shapes[i]));
  },
  logits([first, second, third, last], pixels) {
    const features = convolution(convolution(pixels.reshape(-1, 1, 28, 28), first), second);
    return dense(dense(features.reshape(-1, 64 * 7 * 7), third).relu(), last);
  },
};

/** The mean of -log p of the right digit. */
export function crossEntropy(logits: Tensor, labels: Tensor): Tensor {
  const chosen = logits.mul(labels.oneHot(CLASSES)).sum({ axis: -1 });
  return logits.logsumexp({ axis: -1 }).sub(chosen).mean();
}

export const correctCount = (logits: Tensor, labels: Tensor): Tensor => logits.argmax({ axis: -1 }).equal(labels).sum();
