/**
 * Two networks that tell digits apart, written by hand: functions of weights and pixels. The rows measure them, and the same
 * networks of layers of `pumice/nn` beside them, which must cost no more (bench/layer-work.ts).
 */
import type { Tensor } from "../src/index.js";

/** Weights and biases of a layer: a tree of tensors, which is all that `grad`, `jit` and the optimiser know of it. */
export interface Layer {
  readonly weights: Tensor;
  readonly biases: Tensor;
}

export interface Model {
  /** [n, 784] pixels from 0 to 1 → [n, 10]: the larger a number, the likelier the digit. */
  logits(layers: readonly Layer[], pixels: Tensor): Tensor;
}

const CLASSES = 10;

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
  logits([first, second, last], pixels) {
    return dense(dense(dense(pixels, first).relu(), second).relu(), last);
  },
};

/** Two 3×3 convolutions, of 32 and 64 channels, and dense layers of 128 and 10. */
export const cnn: Model = {
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
