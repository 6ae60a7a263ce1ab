/**
 * Kernels by name, as kernel ridge, kernel principal components and support vector machines take them: similarities of all pairs of two
 * lists of samples. Beside the names stand kernels as values, functions, and "precomputed" for samples that are similarities already.
 */
import { checkWhole } from "../../core/arguments.js";
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { isTensor, type Tensor, where } from "../../tensor/index.js";
import { checkPerFeature, matrix, squaredDistances } from "./covariance.js";
import { isKernel, type Kernel } from "./kernel.js";

/** Similarities, [samples of a, samples of b], as a function of tensors. */
export type KernelFunction = (a: Tensor, b: Tensor) => Tensor;

type NamedKernel = "linear" | "rbf" | "polynomial" | "sigmoid" | "laplacian" | "cosine" | "precomputed";

/** A kernel by name, as a value of `kernels`, or as a function. */
export type KernelChoice = NamedKernel | Kernel | KernelFunction;

/** Options of a kernel by name. */
export interface PairwiseOptions {
  readonly kernel?: KernelChoice;
  /** The factor in "rbf", "polynomial", "sigmoid" and "laplacian": one by the number of features unless told. */
  readonly gamma?: number | Tensor;
  /** The power of "polynomial": 3 unless told. */
  readonly degree?: number;
  /** What "polynomial" and "sigmoid" add to the product: 1 unless told. */
  readonly coef0?: number;
}

export const PAIRWISE = { kernel: "any", gamma: "any", degree: "number", coef0: "number" } as const;

interface Numbers {
  readonly gamma: number | Tensor;
  readonly degree: number;
  readonly coef0: number;
}

const affine = (a: Tensor, b: Tensor, { gamma, coef0 }: Numbers): Tensor =>
  a.matmul(b.T).mul(gamma).add(coef0) as Tensor;

/** Rows of length 1; those of zeros stay. */
function unitRows(x: Tensor): Tensor {
  const length = x.square().sum({ axis: 1, keepDims: true }).sqrt();
  return x.div(where(length.equal(0), 1, length)) as Tensor;
}

/** Σ |a − b| of all pairs. */
const absoluteDistances = (a: Tensor, b: Tensor): Tensor =>
  a.expandDims(1).sub(b.expandDims(0)).abs().sum({ axis: 2 }) as Tensor;

const NAMED: Readonly<Record<Exclude<NamedKernel, "precomputed">, (a: Tensor, b: Tensor, n: Numbers) => Tensor>> = {
  linear: (a, b) => a.matmul(b.T) as Tensor,
  rbf: (a, b, { gamma }) => squaredDistances(a, b).mul(gamma).neg().exp() as Tensor,
  polynomial: (a, b, numbers) => affine(a, b, numbers).pow(numbers.degree) as Tensor,
  sigmoid: (a, b, numbers) => affine(a, b, numbers).tanh() as Tensor,
  laplacian: (a, b, { gamma }) => absoluteDistances(a, b).mul(gamma).neg().exp() as Tensor,
  cosine: (a, b) => unitRows(a).matmul(unitRows(b).T) as Tensor,
};

/** The function that options name; "precomputed" has none. */
export function kernelFunction(operation: string, options: PairwiseOptions): KernelFunction {
  const { kernel = "linear", gamma, degree = 3, coef0 = 1 } = options;
  if (typeof kernel === "function") return (a, b) => checkedMatrix(operation, kernel(a, b), a, b);
  if (isKernel(kernel)) {
    return (a, b) => {
      checkPerFeature(operation, kernel, a.shape[1] as number);
      return matrix(kernel, a, b);
    };
  }
  if (kernel === "precomputed") {
    throw new ArgumentError(`${operation}: the kernel "precomputed" compares no samples.`);
  }
  const compute = NAMED[kernel];
  return (a, b) => compute(a, b, { gamma: gamma ?? 1 / (a.shape[1] as number), degree, coef0 });
}

function checkedMatrix(operation: string, found: unknown, a: Tensor, b: Tensor): Tensor {
  const wanted = [a.shape[0], b.shape[0]];
  if (isTensor(found) && found.rank === 2 && found.shape.every((extent, i) => extent === wanted[i])) {
    return found.cast(a.dtype) as Tensor;
  }
  throw new ShapeError(
    `${operation}: the kernel gives a tensor [samples of a, samples of b], here ${formatShape(wanted as number[])}, not ` +
      `${isTensor(found) ? formatShape(found.shape) : shown(found)}.`,
  );
}

/** The similarities of the samples of a fit among each other. Precomputed ones are as many as samples. */
export function gramMatrix(operation: string, x: Tensor, options: PairwiseOptions): Tensor {
  if (options.kernel !== "precomputed") return kernelFunction(operation, options)(x, x);
  const [rows, columns] = x.shape as [number, number];
  if (rows === columns) return x;
  throw new ShapeError(
    `${operation}: a precomputed kernel is [samples, samples], similarities of all pairs, not ${formatShape(x.shape)}.`,
  );
}

/** Throws on a kernel that there is not, and on numbers that make none. `names` are the names that a kind takes. */
export function checkPairwise(kind: string, options: PairwiseOptions, names: readonly string[]): void {
  const { kernel, gamma, degree } = options;
  const isRight = kernel === undefined || typeof kernel === "function" || isKernel(kernel) || names.includes(kernel);
  if (!isRight) {
    const list = names.map((name) => `"${name}"`).join(", ");
    throw new ArgumentError(
      `${kind}: kernel is ${shown(kernel)}; it is ${list}, a kernel as kernels.rbf(), or a function of two tensors.`,
    );
  }
  if (degree !== undefined) checkWhole(kind, "the degree", degree, 0);
  if (gamma === undefined || (isTensor(gamma) && gamma.rank === 0) || (typeof gamma === "number" && gamma > 0)) return;
  throw new ArgumentError(`${kind}: gamma is ${shown(gamma)}; it is a number above zero, or a tensor of one.`);
}
