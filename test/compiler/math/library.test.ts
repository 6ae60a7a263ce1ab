/**
 * The same bits everywhere: the library gives the same result through the type-checking evaluator, through compiled
 * JavaScript, on targets with inexact division and square root, and with arbitrary integers from failed conversions. On
 * a target that flushes denormals only denormals change.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { mathFunctions } from "../../../src/compiler/math/library.js";
import type { FloatType } from "../../../src/compiler/math/scalar-ops.js";
import { isDenormal } from "../../support/floats.js";
import { type EvaluatorOptions, evaluator, makeEvaluator } from "../../support/math-evaluator.js";
import { disturbed, types } from "./function-checks.js";
import { applyTo, argumentsFor, compiled, type MathFunctionName, names, recordingOf } from "./math-cases.js";
import { operationCount } from "./recorder.js";

function evaluate(
  name: MathFunctionName,
  type: FloatType,
  args: readonly number[],
  options?: EvaluatorOptions,
): number {
  const k = options ? makeEvaluator(options) : evaluator;
  const result = applyTo(
    name,
    k,
    args.map((value) => ({ type, value })),
    type,
  );
  assert.equal(result.type, type);
  return result.value;
}

const same = (a: number, b: number) => Object.is(a, b);

describe("the same bits on every target", () => {
  for (const name of names) {
    for (const type of types) {
      test(`${name} in ${type}`, () => {
        const plain = compiled(name, type);
        const unhelpful = { rootAndQuotientError: disturbed(type), failedConversion: 0x5bd1e995 };
        for (const args of argumentsFor(name, type, 150)) {
          const expected = plain(...args);
          const shown = `${name}(${args.join(", ")})`;
          const direct = evaluate(name, type, args);
          assert(same(direct, expected), `${shown}: evaluated ${direct}, compiled ${expected}`);
          const refined = evaluate(name, type, args, unhelpful);
          assert(same(refined, expected), `${shown}: ${refined} with inexact division, else ${expected}`);
        }
      });
    }
  }
});

describe("a target that flushes denormals loses only denormals", () => {
  for (const name of names) {
    test(name, () => {
      const plain = compiled(name, "f32");
      for (const args of argumentsFor(name, "f32", 300)) {
        if (args.some((x) => isDenormal("f32", x))) continue;
        const expected = plain(...args);
        const got = evaluate(name, "f32", args, { flushDenormals: true });
        if (isDenormal("f32", expected)) assert.equal(Math.abs(got), 0, `${name}(${args.join(", ")})`);
        else assert(same(got, expected), `${name}(${args.join(", ")}) is ${got} when flushed, ${expected} when not`);
      }
    });
  }
});

test("f32 functions use no f64, and nothing uses 64-bit integers", () => {
  for (const name of names) {
    for (const inexactDivision of [false, true]) {
      const { operations } = recordingOf(name, "f32", { inexactDivision });
      assert(
        operations.every(({ type }) => type !== "f64"),
        name,
      );
    }
  }
});

test("no function is larger than a kernel can bear", () => {
  for (const name of names) {
    assert(operationCount(recordingOf(name, "f32")) <= 200, name);
    assert(operationCount(recordingOf(name, "f64")) <= 400, name);
  }
});

test("an operand of the wrong type is refused", () => {
  assert.throws(
    () => evaluator.add({ type: "f32", value: 1 }, { type: "f64", value: 1 }),
    /add does not take \(f32, f64\)/,
  );
});

test("the table claims an error for both types, of a few ulp, and takes as many arguments as a function has", () => {
  for (const name of names) {
    const { ulp, arity, apply } = mathFunctions[name];
    for (const type of types) assert.ok(ulp[type] >= 0.5 && ulp[type] <= 6, `${name} in ${type}`);
    // A function takes the operations, its arguments and the type.
    assert.equal(apply.length, arity + 2, name);
  }
});
