/** The parts that support vector machines share: options, the width of the kernel, and decisions from support vectors. */
import { checkWhole } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { full, isTensor, type Tensor, tensor, where } from "../../tensor/index.js";
import { KernelRows } from "./kernel-rows.js";
import { checkPairwise, gramMatrix, kernelFunction, PAIRWISE, type PairwiseOptions } from "./pairwise.js";
import type { DualSolution } from "./smo.js";

/** Options that all support vector machines have. The kernel is "rbf" unless told, `coef0` 0. */
export interface MachineOptions extends Omit<PairwiseOptions, "gamma"> {
  /** "scale" (1 / (features · variance of the samples), unless told), "auto" (1 / features), or a number. */
  readonly gamma?: "scale" | "auto" | number | Tensor;
  /** The violation of optimality at which a fit ends: 1e-3 unless told. */
  readonly tol?: number;
  /** Rounds at most: ten million unless told. */
  readonly maxIter?: number;
}

export const MACHINE = { ...PAIRWISE, tol: "number", maxIter: "number" } as const;

const NAMES = ["linear", "rbf", "polynomial", "sigmoid", "laplacian", "cosine", "precomputed"];

export function checkMachine(kind: string, { gamma, tol = 1e-3, maxIter = 1, ...rest }: MachineOptions): void {
  const isNamed = gamma === "scale" || gamma === "auto";
  if (typeof gamma === "string" && !isNamed) {
    throw new ArgumentError(`${kind}: gamma is ${shown(gamma)}; it is "scale", "auto" or a number above zero.`);
  }
  checkPairwise(kind, isNamed || gamma === undefined ? rest : { ...rest, gamma: gamma as number | Tensor }, NAMES);
  checkWhole(kind, "maxIter", maxIter, 1);
  if (tol > 0 && Number.isFinite(tol)) return;
  throw new ArgumentError(`${kind}: tol is ${shown(tol)}; it is a number above zero.`);
}

/** When the search ends. */
export const stoppingOf = ({ tol = 1e-3, maxIter = 10_000_000 }: MachineOptions) => ({ tol, maxIter });

/** What every support vector machine learns. */
export interface Supports {
  /** The samples that decisions are made of; null with similarities that were precomputed. */
  readonly supportVectors: Tensor | null;
  /** Their places among the samples of the fit, in order, i32. */
  readonly supportIndices: Tensor;
  /** The factor in the kernel. */
  readonly gamma: Tensor;
}

/** The factor in the kernel as a number in a tensor. */
function gammaOf({ gamma = "scale" }: MachineOptions, x: Tensor): Tensor {
  const { device, dtype } = x;
  if (isTensor(gamma)) return gamma.cast(dtype) as Tensor;
  const features = x.shape[1] as number;
  if (gamma !== "scale") return full([], gamma === "auto" ? 1 / features : gamma, { device, dtype }) as Tensor;
  const variance = x.variance();
  return where(variance.equal(0), 1, variance.mul(features).reciprocal()) as Tensor;
}

const named = ({ kernel = "rbf", degree, coef0 = 0 }: MachineOptions, gamma: Tensor): PairwiseOptions => ({
  kernel,
  coef0,
  gamma,
  ...(degree === undefined ? {} : { degree }),
});

/** A fit's samples with their kernel. */
export interface Space {
  readonly x: Tensor;
  readonly gamma: Tensor;
  /** Rows of the kernel among the samples at these places, or among all. */
  rows(places: Int32Array | null): KernelRows;
  /** What is kept of the samples whose weights are not all zero, and these weights, [machines, supports]. */
  supports(weights: readonly Float64Array[]): Supports & { readonly dualCoefficients: Tensor };
}

export function spaceOf(kind: string, x: Tensor, options: MachineOptions, signal: AbortSignal | undefined): Space {
  const operation = `${kind}.fit`;
  const { device, dtype } = x;
  const gamma = gammaOf(options, x);
  const pairwise = named(options, gamma);
  const isGiven = pairwise.kernel === "precomputed";
  if (isGiven) gramMatrix(operation, x, pairwise);
  const kernel = isGiven ? null : kernelFunction(operation, pairwise);
  return {
    x,
    gamma,
    rows(places) {
      if (!places) return new KernelRows(x, kernel, signal);
      const at = tensor(places, { device });
      const some = x.take(at, { axis: 0 }) as Tensor;
      return new KernelRows(isGiven ? (some.take(at, { axis: 1 }) as Tensor) : some, kernel, signal);
    },
    supports(weights) {
      const found = Int32Array.from((weights[0] as Float64Array).keys()).filter((i) =>
        weights.some((each) => each[i] !== 0),
      );
      // Without any, decisions are the intercept: a sample without weight stands for none.
      const places = found.length > 0 ? found : Int32Array.of(0);
      const values = weights.map((each) => Array.from(places, (i) => each[i] as number));
      const supportIndices = tensor(places, { device }) as Tensor;
      return {
        supportIndices,
        supportVectors: isGiven ? null : (x.take(supportIndices, { axis: 0 }) as Tensor),
        gamma,
        dualCoefficients: tensor(values, { device, dtype }) as Tensor,
      };
    },
  };
}

/** Similarities of samples to the support vectors, [samples, supports]. */
export function similaritiesTo(
  operation: string,
  { supportVectors, supportIndices, gamma }: Supports,
  x: Tensor,
  options: MachineOptions,
): Tensor {
  const at = x.cast(gamma.dtype) as Tensor;
  if (!supportVectors) return at.take(supportIndices, { axis: 1 }) as Tensor;
  return kernelFunction(operation, named(options, gamma))(at, supportVectors);
}

/** Numbers of solutions as tensors beside the samples. */
export function thresholds(solutions: readonly DualSolution[], { device, dtype }: Tensor) {
  return {
    intercept: tensor(
      solutions.map(({ rho }) => -rho),
      { device, dtype },
    ) as Tensor,
    objectives: tensor(
      solutions.map(({ objective }) => objective),
      { device, dtype },
    ) as Tensor,
    iterations: tensor(
      Int32Array.from(solutions, ({ iterations }) => iterations),
      { device },
    ) as Tensor,
  };
}
