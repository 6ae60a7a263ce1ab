/** Zip files: writing and reading, the 64-bit records, and archives that lie. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { ArgumentError, FormatError } from "../../src/core/errors.js";
import { crc32 } from "../../src/io/crc32.js";
import { concatBytes } from "../../src/io/raw-tensor.js";
import { readZipDirectory, readZipEntry } from "../../src/io/zip-read.js";
import { type ZipOptions, zipChunks } from "../../src/io/zip-write.js";
import { randomFrom } from "../support/random.js";

const text = (value: string) => new Uint8Array(Buffer.from(value));
type ZipMember = Parameters<typeof zipChunks>[0] extends Iterable<infer Member> ? Member : never;

const write = (members: ZipMember[], options?: ZipOptions) => concatBytes(zipChunks(members, options));

/** All members, by name. */
function read(bytes: Uint8Array): Map<string, Uint8Array> {
  return new Map(readZipDirectory(bytes).map((entry) => [entry.name, readZipEntry(bytes, entry)]));
}

test("crc32 has the known values, at every length and in pieces", () => {
  assert.equal(crc32(text("123456789")), 0xcbf43926);
  assert.equal(crc32(text("")), 0);
  assert.equal(crc32(text("The quick brown fox jumps over the lazy dog")), 0x414fa339);
  const bytes = randomFrom(1).bytes(100);
  const bitByBit = (data: Uint8Array) => {
    let crc = 0xffffffff;
    for (const byte of data) {
      crc ^= byte;
      for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ~crc >>> 0;
  };
  for (let length = 0; length <= 100; length++) {
    const part = bytes.subarray(0, length);
    assert.equal(crc32(part), bitByBit(part));
    assert.equal(crc32(bytes.subarray(length), crc32(part)), crc32(bytes));
  }
});

describe("what is written is read", () => {
  const members: ZipMember[] = [
    { name: "plain.txt", chunks: [text("hello "), text("world")] },
    { name: "größe.npy", chunks: [new Uint8Array(5000)] },
    { name: "empty", chunks: [] },
    { name: "noise", chunks: [randomFrom(2).bytes(3000)] },
  ];

  for (const compress of [false, true]) {
    for (const zip64 of ["auto", "always"] as const) {
      test(`${compress ? "deflated" : "stored"}, zip64 ${zip64}`, () => {
        const bytes = write(members, { compress, zip64 });
        const contents = read(bytes);
        assert.deepEqual(
          [...contents.keys()],
          members.map(({ name }) => name),
        );
        for (const { name, chunks } of members) {
          assert.deepEqual(new Uint8Array(contents.get(name) as Uint8Array), concatBytes(chunks), name);
        }
        assert.deepEqual(write(members, { compress, zip64 }), bytes, "equal contents make equal files");
      });
    }
  }

  test("70,000 members, more than 16 bits count", () => {
    const many = Array.from({ length: 70_000 }, (_, i) => ({ name: `${i}`, chunks: [] }));
    const entries = readZipDirectory(write(many));
    assert.equal(entries.length, 70_000);
    assert.equal(entries[69_999].name, "69999");
  });

  test("no members at all", () => {
    assert.deepEqual(readZipDirectory(write([])), []);
  });

  test("names must differ and fit", () => {
    const twice = { name: "a", chunks: [] };
    assert.throws(() => write([twice, twice]), ArgumentError);
    assert.throws(() => write([{ name: "x".repeat(70_000), chunks: [] }]), /a name of 70000 bytes is too long/);
  });
});

describe("archives that lie", () => {
  const one = () => write([{ name: "a", chunks: [text("aaaa")] }]);
  const two = () =>
    write([
      { name: "a", chunks: [text("aaaa")] },
      { name: "b", chunks: [text("bbbb")] },
    ]);
  const view = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const find = (bytes: Uint8Array, signature: number, nth = 0) => {
    for (let at = 0, seen = 0; at + 4 <= bytes.length; at++) {
      if (view(bytes).getUint32(at, true) === signature && seen++ === nth) return at;
    }
    throw new Error("no such record");
  };
  const LOCAL = 0x04034b50;
  const CENTRAL = 0x02014b50;
  const END = 0x06054b50;
  const refuses = (bytes: Uint8Array, message: RegExp) =>
    assert.throws(
      () => read(bytes),
      (error) => error instanceof FormatError && message.test(error.message),
      `${message}`,
    );

  test("a wrong checksum", () => {
    const bytes = one();
    bytes[32] ^= 1;
    refuses(bytes, /"a" is damaged: its checksum is wrong/);
  });

  test("no directory, or one outside the file", () => {
    refuses(new Uint8Array(0), /not a zip file/);
    refuses(text("just some text, long enough to be a zip file"), /not a zip file/);
    refuses(one().subarray(0, -1), /not a zip file/);
    const bytes = one();
    view(bytes).setUint32(find(bytes, END) + 16, 1e6, true);
    refuses(bytes, /the directory lies outside the file/);
  });

  test("fewer members than the directory has, of which some would be missing without a word", () => {
    for (const zip64 of ["auto", "always"] as const) {
      const members = ["a", "b", "c"].map((name) => ({ name, chunks: [text(name)] }));
      for (const count of [0, 1, 2]) {
        const bytes = write(members, { zip64 });
        const end = find(bytes, END);
        view(bytes).setUint16(end + 8, count, true);
        view(bytes).setUint16(end + 10, count, true);
        if (zip64 === "always") {
          const end64 = find(bytes, 0x06064b50);
          view(bytes).setBigUint64(end64 + 24, BigInt(count), true);
          view(bytes).setBigUint64(end64 + 32, BigInt(count), true);
        }
        refuses(bytes, new RegExp(`the directory has \\d+ bytes after its ${count} members`));
      }
    }
  });

  test("a directory that ends before its end record begins", () => {
    const bytes = two();
    const end = find(bytes, END);
    view(bytes).setUint16(end + 8, 1, true);
    view(bytes).setUint16(end + 10, 1, true);
    view(bytes).setUint32(end + 12, 47, true);
    refuses(bytes, /the directory ends at byte \d+, and its end record begins at \d+/);
  });

  test("more members than the directory has room for", () => {
    const bytes = one();
    view(bytes).setUint16(find(bytes, END) + 8, 60_000, true);
    view(bytes).setUint16(find(bytes, END) + 10, 60_000, true);
    refuses(bytes, /60000 members do not fit a directory of 47 bytes/);
  });

  test("a size that deflate cannot reach, caught before unpacking", () => {
    const bytes = write([{ name: "a", chunks: [new Uint8Array(1000)] }], { compress: true });
    view(bytes).setUint32(find(bytes, CENTRAL) + 24, 0xfffffffe, true);
    refuses(bytes, /claims 4294967294 bytes, more than its \d+ compressed ones can hold/);
  });

  test("a bomb that declares little is stopped at what it declares", () => {
    const packed = deflateRawSync(new Uint8Array(10_000_000));
    const bytes = write([{ name: "bomb", chunks: [packed] }]);
    const central = find(bytes, CENTRAL);
    view(bytes).setUint16(central + 10, 8, true);
    view(bytes).setUint32(central + 24, 100, true);
    refuses(bytes, /"bomb" cannot be unpacked/);
  });

  test("a size larger or smaller than the contents", () => {
    for (const size of [999, 1001]) {
      const bytes = write([{ name: "a", chunks: [new Uint8Array(1000)] }], { compress: true });
      view(bytes).setUint32(find(bytes, CENTRAL) + 24, size, true);
      refuses(bytes, /cannot be unpacked|unpacks to 1000 bytes, not the 1001/);
    }
    const stored = one();
    view(stored).setUint32(find(stored, CENTRAL) + 24, 3, true);
    refuses(stored, /is stored in 4 bytes but claims 3/);
  });

  test("members that share their bytes", () => {
    const same = two();
    const [first, second] = [find(same, CENTRAL), find(same, CENTRAL, 1)];
    view(same).setUint32(second + 42, view(same).getUint32(first + 42, true), true);
    refuses(same, /"b" has another name in its own header/);
    const long = two();
    for (const field of [20, 24]) view(long).setUint32(find(long, CENTRAL) + field, 20, true);
    refuses(long, /"b" overlaps the member before it/);
  });

  test("a member outside the data, or without a header", () => {
    const outside = one();
    for (const field of [20, 24]) view(outside).setUint32(find(outside, CENTRAL) + field, 50, true);
    refuses(outside, /"a" runs past the end of the data/);
    const nowhere = one();
    view(nowhere).setUint32(find(nowhere, CENTRAL) + 42, 3, true);
    refuses(nowhere, /"a" has no header where the directory says/);
  });

  test("two members of one name", () => {
    const bytes = two();
    bytes[find(bytes, LOCAL, 1) + 30] = bytes[find(bytes, CENTRAL, 1) + 46] = "a".charCodeAt(0);
    refuses(bytes, /two members are called "a"/);
  });

  test("encryption, unknown methods, split archives", () => {
    const encrypted = one();
    view(encrypted).setUint16(find(encrypted, CENTRAL) + 8, 1, true);
    refuses(encrypted, /"a" is encrypted/);
    const method = one();
    view(method).setUint16(find(method, CENTRAL) + 10, 14, true);
    refuses(method, /compressed by method 14; stored and deflate can be read/);
    const split = one();
    view(split).setUint16(find(split, END) + 4, 1, true);
    refuses(split, /split over several/);
  });

  test("64-bit records that are absurd or missing", () => {
    const wide = () => write([{ name: "a", chunks: [text("aaaa")] }], { zip64: "always" });
    const absurd = wide();
    view(absurd).setBigUint64(find(absurd, 0x07064b50) + 8, 2n ** 63n, true);
    refuses(absurd, /is absurd/);
    const damaged = wide();
    view(damaged).setBigUint64(find(damaged, 0x07064b50) + 8, 3n, true);
    refuses(damaged, /the 64-bit end record is damaged/);
    const lacking = one();
    view(lacking).setUint32(find(lacking, CENTRAL) + 24, 0xffffffff, true);
    refuses(lacking, /lacks its 64-bit sizes/);
  });
});
