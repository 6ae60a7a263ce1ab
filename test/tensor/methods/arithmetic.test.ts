/** Divisions with remainder and comparisons within a tolerance, against JavaScript's % (which is C's fmod) and loops. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { DType } from "../../../src/core/dtype.js";
import { DTypeError, ShapeError } from "../../../src/core/errors.js";
import { type ClosenessOptions, type Tensor, tensor } from "../../../src/tensor/index.js";
import { mayFlush } from "../../support/denormals.js";
import { randomFrom } from "../../support/random.js";
import { isDenormal } from "../../support/sweep-samples.js";
import {
  describeOnTensorDevices,
  expectTensor,
  floatDTypes,
  inDType,
  integerDTypes,
  numbersOf,
  type Plain,
  sampleValues,
  toTensor,
  viewsOf,
} from "../../support/tensors.js";

const flat = (values: readonly number[]): Plain => ({ shape: [values.length], values });

function pythonRemainder(a: number, b: number): number {
  const rest = a % b;
  if (rest === 0) return b < 0 || Object.is(b, -0) ? -0 : 0;
  return rest < 0 !== b < 0 ? rest + b : rest;
}

/** CPython's float_floor_div. */
function pythonFloorDivide(a: number, b: number): number {
  if (b === 0) return a / b;
  const rest = a % b;
  let quotient = (a - rest) / b;
  if (rest !== 0 && rest < 0 !== b < 0) quotient -= 1;
  if (quotient === 0) return a / b < 0 || Object.is(a / b, -0) ? -0 : 0;
  const whole = Math.floor(quotient);
  return quotient - whole > 0.5 ? whole + 1 : whole;
}

/** Pairs whose exponents lie anywhere, so that quotients have up to hundreds of bits. */
function widePairs(dtype: "f32" | "f64", count: number): [number[], number[]] {
  const random = randomFrom(11);
  const bits = new DataView(new ArrayBuffer(8));
  const value = (): number => {
    bits.setUint32(0, random.below(2 ** 32));
    bits.setUint32(4, random.below(2 ** 32));
    return dtype === "f32" ? bits.getFloat32(0) : bits.getFloat64(0);
  };
  const special = [0, -0, 1, -1, 0.1, 3, Infinity, -Infinity, Number.NaN, 1e-40, -1e-45, 3e38, 7, -7];
  const pairs = special.flatMap((a) => special.map((b) => [inDType(a, dtype), inDType(b, dtype)]));
  while (pairs.length < count) pairs.push([value(), value()]);
  return [pairs.map(([a]) => a!), pairs.map(([, b]) => b!)];
}

describeOnTensorDevices("remainders and quotients", (device) => {
  for (const dtype of ["f32", "f64"] as const) {
    test(`fmod of ${dtype} is exact over the whole range, huge quotients and denormals included`, () => {
      const [a, b] = widePairs(dtype, 5000);
      const result = toTensor(flat(a), dtype).fmod(toTensor(flat(b), dtype));
      const flushes = mayFlush(device, dtype);
      const isFlushed = (x: number) => flushes && isDenormal(x, dtype);
      const got = numbersOf(result);
      let compared = 0;
      a.forEach((x, i) => {
        const want = x % b[i]!;
        // What a device that flushes denormals then computes with is not ours to say.
        if ([x, b[i]!, want].some(isFlushed)) return;
        compared++;
        if (!Object.is(got[i], want)) assert.fail(`${x} % ${b[i]} is ${got[i]}, not ${want}`);
      });
      assert.ok(compared > 4000);
    });
  }

  for (const dtype of floatDTypes) {
    test(`remainder, mod and floorDivide of ${dtype} are Python's`, () => {
      const a = [...sampleValues(dtype, 60, 1, true), 5, -5, 5, -5, 0, -0, 0, -0, 1, 7.5];
      const b = [...sampleValues(dtype, 60, 2, true), 3, 3, -3, -3, 3, 3, -3, -3, Infinity, -2.5];
      const [x, y] = [toTensor(flat(a), dtype), toTensor(flat(b), dtype)];
      const rounded = (f: (a: number, b: number) => number) => a.map((value, i) => inDType(f(value, b[i]!), dtype));
      expectTensor(x.remainder(y), flat(rounded(pythonRemainder)), dtype, undefined, "remainder");
      expectTensor(x.mod(y), flat(rounded(pythonRemainder)), dtype, undefined, "mod");
      expectTensor(x.floorDivide(y), flat(rounded(pythonFloorDivide)), dtype, undefined, "floorDivide");
    });
  }

  for (const dtype of integerDTypes) {
    test(`remainder and floorDivide of ${dtype}; by zero gives zero`, () => {
      const [a, b] = [sampleValues(dtype, 80, 3), sampleValues(dtype, 80, 4)];
      const [x, y] = [toTensor(flat(a), dtype), toTensor(flat(b), dtype)];
      const floor = a.map((v, i) => (b[i] === 0 ? 0 : Math.floor(v / b[i]!) + 0));
      const rest = a.map((v, i) => (b[i] === 0 ? 0 : v - b[i]! * Math.floor(v / b[i]!) + 0));
      expectTensor(x.floorDivide(y), flat(floor), dtype, undefined, "floorDivide");
      expectTensor(x.remainder(y), flat(rest), dtype, undefined, "remainder");
      expectTensor(x.fmod(y), flat(a.map((v, i) => (b[i] === 0 ? 0 : (v % b[i]!) + 0))), dtype, undefined, "fmod");
    });
  }

  for (const dtype of integerDTypes) {
    test(`quotient of ${dtype} is rounded towards zero; by zero gives zero`, () => {
      const [a, b] = [sampleValues(dtype, 80, 5), sampleValues(dtype, 80, 6)];
      const want = a.map((v, i) => (b[i] === 0 ? 0 : Math.trunc(v / b[i]!) + 0));
      expectTensor(toTensor(flat(a), dtype).quotient(toTensor(flat(b), dtype)), flat(want), dtype);
    });
  }

  test("fmod inside a sum over rows, and inside a product, where lanes take different rounds", () => {
    const [rows, columns] = [40, 64];
    const a = Array.from({ length: rows * columns }, (_, i) => 3 ** (i % 15));
    const b = Array.from({ length: rows * columns }, (_, i) => 1 + (i % 13));
    const [x, y] = [a, b].map((values) => toTensor({ shape: [rows, columns], values }, "f32")) as [Tensor, Tensor];
    const sums = Array.from({ length: columns }, (_, j) =>
      a.reduce((sum, value, i) => (i % columns === j ? sum + (value % b[i]!) : sum), 0),
    );
    expectTensor(x.fmod(y).sum({ axis: 0 }), flat(sums), "f32");
    const ones = toTensor({ shape: [rows, rows], values: new Array(rows * rows).fill(1) }, "f32");
    const values = Array.from({ length: rows }, () => sums).flat();
    expectTensor(ones.matmul(x.fmod(y)), { shape: [rows, columns], values }, "f32");
  });

  test("remainder broadcasts and takes JavaScript numbers, also of views", () => {
    const plain = { shape: [2, 3], values: [-3, -2, -1, 1, 2, 3] };
    for (const { name, x } of viewsOf(plain, "i32")) {
      const want = plain.values.map((v) => pythonRemainder(v, 3) + 0);
      expectTensor(x.remainder(3), { shape: [2, 3], values: want }, "i32", undefined, name);
    }
    expectTensor(tensor([[5], [7]]).remainder(tensor([2, 3])), { shape: [2, 2], values: [1, 2, 1, 1] }, "f32");
  });

  test("operands that do not fit are refused with the operation's name", () => {
    assert.throws(() => tensor([1, 2]).remainder(tensor([1, 2, 3])), { name: ShapeError.name, message: /remainder/ });
    assert.throws(() => tensor([true]).fmod(true), DTypeError);
    assert.throws(() => tensor([1.5]).quotient(2), { name: DTypeError.name, message: /quotient.*trunc/ });
  });
});

describeOnTensorDevices("functions of two numbers", () => {
  test("logaddexp neither overflows nor loses infinities", () => {
    const a = [0, 1000, -1000, -Infinity, Infinity, -Infinity, Number.NaN, 3];
    const b = [0, 1000, -1001, -Infinity, 1, 2, 1, -Infinity];
    const want = [Math.LN2, 1000 + Math.LN2, -1000 + Math.log1p(Math.exp(-1)), -Infinity, Infinity, 2, Number.NaN, 3];
    for (const dtype of ["f32", "f64"] as const) {
      const got = toTensor(flat(a), dtype).logaddexp(toTensor(flat(b), dtype));
      expectTensor(got, flat(want), dtype, { relative: dtype === "f32" ? 1e-6 : 1e-15 });
    }
  });

  test("hypot neither overflows nor underflows, and infinity beats NaN", () => {
    const got = tensor([3, 3e30, Infinity, -5, 1e-30]).hypot(tensor([4, 4e30, Number.NaN, 12, 0]));
    expectTensor(got, flat([5, Math.fround(5e30), Infinity, 13, Math.fround(1e-30)]), "f32", { relative: 2e-7 });
  });

  test("atan2 is the angle of the point whose height it is called on", () => {
    const [y, x] = [
      [1, 1, -1, -1, 0, 2],
      [1, -1, 1, -1, -3, 0],
    ];
    const want = y.map((height, i) => Math.atan2(height, x[i]!));
    expectTensor(tensor(y, { dtype: "f64" }).atan2(tensor(x, { dtype: "f64" })), flat(want), "f64", {
      relative: 1e-15,
    });
    expectTensor(tensor([1, -1], { dtype: "i32" }).atan2(1), flat([Math.PI / 4, -Math.PI / 4]), "f32", {
      relative: 1e-7,
    });
  });

  test("inverse functions undo their functions, and integers become f32", () => {
    const x = [-0.7, -0.2, 0, 0.3, 0.9];
    const t = tensor(x, { dtype: "f64" });
    const close = { absolute: 1e-15, relative: 1e-14 };
    expectTensor(t.sin().asin(), flat(x), "f64", close);
    expectTensor(t.abs().cos().acos(), flat(x.map(Math.abs)), "f64", { absolute: 1e-14 });
    expectTensor(t.tan().atan(), flat(x), "f64", close);
    expectTensor(t.sinh().asinh(), flat(x), "f64", close);
    expectTensor(t.add(2).cosh().acosh().sub(2), flat(x), "f64", { absolute: 1e-14 });
    expectTensor(t.tanh().atanh(), flat(x), "f64", close);
    expectTensor(t.mul(t).mul(t).cbrt(), flat(x), "f64", close);
    assert.deepEqual(tensor([-8, 27], { dtype: "i32" }).cbrt().arraySync(), [-2, 3]);
    expectTensor(tensor([1, 2]).trigamma(), flat([Math.PI ** 2 / 6, Math.PI ** 2 / 6 - 1]), "f32", { relative: 5e-7 });
  });

  test("popcount and countLeadingZeros keep the dtype, whose width counts", () => {
    for (const [dtype, width] of [
      ["i8", 8],
      ["u16", 16],
      ["i32", 32],
    ] as const) {
      const x = tensor([0, 1, 6, 127], { dtype });
      expectTensor(x.popcount(), flat([0, 1, 2, 7]), dtype);
      expectTensor(x.countLeadingZeros(), flat([width, width - 1, width - 3, width - 7]), dtype);
    }
    assert.deepEqual(tensor([-1n, 5n]).popcount().arraySync(), [64n, 2n]);
    assert.throws(() => tensor([1.5]).popcount(), DTypeError);
  });

  test("integers and booleans are neither NaN nor infinite", () => {
    for (const dtype of ["i32", "u8", "bool"] as const) {
      const x = tensor([0, 1], { dtype });
      assert.deepEqual(x.isNaN().arraySync(), [false, false]);
      assert.deepEqual(x.isInf().arraySync(), [false, false]);
    }
  });

  test("the larger of booleans is their or, the smaller their and", () => {
    const [a, b] = [tensor([false, false, true, true]), tensor([false, true, false, true])];
    assert.deepEqual(a.maximum(b).arraySync(), [false, true, true, true]);
    assert.deepEqual(a.minimum(b).arraySync(), [false, false, false, true]);
    assert.deepEqual(a.maximum(true).dtype, "bool");
    assert.deepEqual(a.maximum(tensor([2, 0, 0, 0], { dtype: "i32" })).arraySync(), [2, 0, 1, 1]);
  });

  test("isFinite is false for infinities and NaN, true for integers", () => {
    assert.deepEqual(tensor([1, -0, Infinity, -Infinity, Number.NaN]).isFinite().arraySync(), [
      true,
      true,
      false,
      false,
      false,
    ]);
    assert.deepEqual(tensor([1, 2], { dtype: "i32" }).isFinite().arraySync(), [true, true]);
  });

  test("integers to the power of integers are integers, which wrap around", () => {
    // np.array([3, -2, 7, 0], dtype) ** 2, ** 5 and ** 21
    const x = tensor([3, -2, 7, 0], { dtype: "i32" });
    assert.equal(x.pow(2).dtype, "i32");
    assert.deepEqual(numbersOf(x.pow(5)), [243, -32, 16807, 0]);
    assert.deepEqual(numbersOf(x.pow(21)), [1870418611, -2097152, 192061479, 0]);
    assert.deepEqual(numbersOf(x.cast("i8").pow(5)), [-13, -32, -89, 0]);
    assert.deepEqual(numbersOf(tensor([16777217], { dtype: "i32" }).pow(1)), [16777217]);
    assert.deepEqual(numbersOf(x.pow(0)), [1, 1, 1, 1]);
    assert.deepEqual([...tensor([3n]).pow(39n).dataSync()], [3n ** 39n]);
    assert.deepEqual(numbersOf(tensor([true, false]).pow(2)), [1, 0]);
    const exponents = tensor([0, 3, -1, 0], { dtype: "i32" });
    assert.deepEqual(numbersOf(x.pow(exponents)), [1, -8, 0, 1]);
    assert.equal(x.pow(exponents.cast("i64")).dtype, "i64");
    assert.deepEqual(numbersOf(x.pow(0.5).at(-1)), [0]);
    assert.equal(x.pow(0.5).dtype, "f32");
    assert.equal(x.pow(tensor([2])).dtype, "f32");
    for (const wrong of [() => x.pow(-1), () => x.cast("u8").pow(-2), () => x.pow(-3n)]) {
      assert.throws(wrong, /^DTypeError: pow: \w+ to the power -\d is a fraction; cast it to a float first\.$/);
    }
    assert.deepEqual(numbersOf(x.cast("f32").pow(-1)).slice(1, 2), [-0.5]);
  });

  test("floorDivide of f32 is the exact quotient rounded down, also where the rounded quotient is not", () => {
    const random = randomFrom(26);
    const number = () => Math.fround((random.below(2 ** 32) / 2 ** 31 - 1) * 2 ** random.below(20));
    const pairs = Array.from({ length: 5000 }, () => [number(), number()] as const).filter(
      // So small a quotient of two f32 is nowhere nearer to a whole number than f64 can tell.
      ([a, b]) => b !== 0 && Math.abs(a / b) < 2 ** 22,
    );
    const [x, y] = [0, 1].map((side) => tensor(pairs.map((pair) => pair[side]!)));
    const want = pairs.map(([a, b]) => Math.floor(a / b) || 0);
    assert.deepEqual(
      numbersOf(x!.floorDivide(y!)).map((value) => value || 0),
      want,
    );
  });

  test("isClose of whole numbers knows their distance exactly", () => {
    const far = 2 ** 24;
    const close = (a: bigint[], b: bigint[], dtype: DType, options: ClosenessOptions) =>
      tensor(a, { dtype }).isClose(tensor(b, { dtype }), options).arraySync();
    for (const dtype of ["i32", "u32", "i64", "u64"] as const) {
      const [a, b] = [
        [BigInt(far + 1), 5n],
        [BigInt(far), 5n],
      ];
      assert.deepEqual(close(a, b, dtype, { rtol: 0, atol: 0 }), [false, true], dtype);
      assert.deepEqual(close(a, b, dtype, { rtol: 0, atol: 1 }), [true, true], dtype);
      assert.deepEqual(close(b, a, dtype, { rtol: 0, atol: 0.5 }), [false, true], dtype);
      assert.deepEqual(close([100n, 100n], [110n, 111n], dtype, { rtol: 0.091, atol: 0 }), [true, false], dtype);
    }
    assert.deepEqual(close([2n ** 60n + 1n], [2n ** 60n], "i64", { rtol: 0, atol: 0 }), [false]);
    assert.deepEqual(close([-(2n ** 31n)], [2n ** 31n - 1n], "i32", { rtol: 0, atol: 2 ** 31 }), [false]);
    assert.deepEqual(close([-(2n ** 31n)], [2n ** 31n - 1n], "i32", { rtol: 0, atol: 2 ** 32 }), [true]);
    assert.deepEqual(close([-128n], [127n], "i8", { rtol: 0, atol: 254 }), [false]);
    assert.deepEqual(close([-128n], [127n], "i8", { rtol: 0, atol: 255 }), [true]);
    assert.deepEqual(close([7n], [-128n], "i8", { rtol: 1.06, atol: 0 }), [true]);
    assert.equal(
      tensor([far + 1], { dtype: "i32" })
        .allClose(far, { rtol: 0, atol: 0 })
        .itemSync(),
      false,
    );
    assert.equal(
      tensor([true, false])
        .allClose(tensor([true, false]))
        .itemSync(),
      true,
    );
  });

  test("isClose follows NumPy, with infinities and NaN", () => {
    const a = tensor([1, 1, Infinity, Infinity, Number.NaN, 0, 1e10]);
    const b = tensor([1.000001, 1.1, Infinity, -Infinity, Number.NaN, 1e-9, Infinity]);
    assert.deepEqual(a.isClose(b).arraySync(), [true, false, true, false, false, true, false]);
    assert.deepEqual(a.isClose(b, { equalNaN: true }).arraySync(), [true, false, true, false, true, true, false]);
    assert.equal(a.isClose(b, { atol: 1 }).arraySync().toString(), "true,true,true,false,false,true,false");
    assert.equal(
      tensor([1, 2])
        .allClose(tensor([1, 2]))
        .itemSync(),
      true,
    );
    assert.equal(tensor([1, 2]).allClose(3).itemSync(), false);
    assert.equal(
      tensor([], { shape: [0] })
        .allClose(3)
        .itemSync(),
      true,
    );
  });
});

describeOnTensorDevices("numbers that a dtype does not hold", () => {
  const answers = (x: Tensor, other: number | bigint) =>
    (["equal", "notEqual", "less", "lessEqual", "greater", "greaterEqual"] as const).map((name) =>
      x[name](other).arraySync(),
    );
  const alike = (holds: readonly boolean[]) => holds.map((each) => [each, each, each]);

  test("compare as in NumPy 2: all of a dtype are below them, or above", () => {
    const above = alike([false, true, true, true, false, false]);
    const below = alike([false, true, false, false, true, true]);
    const u8 = tensor([0, 5, 255], { dtype: "u8" });
    assert.deepEqual(answers(u8, 300), above);
    assert.deepEqual(answers(u8, 1n << 70n), above);
    assert.deepEqual(answers(u8, -1), below);
    assert.deepEqual(answers(tensor([-128, 5, 127], { dtype: "i8" }), 128), above);
    assert.deepEqual(answers(tensor([-128, 5, 127], { dtype: "i8" }), -129), below);
    assert.deepEqual(answers(tensor([1n, 2n, 3n], { dtype: "u64" }), -1n), below);
    assert.deepEqual(answers(tensor([1n, 2n, 3n], { dtype: "i64" }), 2 ** 63), above);
    assert.deepEqual(u8.greater(4.5).arraySync(), [false, true, true]);
    assert.deepEqual(u8.less(Infinity).arraySync(), [true, true, true]);
    assert.deepEqual(u8.equal(255).arraySync(), [false, false, true]);
  });

  test("clip where the dtype ends", () => {
    const u8 = tensor([0, 5, 255], { dtype: "u8" });
    assert.deepEqual([u8.clip(-1, 300).dtype, u8.clip(-1, 300).arraySync()], ["u8", [0, 5, 255]]);
    assert.deepEqual(u8.clip(-7, 9).arraySync(), [0, 5, 9]);
    assert.deepEqual(u8.clip(300, 400).arraySync(), [255, 255, 255]);
    assert.deepEqual(tensor([5n], { dtype: "u64" }).clip(-1, 1n << 65n).arraySync(), [5n]); // biome-ignore format: one line
    assert.deepEqual(u8.clip(-1.5, 9).dtype, "f32");
  });

  test("clip with an open side", () => {
    const x = tensor([-2, 0.5, 3]);
    assert.deepEqual(x.clip(0).arraySync(), [0, 0.5, 3]);
    assert.deepEqual(x.clip(0, undefined).arraySync(), [0, 0.5, 3]);
    assert.deepEqual(x.clip(null, 1).arraySync(), [-2, 0.5, 1]);
    assert.deepEqual(x.clip(undefined, tensor([1, 0, 9])).arraySync(), [-2, 0, 3]);
    assert.deepEqual(x.clip().arraySync(), [-2, 0.5, 3]);
  });
});
