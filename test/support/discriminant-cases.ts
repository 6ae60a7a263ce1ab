/** scikit-learn's discriminants and covariances, which test/learn/discriminant/make-discriminant-cases.py writes. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

interface Case {
  readonly kind: string;
  readonly name: string;
  readonly options: object;
  readonly x: number[][];
}

export interface DiscriminantCase extends Case {
  readonly y: number[];
  readonly logs: number[][];
  readonly decisions: number[] | number[][];
  readonly transformed?: number[][];
  readonly ratio?: number[];
}

export interface CovarianceCase extends Case {
  readonly location: number[];
  readonly covariance: number[][];
  readonly precision: number[][];
  readonly shrinkage: number;
  readonly mahalanobis: number[];
  readonly score: number;
}

export const discriminantCases = (): {
  readonly discriminants: readonly DiscriminantCase[];
  readonly covariances: readonly CovarianceCase[];
} => JSON.parse(readFileSync(resolve("test/learn/discriminant/discriminant-cases.json"), "utf8"));
