/** .npz archives: NumPy's in all the ways it writes them, and our own. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ArgumentError, FormatError } from "../../src/core/errors.js";
import { decodeNpz, encodeNpz, npzChunks, readNpz } from "../../src/io/npz.js";
import type { RawTensor } from "../../src/io/raw-tensor.js";
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
    const archive = readNpz(fixture("deflated.npz"));
    assert.deepEqual(archive.names, ["weights", "bias", "columns", "größe", "mask"]);
    assert.deepEqual(plain(archive.read("columns")), membersOf("deflated.npz").get("columns"));
    assert.throws(
      () => archive.read("weight"),
      (error) => {
        return error instanceof ArgumentError && /no array "weight"; there are "weights", "bias"/.test(error.message);
      },
    );
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
  assert.equal(readNpz(bytes, { maxBytes: 1_500_000 }).read("a").shape[0], 1_000_000);
  assert.throws(() => readNpz(bytes, { maxBytes: 999_999 }).read("a"), FormatError);
});
