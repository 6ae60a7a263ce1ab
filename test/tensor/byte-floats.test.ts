/** f8e4m3 and f8e5m2 on every device: every code, every place where rounding decides, every pair of numbers. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ByteFloat } from "../../src/core/byte-float.js";
import { castScalar } from "../../src/core/cast.js";
import type { DType } from "../../src/core/dtype.js";
import { DTypeError } from "../../src/core/errors.js";
import { fromBytes, grad, jit, type Tensor, tensor, vmap, zeros } from "../../src/index.js";
import { allCodes, byteFloats, codeValue, ladderOf, nearestOf } from "../support/byte-float-oracle.js";
import { describeOnTensorDevices, devicesWithDoubles, numbersOf } from "../support/tensors.js";

const f32 = new Float32Array(1);
const words = new Int32Array(f32.buffer);

/** The f32 next to a positive one. */
function besides(x: number, by: 1 | -1): number {
  f32[0] = x;
  words[0]! += by;
  return f32[0];
}

/** Halfway between all neighbours, what is just beside it, and the ends. */
function decidingNumbers(format: ByteFloat): number[] {
  const ladder = ladderOf(format);
  const largest = ladder.at(-1)!;
  const edge = largest + (largest - ladder.at(-2)!) / 2;
  const middles = ladder.slice(1).map((high, i) => (high + ladder[i]!) / 2);
  const around = [...middles, edge, ...ladder.slice(1)].flatMap((x) => [x, besides(x, 1), besides(x, -1)]);
  const sizes = [...around, 0, 1e-30, 1e30, Math.fround(3.4e38), Infinity];
  return [...sizes, ...sizes.map((x) => -x), Number.NaN];
}

const fromCodes = (format: ByteFloat) => (): Tensor => fromBytes(Uint8Array.from(allCodes), [256], format);

const same = (got: readonly number[], want: readonly number[], what: string) => {
  assert.equal(got.length, want.length, what);
  got.forEach((value, i) => {
    if (!Object.is(value, want[i])) assert.fail(`${what}: element ${i} is ${value}, not ${want[i]}`);
  });
};

describeOnTensorDevices("8-bit floats", (device) => {
  for (const format of byteFloats) {
    const every = fromCodes(format);

    test(`all codes of ${format} as f32, f16 and bits`, () => {
      const x = every();
      const values = allCodes.map((code) => codeValue(code, format));
      same(numbersOf(x), values, "data()");
      same(numbersOf(x.cast("f32")), values, "cast to f32");
      same(numbersOf(x.cast("f16")), values, "cast to f16");
      const nan = format === "f8e4m3" ? 0x7f : 0x7e;
      const codes = values.map((value, code) => (Number.isNaN(value) ? nan : code));
      same(numbersOf(x.bitcast("u8")), codes, "bitcast to u8");
      same(numbersOf(tensor(allCodes, { dtype: "u8" }).bitcast(format)), values, "bitcast from u8");
    });

    test(`f32 to ${format} rounds to nearest even; stored, and within a kernel`, () => {
      const given = decidingNumbers(format);
      const want = given.map((x) => nearestOf(x, format));
      const x = tensor(given);
      same(numbersOf(x.cast(format)), want, "stored");
      same(numbersOf(x.cast(format).cast("f32")), want, "within a kernel");
      same(numbersOf(tensor(given, { dtype: format })), want, "from JavaScript values");
      // Vectors have tails.
      for (let count = 1; count < 10; count++) {
        same(numbersOf(tensor(given.slice(0, count)).cast(format)), want.slice(0, count), `${count} of them`);
      }
    });

    test(`wider floats and integers to ${format} are rounded once`, () => {
      const sources: [DType, number[]][] = [
        ["i32", [17, 19, 449, 464, 465, -57345, 61439, 61440, 2 ** 31 - 1, 33554433]],
        ["u32", [17, 480, 2 ** 32 - 1]],
        ["i64", [17, -19, 464, 465, 61440, 2 ** 40]],
        ["f16", [17, 465, 0.00097, 61440, Infinity]],
      ];
      if (devicesWithDoubles().includes(device)) {
        const near = ladderOf(format).slice(1, 20);
        sources.push(["f64", near.map((high, i) => ((high + (near[i - 1] ?? 0)) / 2) * (1 + 2 ** -40))]);
      }
      for (const [dtype, values] of sources) {
        const wide = dtype === "i64";
        const x = tensor(wide ? values.map(BigInt) : values, { dtype });
        const want = numbersOf(x).map((value) => Number(castScalar(wide ? BigInt(value) : value, dtype, format)));
        same(numbersOf(x.cast(format)), want, dtype);
        same(
          want,
          numbersOf(x).map((value) => nearestOf(value, format)),
          `the rule for ${dtype}`,
        );
      }
    });

    test(`every pair of numbers of ${format}: sums, products, quotients, comparisons`, () => {
      const values = allCodes.map((code) => codeValue(code, format));
      const pairs = (f: (a: number, b: number) => number) =>
        values.flatMap((a) => values.map((b) => nearestOf(f(a, b), format)));
      const x = every();
      const [a, b] = [x.reshape([256, 1]), x.reshape([1, 256])];
      same(
        numbersOf(a.add(b)),
        pairs((p, q) => p + q),
        "add",
      );
      same(
        numbersOf(a.mul(b)),
        pairs((p, q) => p * q),
        "mul",
      );
      same(
        numbersOf(a.div(b)),
        pairs((p, q) => p / q),
        "div",
      );
      same(
        numbersOf(a.sub(b)),
        pairs((p, q) => p - q),
        "sub",
      );
      same(
        numbersOf(a.less(b)),
        values.flatMap((p) => values.map((q) => Number(p < q))),
        "less",
      );
      // Each operation is rounded, fused or not.
      const twice = values.flatMap((p) => values.map((q) => nearestOf(nearestOf(p * q, format) + p, format)));
      same(numbersOf(a.mul(b).add(a)), twice, "mul, add");
    });

    test(`a saturating cast to ${format} ends at the largest number`, () => {
      const largest = ladderOf(format).at(-1)!;
      const given = decidingNumbers(format);
      const want = given.map((x) => nearestOf(Math.min(Math.max(x, -largest), largest), format));
      same(numbersOf(tensor(given).cast(format, { saturate: true })), want, "from f32");
      const whole = tensor([largest, largest + 1, -70000, 5], { dtype: "i32" });
      same(numbersOf(whole.cast(format, { saturate: true })), [largest, largest, -largest, 5], "from i32");
    });

    test(`sums and products of ${format} are accumulated in f32`, () => {
      const ones = zeros([1000], { dtype: format }).add(0.25);
      assert.equal(ones.sum().itemSync(), nearestOf(250, format));
      assert.equal(ones.mean().itemSync(), 0.25);
      const row = zeros([1, 1000], { dtype: format }).add(0.5);
      assert.equal(row.matmul(row.T).itemSync(), nearestOf(250, format));
      assert.equal(ones.cumsum().at(-1).itemSync(), nearestOf(250, format));
    });

    test(`${format} is differentiated, mapped and jitted as f16 is`, () => {
      const x = tensor([1, 2.5, -3], { dtype: format });
      const slope = grad((v: Tensor) => v.square().sum())(x);
      assert.equal(slope.dtype, format);
      assert.deepEqual(numbersOf(slope), [2, 5, -6]);
      const through = grad((v: Tensor) => v.cast(format).mul(2).sum().cast("f32"))(tensor([0.3, 1.7]));
      assert.deepEqual([through.dtype, ...numbersOf(through)], ["f32", 2, 2]);
      assert.deepEqual(numbersOf(vmap((v: Tensor) => v.max())(x.reshape([3, 1]))), [1, 2.5, -3]);
      const step = jit((v: Tensor) => v.add(1));
      assert.deepEqual(
        numbersOf(step(step(x))),
        [3, 4.5, -1].map((value) => nearestOf(value, format)),
      );
    });
  }

  test("numbers of f8e4m3 are never infinite, and extremes of it are still found", () => {
    const x = tensor([3, Infinity, -2], { dtype: "f8e4m3" });
    assert.deepEqual(numbersOf(x.isInf()), [0, 0, 0]);
    assert.deepEqual(numbersOf(x.isFinite()), [1, 0, 1]);
    assert.deepEqual([x.nanMax().itemSync(), x.nanMin().itemSync()], [3, -2]);
    assert.deepEqual([tensor([-448, -448], { dtype: "f8e4m3" }).max().itemSync()], [-448]);
    const total = Math.log(Math.exp(1) + Math.exp(2));
    assert.deepEqual(numbersOf(tensor([1, 2], { dtype: "f8e4m3" }).cumlogsumexp()), [1, nearestOf(total, "f8e4m3")]);
  });

  test("a saturating cast of integers clamps, and complex numbers are refused", () => {
    const x = tensor([300, -300, 5], { dtype: "i32" });
    assert.deepEqual(numbersOf(x.cast("i8", { saturate: true })), [127, -128, 5]);
    assert.deepEqual(numbersOf(x.cast("u8", { saturate: true })), [255, 0, 5]);
    assert.deepEqual(numbersOf(x.cast("i4", { saturate: true })), [7, -8, 5]);
    assert.deepEqual(numbersOf(tensor([200, 1], { dtype: "u8" }).cast("i8", { saturate: true })), [127, 1]);
    const large = tensor([70000, -3e38, Infinity], { dtype: "bf16" });
    assert.deepEqual(numbersOf(large.cast("f16", { saturate: true })), [65504, -65504, 65504]);
    assert.throws(() => tensor([{ re: 1, im: 2 }]).cast("f8e4m3", { saturate: true }), DTypeError);
  });
});
