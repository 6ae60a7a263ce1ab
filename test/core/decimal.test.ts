/** The digits of floats: as few as name the number in its dtype, rounded as NumPy rounds. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { positionalDigits, scientificDigits, scientificPlaces } from "../../src/core/decimal.js";

const text = (x: number, dtype: "f16" | "f32" | "f64", precision = 20) => {
  const { whole, fraction } = positionalDigits(x, dtype, precision);
  return `${whole}.${fraction}`;
};

test("as few digits as name the number in its own dtype", () => {
  assert.equal(text(Math.fround(0.1), "f32"), "0.1");
  assert.equal(text(Math.fround(0.1), "f64"), "0.10000000149011612");
  assert.equal(text(0.0999755859375, "f16"), "0.1");
  assert.equal(text(3, "f32"), "3.");
});

test("not more than the precision, ties to the even digit", () => {
  assert.equal(text(2 / 3, "f64", 4), "0.6667");
  assert.equal(text(0.125, "f64", 2), "0.12");
  assert.equal(text(0.375, "f64", 2), "0.38");
  assert.equal(text(0.9999, "f64", 2), "1.");
});

test("powers of ten: one digit before the point, and the next power where it rounds up", () => {
  assert.deepEqual(scientificDigits(123456, "f64", 2), { whole: "1", fraction: "23", exponent: 5 });
  assert.deepEqual(scientificDigits(9.996, "f64", 2), { whole: "1", fraction: "00", exponent: 1 });
  assert.deepEqual(scientificDigits(5e-324, "f64", 0), { whole: "5", fraction: "", exponent: -324 });
  assert.equal(scientificPlaces(1.25e10, "f64", 8), 2);
  assert.equal(scientificPlaces(1 / 3, "f64", 4), 4);
  assert.equal(scientificPlaces(Math.fround(1e-10), "f32", 8), 0);
});
