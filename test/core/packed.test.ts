/** Integers narrower than a byte: every byte there is, unpacked and packed again. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { packedBytes, tensorBytes, tidyBytes } from "../../src/core/bytes.js";
import { packIntegers, unpackIntegers } from "../../src/core/packed.js";

const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);

/** The digits of a byte in base 4 or 16, the lowest first. */
const digits = (byte: number, base: 4 | 16): number[] =>
  [...byte.toString(base).padStart(base === 4 ? 4 : 2, "0")].reverse().map((digit) => Number.parseInt(digit, base));

test("the first element of a byte is in its lowest bits", () => {
  const pairs = [...bytes].flatMap((byte) => digits(byte, 16));
  assert.deepEqual([...unpackIntegers(bytes, "u4", 512)], pairs);
  assert.deepEqual(
    [...unpackIntegers(bytes, "i4", 512)],
    pairs.map((x) => (x > 7 ? x - 16 : x)),
  );
  const fours = [...bytes].flatMap((byte) => digits(byte, 4));
  assert.deepEqual([...unpackIntegers(bytes, "u2", 1024)], fours);
  assert.deepEqual(
    [...unpackIntegers(bytes, "i2", 1024)],
    fours.map((x) => (x > 1 ? x - 4 : x)),
  );
  for (const [dtype, count] of [
    ["u4", 512],
    ["i4", 512],
    ["u2", 1024],
    ["i2", 1024],
  ] as const) {
    assert.deepEqual(packIntegers(unpackIntegers(bytes, dtype, count), dtype), bytes, dtype);
  }
});

test("a last byte that is not full has zeros above its elements", () => {
  assert.deepEqual([...packIntegers([-1, -1, -1], "i4")], [0xff, 0x0f]);
  assert.deepEqual([...packIntegers([3, 3, 3, 3, 3], "u2")], [0xff, 0x03]);
  assert.deepEqual([...tidyBytes("i4", Uint8Array.of(0xab, 0xcd), 3)], [0xab, 0x0d]);
  assert.deepEqual([...tidyBytes("u2", Uint8Array.of(0xff), 1)], [0x03]);
});

test("elements take as many bytes as their bits fill", () => {
  assert.deepEqual(
    [0, 1, 2, 3, 9].map((count) => packedBytes(count, "i4")),
    [0, 1, 1, 2, 5],
  );
  assert.deepEqual(
    [0, 1, 4, 5].map((count) => packedBytes(count, "u2")),
    [0, 1, 1, 2],
  );
  assert.equal(tensorBytes({ shape: [3, 5], dtype: "u4" }), 8);
  assert.equal(tensorBytes({ shape: [3, 5], dtype: "f8e5m2" }), 15);
});
