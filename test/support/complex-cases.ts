/** The values in test/tensor/complex-cases.json, which make-complex-cases.py describes. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Complex, DType } from "../../src/core/dtype.js";
import { isComplex } from "../../src/core/dtype.js";
import type { Tensor } from "../../src/tensor/index.js";

interface FunctionCase {
  readonly name: string;
  readonly args: readonly string[];
  readonly result: string;
}

interface Cases {
  readonly functions: readonly (FunctionCase & { readonly kind: "tame" | "c64" | "c128" })[];
  readonly specials: readonly FunctionCase[];
  readonly arrays: Readonly<
    Record<string, { readonly shape: number[]; readonly isComplex: boolean; readonly values: string }>
  >;
}

export const complexCases: Cases = JSON.parse(readFileSync(resolve("test/tensor/complex-cases.json"), "utf8"));

export const numbersIn = (text: string): number[] => (text === "" ? [] : text.split(" ").map(Number));

/** Complex numbers of a list of alternating parts. */
export function complexOf(text: string | ArrayLike<number>): Complex[] {
  const numbers = typeof text === "string" ? numbersIn(text) : text;
  return Array.from({ length: numbers.length / 2 }, (_, i) => ({ re: numbers[2 * i]!, im: numbers[2 * i + 1]! }));
}

/** The elements of a tensor as complex numbers, also where they are real. */
export function complexNumbers(x: Tensor<DType>): Complex[] {
  const data = Array.from(x.dataSync() as ArrayLike<number | bigint>, Number);
  return isComplex(x.dtype) ? complexOf(data) : data.map((re) => ({ re, im: 0 }));
}
