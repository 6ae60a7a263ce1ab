/** Cases with results of SciPy, in the files that the make-cases.py beside them write. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { complex, type Tensor, tensor } from "../../src/index.js";

/** An array: the real parts of its numbers, and the imaginary ones of complex numbers. */
export interface PackedArray {
  readonly shape: readonly number[];
  readonly parts: readonly (readonly number[])[];
}

export const readCases = <T>(folder: string): readonly T[] =>
  JSON.parse(readFileSync(new URL(`../../../test/${folder}/cases.json`, import.meta.url), "utf8"));

export function tensorOf({ shape, parts }: PackedArray, dtype: "f32" | "f64"): Tensor {
  const made = parts.map((values) => tensor([...values], { dtype, shape }));
  return made.length === 2 ? complex(made[0]!, made[1]!) : made[0]!;
}

/** The shape is the same, and no number is further away than the tolerance times the largest. */
export function assertNear(found: Tensor, { shape, parts }: PackedArray, tolerance: number, what: string): void {
  assert.deepEqual([...found.shape], shape, what);
  const isComplex = found.dtype === "c64" || found.dtype === "c128";
  assert.equal(isComplex, parts.length === 2, `${what}: ${found.dtype}`);
  const got = found.dataSync() as Float64Array;
  const wanted = isComplex ? parts[0]!.flatMap((re, i) => [re, parts[1]![i]!]) : parts[0]!;
  const largest = Math.max(1, ...wanted.map(Math.abs));
  wanted.forEach((value, i) => {
    assert.ok(Math.abs(value - got[i]!) <= tolerance * largest, `${what}: ${got[i]} for ${value} at ${i}`);
  });
}
