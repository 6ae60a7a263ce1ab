/** Rounding to f16 and bf16 in kernels, against core/half.ts: every f16, the points between them, and wide integers. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  bitsOfNarrow,
  narrowOfBits,
  roundToBrainByArithmetic,
  roundToNarrow,
} from "../../../src/compiler/elements/narrow-floats.js";
import type { IRType, Value } from "../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../src/compiler/ir/kernel-builder.js";
import { roundTo } from "../../../src/core/cast.js";
import { decodeBf16, decodeF16, encodeBf16, encodeF16 } from "../../../src/core/half.js";
import { mayFlush } from "../../support/denormals.js";
import { runKernel } from "../../support/kernels.js";
import { describeOnTensorDevices } from "../../support/tensors.js";

type Numbers = Float32Array | Float64Array | Uint32Array | BigInt64Array;

function mapped<O extends Numbers>(
  from: IRType,
  given: Numbers,
  to: O,
  rule: (k: KernelBuilder, x: Value) => Value,
): O {
  const k = new KernelBuilder("narrow", given.length);
  const [source, target] = [k.buffer(from as "f32", false), k.buffer(to instanceof Uint32Array ? "u32" : "f32", true)];
  k.store(target, k.row, rule(k, k.load(source, k.row, from)));
  return runKernel("cpu", k.finish(), [given, to] as never)[1] as unknown as O;
}

const codes = Uint32Array.from({ length: 65536 }, (_, code) => code);

for (const [dtype, decode, encode] of [
  ["f16", decodeF16, encodeF16],
  ["bf16", decodeBf16, encodeBf16],
] as const) {
  describe(dtype, () => {
    test("bits become the float they stand for, and back", () => {
      const floats = mapped("u32", codes, new Float32Array(65536), (k, x) => narrowOfBits(k, x, dtype));
      const bits = mapped("f32", floats, new Uint32Array(65536), (k, x) => bitsOfNarrow(k, x, dtype));
      codes.forEach((code) => {
        assert.ok(Object.is(floats[code], decode(code)), `${code}`);
        if (!Number.isNaN(floats[code]!)) assert.equal(bits[code], code);
      });
    });

    test("floats round to nearest, ties to even: at every number, halfway to the next, and next to halfway", () => {
      const samples: number[] = [];
      for (let code = 0; code < 0x7c00; code += 7) {
        const [low, high] = [decode(code), decode(code + 1)];
        const middle = (low + high) / 2;
        samples.push(low, middle, Math.fround(middle * (1 + 2 ** -20)), Math.fround(middle * (1 - 2 ** -20)));
      }
      samples.push(65519, 65520, 1e38, Infinity, -0, Number.NaN);
      const given = Float32Array.from(samples.flatMap((x) => [x, -x]));
      const got = mapped("f32", given, given.slice(), (k, x) => roundToNarrow(k, x, dtype));
      given.forEach((x, i) => {
        assert.ok(Object.is(got[i], decode(encode(x))), `${x} gives ${got[i]}, not ${decode(encode(x))}`);
      });
    });

    test("doubles and 64-bit integers are rounded once, not first to f32", () => {
      const between = decode(encode(3)) * (1 + 2 ** (dtype === "f16" ? -11 : -8));
      const doubles = Float64Array.of(between, between * (1 + 2 ** -40), between * (1 - 2 ** -40));
      const fromDoubles = mapped("f64", doubles, new Float32Array(3), (k, x) => roundToNarrow(k, x, dtype));
      assert.deepEqual(
        [...fromDoubles],
        [...doubles].map((x) => roundTo(dtype, x)),
      );
      const half = 2n ** 60n + 2n ** (dtype === "f16" ? 49n : 52n);
      const integers = BigInt64Array.of(2049n, half, half + 1n, -half - 1n, 0n);
      const fromIntegers = mapped("i64", integers, new Float32Array(5), (k, x) => roundToNarrow(k, x, dtype));
      assert.deepEqual(
        [...fromIntegers],
        [...integers].map((x) => roundTo(dtype, x)),
      );
    });
  });
}

test("65536 x - 65535 x is x rounded to bf16, for every significand: it does not depend on the power of two", () => {
  const float = new Float32Array(1);
  const word = new Uint32Array(float.buffer);
  let wrong = 0;
  for (let bits = 0x3f800000; bits < 0x40000000; bits++) {
    word[0] = bits;
    const x = float[0]!;
    const difference = Math.fround(65536 * x - Math.fround(65535 * x));
    float[0] = difference;
    const got = word[0];
    if (got !== ((bits + 0x7fff + ((bits >>> 16) & 1)) & 0xffff0000) >>> 0) wrong++;
  }
  assert.equal(wrong, 0);
});

describeOnTensorDevices("rounding to bf16 by arithmetic", (device) => {
  /** Every bf16 with the lower halves at which rounding changes. */
  const lows = [0, 1, 0x7fff, 0x8000, 0x8001, 0xffff];
  const bits = Uint32Array.from(
    { length: 65536 * lows.length },
    (_, i) => ((i % 65536) << 16) | lows[Math.floor(i / 65536)]!,
  );
  const given = new Float32Array(bits.buffer);
  const isDenormal = (x: number) => x !== 0 && Math.abs(x) < 2 ** -126;
  const isFlushed = (x: number) => isDenormal(x) && mayFlush(device, "f32");

  function rounded(isLimited: boolean): { rounded: Float32Array; isWrong: Float32Array } {
    const k = new KernelBuilder("by arithmetic", given.length);
    const [source, target, flags] = [k.buffer("f32", false), k.buffer("f32", true), k.buffer("f32", true)];
    const x = k.load(source, k.row, "f32");
    const limit = k.constant("f32", 2 ** 100);
    const held = isLimited ? k.select(k.compare("gt", x, limit), limit, x) : x;
    const low = k.constant("f32", -(2 ** 100));
    const inside = isLimited ? k.select(k.compare("lt", held, low), low, held) : held;
    const result = roundToBrainByArithmetic(k, inside, false);
    k.store(target, k.row, result.rounded);
    const [one, zero] = [k.constant("f32", 1), k.constant("f32", 0)];
    const isWrong = result.doubts.reduce<Value | null>(
      (any, doubt) => (any ? k.binary("or", any, doubt) : doubt),
      null,
    );
    k.store(flags, k.row, isWrong ? k.select(isWrong, one, zero) : zero);
    const [, values, wrong] = runKernel(device, k.finish(), [given, given.slice(), given.slice()]);
    return { rounded: values, isWrong: wrong };
  }

  test("where it does not say that it is wrong, it is right to the bit, the sign of zero included", () => {
    const { rounded: values, isWrong } = rounded(false);
    let [right, flagged] = [0, 0];
    given.forEach((x, i) => {
      if (isFlushed(x)) return;
      if (isWrong[i] === 1) flagged++;
      else {
        assert.ok(Object.is(values[i], decodeBf16(encodeBf16(x))), `${x} gives ${values[i]}`);
        right++;
      }
    });
    assert.ok(right > 5 * flagged);
  });

  test("it says so for denormal and huge numbers and infinities, and for no others", () => {
    const { isWrong } = rounded(false);
    given.forEach((x, i) => {
      if (isFlushed(x)) return;
      assert.equal(isWrong[i] === 1, isDenormal(x) || Math.abs(x) >= 2 ** 111, `${x}`);
    });
  });

  test("numbers that are known to be smaller are not tested for their size", () => {
    const { isWrong } = rounded(true);
    given.forEach((x, i) => {
      if (Math.abs(x) >= 2 ** -126) assert.equal(isWrong[i], 0, `${x}`);
    });
  });
});
