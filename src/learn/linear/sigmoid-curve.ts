/**
 * The sigmoid that takes what a classifier says to probabilities (Platt 1999; Lin, Lin & Weng 2007): the likeliest, with Platt's targets,
 * which stay away from 0 and 1. Calibration (ensemble) and support vector machines (kernels) fit it to what was said of samples held out.
 */
import { concat, full, type Tensor, where, zeros } from "../../tensor/index.js";
import { smoothMinimum } from "./implicit-minimum.js";
import { logisticLoss } from "./losses.js";
import { design, summedLoss } from "./smooth-problem.js";

/** The slope and the offset, [2], of the likeliest sigmoid. `isClass` is 1 for samples of the class, else 0. */
export function sigmoidCurve(said: Tensor, isClass: Tensor, weights: Tensor | null): Tensor {
  const { device, dtype } = said;
  const counted = weights ?? (full(said.shape, 1, { device, dtype }) as Tensor);
  const inside = counted.mul(isClass).sum();
  const outside = counted.sum().sub(inside);
  const target = where(isClass.greater(0), inside.add(1).div(inside.add(2)), outside.add(2).reciprocal());
  const a = design(said.expandDims(1) as Tensor, true);
  const none = zeros([2], { device, dtype }) as Tensor;
  const log = inside.add(1).div(outside.add(1)).log();
  const start = concat([zeros([1], { device, dtype }), log.reshape([1])]) as Tensor;
  const samples = said.shape[0] as number;
  const tol = samples * (dtype === "f64" ? 1e-12 : 1e-6);
  return smoothMinimum(
    {
      given: { a, target: target as Tensor, weights, none },
      problemOf: ({ a, target, weights, none }) => summedLoss(a, logisticLoss(target), weights, none),
      start,
      samples,
    },
    { tol, maxIter: 100 },
  ).parameters;
}
