/** The 8-bit floats against their definition: every code, and every place where rounding decides. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { decodeF8, encodeF8 } from "../../src/core/byte-float.js";
import { castScalar } from "../../src/core/cast.js";
import { byteFloats, allCodes as codes, codeValue, ladderOf } from "../support/byte-float-oracle.js";

describe("8-bit floats", () => {
  for (const format of byteFloats) {
    test(`every code of ${format} is the number that the specification says`, () => {
      for (const code of codes) assert.ok(Object.is(decodeF8(code, format), codeValue(code, format)), `code ${code}`);
    });

    test(`every number of ${format} is encoded as its code, and every NaN as the same one`, () => {
      for (const code of codes) {
        const value = codeValue(code, format);
        const nan = format === "f8e4m3" ? 0x7f : 0x7e;
        assert.equal(encodeF8(value, format), Number.isNaN(value) ? nan : code, `code ${code}`);
      }
    });

    test(`between two numbers of ${format} the nearer one is taken, and the even code halfway`, () => {
      const steps = ladderOf(format);
      for (let code = 0; code + 1 < steps.length; code++) {
        const [low, high] = [steps[code]!, steps[code + 1]!];
        const middle = (low + high) / 2;
        const nudge = middle * 2 ** -52;
        assert.equal(encodeF8(middle, format), code % 2 === 0 ? code : code + 1, `halfway from ${low} to ${high}`);
        assert.equal(encodeF8(middle - nudge, format), code);
        assert.equal(encodeF8(middle + nudge, format), code + 1);
        assert.equal(encodeF8(-middle - nudge, format), 0x80 | (code + 1));
      }
    });
  }

  test("beyond the largest number f8e4m3 has NaN only, f8e5m2 infinity", () => {
    // Halfway to the number that would be next: 464 and 61440.
    assert.deepEqual(
      [448, 463, 464, -464].map((x) => encodeF8(x, "f8e4m3")),
      [0x7e, 0x7e, 0x7e, 0xfe],
    );
    assert.deepEqual(
      [464.0001, 1e30, Infinity, -Infinity].map((x) => encodeF8(x, "f8e4m3")),
      [0x7f, 0x7f, 0x7f, 0x7f],
    );
    assert.deepEqual(
      [57344, 61439, 61440, -1e30].map((x) => encodeF8(x, "f8e5m2")),
      [0x7b, 0x7b, 0x7c, 0xfc],
    );
    assert.deepEqual(
      [0, -0, Number.MIN_VALUE, -Number.MIN_VALUE].map((x) => encodeF8(x, "f8e5m2")),
      [0, 0x80, 0, 0x80],
    );
  });

  test("a cast rounds once, from bigints too", () => {
    assert.equal(castScalar(2n ** 40n, "i64", "f8e5m2"), Infinity);
    assert.equal(castScalar(17n, "i64", "f8e4m3"), 16);
    assert.equal(castScalar(17.000001, "f64", "f8e4m3"), 18);
  });
});
