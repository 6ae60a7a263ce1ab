/** safetensors: files from the format's description, our own, and headers that lie. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ArgumentError, DTypeError, FormatError } from "../../src/core/errors.js";
import type { RawTensor } from "../../src/io/raw-tensor.js";
import { decodeSafetensors, encodeSafetensors } from "./decoding.js";
import { fixture, membersOf, plain } from "./fixtures.js";

/** A file with this header and so many bytes of data. */
function fileWith(header: string | object, dataLength = 0, claimed?: bigint): Uint8Array {
  const text = Buffer.from(typeof header === "string" ? header : JSON.stringify(header));
  const file = Buffer.alloc(8 + text.length + dataLength);
  file.writeBigUInt64LE(claimed ?? BigInt(text.length));
  text.copy(file, 8);
  return new Uint8Array(file);
}

const entry = (dtype: string, shape: unknown, begin: unknown, end: unknown) => ({
  dtype,
  shape,
  data_offsets: [begin, end],
});

test("a file of all dtypes is read, with its metadata", () => {
  const { tensors, metadata } = decodeSafetensors(fixture("all-types.safetensors"));
  const expected = membersOf("all-types.safetensors");
  assert.equal(tensors.size, expected.size);
  for (const [name, tensor] of expected) assert.deepEqual(plain(tensors.get(name) as RawTensor), tensor, name);
  assert.deepEqual(
    [...metadata],
    [
      ["format", "pt"],
      ["größe", "ja"],
    ],
  );
});

describe("files written here", () => {
  const expected = membersOf("all-types.safetensors");

  test("come back", () => {
    const file = encodeSafetensors(expected, { format: "pumice" });
    const { tensors, metadata } = decodeSafetensors(file);
    for (const [name, tensor] of expected) assert.deepEqual(plain(tensors.get(name) as RawTensor), tensor, name);
    assert.deepEqual([...metadata], [["format", "pumice"]]);
  });

  test("are aligned: the data begins at a multiple of 8 and wide elements come first", () => {
    const file = encodeSafetensors(expected);
    const { tensors } = decodeSafetensors(file);
    for (const { bytes, dtype } of tensors.values()) {
      const width = Math.min(
        8,
        { bool: 1, u8: 1, i8: 1, u16: 2, i16: 2, f16: 2, bf16: 2, u32: 4, i32: 4, f32: 4 }[dtype as string] ?? 8,
      );
      assert.equal(bytes.byteOffset % width, 0, dtype);
    }
  });

  test("have the layout of the reference implementation", () => {
    const file = encodeSafetensors([
      ["b", { dtype: "u8", shape: [2], bytes: Uint8Array.of(1, 2) }],
      ["a", { dtype: "f16", shape: [], bytes: Uint8Array.of(3, 4) }],
    ]);
    const header =
      '{"a":{"dtype":"F16","shape":[],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}}';
    const padded = header.padEnd(Math.ceil(header.length / 8) * 8);
    assert.equal(Buffer.from(file.subarray(8, 8 + padded.length)).toString(), padded);
    assert.deepEqual([...file.subarray(8 + padded.length)], [3, 4, 1, 2]);
  });

  test("may have names that look like numbers, quotes and __proto__", () => {
    const tensor: RawTensor = { dtype: "u8", shape: [1], bytes: Uint8Array.of(1) };
    const names = ["10", "9", '"', "__proto__", "", "ä\n"];
    const { tensors } = decodeSafetensors(encodeSafetensors(names.map((name) => [name, tensor])));
    assert.deepEqual(new Set(tensors.keys()), new Set(names));
  });

  test("cannot hold c128, two tensors of one name, or one called __metadata__", () => {
    const wide: RawTensor = { dtype: "c128", shape: [], bytes: new Uint8Array(16) };
    const byte: RawTensor = { dtype: "u8", shape: [], bytes: new Uint8Array(1) };
    assert.throws(
      () => encodeSafetensors([["z", wide]]),
      (error) => {
        return error instanceof DTypeError && /"z" is c128, which the format lacks/.test(error.message);
      },
    );
    assert.throws(
      () =>
        encodeSafetensors([
          ["a", byte],
          ["a", byte],
        ]),
      ArgumentError,
    );
    assert.throws(() => encodeSafetensors([["__metadata__", byte]]), ArgumentError);
  });
});

test("tensors of dtypes without a counterpart are named in the error", () => {
  assert.throws(
    () => decodeSafetensors(fixture("foreign.safetensors")),
    (error) => {
      return error instanceof DTypeError && /"four" is F4, for which there is no dtype/.test(error.message);
    },
  );
});

describe("headers that lie are refused before anything is read by them", () => {
  const deep = `{"__metadata__":${'{"a":'.repeat(100_000)}`;
  // biome-ignore format: rows read best
  const cases: [string, Uint8Array, RegExp][] = [
    ["no bytes", new Uint8Array(0), /shorter than its header's length/],
    ["seven bytes", new Uint8Array(7), /shorter than its header's length/],
    ["an empty header", fileWith(""), /does not begin with \{/],
    ["a header longer than the file", fileWith("{}", 0, 3n), /claims 3 bytes, but 2 follow/],
    ["a header of 2^64 - 1 bytes", fileWith("{}", 0, 2n ** 64n - 1n), /claims 18446744073709551615 bytes, more than/],
    ["a header beyond the limit", fileWith("{}", 0, 100_000_001n), /more than 100000000/],
    ["space before the header", fileWith(" {}"), /does not begin with \{/],
    ["a list", fileWith("[]"), /does not begin with \{/],
    ["no JSON", fileWith("{nope}"), /expected a key at character 1/],
    ["two values", fileWith("{}{}"), /something follows the value/],
    ["deep nesting", fileWith(deep), /more than 4 nested values/],
    ["a name twice",
      fileWith(`{"a":${JSON.stringify(entry("U8", [0], 0, 0))},"a":${JSON.stringify(entry("U8", [1], 0, 1))}}`, 1),
      /the key "a" comes twice/],
    ["no UTF-8", (() => { const file = fileWith('{"a":1}'); file[10] = 0xff; return file; })(), /not UTF-8/],
    ["an entry that is no object", fileWith({ a: 1 }), /"a" is not described by a JSON object/],
    ["an unknown dtype", fileWith({ a: entry("F31", [1], 0, 4) }, 4), /the dtype is "F31"; known are BOOL, U8/],
    ["no dtype", fileWith({ a: { shape: [1], data_offsets: [0, 4] } }, 4), /the dtype is missing/],
    ["no shape", fileWith({ a: { dtype: "F32", data_offsets: [0, 4] } }, 4), /shape is missing or no list/],
    ["a negative size", fileWith({ a: entry("F32", [-1], 0, 4) }, 4), /shape holds -1/],
    ["two negative sizes", fileWith({ a: entry("F32", [-1, -1], 0, 4) }, 4), /shape holds -1/],
    ["half a size", fileWith({ a: entry("F32", [0.5, 2], 0, 4) }, 4), /shape holds 0.5/],
    ["a size as text", fileWith({ a: entry("F32", ["1"], 0, 4) }, 4), /shape holds "1"/],
    ["sizes that overflow 2^53", fileWith({ a: entry("F32", [2 ** 30, 2 ** 30], 0, 4) }, 4),
      /more bytes than can be counted/],
    ["sizes that overflow 2^64 to 4", fileWith({ a: entry("U8", [2 ** 32, 2 ** 32, 4], 0, 4) }, 4),
      /more bytes than can be counted/],
    ["a size beyond 2^53", fileWith('{"a":{"dtype":"U8","shape":[9007199254740993],"data_offsets":[0,1]}}', 1),
      /shape holds 9007199254740992/],
    ["offsets that do not fit the shape", fileWith({ a: entry("F32", [2], 0, 4) }, 4),
      /takes 8 bytes, its offsets span 4/],
    ["offsets backwards", fileWith({ a: entry("F32", [1], 8, 4) }, 8), /a begin and an end after it/],
    ["three offsets", fileWith({ a: { dtype: "F32", shape: [1], data_offsets: [0, 4, 8] } }, 4), /a begin and an end/],
    ["offsets outside", fileWith({ a: entry("F32", [1], 4, 8) }, 4), /ends at byte 8 of the data, which has 4/],
    ["an offset beyond 2^53", fileWith({ a: entry("F32", [1], 2 ** 60, 2 ** 60 + 4) }, 4),
      /data_offsets holds 1152921504606847000/],
    ["overlap", fileWith({ a: entry("F32", [2], 0, 8), b: entry("F32", [2], 4, 12) }, 12),
      /"b" overlaps the tensor before it/],
    ["the same bytes twice", fileWith({ a: entry("F32", [1], 0, 4), b: entry("F32", [1], 0, 4) }, 4), /overlaps/],
    ["a gap", fileWith({ a: entry("U8", [1], 0, 1), b: entry("U8", [1], 2, 3) }, 3),
      /1 bytes before "b" belong to no tensor/],
    ["a gap at the start", fileWith({ a: entry("U8", [1], 1, 2) }, 2), /1 bytes before "a"/],
    ["bytes left over", fileWith({ a: entry("U8", [1], 0, 1) }, 3), /2 bytes at the end belong to no tensor/],
    ["four bits that fill no byte", fileWith({ a: entry("F4", [3], 0, 1) }, 1), /fill no whole bytes/],
    ["metadata that is no object", fileWith({ __metadata__: [] }), /__metadata__ is no JSON object/],
    ["metadata that is no text", fileWith({ __metadata__: { a: 1 } }), /the metadata "a" is no string/],
  ];

  for (const [what, file, message] of cases) {
    test(what, () => {
      assert.throws(
        () => decodeSafetensors(file),
        (error) => error instanceof FormatError && message.test(error.message),
        `${message}`,
      );
    });
  }

  test("but an empty file, empty tensors anywhere, and unknown fields are fine", () => {
    assert.equal(decodeSafetensors(fileWith({})).tensors.size, 0);
    const header = { z: entry("F32", [0], 0, 0), a: entry("U8", [1], 0, 1), e: entry("F32", [3, 0], 1, 1) };
    assert.equal(decodeSafetensors(fileWith(header, 1)).tensors.size, 3);
    const more = { a: { ...entry("U8", [1], 0, 1), note: { x: 1 } } };
    assert.equal(decodeSafetensors(fileWith(more, 1)).tensors.size, 1);
  });
});
