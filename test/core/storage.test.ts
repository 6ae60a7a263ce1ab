/** Values to bytes and back, for every dtype. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DTYPE_NAMES, DTYPES, type DType, type Scalar } from "../../src/core/dtype.js";
import { DTypeError, SizeMismatchError } from "../../src/core/errors.js";
import { dataOf, elementAt, encodeValues, viewBytes } from "../../src/core/storage.js";

const SAMPLES: { [D in DType]: Scalar[] } = {
  bool: [true, false, true],
  u2: [3, 0, 2, 1, 3],
  u4: [15, 0, 9],
  u8: [0, 255],
  u16: [0, 65535],
  u32: [0, 4294967295],
  u64: [0n, 2n ** 64n - 1n],
  i2: [-2, 1, -1, 0, 1],
  i4: [-8, 7, -1],
  i8: [-128, 127],
  i16: [-32768, 32767],
  i32: [-(2 ** 31), 2 ** 31 - 1],
  i64: [-(2n ** 63n), 2n ** 63n - 1n],
  f8e4m3: [1.75, -448, 2 ** -9, -0],
  f8e5m2: [1.75, -57344, Infinity, 2 ** -16],
  bf16: [1.5, -Infinity, 0.0078125],
  f16: [1.5, -65504, 2 ** -24],
  f32: [1.5, Math.fround(0.1), -0],
  f64: [0.1, Number.MIN_VALUE],
  c64: [{ re: 1.5, im: -2 }],
  c128: [{ re: 0.1, im: 0.2 }],
};

test("values come back as they were encoded", () => {
  for (const dtype of DTYPE_NAMES) {
    const values = SAMPLES[dtype];
    const bytes = encodeValues(values, dtype, "tensor");
    assert.equal(bytes.byteLength, Math.ceil((values.length * DTYPES[dtype].bits) / 8));
    const data = dataOf(bytes, dtype, values.length);
    assert.deepEqual(
      values.map((_, i) => elementAt(data, dtype, i)),
      values,
      dtype,
    );
  }
});

test("bytes are viewed where they are aligned and copied where not", () => {
  const buffer = new ArrayBuffer(16);
  const aligned = dataOf(new Uint8Array(buffer, 4, 8), "f32");
  aligned[0] = 1;
  assert.equal(new Float32Array(buffer)[1], 1);
  const odd = dataOf(new Uint8Array(buffer, 3, 8), "f32");
  odd[0] = 7;
  assert.equal(new Float32Array(buffer)[1], 1);
});

test("bytes that are no whole number of elements are refused", () => {
  assert.throws(() => dataOf(new Uint8Array(7), "f16"), SizeMismatchError);
  assert.throws(() => dataOf(new Uint8Array(8), "c128"), /8 bytes are no whole number of c128 elements of 16 bytes/);
});

test("fractions are dropped for integers, what does not fit is refused", () => {
  assert.deepEqual([...dataOf(encodeValues([1.9, -1.9, true], "i8", "tensor"), "i8")], [1, -1, 1]);
  assert.deepEqual([...dataOf(encodeValues([3, 1.5], "i64", "tensor"), "i64")], [3n, 1n]);
  for (const value of [256, -1, Number.NaN, Infinity, 2n ** 70n]) {
    assert.throws(() => encodeValues([value], "u8", "tensor"), /^DTypeError: tensor: .* does not fit u8 \(0 to 255\)/);
  }
});

test("what is no number is refused with its text", () => {
  const bad = ["1", null, {}] as unknown as Scalar[];
  for (const value of bad) assert.throws(() => encodeValues([value], "f32", "tensor"), DTypeError);
});

test("a view of bytes shares them", () => {
  const array = new Uint16Array([1, 2, 3]).subarray(1);
  assert.deepEqual([...viewBytes(array)], [2, 0, 3, 0]);
});
