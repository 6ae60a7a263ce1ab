/** .npy files: what NumPy wrote is read, and what is written is what NumPy writes. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { FormatError, SizeMismatchError } from "../../src/core/errors.js";
import { unravelIndex } from "../../src/core/shape.js";
import { decodeNpy, encodeNpy, encodeNpyHeader, parseNpyHeader, rowMajor } from "../../src/io/npy.js";
import { concatBytes } from "../../src/io/raw-tensor.js";
import { fixture, npyFixtures, plain, rawTensor } from "./fixtures.js";

describe("files NumPy wrote", () => {
  for (const [name, what] of npyFixtures) {
    test(`${name} is read`, () => {
      const array = decodeNpy(fixture(name));
      assert.equal(array.fortranOrder, what.fortranOrder);
      assert.deepEqual(plain(rowMajor(array)), rawTensor(what));
    });
  }

  test("are equal byte for byte to what is written for the same array", () => {
    const canonical = npyFixtures.filter(([, what]) => what.canonical);
    assert.ok(canonical.length >= 18);
    for (const [name, what] of canonical) assert.deepEqual(encodeNpy(rawTensor(what)), fixture(name), name);
  });

  test("of objects, text, dates and records are refused with a reason", () => {
    const reasons: [string, RegExp][] = [
      ["refused-object.npy", /an array of Python objects/],
      ["refused-text.npy", /the dtype '<U2' has no counterpart/],
      ["refused-date.npy", /the dtype '<M8\[D\]' has no counterpart/],
      ["refused-record.npy", /a structured array; save its fields/],
      ["refused-long-double.npy", /the dtype '<f16' has no counterpart/],
    ];
    for (const [name, reason] of reasons) assert.throws(() => decodeNpy(fixture(name), name), reason);
  });
});

/** A file with this header text. */
function fileWith(header: string, data = 0, version = 1): Uint8Array {
  const length = Buffer.alloc(version === 1 ? 2 : 4);
  if (version === 1) length.writeUInt16LE(header.length);
  else length.writeUInt32LE(header.length);
  const magic = Buffer.from([0x93, ...Buffer.from("NUMPY"), version, 0]);
  return new Uint8Array(Buffer.concat([magic, length, Buffer.from(header), Buffer.alloc(data)]));
}

const dict = (descr: string, shape: string, order = "False") =>
  `{'descr': ${descr}, 'fortran_order': ${order}, 'shape': ${shape}, }`;

describe("Fortran order", () => {
  test("of a Buffer whose elements are not aligned is read", () => {
    const file = fileWith(`${dict("'<i4'", "(2,1,2)", "True")}\n`, 16);
    assert.notEqual(parseNpyHeader(file).dataOffset % 4, 0);
    new DataView(file.buffer).setInt32(file.length - 12, 7, true);
    // What files are read into; its slice() views, where that of a Uint8Array copies.
    const { shape, bytes } = rowMajor(decodeNpy(Buffer.from(file.buffer)));
    assert.deepEqual(shape, [2, 1, 2]);
    // The second in column-major order is the element [1, 0, 0], the third in row-major order.
    assert.deepEqual([...new Int32Array(bytes.buffer, bytes.byteOffset, 4)], [0, 0, 7, 0]);
  });
});

describe("headers", () => {
  test("of all spellings of a dtype", () => {
    const spellings = { "'|b1'": "bool", "'?'": "bool", "'=f4'": "f32", "'f8'": "f64", "'|V2'": "bf16", "'>i1'": "i8" };
    for (const [descr, dtype] of Object.entries(spellings)) {
      assert.equal(parseNpyHeader(fileWith(dict(descr, "()"))).dtype, dtype);
    }
  });

  test("are read without the data, for reading by parts", () => {
    const header = encodeNpyHeader("f32", [1000, 1000, 1000, 1000]);
    assert.deepEqual(parseNpyHeader(header), {
      version: 1,
      dtype: "f32",
      shape: [1000, 1000, 1000, 1000],
      fortranOrder: false,
      bigEndian: false,
      dataOffset: 128,
      byteLength: 4e12,
    });
  });

  test("of great rank use version 2", () => {
    const shape = new Array(30_000).fill(1);
    const file = encodeNpy({ dtype: "u8", shape, bytes: Uint8Array.of(7) });
    assert.equal(file[6], 2);
    assert.equal(file.length % 64, 1);
    assert.deepEqual(decodeNpy(file).shape, shape);
  });

  test("of great rank cost no time per element", () => {
    const shape = [1024, 1024, ...new Array(20_000).fill(1)];
    const header = encodeNpyHeader("u8", shape, true);
    const bytes = Uint8Array.from({ length: 1024 * 1024 }, (_, i) => i >> 10);
    const file = concatBytes([header, bytes]);
    const began = performance.now();
    const { bytes: rows } = rowMajor(decodeNpy(file));
    assert.deepEqual(rows.subarray(0, 3), Uint8Array.of(0, 1, 2));
    assert.ok(performance.now() - began < 5000, "in less than seconds; axis by axis it takes minutes");
  });

  test("that lie are refused before anything is allocated", () => {
    const cases: [Uint8Array, RegExp][] = [
      [new Uint8Array(0), /not a \.npy file/],
      [new TextEncoder().encode("PK\u0003\u0004 not npy"), /not a \.npy file/],
      [fileWith(dict("'<f4'", "(1000000,)"), 100), /takes 4000000 bytes, but 100 follow/],
      [fileWith(dict("'<f4'", "(1000000000000000,)")), /takes 4000000000000000 bytes, but 0/],
      [fileWith(dict("'<f4'", "(4294967296, 4294967296)")), /needs more bytes than can be counted/],
      [fileWith(dict("'<f8'", "(99999999999999999999,)")), /has the size 100000000000000000000/],
      [fileWith(dict("'<f4'", "(-1, 4)"), 16), /has the size -1/],
      [fileWith(dict("'<f4'", "(-2, -2)"), 16), /has the size -2/],
      [fileWith(dict("'<f4'", "(True,)"), 16), /something that is no number/],
      [fileWith(dict("'<f4'", "[2]"), 16), /'shape' is not a tuple/],
      [fileWith(dict("'<f4'", "(2)"), 16), /'shape' is not a tuple/],
      [fileWith(dict("'<f4'", "(2,)", "0"), 16), /'fortran_order' is neither/],
      [fileWith(dict("4", "(2,)"), 16), /a structured array/],
      [fileWith(dict("''", "(2,)"), 16), /the dtype '' has no counterpart/],
      [fileWith("{'descr': '<f4', 'shape': ()}", 4), /lacks 'fortran_order'/],
      [fileWith("{'descr': '<f4', 'fortran_order': False, 'shape': (), 'more': 1}", 4), /keys beyond/],
      [fileWith("[1]", 4), /the header is not a dict/],
      [fileWith(dict("'<f4'", "()"), 4, 4), /version 4 is unknown/],
      [
        Uint8Array.of(0x93, ...Buffer.from("NUMPY"), 2, 0, 255, 255, 255, 255),
        /claims 4294967295 bytes; that is no header/,
      ],
    ];
    for (const [file, message] of cases) {
      assert.throws(
        () => decodeNpy(file),
        (error) => error instanceof FormatError && message.test(error.message),
        `${message}`,
      );
    }
  });
});

test("column-major data of any width is brought into row-major order", () => {
  const shape = [3, 1, 4, 2];
  for (const [dtype, size] of [
    ["u8", 1],
    ["f16", 2],
    ["f32", 4],
    ["i64", 8],
    ["c128", 16],
  ] as const) {
    const columns = new Uint8Array(24 * size);
    for (let position = 0; position < 24; position++) {
      const [a, , c, d] = unravelIndex(position, shape);
      columns.fill(position, (a + 3 * c + 12 * d) * size, (a + 3 * c + 12 * d + 1) * size);
    }
    const { bytes } = rowMajor({ dtype, shape, bytes: columns, fortranOrder: true });
    assert.deepEqual(
      [...bytes],
      Array.from({ length: 24 * size }, (_, i) => Math.floor(i / size)),
      dtype,
    );
  }
});

test("elements may begin at any byte, and what follows them is left alone", () => {
  const first = encodeNpy({ dtype: "f32", shape: [2], bytes: new Uint8Array(new Float32Array([1, 2]).buffer) });
  const shifted = new Uint8Array(first.length + 4);
  shifted.set(first, 1);
  assert.deepEqual(plain(decodeNpy(shifted.subarray(1))), plain(decodeNpy(first)));
  const swapped = fileWith(dict("'>f4'", "(2, 2)", "True"), 16);
  assert.equal(rowMajor(decodeNpy(swapped)).bytes.length, 16);
});

test("bool bytes other than 0 and 1 become 1", () => {
  const file = encodeNpy({ dtype: "bool", shape: [3], bytes: Uint8Array.of(0, 2, 255) });
  assert.deepEqual([...decodeNpy(file).bytes], [0, 1, 1]);
});

test("bytes that do not fill the shape cannot be written", () => {
  assert.throws(
    () => encodeNpy({ dtype: "f32", shape: [3], bytes: new Uint8Array(8) }),
    (error) => error instanceof SizeMismatchError && /f32 of shape \[3\] takes 12 bytes, not 8/.test(error.message),
  );
});
