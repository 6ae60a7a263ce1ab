/** scikit-learn's results of preprocessing, which the Python scripts beside this file write; null stands for NaN. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Tensor } from "../../../src/index.js";
import { numbersOf } from "../../support/tensors.js";

export type Cells = readonly (readonly (number | null)[])[];

interface PreprocessingCase {
  readonly kind: string;
  readonly name: string;
  readonly options: object;
  readonly x: Cells;
  readonly transformed: Cells;
  /** Other samples than those of the fit. */
  readonly new: Cells;
  readonly newTransformed: Cells;
  readonly back: Cells | null;
  readonly names: readonly string[];
}

/** The cases of a script, by the name of its file. */
export const casesIn = <T>(name: string): T =>
  JSON.parse(readFileSync(resolve(`test/learn/preprocessing/${name}.json`), "utf8"));

export const preprocessingCases = () => casesIn<readonly PreprocessingCase[]>("preprocessing-cases");

/** Rows of numbers, NaN where one is missing. */
export const filled = (cells: Cells): number[][] => cells.map((row) => row.map((cell) => cell ?? Number.NaN));

/** Numbers within a tolerance relative to each, or to 1 if that is larger; NaN meets null. */
export function near(got: Tensor, want: Cells, within: number, what: string): void {
  const [found, wanted] = [numbersOf(got), want.flat()];
  assert.deepEqual(got.shape, [want.length, want[0]!.length], `${what}: the shape`);
  wanted.forEach((value, i) => {
    const each = found[i]!;
    const isNear =
      value === null ? Number.isNaN(each) : Math.abs(each - value) <= within * Math.max(1, Math.abs(value));
    assert.ok(isNear, `${what}: element ${i} is ${each}, not ${value}`);
  });
}
