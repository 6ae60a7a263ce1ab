/** Rounding to f16 and bf16 in kernels, against core/half.ts: every f16, the points between them, and wide integers. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { bitsOfNarrow, narrowOfBits, roundToNarrow } from "../../../src/compiler/elements/narrow-floats.js";
import type { IRType, Value } from "../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../src/compiler/ir/kernel-builder.js";
import { roundTo } from "../../../src/core/cast.js";
import { decodeBf16, decodeF16, encodeBf16, encodeF16 } from "../../../src/core/half.js";
import { runKernel } from "../../support/kernels.js";

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
