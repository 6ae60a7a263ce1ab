/** The encodings of the binary format, byte by byte: LEB128, floats, names, sizes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ByteStream } from "../../src/wasm/bytes.js";

const bytesOf = (write: (out: ByteStream) => void): number[] => {
  const out = new ByteStream(1);
  write(out);
  return [...out.view()];
};

test("unsigned numbers are seven bits to a byte, the lowest first", () => {
  assert.deepEqual(
    bytesOf((s) => s.unsigned(0)),
    [0],
  );
  assert.deepEqual(
    bytesOf((s) => s.unsigned(127)),
    [0x7f],
  );
  assert.deepEqual(
    bytesOf((s) => s.unsigned(128)),
    [0x80, 1],
  );
  // The example of Wikipedia and of the DWARF specification.
  assert.deepEqual(
    bytesOf((s) => s.unsigned(624485)),
    [0xe5, 0x8e, 0x26],
  );
  assert.deepEqual(
    bytesOf((s) => s.unsigned(2 ** 32 - 1)),
    [0xff, 0xff, 0xff, 0xff, 0x0f],
  );
});

test("signed numbers keep a bit for the sign", () => {
  assert.deepEqual(
    bytesOf((s) => s.signed(63)),
    [0x3f],
  );
  assert.deepEqual(
    bytesOf((s) => s.signed(64)),
    [0xc0, 0],
  );
  assert.deepEqual(
    bytesOf((s) => s.signed(-64)),
    [0x40],
  );
  assert.deepEqual(
    bytesOf((s) => s.signed(-65)),
    [0xbf, 0x7f],
  );
  assert.deepEqual(
    bytesOf((s) => s.signed(-123456)),
    [0xc0, 0xbb, 0x78],
  );
  assert.deepEqual(
    bytesOf((s) => s.signed(-(2 ** 31))),
    [0x80, 0x80, 0x80, 0x80, 0x78],
  );
  assert.deepEqual(
    bytesOf((s) => s.signed64(-1n)),
    [0x7f],
  );
  assert.deepEqual(
    bytesOf((s) => s.signed64(2n ** 63n - 1n)),
    [...new Array(9).fill(0xff), 0],
  );
  assert.deepEqual(
    bytesOf((s) => s.signed64(2n ** 64n - 1n)),
    [0x7f],
    "the same bits as -1",
  );
});

test("floats are little-endian, and every NaN is one NaN", () => {
  assert.deepEqual(
    bytesOf((s) => s.f32(1.5)),
    [0, 0, 0xc0, 0x3f],
  );
  assert.deepEqual(
    bytesOf((s) => s.f32(-0)),
    [0, 0, 0, 0x80],
  );
  assert.deepEqual(
    bytesOf((s) => s.f32(Number.NaN)),
    [0, 0, 0xc0, 0x7f],
  );
  assert.deepEqual(
    bytesOf((s) => s.f64(-2)),
    [0, 0, 0, 0, 0, 0, 0, 0xc0],
  );
  assert.deepEqual(
    bytesOf((s) => s.f64(Number.NaN)),
    [0, 0, 0, 0, 0, 0, 0xf8, 0x7f],
  );
});

test("names and parts begin with their length in bytes", () => {
  assert.deepEqual(
    bytesOf((s) => s.name("aé")),
    [3, 0x61, 0xc3, 0xa9],
  );
  const part = new ByteStream();
  part.append(Uint8Array.of(9, 8, 7));
  assert.deepEqual(
    bytesOf((s) => s.sized(part)),
    [3, 9, 8, 7],
  );
});

test("bytes can be replaced and forgotten, and streams grow", () => {
  const out = new ByteStream(2);
  for (let i = 0; i < 300; i++) out.byte(i);
  assert.deepEqual(
    [...out.view()],
    Array.from({ length: 300 }, (_, i) => i & 255),
  );
  out.patch(1, 77);
  out.truncate(2);
  out.byte(5);
  assert.deepEqual([...out.view()], [0, 77, 5]);
});
