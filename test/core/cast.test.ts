/** Conversions between dtypes, against JavaScript's own arrays where they define them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { castScalar, roundTo } from "../../src/core/cast.js";
import { DTYPE_NAMES, DTYPES, type DType } from "../../src/core/dtype.js";

const INTEGERS = DTYPE_NAMES.filter((name) => ["int", "uint"].includes(DTYPES[name].kind));

test("integer to integer keeps the low bits, as typed arrays do", () => {
  for (const from of INTEGERS) {
    const { min, max } = DTYPES[from];
    for (const value of [min, max, typeof min === "bigint" ? 77n : 77]) {
      for (const to of INTEGERS) {
        const { storageArray, bits, signed } = DTYPES[to];
        const wide = BigInt(value);
        const array = new storageArray(1) as { [i: number]: number | bigint };
        array[0] = bits === 64 ? wide : Number(BigInt.asIntN(32, wide));
        // Moved to the top of a byte and back, a narrower integer is what its low bits say.
        const moved = new (signed ? Int8Array : Uint8Array)([Number(wide & 0xffn) << (8 - bits)]);
        const expected = bits < 8 ? moved[0]! >> (8 - bits) : array[0];
        assert.equal(castScalar(value, from, to), expected, `${value} from ${from} to ${to}`);
      }
    }
  }
});

test("float to integer drops the fraction and saturates; NaN becomes 0", () => {
  for (const to of INTEGERS) {
    const { min, max, bits } = DTYPES[to];
    const as = (value: number) => (bits === 64 ? BigInt(value) : value);
    assert.equal(castScalar(1.9, "f32", to), as(1));
    assert.equal(castScalar(-0.9, "f32", to), as(0));
    assert.ok(!Object.is(castScalar(-0.9, "f32", to), -0));
    assert.equal(castScalar(1e30, "f64", to), max);
    assert.equal(castScalar(-1e30, "f64", to), min);
    assert.equal(castScalar(Infinity, "f16", to), max);
    assert.equal(castScalar(-Infinity, "bf16", to), min);
    assert.equal(castScalar(Number.NaN, "f32", to), as(0));
  }
  assert.equal(castScalar(2 ** 63, "f64", "i64"), 2n ** 63n - 1n);
  assert.equal(castScalar(2 ** 63, "f64", "u64"), 2n ** 63n);
  assert.equal(castScalar(-1.5, "f32", "i8"), -1);
});

test("to a float rounds once, also from 64-bit integers", () => {
  assert.equal(castScalar(16777217, "i32", "f32"), 16777216);
  assert.equal(castScalar(65520, "i32", "f16"), Infinity);
  assert.equal(castScalar(1.00390625, "f32", "bf16"), 1);
  // 2^60 + 2^36 is a tie between f32 neighbours; one more tips it up, but a double cannot hold that one.
  const tipped = 2n ** 60n + 2n ** 36n + 1n;
  assert.equal(Number(tipped), 2 ** 60 + 2 ** 36);
  assert.equal(castScalar(tipped, "i64", "f32"), 2 ** 60 + 2 ** 37);
  assert.equal(castScalar(-tipped, "i64", "f32"), -(2 ** 60) - 2 ** 37);
  assert.equal(castScalar(2n ** 53n + 1n, "i64", "f64"), 2 ** 53);
});

test("to bool asks whether the value is not zero", () => {
  const truths: [number | bigint | boolean | { re: number; im: number }, DType, boolean][] = [
    [0, "f32", false],
    [-0, "f32", false],
    [Number.NaN, "f32", true],
    [0.1, "f32", true],
    [0n, "i64", false],
    [5n, "u64", true],
    [true, "bool", true],
    [{ re: 0, im: 0 }, "c64", false],
    [{ re: 0, im: 2 }, "c64", true],
  ];
  for (const [value, from, expected] of truths) assert.equal(castScalar(value, from, "bool"), expected);
});

test("complex to real takes the real part, real to complex adds a zero", () => {
  assert.equal(castScalar({ re: 2.5, im: 9 }, "c64", "f32"), 2.5);
  assert.equal(castScalar({ re: 2.5, im: 9 }, "c64", "i32"), 2);
  assert.deepEqual(castScalar(0.1, "f64", "c64"), { re: Math.fround(0.1), im: 0 });
  assert.deepEqual(castScalar({ re: 0.1, im: 0.2 }, "c128", "c64"), { re: Math.fround(0.1), im: Math.fround(0.2) });
  assert.deepEqual(castScalar(true, "bool", "c128"), { re: 1, im: 0 });
});

test("rounding to a dtype is a projection", () => {
  for (const dtype of ["f16", "bf16", "f32", "f64"] as const) {
    for (const x of [0.1, -1e-8, 12345.678, 1e39]) assert.equal(roundTo(dtype, roundTo(dtype, x)), roundTo(dtype, x));
  }
});
