/**
 * The same bits everywhere: the library gives the same result through the type-checking evaluator, through compiled
 * JavaScript, on targets with inexact division and square root, and with arbitrary integers from failed conversions. On
 * a target that flushes denormals only denormals change.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { divide, reciprocalOfUnit, squareRoot } from "../../../src/compiler/math/correct-rounding.js";
import type { FloatType } from "../../../src/compiler/math/scalar-ops.js";
import { mulHigh, splitWord } from "../../../src/compiler/math/wide-integer.js";
import { isDenormal, randomFloats, specialFloats } from "../../support/floats.js";
import {
  bitsOfF32,
  type EvaluatorOptions,
  evaluator,
  f32FromBits,
  f64FromWords,
  makeEvaluator,
  wordsOfF64,
} from "../../support/math-evaluator.js";
import { randomFrom } from "../../support/random.js";
import { applyTo, argumentsFor, compiled, type MathFunctionName, names, recordingOf } from "./math-cases.js";
import { operationCount } from "./recorder.js";

const types: FloatType[] = ["f32", "f64"];

/** Moves a result by up to three ulp either way, differently for every result. */
function disturbed(type: FloatType): (result: number) => number {
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

describe("refined division and square root round correctly", () => {
  for (const type of types) {
    const k = makeEvaluator({ rootAndQuotientError: disturbed(type) });
    const round = type === "f32" ? Math.fround : (x: number) => x;
    const scalar = (value: number) => ({ type, value });

    test(`divide in ${type}`, () => {
      const random = randomFloats(type, 5);
      const special = specialFloats(type);
      const pairs = special.flatMap((a) => special.map((b) => [a, b]));
      for (let i = 0; i < 10_000; i++) {
        pairs.push([random.any(), random.any()], [random.between(1, 2), random.between(1, 2)]);
        // Quotients that are denormal, some of them halfway between two.
        const exponent = type === "f32" ? 100 : 900;
        const small = random.scaled(-exponent, -exponent + 4);
        pairs.push([small, random.scaled(30, type === "f32" ? 60 : 170)]);
        pairs.push([random.below(4096) * 2 ** -exponent, random.below(4096) * 2 ** (type === "f32" ? 45 : 160)]);
      }
      for (const [a, b] of pairs) {
        const { value } = divide(k, scalar(a), scalar(b), type);
        assert(same(value, round(a / b)), `${a} / ${b} gave ${value}, not ${round(a / b)}`);
      }
    });

    test(`squareRoot in ${type}`, () => {
      const random = randomFloats(type, 6);
      const values = specialFloats(type);
      for (let i = 0; i < 20_000; i++) values.push(random.any(), random.between(0.5, 4));
      for (const x of values) {
        const { value } = squareRoot(k, scalar(x), type);
        assert(same(value, round(Math.sqrt(x))), `sqrt(${x}) gave ${value}, not ${round(Math.sqrt(x))}`);
      }
    });
  }
});

test("reciprocals of numbers from 1 to 2 round correctly", () => {
  const k = makeEvaluator({ rootAndQuotientError: disturbed("f32") });
  const [one, two] = [bitsOfF32(1), bitsOfF32(2)];
  const steps = Array.from({ length: 200_000 }, (_, i) => one + ((i * 4099) % (two - one)));
  const ends = Array.from({ length: 500 }, (_, i) => [one + i, two - i]).flat();
  for (const bits of [...steps, ...ends]) {
    const b = f32FromBits(bits);
    const { value } = reciprocalOfUnit(k, k.constant("f32", b), "f32");
    assert(same(value, Math.fround(1 / b)), `1 / ${b} gave ${value}, not ${Math.fround(1 / b)}`);
  }
});

test("mulHigh is the upper half of the 64-bit product", () => {
  const random = randomFrom(9);
  const word = () => random.pick([0, 1, 0xffff, 0x10000, 0xffffffff, random.below(2 ** 32), random.below(2 ** 32)]);
  for (let i = 0; i < 2000; i++) {
    const [a, b] = [word(), word()];
    const split = (value: number) => splitWord(evaluator, evaluator.constant("u32", value));
    const high = Number((BigInt(a) * BigInt(b)) >> 32n);
    assert.equal(mulHigh(evaluator, split(a), split(b)).value, high, `${a} * ${b}`);
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
