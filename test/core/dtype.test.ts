/** The dtype table against what JavaScript's own arrays and IEEE 754 say. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  checkDType,
  complexDType,
  DTYPE_NAMES,
  DTYPES,
  type DType,
  isDType,
  realDType,
  type ScalarOf,
  type StorageArrayOf,
  type TypedArrayOf,
} from "../../src/core/dtype.js";
import { DTypeError } from "../../src/core/errors.js";

test("an element takes as many bytes as its storage array says", () => {
  for (const name of DTYPE_NAMES) {
    const { storageArray, lanes, bytes, bits } = DTYPES[name];
    assert.equal(storageArray.BYTES_PER_ELEMENT * lanes, bytes, name);
    assert.equal(bytes, Math.ceil(bits / 8));
    assert.equal(bits, Number(/\d+/.exec(name)?.[0] ?? 8));
  }
});

test("the limits of integers narrower than a byte are powers of two", () => {
  const limits = (["u2", "u4", "i2", "i4"] as const).map((name) => [DTYPES[name].min, DTYPES[name].max]);
  assert.deepEqual(limits, [
    [0, 3],
    [0, 15],
    [-2, 1],
    [-8, 7],
  ]);
});

test("the limits of an integer dtype are what its array holds without wrapping", () => {
  for (const name of DTYPE_NAMES) {
    const { kind, storageArray, min, max, signed, bits } = DTYPES[name];
    if ((kind !== "int" && kind !== "uint") || bits < 8) continue;
    const array = new storageArray(1) as { [i: number]: number | bigint };
    for (const limit of [min, max]) {
      array[0] = limit;
      assert.equal(array[0], limit);
    }
    const past = typeof max === "bigint" ? max + 1n : max + 1;
    array[0] = past;
    assert.equal(array[0], min, `${name} wraps after ${max}`);
    assert.equal(signed, min < 0);
    assert.equal(typeof max, bits === 64 ? "bigint" : "number");
  }
});

test("the limits of floats are the known ones", () => {
  assert.equal(DTYPES.f16.max, 65504);
  assert.equal(DTYPES.f16.tiny, 2 ** -14);
  assert.equal(DTYPES.bf16.max, 3.3895313892515355e38);
  assert.equal(DTYPES.f32.max, Math.fround(3.4028234663852886e38));
  assert.equal(DTYPES.f32.epsilon, 2 ** -23);
  assert.equal(DTYPES.f64.max, Number.MAX_VALUE);
  assert.equal(DTYPES.f64.epsilon, Number.EPSILON);
  assert.equal(DTYPES.f64.tiny, 2.2250738585072014e-308);
  assert.equal(DTYPES.c64.max, DTYPES.f32.max);
  assert.deepEqual(
    [DTYPES.f8e4m3, DTYPES.f8e5m2].map(({ max, tiny, epsilon }) => [max, tiny, epsilon]),
    [
      [448, 2 ** -6, 2 ** -3],
      [57344, 2 ** -14, 2 ** -2],
    ],
  );
});

test("names in files are unique, except that NumPy takes several dtypes for one opaque byte", () => {
  for (const field of ["numpy", "safetensors"] as const) {
    const names = DTYPE_NAMES.map((name) => DTYPES[name][field]).filter((name) => name !== undefined);
    const named = names.filter((name) => name !== "<V1");
    assert.equal(new Set(named).size, named.length);
  }
});

test("parts of complex numbers and back", () => {
  assert.deepEqual([realDType("c64"), realDType("c128"), realDType("i8")], ["f32", "f64", "i8"]);
  assert.deepEqual([complexDType("f16"), complexDType("f64"), complexDType("c128")], ["c64", "c128", "c128"]);
});

test("a name that is no dtype gets an error that lists them", () => {
  assert.equal(isDType("f32"), true);
  for (const name of ["float32", "toString", "__proto__", 3, null]) assert.equal(isDType(name), false);
  assert.throws(
    () => checkDType("float32", "zeros"),
    (error) => error instanceof DTypeError && /zeros: "float32" is not a dtype; write "f32"/.test(error.message),
  );
});

test("the types follow the dtype", () => {
  // Checked by the compiler; the values only keep it honest.
  const data: TypedArrayOf<"f16"> = new Float32Array(1);
  const storage: StorageArrayOf<"f16"> = new Uint16Array(1);
  const item: ScalarOf<"i64"> = 1n;
  const flag: ScalarOf<"bool"> = true;
  const any: TypedArrayOf = new BigInt64Array(1);
  const names: DType[] = ["c64", "bf16"];
  assert.ok(data && storage && item && flag && any && names);
});
