/** Kernels of all pairs of samples, [samples, others]: similarities that are products in some space. */
import { checkChoice, checkOptions, type OptionKinds } from "../../core/arguments.js";
import type { Tensor } from "../../tensor/index.js";
import type { Samples } from "../core/samples.js";
import { checkAmount } from "../core/settings.js";
import { shareOf } from "../core/share.js";
import { distancesBetween, samplePair } from "./distances.js";
import { METRIC, type MetricOptions } from "./inputs.js";

/** A similarity of two samples. */
export type PairwiseKernel =
  | "linear"
  | "rbf"
  | "polynomial"
  | "sigmoid"
  | "laplacian"
  | "cosine"
  | "chi2"
  | "additiveChi2";

/** Options of `pairwiseKernels`. */
export interface PairwiseKernelOptions extends Omit<MetricOptions, "weights"> {
  /** "linear" unless told. */
  readonly metric?: PairwiseKernel;
  /** The scale of "rbf", "polynomial", "sigmoid", "laplacian": 1 / features unless told; of "chi2": 1. */
  readonly gamma?: number;
  /** The constant of "polynomial" and "sigmoid": 1 unless told. */
  readonly coef0?: number;
  /** The power of "polynomial": 3 unless told. */
  readonly degree?: number;
}

const { weights: _, ...PLACE } = METRIC;
const KERNEL: OptionKinds<PairwiseKernelOptions> = {
  ...PLACE,
  metric: "text",
  gamma: "number",
  coef0: "number",
  degree: "number",
};

const KERNELS: readonly PairwiseKernel[] = [
  "linear",
  "rbf",
  "polynomial",
  "sigmoid",
  "laplacian",
  "cosine",
  "chi2",
  "additiveChi2",
];

/** A kernel of all pairs of samples; of the samples among themselves when `others` is left out or null. */
export function pairwiseKernels(
  samples: Samples,
  others: Samples | null = null,
  options: PairwiseKernelOptions = {},
): Tensor {
  const operation = "metrics.pairwiseKernels";
  checkOptions(operation, options, KERNEL);
  const { metric = "linear", coef0 = 1, degree = 3, gamma: given } = options;
  checkChoice(operation, "the option metric", metric, KERNELS);
  if (given !== undefined) checkAmount(operation, "gamma", given);
  const { device, dtype } = options;
  const [a, b] = samplePair(operation, samples, others, { device, dtype });
  const gamma = given ?? (metric === "chi2" ? 1 : 1 / (a.shape[1] as number));
  const products = (): Tensor => a.matmul(b.T, { precision: "highest" }) as Tensor;
  const distances = (name: "sqeuclidean" | "manhattan"): Tensor => distancesBetween({ metric: name })(a, b);
  switch (metric) {
    case "linear":
      return products();
    case "rbf":
      return distances("sqeuclidean").mul(-gamma).exp() as Tensor;
    case "polynomial":
      return products().mul(gamma).add(coef0).pow(degree) as Tensor;
    case "sigmoid":
      return products().mul(gamma).add(coef0).tanh() as Tensor;
    case "laplacian":
      return distances("manhattan").mul(-gamma).exp() as Tensor;
    case "cosine":
      return unitRows(a).matmul(unitRows(b).T, { precision: "highest" }) as Tensor;
    case "chi2":
      return additiveChi2(a, b).mul(gamma).exp() as Tensor;
    case "additiveChi2":
      return additiveChi2(a, b);
  }
}

/** Rows of length 1; rows of zeros stay. */
const unitRows = (x: Tensor): Tensor => shareOf(x, x.square().sum({ axis: 1, keepDims: true }).sqrt() as Tensor);

/** −Σ (x − y)² / (x + y), of features that are zero or more. */
function additiveChi2(a: Tensor, b: Tensor): Tensor {
  const [x, y] = [a.expandDims(1), b.expandDims(0)];
  return shareOf(x.sub(y).square() as Tensor, x.add(y) as Tensor)
    .sum({ axis: 2 })
    .neg() as Tensor;
}
