/** Functions of bf16 at each of its numbers: rounded, they are the exact values rounded once, however multiply-adds round. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type BrainOps, erfOfBrain, quotientOfBrains } from "../../../src/compiler/math/brain-float.js";
import { mathFunctions } from "../../../src/compiler/math/library.js";
import { decodeBf16, encodeBf16 } from "../../../src/core/half.js";
import { evaluator, f32FromBits, makeEvaluator, type Scalar } from "../../support/math-evaluator.js";
import { erf } from "../../support/special-functions.js";

const f32 = (value: number): Scalar => ({ type: "f32", value });

/** The two ways a target may round a·b + c. The product of two f32 is exact in a double. */
const ways: Readonly<Record<string, BrainOps<Scalar>>> = {
  fused: { ...evaluator, mulAdd: (a, b, c) => f32(Math.fround(a.value * b.value + c.value)) },
  twice: { ...evaluator, mulAdd: (a, b, c) => evaluator.add(evaluator.mul(a, b), c) },
};

/** An exact value, given as a double, as the nearest bf16; its bits. */
function nearest(exact: number): number {
  if (!(Math.abs(exact) >= 2 ** -126) || !Number.isFinite(exact)) return encodeBf16(Math.fround(exact));
  const unit = 2 ** (Math.floor(Math.log2(Math.abs(exact))) - 7);
  const scaled = exact / unit;
  const floor = Math.floor(scaled);
  const rest = scaled - floor;
  assert.notEqual(rest, 0.5, "no value of these lies halfway");
  return encodeBf16(Math.fround((rest > 0.5 ? floor + 1 : floor) * unit));
}

const numbers = Array.from({ length: 65536 }, (_, bits) => bits);
const isPlain = (bits: number) => (bits & 0x7f80) !== 0 && (bits & 0x7fff) < 0x7f80;

for (const [name, k] of Object.entries(ways)) {
  test(`erf of every normal bf16 is rounded correctly, multiply-adds ${name}`, () => {
    const wrong = numbers.filter((bits) => {
      const x = decodeBf16(bits);
      return isPlain(bits) && encodeBf16(erfOfBrain(k, f32(x)).value) !== nearest(erf(x));
    });
    assert.deepEqual(wrong, []);
  });

  test(`erf of zeros, infinities and NaN, multiply-adds ${name}`, () => {
    const at = (x: number) => decodeBf16(encodeBf16(erfOfBrain(k, f32(x)).value));
    assert.ok(Object.is(at(-0), -0) && Object.is(at(0), 0));
    assert.deepEqual([at(Infinity), at(-Infinity), at(Number.NaN)], [1, -1, Number.NaN]);
  });
}

test("the table of functions has the short erf for bf16", () => {
  assert.equal(mathFunctions.erf.ofBrain, erfOfBrain);
});

/** A device that divides as badly as Vulkan allows, one way or the other. */
const devices = [2.5, -2.5].map((ulp) =>
  makeEvaluator({
    rootAndQuotientError: (x) => (Number.isFinite(x) && x !== 0 ? Math.fround(x * (1 + ulp * 2 ** -24)) : x),
  }),
);

test("a quotient of bf16, rounded, is the exact one rounded, on devices that divide inexactly", () => {
  const divisors = [3, 1.4140625, -0.1, 7e-30, 1e38, -1.17e-38, 1e-40, 65280, 127, 255, 1.9921875, 1.0078125].map((x) =>
    decodeBf16(encodeBf16(Math.fround(x))),
  );
  for (const k of devices) {
    const native = { ...k, usesNative: () => false };
    for (const b of divisors) {
      for (const divisor of [b, null]) {
        const wrong = numbers.filter((bits, i) => {
          const a = decodeBf16(bits);
          if (Number.isNaN(a) || (divisor === null && i % 7 > 0)) return false;
          const got = encodeBf16(quotientOfBrains(native, f32(a), f32(b), divisor).value);
          // f32 has three times the bits of a bf16: rounding to it first changes nothing.
          return got !== encodeBf16(Math.fround(a / b));
        });
        assert.deepEqual(wrong, [], `${divisor === null ? "" : "constant "}${b}`);
      }
    }
  }
});

test("a divisor far out is no product with its reciprocal", () => {
  const k = { ...evaluator, usesNative: () => false };
  const least = f32FromBits(0x00010000);
  for (const [a, b] of [
    [1, 1e38],
    [3e38, 3e38],
    [least, 3],
    [least, 2],
  ] as const) {
    const [x, y] = [decodeBf16(encodeBf16(Math.fround(a))), decodeBf16(encodeBf16(Math.fround(b)))];
    assert.equal(encodeBf16(quotientOfBrains(k, f32(x), f32(y), y).value), encodeBf16(Math.fround(x / y)));
  }
});
