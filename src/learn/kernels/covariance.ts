/**
 * Covariances of samples under a kernel, as functions of tensors: of the samples and of the kernel's parameters, so that `grad` goes
 * through both. Parameters are a tree beside the kernel's own: logarithms by name, since they are above zero, and those of the
 * parts. Each kind of kernel is one entry of a table.
 */
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { checkTensor, eye, full, type Tensor, tensor, where } from "../../tensor/index.js";
import type { LearnedTree } from "../core/model.js";
import { isKernel, type Kernel, type KernelKind, type PerFeature } from "./kernel.js";

/** Parameters of a kernel: `values` are logarithms of those that the kernel names, `parts` belong to its parts. */
export interface KernelParameters extends LearnedTree {
  readonly values: { readonly [name: string]: Tensor };
  readonly parts: readonly KernelParameters[];
}

/** Parameters themselves, no logarithms. */
type Values = Readonly<Record<string, Tensor>>;

interface Rule {
  /** [samples of a, samples of b] */
  between(values: Values, a: Tensor, b: Tensor, kernel: Kernel): Tensor;
  /** The variance of each sample, [samples], where it is not 1. */
  variance?(values: Values, x: Tensor): Tensor;
}

const onesOf = (x: Tensor): Tensor => full([x.shape[0] as number], 1, { device: x.device, dtype: x.dtype }) as Tensor;

/** Differences of all pairs, [samples of a, samples of b, features]. They are not stored: what sums over them is one kernel. */
const differences = (a: Tensor, b: Tensor): Tensor => a.expandDims(1).sub(b.expandDims(0)) as Tensor;

/** |a − b|² of all pairs. By differences, so that samples near each other keep their digits. */
export const squaredDistances = (a: Tensor, b: Tensor): Tensor => differences(a, b).square().sum({ axis: 2 }) as Tensor;

/** The square root, with a slope of zero at zero: samples are at no distance from themselves, whatever the length scale. */
const rootOf = (squares: Tensor): Tensor => {
  const isZero = squares.equal(0);
  return where(isZero, 0, where(isZero, 1, squares).sqrt()) as Tensor;
};

/** Matérn's covariance for nu = p + ½ is a polynomial of degree p times an exponential (Rasmussen & Williams 2006, 4.16). */
function halfInteger(distance: Tensor, nu: number): Tensor {
  const p = nu - 0.5;
  const scaled = distance.mul(Math.sqrt(2 * nu)) as Tensor;
  let sum = scaled.mul(0) as Tensor;
  // Horner's rule: the factors of (2·scaled)^k, from the highest, p! (2p − k)! / ((2p)! k! (p − k)!).
  for (let k = p; k >= 0; k--) {
    let factor = 1;
    for (let i = 0; i < k; i++) factor *= (2 * (p - i)) / ((2 * p - i) * (i + 1));
    sum = sum.mul(scaled).add(factor) as Tensor;
  }
  return sum.mul(scaled.neg().exp()) as Tensor;
}

const gaussian = (squares: Tensor): Tensor => squares.mul(-0.5).exp() as Tensor;

const scaledSquares = (a: Tensor, b: Tensor, scale: Tensor): Tensor =>
  squaredDistances(a.div(scale) as Tensor, b.div(scale) as Tensor);

const RULES: Readonly<Record<Exclude<KernelKind, "sum" | "product" | "power">, Rule>> = {
  constant: {
    between: ({ value }, a, b) => (value as Tensor).broadcastTo([a.shape[0] as number, b.shape[0] as number]) as Tensor,
    variance: ({ value }, x) => onesOf(x).mul(value as Tensor) as Tensor,
  },
  white: {
    between: (_, a, b) =>
      full([a.shape[0] as number, b.shape[0] as number], 0, { device: a.device, dtype: a.dtype }) as Tensor,
    variance: ({ noise }, x) => onesOf(x).mul(noise as Tensor) as Tensor,
  },
  rbf: { between: ({ lengthScale }, a, b) => gaussian(scaledSquares(a, b, lengthScale as Tensor)) },
  matern: {
    between({ lengthScale }, a, b, { nu = 1.5 }) {
      const squares = scaledSquares(a, b, lengthScale as Tensor);
      return nu === Number.POSITIVE_INFINITY ? gaussian(squares) : halfInteger(rootOf(squares), nu);
    },
  },
  rationalQuadratic: {
    between({ lengthScale, alpha }, a, b) {
      const share = squaredDistances(a, b).div(
        (lengthScale as Tensor)
          .square()
          .mul(2)
          .mul(alpha as Tensor),
      );
      return share
        .log1p()
        .mul(alpha as Tensor)
        .neg()
        .exp() as Tensor;
    },
  },
  expSineSquared: {
    between({ lengthScale, periodicity }, a, b) {
      const angle = rootOf(squaredDistances(a, b))
        .mul(Math.PI)
        .div(periodicity as Tensor);
      return angle
        .sin()
        .div(lengthScale as Tensor)
        .square()
        .mul(-2)
        .exp() as Tensor;
    },
  },
  periodic: {
    between({ lengthScale, periodicity }, a, b) {
      const angle = differences(a, b)
        .mul(Math.PI)
        .div(periodicity as Tensor);
      const squares = angle
        .sin()
        .div(lengthScale as Tensor)
        .square();
      return squares.sum({ axis: 2 }).mul(-2).exp() as Tensor;
    },
  },
  dotProduct: {
    between: ({ sigma0 }, a, b) => a.matmul(b.T).add((sigma0 as Tensor).square()) as Tensor,
    variance: ({ sigma0 }, x) =>
      x
        .square()
        .sum({ axis: 1 })
        .add((sigma0 as Tensor).square()) as Tensor,
  },
};

const folded = (kernel: Kernel, parts: readonly Tensor[]): Tensor => {
  if (kernel.covariance === "power") return (parts[0] as Tensor).pow(kernel.exponent as number) as Tensor;
  return parts.reduce((a, b) => (kernel.covariance === "sum" ? a.add(b) : a.mul(b)) as Tensor);
};

const valuesOf = ({ values }: KernelParameters): Values =>
  Object.fromEntries(Object.entries(values).map(([name, log]) => [name, log.exp() as Tensor]));

/** Covariances of samples with others, [samples of a, samples of b]. */
export function crossCovariance(kernel: Kernel, parameters: KernelParameters, a: Tensor, b: Tensor): Tensor {
  const { covariance: kind, parts } = kernel;
  if (kind === "sum" || kind === "product" || kind === "power") {
    const each = parts.map((part, i) => crossCovariance(part, parameters.parts[i] as KernelParameters, a, b));
    return folded(kernel, each);
  }
  return RULES[kind].between(valuesOf(parameters), a, b, kernel);
}

/** The variance of each sample, [samples]. */
export function variances(kernel: Kernel, parameters: KernelParameters, x: Tensor): Tensor {
  const { covariance: kind, parts } = kernel;
  if (kind === "sum" || kind === "product" || kind === "power") {
    const each = parts.map((part, i) => variances(part, parameters.parts[i] as KernelParameters, x));
    return folded(kernel, each);
  }
  return RULES[kind].variance?.(valuesOf(parameters), x) ?? onesOf(x);
}

/** Covariances of samples among each other, [samples, samples]: noise counts on the diagonal. */
export function autoCovariance(kernel: Kernel, parameters: KernelParameters, x: Tensor): Tensor {
  const { covariance: kind, parts } = kernel;
  if (kind === "sum" || kind === "product" || kind === "power") {
    const each = parts.map((part, i) => autoCovariance(part, parameters.parts[i] as KernelParameters, x));
    return folded(kernel, each);
  }
  if (kind === "white") {
    const unit = eye(x.shape[0] as number, { device: x.device, dtype: x.dtype });
    return unit.mul(valuesOf(parameters).noise as Tensor) as Tensor;
  }
  return RULES[kind].between(valuesOf(parameters), x, x, kernel);
}

/** A tree like a kernel's parameters, of what a function gives for each value of a kernel and its name. */
export function kernelTree(
  kernel: Kernel,
  like: Tensor,
  each: (value: number, name: string, kernel: Kernel) => number,
): KernelParameters {
  const { device, dtype } = like;
  const one = (value: PerFeature, name: string): Tensor => {
    const numbers = typeof value === "number" ? each(value, name, kernel) : value.map((v) => each(v, name, kernel));
    return tensor(numbers as number[], { device, dtype }) as Tensor;
  };
  const entries = Object.entries(kernel.values);
  return {
    values: Object.fromEntries(entries.map(([name, value]) => [name, one(value, name)])),
    parts: kernel.parts.map((part) => kernelTree(part, like, each)),
  };
}

/** The parameters that a kernel starts with, beside a tensor: of its dtype, on its device. */
export function parameters(kernel: Kernel, like: Tensor): KernelParameters {
  checkIsKernel("kernels.parameters", kernel);
  checkTensor("kernels.parameters", "the tensor beside which they are made", like);
  return kernelTree(kernel, like, (value) => Math.log(value));
}

/** Throws unless each list of a kernel has a number for each feature. */
export function checkPerFeature(operation: string, kernel: Kernel, features: number): void {
  for (const [name, value] of Object.entries(kernel.values)) {
    if (typeof value === "number" || value.length === features) continue;
    throw new ShapeError(
      `${operation}: the kernel ${kernel.covariance} has ${value.length} numbers for ${name}, and samples have ${features} features.`,
    );
  }
  for (const part of kernel.parts) checkPerFeature(operation, part, features);
}

export function checkIsKernel(operation: string, value: unknown): void {
  if (isKernel(value)) return;
  throw new ArgumentError(`${operation}: the kernel is ${shown(value)}; make one as with kernels.rbf().`);
}

/** Options of `matrix`. */
export interface MatrixOptions {
  /** Logarithms in place of those that the kernel starts with: a tree as `kernels.parameters` gives, through which `grad` goes. */
  readonly parameters?: KernelParameters;
}

/**
 * The covariances of samples, [samples of a, samples of b]; without b (or null) of a with itself, where noise counts:
 * `kernels.matrix(kernels.rbf(2), x)`.
 */
export function matrix(kernel: Kernel, a: Tensor, b: Tensor | null = null, options: MatrixOptions = {}): Tensor {
  checkIsKernel("kernels.matrix", kernel);
  for (const [what, x] of [
    ["the samples", a],
    ["the other samples", b ?? a],
  ] as const) {
    // biome-ignore format: pairs
    checkTensor("kernels.matrix", what, x);
    if (x.rank !== 2) throw new ShapeError(`kernels.matrix: ${what} are [samples, features], not of rank ${x.rank}.`);
    checkPerFeature("kernels.matrix", kernel, x.shape[1] as number);
  }
  const { parameters: own = kernelTree(kernel, a, (value) => Math.log(value)) } = options;
  return b === null ? autoCovariance(kernel, own, a) : crossCovariance(kernel, own, a, b);
}
