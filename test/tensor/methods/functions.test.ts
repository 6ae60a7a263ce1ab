/**
 * The functions of NumPy and of the array API, against what NumPy gave (make-function-cases.py wrote it down). Every second
 * case calls the method, the others the function of the same name.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { DTYPES, type DType } from "../../../src/core/dtype.js";
import * as pumice from "../../../src/index.js";
import { backendFor, Tensor, tensor } from "../../../src/tensor/index.js";
import { describeOnTensorDevices } from "../../support/tensors.js";

interface Given {
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly values: readonly (number | string)[];
}

interface Case {
  readonly name: string;
  readonly operands: readonly (number | Given)[];
  readonly args: readonly unknown[];
  readonly want: Given | readonly Given[];
}

const cases: readonly Case[] = JSON.parse(
  readFileSync(new URL("../../../../test/tensor/methods/function-cases.json", import.meta.url), "utf8"),
);

/** Rows of bits, moved values and choices: nothing is rounded. */
const EXACT = new Set(["nextAfter", "copysign", "signbit", "rot90", "nanToNum", "isin"]);

function operandOf(given: number | Given): number | Tensor {
  if (typeof given === "number") return given;
  const { dtype, shape, values } = given;
  const numbers = values.map(Number);
  if (dtype === "c64" || dtype === "c128") {
    const pairs = Array.from({ length: numbers.length / 2 }, (_, i) => ({
      re: numbers[2 * i]!,
      im: numbers[2 * i + 1]!,
    }));
    return tensor(pairs, { dtype, shape });
  }
  return tensor(numbers, { dtype, shape });
}

/** The call as a function, or as a method of the first operand. */
function called({ name, operands, args }: Case, isMethod: boolean): unknown {
  const [first, ...rest] = operands.map(operandOf);
  const space = pumice as unknown as Record<string, (...args: unknown[]) => unknown>;
  if ((isMethod || !(name in space)) && first instanceof Tensor) {
    return (first as unknown as typeof space)[name]!(...rest, ...args);
  }
  return space[name]!(...operands.map(operandOf), ...args);
}

/** The tensors in a result, in the order in which the script has them. */
function listOf(result: unknown): Tensor[] {
  if (result instanceof Tensor) return [result];
  if (Array.isArray(result)) return result;
  const { values, indices, inverse, counts } = result as pumice.Unique;
  return [values, indices, inverse, counts];
}

/**
 * Units in the last place that a result may differ from NumPy's. The rounding of an exponent grows with its size; NumPy's complex
 * exp2 rounds z·ln 2 first, which ours does not (mpmath: complex-accuracy.test.ts).
 */
const UNITS: Readonly<Record<string, number>> = { geomspace: 128, logspace: 128, exp2: 64 };

function isNear(name: string, got: number, want: number, dtype: DType): boolean {
  if (Object.is(got, want) || got === want) return true;
  if (Number.isNaN(want) || !Number.isFinite(want)) return false;
  return Math.abs(got - want) <= (UNITS[name] ?? 8) * DTYPES[dtype].epsilon * Math.max(1, Math.abs(want));
}

function check(each: Case, isMethod: boolean): void {
  const wanted = Array.isArray(each.want) ? (each.want as readonly Given[]) : [each.want as Given];
  const got = listOf(called(each, isMethod));
  assert.equal(got.length, wanted.length);
  for (const [i, result] of got.entries()) {
    const { shape, values } = wanted[i]!;
    assert.deepEqual(result.shape, shape);
    const numbers = Array.from(result.dataSync() as ArrayLike<number | bigint>, Number);
    for (const [at, value] of numbers.entries()) {
      const want = Number(values[at]);
      const isRight = EXACT.has(each.name) ? Object.is(value, want) : isNear(each.name, value, want, result.dtype);
      assert.ok(isRight, `result ${i} at ${at} is ${value}, not ${want}: [${numbers}], not [${values}]`);
    }
  }
}

describeOnTensorDevices("complex numbers near zero", (device) => {
  const skip = backendFor(device).hasDoubles ? false : `${device} has no f64`;
  test("log1p keeps all digits, as its series z - z²/2 does", { skip }, () => {
    const z = { re: 3e-9, im: -4e-9 };
    const [re, im] = tensor([z], { dtype: "c128" }).log1p().dataSync() as Float64Array;
    // z² = (9 - 16 - 24i)·1e-18.
    assert.ok(Math.abs(re! - (3e-9 + 3.5e-18)) < 1e-24, `${re}`);
    assert.ok(Math.abs(im! - (-4e-9 + 12e-18)) < 1e-24, `${im}`);
  });
});

describeOnTensorDevices("NumPy's", (device) => {
  const names = [...new Set(cases.map(({ name }) => name))];
  // Software drivers compile slowly: there a few cases of each.
  const stride = device === "cpu" ? 1 : 9;
  for (const name of names) {
    const own = cases.filter((each) => each.name === name);
    test(name, () => {
      for (const [i, each] of own.entries()) {
        if (i % stride !== 0) continue;
        const { operands, args } = each;
        const dtypes = [...operands, ...args].map((given) => (given as Partial<Given> | null)?.dtype);
        if (!backendFor(device).hasDoubles && dtypes.some((dtype) => dtype === "f64" || dtype === "c128")) continue;
        const what = `${name}(${operands.map((x) => (typeof x === "number" ? x : `${x.dtype}[${x.shape}] ${x.values}`)).join("; ")}) ${JSON.stringify(args)}`;
        try {
          check(each, i % 2 === 0);
        } catch (error) {
          throw new Error(`${what}: ${(error as Error).message}`, { cause: error });
        }
      }
    });
  }
});
