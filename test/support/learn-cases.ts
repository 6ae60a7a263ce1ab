/** scikit-learn's results, which test/learn/make-learn-cases.py writes, and closeness to them. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { type DType, type Tensor, tensor } from "../../src/index.js";
import { devicesWithDoubles } from "./tensors.js";

type Matrix = readonly (readonly number[])[];

/** A case of an estimator. */
interface EstimatorCase {
  readonly name: string;
  readonly kind: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly x: Matrix;
  readonly weights: readonly number[] | null;
}

export interface LinearCase extends EstimatorCase {
  readonly y: readonly number[] | Matrix;
  readonly coefficients: readonly number[] | Matrix;
  readonly intercept: number | readonly number[];
  readonly predicted: readonly number[] | Matrix;
  readonly score: number;
}

/** null is a missing value. */
export interface ScalerCase extends Omit<EstimatorCase, "x"> {
  readonly x: Gaps;
  readonly transformed: Gaps;
}

type Gaps = readonly (readonly (number | null)[])[];

export interface BayesCase extends EstimatorCase {
  readonly y: readonly number[];
  readonly means: Matrix;
  readonly variances: Matrix;
  readonly logs: Matrix;
  readonly predicted: readonly number[];
  readonly score: number;
}

export interface SplitCase {
  readonly samples: number;
  readonly folds: number;
  readonly labels?: readonly number[];
  readonly groups?: readonly number[];
  readonly tests: readonly (readonly number[])[];
}

export interface LearnCases {
  readonly linears: readonly LinearCase[];
  readonly scalers: readonly ScalerCase[];
  readonly bayeses: readonly BayesCase[];
  readonly splits: Readonly<Record<string, SplitCase>>;
  readonly pipelines: {
    readonly x: Matrix;
    readonly y: readonly number[];
    readonly alpha: number;
    readonly predicted: readonly number[];
    readonly scores: readonly number[];
    readonly crossPredicted: readonly number[];
  };
}

export const learnCases = (): LearnCases => JSON.parse(readFileSync(resolve("test/learn/learn-cases.json"), "utf8"));

export const of = (values: unknown, dtype: DType): Tensor => tensor(values as number[], { dtype }) as Tensor;

/** Numbers within a share of the largest of them, which counts as `least` at least. */
export async function closeTo(got: Tensor, want: unknown, within: number, what: string, least = 1e-300): Promise<void> {
  const found = Array.from((await got.cast("f64").data()) as Float64Array);
  const wanted = ([want] as unknown[]).flat(3) as number[];
  assert.equal(found.length, wanted.length, `${what}: the number of values`);
  const size = Math.max(least, ...wanted.map(Math.abs));
  const worst = Math.max(...found.map((value, i) => Math.abs(value - (wanted[i] as number)))) / size;
  assert.ok(worst <= within, `${what}: off by ${worst} of the largest`);
}

/** Dtypes of a case on a device: both on the CPU; on Vulkan f64 for the first alone, since each compiles kernels of its own. */
export function dtypesOf(device: string, isFirst: boolean): readonly ("f32" | "f64")[] {
  if (!devicesWithDoubles().includes(device)) return ["f32"];
  return device === "cpu" || isFirst ? ["f64", "f32"] : ["f32"];
}
