/**
 * What the tests of the library's functions share: rows of special values, which hold exactly, and arguments at which a
 * function is compared with an oracle of hundreds of bits (support/exact-functions.ts), within the error that the library
 * claims. The wide sweeps are in accuracy.test.ts.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { mathFunctions } from "../../../src/compiler/math/library.js";
import type { FloatType, ScalarOps } from "../../../src/compiler/math/scalar-ops.js";
import { type Real, rounded, ulpsFrom } from "../../support/floats.js";
import {
  bitsOfF32,
  evaluator,
  f32FromBits,
  f64FromWords,
  type Scalar,
  wordsOfF64,
} from "../../support/math-evaluator.js";
import { randomFrom } from "../../support/random.js";
import { compiled, type MathFunctionName } from "./math-cases.js";

export const types: readonly FloatType[] = ["f32", "f64"];

/**
 * Rows of arguments and the exact result, the same for f32 and f64: what C99's annex F, and NumPy and SciPy for what C
 * lacks, say about zeros, infinities and exact cases. NaN gives NaN.
 */
export function holdsTable(name: MathFunctionName, rows: readonly (readonly number[])[]): void {
  test(`${name}: special values`, () => {
    for (const type of types) {
      const f = compiled(name, type);
      for (const row of rows) {
        const args = row.slice(0, -1);
        // Some rows are exact in f64 only because they overflow or vanish in f32.
        const want = rounded(type, row.at(-1) as number);
        if (args.some((x) => !Number.isNaN(x) && rounded(type, x) !== x)) continue;
        const got = f(...args);
        assert(Object.is(got, want), `${name}(${args.join(", ")}) in ${type} is ${got}, not ${want}`);
      }
      assert(Number.isNaN(f(NaN, 2)), `${name} of NaN in ${type}`);
      assert(Number.isNaN(f(2, NaN)) || f.length === 1, `${name} of NaN in ${type}`);
    }
  });
}

/** Angles rounded to the type. */
export function holdsAngles(name: MathFunctionName, rows: readonly (readonly number[])[]): void {
  test(`${name}: angles at the ends of the axes are the nearest floats`, () => {
    for (const row of rows) {
      const args = row.slice(0, -1);
      for (const type of types) {
        const got = compiled(name, type)(...args);
        assert.equal(got, rounded(type, row.at(-1) as number), `${name}(${args.join(", ")}) in ${type}`);
      }
    }
  });
}

/** Arguments that stay in range for one type only are left out for the other by giving them here. */
interface Samples {
  readonly f32?: readonly (readonly number[])[];
  readonly f64?: readonly (readonly number[])[];
  readonly both?: readonly (readonly number[])[];
}

/** Compares a function with an oracle at some arguments. `ulp`: more than the library claims, where it claims less. */
export function holdsOracle(
  name: MathFunctionName,
  oracle: (...args: number[]) => Real,
  { both = [], ...own }: Samples,
  ulp?: number,
): void {
  for (const type of types) {
    test(`${name} in ${type} is as near to the true value as claimed`, () => {
      const f = compiled(name, type);
      for (const given of [...both, ...(own[type] ?? [])]) {
        const args = given.map((x) => rounded(type, x));
        const off = ulpsFrom(type, f(...args), oracle(...args));
        assert(off <= (ulp ?? mathFunctions[name].ulp[type]), `${name}(${args.join(", ")}) is ${off} ulp off`);
      }
    });
  }
}

/** Numbers spread evenly between two ends, each as a list of one argument. */
export function spread(low: number, high: number, count = 40): number[][] {
  const random = randomFrom(count + Math.round(high));
  return Array.from({ length: count }, () => [low + ((high - low) * random.below(2 ** 30)) / 2 ** 30]);
}

/** Numbers from 2^low to 2^high, evenly by exponent. */
export const powers = (low: number, high: number, count = 40): number[][] =>
  spread(low, high, count).map(([e]) => [2 ** (e as number)]);

export const negated = (rows: readonly (readonly number[])[]): number[][] => rows.map((row) => row.map((x) => -x));

/** Runs a function of the library's parts, which are not in its table, on one number. */
export function evaluated(
  f: (k: ScalarOps<Scalar>, x: Scalar, type: FloatType) => Scalar,
  x: number,
  type: FloatType,
): number {
  return f(evaluator, { type, value: rounded(type, x) }, type).value;
}

/** Moves a result by up to three ulp either way, differently for every result. */
export function disturbed(type: FloatType): (result: number) => number {
  return (result) => {
    if (!Number.isFinite(result) || result === 0) return result;
    if (type === "f32") {
      const bits = bitsOfF32(Math.fround(result));
      const moved = f32FromBits(bits + ((bits * 7) % 7) - 3 + (bits % 3));
      return Number.isFinite(moved) ? moved : result;
    }
    const [high, low] = wordsOfF64(result);
    const step = (low % 7) - 3;
    return low + step >= 0 && low + step < 2 ** 32 ? f64FromWords(high, low + step) : result;
  };
}
