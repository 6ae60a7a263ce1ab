/** Floats as text: the shortest decimal that reads back, and hexadecimal where decimal does not do. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeBf16, encodeF16 } from "../../../src/core/half.js";
import { floatText } from "../../../src/spirv/read/float-text.js";
import { randomFloats } from "../../support/floats.js";
import { bitsOfF32, wordsOfF64 } from "../../support/math-evaluator.js";

const single = (x: number) => floatText(bitsOfF32(x), 0, 32);
const double = (x: number) => {
  const [high, low] = wordsOfF64(x);
  return floatText(low, high, 64);
};

test("decimals are the shortest that read back", () => {
  assert.equal(single(0.1), "0.1");
  assert.equal(single(Math.fround(1 / 3)), "0.33333334");
  assert.equal(single(16777216), "16777216");
  assert.equal(double(0.1), "0.1");
  assert.equal(double(1 / 3), "0.3333333333333333");
  assert.equal(floatText(encodeF16(0.1), 0, 16), "0.0999755859375");
  assert.equal(floatText(encodeBf16(1.5), 0, 16, "bf16"), "1.5");
  for (const type of ["f32", "f64"] as const) {
    const random = randomFloats(type, 31);
    for (let i = 0; i < 300; i++) {
      const x = random.scaled(-100, 100);
      const back = Number(type === "f32" ? single(x) : double(x));
      assert.equal(type === "f32" ? Math.fround(back) : back, x);
    }
  }
});

test("zeros keep their sign", () => {
  assert.deepEqual([single(0), single(-0), double(-0), floatText(0x8000, 0, 16)], ["0", "-0", "-0", "-0"]);
});

test("infinities, NaNs with their payload and denormals are hexadecimal, as C's %a has them", () => {
  assert.equal(single(Infinity), "0x1p+128");
  assert.equal(single(-Infinity), "-0x1p+128");
  assert.equal(floatText(0x7fc00000, 0, 32), "0x1.8p+128");
  assert.equal(floatText(0x7f800001, 0, 32), "0x1.000002p+128");
  assert.equal(single(2 ** -149), "0x1p-149");
  assert.equal(single(3 * 2 ** -149), "0x1.8p-148");
  assert.equal(double(Number.MIN_VALUE), "0x1p-1074");
  assert.equal(double(Infinity), "0x1p+1024");
  assert.equal(floatText(0x7c00, 0, 16), "0x1p+16");
  assert.equal(floatText(0x0001, 0, 16), "0x1p-24");
  assert.equal(floatText(0x7f80, 0, 16, "bf16"), "0x1p+128");
});

test("the smallest normal number is decimal again", () => {
  assert.equal(single(2 ** -126), "1.1754944e-38");
  assert.equal(floatText(0x0400, 0, 16), "0.00006103515625");
});
