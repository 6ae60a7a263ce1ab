/** Numbers at equal distances: `arange` and `linspace`, beside plain loops in f64 and in bigints. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { arange, backendFor, linspace } from "../../src/tensor/index.js";
import { randomFrom } from "../support/random.js";
import { describeOnTensorDevices, numbersOf } from "../support/tensors.js";

/** The distance of two f32 in steps from one to the next. */
function stepsApart(a: number, b: number): number {
  const ordered = (x: number) => {
    const bits = new Int32Array(Float32Array.of(x).buffer)[0]!;
    return bits < 0 ? -(bits & 0x7fffffff) : bits;
  };
  return Math.abs(ordered(a) - ordered(b));
}

const between = (start: number, stop: number, count: number, gaps = count - 1) =>
  Array.from({ length: count }, (_, i) => (i === gaps ? stop : start + i * ((stop - start) / gaps)));

describeOnTensorDevices("spaced", (device) => {
  const skip = backendFor(device).hasDoubles ? false : `${device} has no f64`;

  test("arange in f64 is computed in f64", { skip }, () => {
    const wanted = (start: number, step: number, count: number) =>
      Array.from({ length: count }, (_, i) => start + i * step);
    assert.deepEqual(numbersOf(arange(0, 0.5, 0.1, { dtype: "f64" })), wanted(0, 0.1, 5));
    assert.deepEqual(numbersOf(arange(-1, 1, 1 / 3, { dtype: "f64" })), wanted(-1, 1 / 3, 6));
    assert.deepEqual(numbersOf(arange(0, 0.3, 0.1, { dtype: "c128" }).real()), wanted(0, 0.1, 3));
  });

  test("whole numbers of a fractional arange are those of f64", { skip }, () => {
    const n = 40_000_003;
    assert.deepEqual(numbersOf(arange(0, n, 0.5, { dtype: "i32" }).at("-3:")), [n - 2, n - 1, n - 1]);
  });

  test("arange and linspace in f32 are the nearest numbers, or next to them, also where they pass zero", () => {
    const random = randomFrom(7);
    const real = () => (random.below(2 ** 32) / 2 ** 32 - 0.5) * 10 ** (random.below(12) - 6);
    let worst = 0;
    for (let round = 0; round < 40; round++) {
      const [start, stop] = [real(), real()];
      const count = 2 + random.below(random.pick([50, 5000, 200_000]));
      const spaced = numbersOf(linspace(start, stop, count));
      between(start, stop, count).forEach((value, i) => {
        worst = Math.max(worst, stepsApart(Math.fround(value), spaced[i]!));
      });
      const step = (stop - start) / (count - 0.5);
      const counted = numbersOf(arange(start, stop, step));
      assert.equal(counted.length, count);
      counted.forEach((value, i) => {
        worst = Math.max(worst, stepsApart(Math.fround(start + i * step), value));
      });
    }
    assert.ok(worst <= 1, `${worst} units in the last place`);
  });

  test("a linspace of f32 is symmetric about 0, exact at its ends, and 0 where it begins with 0", () => {
    const x = numbersOf(linspace(-Math.PI, Math.PI, 100_001));
    assert.equal(x[50_000], 0);
    assert.deepEqual([x[0], x.at(-1)], [-Math.fround(Math.PI), Math.fround(Math.PI)]);
    assert.ok(x.every((value, i) => value === -x[x.length - 1 - i]! || value === 0));
    assert.deepEqual(numbersOf(linspace(0, -1, 3)), [0, -0.5, -1]);
    assert.deepEqual(numbersOf(linspace(3, 9, 1)), [3]);
    assert.deepEqual(numbersOf(linspace(3, 9, 0)), []);
    assert.deepEqual(numbersOf(linspace(0, 1, 4, { endpoint: false })), [0, 0.25, 0.5, 0.75]);
  });

  test("a linspace reaches from end to end of what f32 holds", () => {
    const most = 2 ** 127;
    assert.deepEqual(
      numbersOf(linspace(-most, most, 9)),
      [-4, -3, -2, -1, 0, 1, 2, 3, 4].map((n) => n * 2 ** 125),
    );
  });

  test("a linspace of f64 is NumPy's", { skip }, () => {
    // np.linspace(-1, 2, 8)
    const wanted = [
      -1, -0.5714285714285714, -0.1428571428571429, 0.2857142857142856, 0.7142857142857142, 1.1428571428571428,
      1.5714285714285712, 2,
    ];
    assert.deepEqual(numbersOf(linspace(-1, 2, 8, { dtype: "f64" })), wanted);
  });

  test("a linspace of whole numbers is exact, and rounded down", () => {
    assert.deepEqual([...linspace(0, 123456789, 3, { dtype: "i32" }).dataSync()], [0, 61728394, 123456789]);
    assert.deepEqual(numbersOf(linspace(-3, 3, 5, { dtype: "i32" })), [-3, -2, 0, 1, 3]); // NumPy's
    assert.deepEqual(numbersOf(linspace(0.5, -2.5, 4, { dtype: "i32" })), [0, -1, -2, -3]); // NumPy's
    assert.deepEqual(
      [...linspace(0, 2 ** 53 - 1, 4, { dtype: "i64" }).dataSync()],
      [0n, 3002399751580330n, 6004799503160660n, 9007199254740991n],
    );
    assert.deepEqual(numbersOf(linspace(0, 256, 256, { dtype: "u8", endpoint: false })).slice(-2), [254, 255]);
    assert.throws(() => linspace(0, 300, 4, { dtype: "u8" }), /^DTypeError: linspace: 300 /);
    const random = randomFrom(3);
    for (const dtype of ["i16", "i32", "u32", "i64"] as const) {
      const [low, span] = { i16: [-32768, 65535], i32: [-(2 ** 31), 2 ** 32], u32: [0, 2 ** 32], i64: [-1e15, 2e15] }[
        dtype
      ];
      for (let round = 0; round < 6; round++) {
        const [start, stop] = [low! + random.below(span!), low! + random.below(span!)];
        const count = 2 + random.below(100_000);
        const got = linspace(start, stop, count, { dtype }).dataSync();
        const gaps = BigInt(count - 1);
        for (let i = 0; i < count; i += 1 + random.below(500)) {
          const product = BigInt(i) * (BigInt(stop) - BigInt(start));
          const below = product / gaps - (product % gaps < 0n ? 1n : 0n);
          assert.equal(BigInt(got[i]!), BigInt(start) + below, `${dtype}, ${start} to ${stop}, ${i} of ${count}`);
        }
        assert.equal(Number(got[count - 1]), stop);
      }
    }
  });
});
