/** scikit-learn's results, which make-kernels-cases.py writes, and kernels of their descriptions. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { kernels } from "../../../src/learn/index.js";

type Matrix = number[][];
type Kernel = ReturnType<typeof kernels.rbf>;

/** A kernel as the name of its function and its arguments. */
type Description = readonly [name: string, ...rest: unknown[]];

interface KernelCase {
  readonly name: string;
  readonly kernel: Description;
  readonly x: Matrix;
  readonly y: Matrix;
  readonly own: Matrix;
  readonly cross: Matrix;
  readonly slopes: number[];
}

interface Case {
  readonly name: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly x: Matrix;
}

interface RegressionCase extends Case {
  readonly kernel: Description;
  readonly y: number[] | Matrix;
  readonly new: Matrix;
  readonly mean: number[] | Matrix;
  readonly std: number[] | Matrix;
  readonly covariance: Matrix | Matrix[];
  readonly likelihood: number;
  readonly parameters: number[];
}

interface ClassificationCase extends Case {
  readonly kernel: Description;
  readonly y: number[];
  readonly probabilities: Matrix;
  readonly predicted: number[];
  readonly likelihood: number;
}

interface RidgeCase extends Case {
  readonly y: number[] | Matrix;
  readonly weights: number[] | null;
  readonly new: Matrix;
  readonly dual: number[] | Matrix;
  readonly predicted: number[] | Matrix;
}

interface PcaCase extends Case {
  readonly new: Matrix;
  readonly eigenvalues: number[];
  readonly vectors: Matrix;
  readonly transformed: Matrix;
  readonly back: Matrix | null;
}

interface Cases {
  readonly kernels: readonly KernelCase[];
  readonly periodic: { readonly x: Matrix; readonly y: Matrix; readonly cross: Matrix; readonly smooth: Matrix };
  readonly regressions: readonly RegressionCase[];
  readonly classifications: readonly ClassificationCase[];
  readonly ridges: readonly RidgeCase[];
  readonly pcas: readonly PcaCase[];
}

export const kernelsCases = (): Cases =>
  JSON.parse(readFileSync(resolve("test/learn/kernels/kernels-cases.json"), "utf8"));

/** The kernel of a description: ["sum", ["rbf", 2], ["white", 0.1]]. */
export function kernelOf([name, ...rest]: Description): Kernel {
  const make = kernels[name as "sum"] as (...given: unknown[]) => Kernel;
  return make(
    ...rest.map((each) => (Array.isArray(each) && typeof each[0] === "string" ? kernelOf(each as never) : each)),
  );
}
