/** f16 and bf16 against their definition, over every code and every midpoint between neighbouring codes. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { decodeBf16, decodeBf16Array, decodeF16, decodeF16Array, encodeBf16, encodeF16 } from "../../src/core/half.js";

const FORMATS = [
  { name: "f16", fractionBits: 10, exponentBits: 5, encode: encodeF16, decode: decodeF16 },
  { name: "bf16", fractionBits: 7, exponentBits: 8, encode: encodeBf16, decode: decodeBf16 },
];

/** IEEE 754's definition, in powers of two that are exact. */
function numberOf(code: number, fractionBits: number, exponentBits: number): number {
  const sign = code & 0x8000 ? -1 : 1;
  const exponent = (code & 0x7fff) >> fractionBits;
  const fraction = code & (2 ** fractionBits - 1);
  const bias = 2 ** (exponentBits - 1) - 1;
  if (exponent === 2 ** exponentBits - 1) return fraction === 0 ? sign * Infinity : Number.NaN;
  if (exponent === 0) return sign * fraction * 2 ** (1 - bias - fractionBits);
  return sign * (1 + fraction / 2 ** fractionBits) * 2 ** (exponent - bias);
}

/** The next double away from zero, or towards it. */
function neighbour(x: number, step: 1n | -1n): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, x);
  view.setBigInt64(0, view.getBigInt64(0) + step);
  return view.getFloat64(0);
}

for (const { name, fractionBits, exponentBits, encode, decode } of FORMATS) {
  const infinity = (2 ** exponentBits - 1) << fractionBits;

  describe(name, () => {
    test("every code decodes to the number it stands for", () => {
      for (let code = 0; code < 65536; code++) {
        assert.ok(Object.is(decode(code), numberOf(code, fractionBits, exponentBits)), `code ${code.toString(16)}`);
      }
    });

    test("every number that is a code encodes to that code, and every NaN to the quiet one", () => {
      for (let code = 0; code < 65536; code++) {
        const isQuiet = (code & 0x7fff) > infinity;
        assert.equal(encode(decode(code)), isQuiet ? infinity | (1 << (fractionBits - 1)) : code);
      }
    });

    test("between two codes the nearer wins, and in the middle the even one", () => {
      for (let code = 0; code < infinity - 1; code++) {
        const middle = (decode(code) + decode(code + 1)) / 2; // exact: one bit more than the format has
        const even = code + (code & 1);
        for (const sign of [0, 0x8000]) {
          const x = sign ? -middle : middle;
          assert.equal(encode(x), sign | even, `the middle above ${code.toString(16)}`);
          assert.equal(encode(neighbour(x, -1n)), sign | code, `below the middle above ${code.toString(16)}`);
          assert.equal(encode(neighbour(x, 1n)), sign | (code + 1), `above the middle above ${code.toString(16)}`);
        }
      }
    });

    test("half a step past the largest number is infinity, less is the largest number", () => {
      const largest = decode(infinity - 1);
      const limit = largest + (largest - decode(infinity - 2)) / 2;
      assert.equal(encode(limit), infinity);
      assert.equal(encode(neighbour(limit, -1n)), infinity - 1);
      assert.equal(encode(-1e300), 0x8000 | infinity);
      assert.equal(encode(Infinity), infinity);
    });

    test("numbers too small are zero with their sign", () => {
      assert.equal(encode(5e-324), 0);
      assert.equal(encode(-5e-324), 0x8000);
      assert.equal(encode(-0), 0x8000);
      assert.equal(encode(decode(1) / 2), 0);
      assert.equal(encode(neighbour(decode(1) / 2, 1n)), 1);
    });

    test("rounding happens once: not first to f32", () => {
      // Just above a midpoint by less than half an f32 step; rounding to f32 first would land on the midpoint.
      const x = 1 + 2 ** -(fractionBits + 1) + 2 ** -40;
      assert.equal(Math.fround(x), 1 + 2 ** -(fractionBits + 1));
      assert.equal(decode(encode(x)), 1 + 2 ** -fractionBits);
    });
  });
}

test("arrays are decoded as their elements are", () => {
  const codes = Uint16Array.from({ length: 65536 }, (_, code) => code);
  assert.deepEqual([...decodeF16Array(codes)], [...codes].map(decodeF16));
  assert.deepEqual([...decodeBf16Array(codes)], [...codes].map(decodeBf16));
});

test("arrays can be written into a given part of a buffer", () => {
  const out = new Float32Array(new ArrayBuffer(16), 4, 2);
  assert.deepEqual([...decodeF16Array(Uint16Array.of(0x3c00, 0xc000), out)], [1, -2]);
  assert.deepEqual([...new Float32Array(out.buffer)], [0, 1, -2, 0]);
});
