/** Sums over the samples of each class: one product with a matrix of ones and zeros. Naive Bayes and the discriminants learn by them. */
import { arange, type Tensor } from "../../tensor/index.js";

/** Weights of samples by class, [classes, samples]: a sample counts in its own class alone. `y` holds positions of classes. */
export function membersOf(x: Tensor, y: Tensor, classes: number, weights: Tensor | null): Tensor {
  const { device, dtype } = x;
  const isMember = y
    .expandDims(0)
    .equal(arange(classes, { device, dtype: "i32" }).expandDims(1))
    .cast(dtype);
  return (weights ? isMember.mul(weights) : isMember) as Tensor;
}

/** The logarithms of probabilities of classes from joint ones, [samples, classes]. */
export function normalizedLogs(joint: Tensor): Tensor {
  // The largest is taken away first, so that it loses no digits to the others.
  const shifted = joint.sub(joint.max({ axis: 1, keepDims: true }));
  return shifted.sub(shifted.exp().sum({ axis: 1, keepDims: true }).log()) as Tensor;
}
