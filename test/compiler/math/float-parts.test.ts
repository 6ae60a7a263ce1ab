/** Floats taken apart and put together: signs, exponents and leading halves, for every kind of float. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as F from "../../../src/compiler/math/float-parts.js";
import { largest, randomFloats, smallestNormal, specialFloats } from "../../support/floats.js";
import { bitsOfF32, evaluator as k, type Scalar, wordsOfF64 } from "../../support/math-evaluator.js";
import { types } from "./function-checks.js";

for (const type of types) {
  const scalar = (value: number): Scalar => ({ type, value });
  const i32 = (value: number): Scalar => ({ type: "i32", value });
  const random = randomFloats(type, 21);
  const any = [...specialFloats(type), ...Array.from({ length: 300 }, random.any)];
  const finite = any.filter(Number.isFinite);
  const topWord = (x: number) => (type === "f32" ? bitsOfF32(x) : wordsOfF64(x)[0]);
  const { bias, precision } = F.formats[type];

  test(`the format of ${type} is that of IEEE 754`, () => {
    assert.equal(F.formats[type].largest, largest[type]);
    assert.equal(F.formats[type].smallestNormal, smallestNormal[type]);
    assert.equal(2 ** (1 - bias), smallestNormal[type]);
    assert.equal((2 - 2 ** (1 - precision)) * 2 ** bias, largest[type]);
    assert.deepEqual(F.constants(k, type)(0.5), scalar(0.5));
  });

  test(`the sign word of ${type} holds the sign, and putting it back changes nothing`, () => {
    for (const x of any) {
      const word = F.signWord(k, scalar(x), type);
      assert.equal(word.type, "u32");
      if (Number.isNaN(x)) continue;
      assert.equal(word.value, topWord(x));
      assert.ok(Object.is(F.withSignWord(k, scalar(x), word, type).value, x), `${x}`);
      assert.equal(F.isSignSet(k, scalar(x), type).value, Object.is(x, -0) || x < 0 ? 1 : 0, `${x}`);
    }
  });

  test(`a magnitude takes the sign of another ${type}, zeros included`, () => {
    for (const x of finite) {
      for (const sign of [1, -1, 0, -0, Infinity, -Infinity]) {
        const isNegative = sign < 0 || Object.is(sign, -0);
        const want = isNegative ? -Math.abs(x) : Math.abs(x);
        const got = F.withSignOf(k, scalar(Math.abs(x)), scalar(sign), type).value;
        assert.ok(Object.is(got, want), `|${x}| with the sign of ${sign} is ${got}`);
      }
    }
  });

  test(`powers of two from the smallest normal ${type} to the largest, and zero below`, () => {
    for (let n = 1 - bias; n <= bias; n++) assert.equal(F.powerOfTwo(k, i32(n), type).value, 2 ** n);
    assert.equal(F.powerOfTwo(k, i32(-bias), type).value, 0);
    assert.equal(F.powerOfBiased(k, i32(bias + 3), type).value, 8);
    // Bits above those of an exponent are shifted out.
    const field = type === "f32" ? 512 : 4096;
    assert.equal(F.powerOfBiased(k, i32(field * 3 + bias - 2), type).value, 0.25);
  });

  test(`scaling a ${type} by a power of two rounds once, at either end of the range`, () => {
    for (const x of [1, 1.5, 1 + 2 ** (1 - precision), Math.fround(1.9999), 0.75]) {
      for (let n = 2 - bias - precision; n <= bias + 1; n += 7) {
        const want =
          type === "f32" ? Math.fround(x * 2 ** n) : x * 2 ** Math.trunc(n / 2) * 2 ** (n - Math.trunc(n / 2));
        assert.equal(F.scaleByPowerOfTwo(k, scalar(x), i32(n), type).value, want, `${x} * 2^${n}`);
      }
    }
    const [first, second] = F.powersOfBiased(k, i32(2 * bias - 5), type);
    assert.equal(first.value * second.value, 2 ** -5);
    assert.equal(F.scaleByPowers(k, scalar(1.5), [first, second]).value, 1.5 * 2 ** -5);
  });

  test(`the leading part of a ${type} has half its bits, and the rest is exact`, () => {
    const kept = type === "f32" ? 12 : 21;
    for (const x of finite.filter((each) => Math.abs(each) >= smallestNormal[type])) {
      const leading = F.leadingPart(k, scalar(x), type).value;
      assert.ok(Math.abs(leading) <= Math.abs(x) && Math.sign(leading) === Math.sign(x));
      assert.ok(Math.abs(x - leading) < Math.abs(x) * 2 ** (1 - kept), `${x}`);
      const exponent = Math.floor(Math.log2(Math.abs(leading)));
      if (Math.abs(exponent) > 900) continue;
      const scaled = leading * 2 ** (kept - 1 - exponent);
      assert.equal(scaled, Math.round(scaled), `${x}`);
    }
  });

  test(`a positive ${type} is split at sqrt(2), and its parts give it back`, () => {
    const positive = finite.map(Math.abs).filter((x) => x >= smallestNormal[type]);
    for (const x of [...positive, 1, 2, Math.SQRT2 * 0.999999, Math.SQRT2 * 1.000001, Math.SQRT1_2 * 1.000001]) {
      const value = type === "f32" ? Math.fround(x) : x;
      const { exponent, significand } = F.splitExponent(k, scalar(value), type);
      assert.ok(
        significand.value >= 0.9999 * Math.SQRT1_2 && significand.value <= 1.0001 * Math.SQRT2,
        `${value}: ${significand.value}`,
      );
      const half = Math.trunc(exponent.value / 2);
      assert.equal(significand.value * 2 ** half * 2 ** (exponent.value - half), value);
    }
    assert.equal(F.splitExponent(k, scalar(1.4), type).exponent.value, 0);
    assert.equal(F.splitExponent(k, scalar(1.4375), type).exponent.value, 1);
    assert.equal(F.splitExponent(k, scalar(0.71875), type).exponent.value, 0);
  });
}
