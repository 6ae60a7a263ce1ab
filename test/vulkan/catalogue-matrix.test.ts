/** The catalogue's matrix product and transpose. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ArgumentError } from "../../src/core/errors.js";
import { catalogue } from "../../src/vulkan/index.js";
import { describeOnOpenDevices } from "../support/devices.js";
import {
  asFloats,
  bytesPer,
  type FloatArray,
  type FloatType,
  floats,
  randomFloats,
  roundoff,
} from "../support/floats.js";

const TYPES = ["f32", "f64"] as const;

/** m, n, k: around the tile of 64 and the depth of 16, primes, vectors, and nothing to add up. */
const PRODUCTS: readonly (readonly [m: number, n: number, k: number])[] = [
  [1, 1, 1],
  [1, 1, 300],
  [1, 257, 5],
  [257, 1, 5],
  [1, 129, 129],
  [129, 1, 129],
  [64, 64, 64],
  [65, 65, 65],
  [63, 64, 15],
  [127, 65, 17],
  [16, 16, 16],
  [53, 101, 97],
  [128, 128, 1],
  [3, 2, 1009],
  [7, 9, 0],
];

const TRANSPOSES: readonly (readonly [m: number, n: number])[] = [
  [1, 1],
  [1, 1000],
  [1000, 1],
  [31, 33],
  [32, 32],
  [64, 64],
  [65, 127],
  [127, 64],
  [7, 1009],
  [257, 3],
];

function product(a: FloatArray, b: FloatArray, [m, n, k]: readonly [number, number, number]): Float64Array {
  const out = new Float64Array(m * n);
  for (let i = 0; i < m; i++) {
    for (let l = 0; l < k; l++) {
      for (let j = 0; j < n; j++) out[i * n + j] += a[i * k + l] * b[l * n + j];
    }
  }
  return out;
}

const transposed = (a: FloatArray, m: number, n: number): FloatArray =>
  a.map((_, i) => a[(i % m) * n + Math.floor(i / m)]);

describeOnOpenDevices("matrices", false, (device) => {
  const hasType = (type: FloatType) => type === "f32" || device().plan.features.includes("shaderFloat64");
  const multiply = (type: FloatType, a: FloatArray, b: FloatArray, [m, n, k]: readonly [number, number, number]) => {
    using x = device().upload(a);
    using y = device().upload(b);
    using out = device().upload(floats(type, m * n).fill(-12345));
    catalogue.matmul(out, x, y, m, n, k, { type });
    return asFloats(type, out.readSync());
  };
  const transpose = (type: FloatType, a: FloatArray, m: number, n: number) => {
    using x = device().upload(a);
    using out = device().alloc(m * n * bytesPer(type));
    catalogue.transpose2d(out, x, m, n, { type });
    return asFloats(type, out.readSync());
  };

  for (const type of TYPES) {
    test(`matmul of whole numbers is exact for every shape, at ${type}`, (t) => {
      if (!hasType(type)) return t.skip("the device has no f64");
      for (const shape of PRODUCTS) {
        const [m, n, k] = shape;
        const random = randomFloats(type, m + 31 * n + 1009 * k);
        const whole = (count: number) =>
          floats(
            type,
            Array.from({ length: count }, () => random.below(17) - 8),
          );
        const [a, b] = [whole(m * k), whole(k * n)];
        assert.deepEqual(multiply(type, a, b, shape), floats(type, product(a, b, shape)), `m, n, k = ${shape}`);
      }
    });

    test(`matmul of reals is off by at most k roundings of the sum of |a||b|, at ${type}`, (t) => {
      if (!hasType(type)) return t.skip("the device has no f64");
      const shape = [67, 71, 200] as const;
      const [m, n, k] = shape;
      const random = randomFloats(type, 3);
      const real = (count: number) =>
        floats(
          type,
          Array.from({ length: count }, () => random.between(-1, 1)),
        );
      const [a, b] = [real(m * k), real(k * n)];
      const want = product(a, b, shape);
      const magnitudes = product(
        a.map((x) => Math.abs(x)),
        b.map((x) => Math.abs(x)),
        shape,
      );
      const got = multiply(type, a, b, shape);
      // The oracle's own f64 sum has as many roundings, hence twice at f64.
      const roundings = type === "f32" ? k : 2 * k;
      const worst = got.findIndex((x, i) => !(Math.abs(x - want[i]) <= roundings * roundoff[type] * magnitudes[i]));
      assert.equal(worst, -1, `element ${worst} is ${got[worst]}, not ${want[worst]}`);
    });

    test(`transpose2d moves every element of every shape, at ${type}`, (t) => {
      if (!hasType(type)) return t.skip("the device has no f64");
      for (const [m, n] of TRANSPOSES) {
        const random = randomFloats(type, m + 31 * n);
        const a = floats(
          type,
          Array.from({ length: m * n }, () => random.any()),
        );
        a[0] = -0;
        a[m * n - 1] = -Infinity;
        assert.deepEqual(transpose(type, a, m, n), transposed(a, m, n), `${m} × ${n}`);
      }
    });
  }

  test("a product over k = 0 is zero, and one of m = 0 or n = 0 is nothing", () => {
    assert.deepEqual(multiply("f32", floats("f32", 0), floats("f32", 0), [2, 3, 0]), floats("f32", 6));
    assert.equal(multiply("f32", floats("f32", 0), floats("f32", 20), [0, 4, 5]).length, 0);
    assert.equal(multiply("f32", floats("f32", 20), floats("f32", 0), [4, 0, 5]).length, 0);
  });

  test("NaN and infinity outside a row do not leak into its result", () => {
    const a = floats("f32", [1, 2, NaN, 4, Infinity, 6]); // 3 × 2
    const got = multiply("f32", a, floats("f32", [1, 1]), [3, 1, 2]);
    assert.deepEqual(Array.from(got), [3, NaN, Infinity]);
  });

  test("a matrix may be multiplied by itself, and products follow one another", () => {
    const rotation = floats("f32", [0, -1, 1, 0]); // a quarter turn
    using a = device().upload(rotation);
    using b = device().alloc(16);
    using c = device().alloc(16);
    catalogue.matmul(b, a, a, 2, 2, 2);
    catalogue.matmul(c, b, b, 2, 2, 2);
    assert.deepEqual(Array.from(asFloats("f32", c.readSync())), [1, 0, 0, 1]);
  });

  test("the result cannot be an operand, which is read while the result is written", () => {
    using a = device().alloc(16);
    using b = device().alloc(16);
    assert.throws(() => catalogue.matmul(a, a, b, 2, 2, 2), ArgumentError);
    assert.throws(() => catalogue.matmul(b, a, b, 2, 2, 2), /matmul: out and b are one buffer/);
    assert.throws(() => catalogue.transpose2d(a, a, 2, 2), /transpose2d: out and a are one buffer/);
  });

  test("matrices with more tiles than a row of workgroups are transposed whole", (t) => {
    const [widest, highest] = device().plan.limits.maxComputeWorkGroupCount;
    const n = 32 * Math.min(widest, highest) + 5;
    if (n > 2 ** 22) return t.skip(`${device().name} has room for more workgroups than the test's memory`);
    const a = new Float32Array(n).map((_, i) => i % 4093);
    for (const [rows, columns] of [
      [n, 1],
      [1, n],
    ] as const) {
      assert.deepEqual(transpose("f32", a, rows, columns), a, `transpose2d of ${rows} × ${columns}`);
    }
  });
});
