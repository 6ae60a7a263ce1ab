/** Reading the binary format: what was written comes back, and what is cut off or too large is refused with its place. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { FormatError } from "../../src/core/errors.js";
import { ByteReader } from "../../src/wasm/byte-reader.js";
import { ByteStream } from "../../src/wasm/bytes.js";

const readerOf = (write: (out: ByteStream) => void): ByteReader => {
  const out = new ByteStream();
  write(out);
  return new ByteReader(out.view().slice());
};
const of = (...bytes: number[]) => new ByteReader(Uint8Array.from(bytes));

test("numbers, floats and names come back as they were written", () => {
  for (const n of [0, 127, 128, 624485, 2 ** 32 - 1]) assert.equal(readerOf((s) => s.unsigned(n)).unsigned("n"), n);
  for (const n of [0, 63, 64, -64, -65, 2 ** 31 - 1, -(2 ** 31)]) {
    assert.equal(readerOf((s) => s.signed(n)).signed(32, "n"), BigInt(n));
  }
  for (const n of [2n ** 63n - 1n, -(2n ** 63n), -1n]) assert.equal(readerOf((s) => s.signed64(n)).signed(64, "n"), n);
  const reader = readerOf((s) => {
    s.f32(1.5);
    s.f64(-0);
    s.name("é");
    s.byte(9);
  });
  assert.ok(reader.f32("x") === 1.5 && Object.is(reader.f64("y"), -0));
  assert.equal(reader.name("z"), "é");
  assert.equal(reader.isAtEnd, false);
  assert.equal(reader.byte("b"), 9);
  assert.equal(reader.isAtEnd, true);
});

test("numbers of too many bits are refused", () => {
  assert.throws(() => of(0xff, 0xff, 0xff, 0xff, 0x1f).unsigned("size"), /size: not a 32-bit number/);
  assert.throws(() => of(0x80, 0x80, 0x80, 0x80, 0x80, 0).unsigned("size"), /not a 32-bit number/);
  assert.throws(() => of(0xff, 0xff, 0xff, 0xff, 0x0f).signed(32, "n"), /not a 32-bit number/);
});

test("nothing is read past the end, and the error says where", () => {
  const reader = of(1, 2, 3);
  reader.byte("first");
  assert.throws(
    () => reader.f32("a float"),
    (error: Error) =>
      error instanceof FormatError && /byte 1: a float needs 4 bytes where 2 are left/.test(error.message),
  );
  assert.throws(() => of().byte("b"), FormatError);
  assert.throws(() => of(5, 65).name("a name"), /needs 5 bytes where 1 are left/);
});

test("a part is read by its own reader, which ends where the part does", () => {
  const reader = of(1, 2, 3, 4);
  reader.byte("head");
  const part = reader.part(2, "part");
  assert.deepEqual([part.byte("a"), part.byte("b"), part.isAtEnd], [2, 3, true]);
  assert.throws(() => part.byte("c"), FormatError);
  assert.equal(reader.byte("next"), 4);
  assert.deepEqual([...of(7, 8).take(2, "two")], [7, 8]);
});

test("a list is counted; a count that cannot be is refused before anything is read", () => {
  const reader = of(2, 10, 20);
  assert.deepEqual(
    reader.vector("items", (i) => reader.byte("item") + i),
    [10, 21],
  );
  const hostile = of(0xff, 0xff, 0xff, 0xff, 0x0f, 1);
  assert.throws(() => hostile.vector("items", () => assert.fail("read")), /4294967295 of them in 1 bytes/);
});
