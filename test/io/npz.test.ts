/** .npz archives: NumPy's in all the ways it writes them, and our own. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { FormatError } from "../../src/core/errors.js";
import { encodeNpyHeader } from "../../src/io/npy.js";
import { encodeNpz, npzArrays, npzChunks } from "../../src/io/npz.js";
import { concatBytes, type RawTensor } from "../../src/io/raw-tensor.js";
import { readZipDirectory } from "../../src/io/zip-read.js";
import { zipChunks } from "../../src/io/zip-write.js";
import { decodeNpz } from "./decoding.js";
import { fixture, membersOf, plain } from "./fixtures.js";

describe("archives NumPy wrote", () => {
  for (const name of ["stored.npz", "deflated.npz", "streamed.npz"]) {
    test(`${name} is read`, () => {
      const arrays = decodeNpz(fixture(name));
      const expected = membersOf(name);
      assert.deepEqual([...arrays.keys()], [...expected.keys()]);
      for (const [key, tensor] of arrays) assert.deepEqual(plain(tensor), expected.get(key), key);
    });
  }

  test("are read one array at a time", () => {
    // The second member claims too many bytes, which must not matter to a reader that stops after the first.
    const bytes = concatBytes(
      zipChunks([
        { name: "a.npy", chunks: [encodeNpyHeader("u8", [1]), Uint8Array.of(7)] },
        { name: "b.npy", chunks: [encodeNpyHeader("u8", [9])] },
      ]),
    );
    const arrays = npzArrays(bytes);
    const [name, array] = arrays.next().value as [string, RawTensor];
    assert.deepEqual([name, ...array.bytes], ["a", 7]);
    assert.throws(() => arrays.next(), /"b" holds 128 bytes, but its array of u8\[9\] takes 137/);
  });
});

describe("archives written here", () => {
  const arrays = new Map<string, RawTensor>([
    ["a", { dtype: "f32", shape: [2], bytes: new Uint8Array(new Float32Array([1, 2]).buffer) }],
    ["b/c", { dtype: "bf16", shape: [], bytes: Uint8Array.of(0x80, 0x3f) }],
    ["", { dtype: "i64", shape: [0, 3], bytes: new Uint8Array(0) }],
  ]);

  for (const compress of [false, true]) {
    test(`come back, ${compress ? "compressed" : "stored"}`, () => {
      const back = decodeNpz(encodeNpz(arrays, { compress }));
      for (const [name, tensor] of arrays) assert.deepEqual(plain(back.get(name) as RawTensor), plain(tensor));
      assert.equal(back.size, arrays.size);
    });
  }

  test("can be written piece by piece, without copies of the data", () => {
    const chunks = [...npzChunks(arrays)];
    assert.ok(chunks.some((chunk) => chunk === arrays.get("a")?.bytes));
  });
});

test("an archive that unpacks to more than allowed is refused by what it declares", () => {
  const big: RawTensor = { dtype: "u8", shape: [1_000_000], bytes: new Uint8Array(1_000_000) };
  const bytes = encodeNpz(
    [
      ["a", big],
      ["b", big],
    ],
    { compress: true },
  );
  assert.throws(
    () => decodeNpz(bytes, { maxBytes: 1_500_000 }),
    (error) => {
      return (
        error instanceof FormatError && /the archive unpacks to 2000256 bytes, more than maxBytes/.test(error.message)
      );
    },
  );
  assert.equal(decodeNpz(bytes, { maxBytes: 2_000_256 }).get("a")?.shape[0], 1_000_000);
});

describe("members that are not the array they begin with", () => {
  /** An archive of one deflated member, whatever its bytes are. */
  const archive = (contents: Uint8Array) =>
    concatBytes(zipChunks([{ name: "a.npy", chunks: [contents] }], { compress: true }));
  const refuses = (bytes: Uint8Array, message: RegExp) =>
    assert.throws(
      () => decodeNpz(bytes),
      (error) => error instanceof FormatError && message.test(error.message),
      `${message}`,
    );

  test("a small array with a megabyte of zeros behind it is refused before it is unpacked", () => {
    const bytes = archive(concatBytes([encodeNpyHeader("u8", [4]), new Uint8Array(1 << 20)]));
    refuses(bytes, /"a" holds 1048704 bytes, but its array of u8\[4\] takes 132/);
    // Damage at the end of the packed bytes would be found if they were unpacked.
    const [entry] = readZipDirectory(bytes);
    bytes.fill(0xff, entry!.dataOffset + entry!.compressedSize - 40, entry!.dataOffset + entry!.compressedSize);
    refuses(bytes, /"a" holds 1048704 bytes, but its array of u8\[4\] takes 132/);
  });

  test("an array that says it is longer than its member", () => {
    refuses(archive(concatBytes([encodeNpyHeader("f64", [1 << 20]), new Uint8Array(64)])), /takes 8388736/);
  });

  test("no array at all, an empty member, a header without end", () => {
    refuses(archive(new Uint8Array(1 << 20)), /not a \.npy file/);
    refuses(archive(new Uint8Array(0)), /not a \.npy file/);
    const endless = concatBytes([encodeNpyHeader("u8", [4]), new Uint8Array(4)]);
    endless[8] = endless[9] = 0xff;
    refuses(archive(endless), /the header claims 65535 bytes, but 122 are there/);
  });
});
