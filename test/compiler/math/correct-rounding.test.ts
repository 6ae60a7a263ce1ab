/** Division, square root and reciprocals that round correctly on targets whose own are a few ulp off. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { divide, divideNormal, reciprocalOfUnit, squareRoot } from "../../../src/compiler/math/correct-rounding.js";
import { randomFloats, specialFloats } from "../../support/floats.js";
import {
  bitsOfF32,
  evaluator,
  f32FromBits,
  fusedMultiplyAdd,
  makeEvaluator,
  type Scalar,
} from "../../support/math-evaluator.js";
import { disturbed, types } from "./function-checks.js";

const same = (a: number, b: number) => Object.is(a, b);

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

test("reciprocals of f64 from 1 to 2 round correctly, near halves between two floats, too", () => {
  const k = makeEvaluator({ rootAndQuotientError: disturbed("f64") });
  const random = randomFloats("f64", 11);
  const ends = Array.from({ length: 500 }, (_, i) => [1 + i * 2 ** -52, 2 - i * 2 ** -52]).flat();
  let halves = 0;
  for (const b of [...ends, ...Array.from({ length: 100_000 }, () => random.between(1, 2))]) {
    const rarely: typeof k.rarely = (condition, usual, compute) => {
      halves += condition.value;
      return condition.value ? compute() : usual;
    };
    const { value } = reciprocalOfUnit({ ...k, rarely }, k.constant("f64", b), "f64");
    assert(same(value, 1 / b), `1 / ${b} gave ${value}, not ${1 / b}`);
  }
  // 1 / (1 + ε) = 1 - ε + ε² - …: halves, but for what no sum of two floats shows.
  assert.ok(halves > 0 && halves < 400, `${halves}`);
});

test("reciprocals of f64 by fused multiply-adds round correctly, wherever their guess lies", () => {
  const fused = (a: Scalar, b: Scalar, c: Scalar): Scalar => ({
    type: "f64",
    value: fusedMultiplyAdd(a.value, b.value, c.value),
  });
  const random = randomFloats("f64", 12);
  const ends = Array.from({ length: 300 }, (_, i) => [1 + i * 2 ** -52, 2 - i * 2 ** -52]).flat();
  for (const units of [-3, -1, 0, 1, 3]) {
    const k = { ...makeEvaluator({ rootAndQuotientError: (x) => x + units * 2 ** -24 }), fused };
    for (const b of [...ends, ...Array.from({ length: 4000 }, () => random.between(1, 2))]) {
      const { value } = reciprocalOfUnit(k, k.constant("f64", b), "f64");
      assert(same(value, 1 / b), `1 / ${b} gave ${value}, not ${1 / b}`);
    }
  }
});

test("division of operands far from the ends of the range rounds correctly, and below them by 1", () => {
  for (const type of types) {
    const k = makeEvaluator({ rootAndQuotientError: disturbed(type) });
    const random = randomFloats(type, 7);
    const round = type === "f32" ? Math.fround : (x: number) => x;
    const quotient = (a: number, b: number) => divideNormal(k, { type, value: a }, { type, value: b }, type).value;
    for (let i = 0; i < 5000; i++) {
      const [a, b] = [random.scaled(-60, 60), random.scaled(-60, 60)];
      assert(same(quotient(a, b), round(a / b)), `${a} / ${b} gave ${quotient(a, b)}`);
    }
    for (const a of specialFloats(type).filter((x) => Math.abs(x) < 1))
      assert(same(quotient(a, 1), a), `${a} / 1 gave ${quotient(a, 1)}`);
  }
});

test("where the target's own operations are exact they are used as they are", () => {
  const scalar = (value: number) => ({ type: "f32", value }) as const;
  for (const f of [divide, divideNormal])
    assert.equal(f(evaluator, scalar(1), scalar(3), "f32").value, Math.fround(1 / 3));
  assert.equal(squareRoot(evaluator, scalar(2), "f32").value, Math.fround(Math.SQRT2));
  assert.equal(reciprocalOfUnit(evaluator, scalar(1.5), "f32").value, Math.fround(1 / 1.5));
});
