/** Reading safetensors by parts: slices against the whole, and how many bytes they touch. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { ArgumentError, DisposedError, DTypeError, FormatError } from "../../src/core/errors.js";
import { ravelIndex, sizeOf, unravelIndex } from "../../src/core/shape.js";
import { type IndexArgument, indexedShape, newAxis, parseIndexing } from "../../src/core/slice.js";
import { openSafetensors } from "../../src/io/safetensors-file.js";
import { encodeSafetensors } from "./decoding.js";
import { fixturePath, membersOf, plain } from "./fixtures.js";

const folder = mkdtempSync(join(tmpdir(), "pumice-"));
after(() => rmSync(folder, { recursive: true }));

function save(name: string, bytes: Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

/** x[i, j, k] = its position, as i32. */
function counting(shape: number[]) {
  const data = Int32Array.from({ length: sizeOf(shape) }, (_, i) => i);
  return { dtype: "i32", shape, bytes: new Uint8Array(data.buffer) } as const;
}

/** The positions that an indexing selects, element by element. */
function selected(shape: number[], indices: IndexArgument[]): number[] {
  const items = parseIndexing(indices, shape, "at");
  const result = indexedShape(items);
  return Array.from({ length: sizeOf(result) }, (_, position) => {
    const index = unravelIndex(position, result);
    let next = 0;
    const full = items.flatMap((item) => {
      if (item.kind === "index") return [item.index];
      const at = index[next++];
      return item.kind === "slice" ? [item.start + at * item.step] : [];
    });
    return ravelIndex(full, shape);
  });
}

test("names, shapes, dtypes, metadata and tensors of a file", async () => {
  await using file = await openSafetensors(fixturePath("all-types.safetensors"));
  const expected = membersOf("all-types.safetensors");
  assert.deepEqual(new Set(file.names), new Set(expected.keys()));
  assert.equal(file.metadata.get("format"), "pt");
  assert.equal(file.bytesRead, 0);
  for (const [name, tensor] of expected) {
    assert.equal(file.entry(name).dtype, tensor.dtype);
    assert.deepEqual(plain(await file.read(name)), tensor, name);
  }
});

describe("slices", () => {
  const shape = [7, 5, 6];
  const path = save(
    "slices",
    encodeSafetensors([
      ["pad", counting([3])],
      ["x", counting(shape)],
      ["zero", counting([0, 4])],
    ]),
  );

  test("hold what indexing the whole gives", async () => {
    await using file = await openSafetensors(path);
    const cases: IndexArgument[][] = [
      [],
      ["..."],
      [0],
      [-1, "1:4"],
      ["2:5", ":", "1:3"],
      ["::-1"],
      ["::2", "::-2", "::3"],
      ["...", 0],
      [3, 2, 1],
      ["5:2"],
      [":", "9:", ":"],
      [newAxis, "1:3", newAxis, 0],
      ["::-3", 1, "::-1"],
      [":", ":", "-2:"],
    ];
    for (const indices of cases) {
      const { dtype, shape: sliced, bytes } = await file.slice("x", ...indices);
      assert.equal(dtype, "i32");
      assert.deepEqual(sliced, indexedShape(parseIndexing(indices, shape, "at")));
      assert.deepEqual([...new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)], selected(shape, indices));
    }
    assert.deepEqual((await file.slice("zero", ":", 1)).shape, [0]);
    assert.equal((await file.slice("zero")).bytes.length, 0);
  });

  test("read only what they need", async () => {
    const wide = [64, 100_000];
    const big = save("big", encodeSafetensors([["x", counting(wide)]]));
    await using file = await openSafetensors(big);
    const cost = async (...indices: IndexArgument[]) => {
      const before = file.bytesRead;
      const { bytes } = await file.slice("x", ...indices);
      return { read: file.bytesRead - before, needed: bytes.length };
    };
    assert.deepEqual(await cost("3:5"), { read: 800_000, needed: 800_000 });
    assert.deepEqual(await cost(7, "10:20"), { read: 40, needed: 40 });
    // A column is far apart: one small read per row, no gaps.
    assert.deepEqual(await cost(":", 5), { read: 256, needed: 256 });
    assert.deepEqual(await cost("::-1", 5), { read: 256, needed: 256 });
    // Every tenth element is near: one read of the row.
    assert.deepEqual(await cost(0, "::10"), { read: 399_964, needed: 40_000 });
    assert.deepEqual(await cost("0:0"), { read: 0, needed: 0 });
  });

  test("of a file far larger than memory", async (t) => {
    // 1 TiB of zeros that take no room on disk.
    const rows = 2 ** 20;
    const header = JSON.stringify({ x: { dtype: "F32", shape: [rows, 2 ** 18], data_offsets: [0, rows * 2 ** 20] } });
    const start = Buffer.alloc(8 + header.length);
    start.writeBigUInt64LE(BigInt(header.length));
    start.write(header, 8);
    const huge = save("huge", start);
    try {
      truncateSync(huge, start.length + rows * 2 ** 20);
    } catch {
      t.skip("the file system has no sparse files of 1 TiB");
      return;
    }
    await using file = await openSafetensors(huge);
    const { shape: sliced, bytes } = await file.slice("x", "-2:", ":10");
    assert.deepEqual([sliced, bytes.length], [[2, 10], 80]);
    await assert.rejects(
      file.read("x"),
      (error) => error instanceof ArgumentError && /read it by parts/.test(error.message),
    );
  });

  test("refuse indices that do not fit", async () => {
    await using file = await openSafetensors(path);
    await assert.rejects(file.slice("x", 7), /index 7 is out of range for axis 0 of size 7/);
    await assert.rejects(file.slice("x", 0, 0, 0, 0), /4 indices for shape \[7, 5, 6\]/);
  });
});

describe("errors", () => {
  test("an unknown name lists those there are", async () => {
    await using file = await openSafetensors(fixturePath("foreign.safetensors"));
    await assert.rejects(file.read("nine"), /no tensor "nine"; there are "eight", "four", "known"/);
  });

  test("a dtype without counterpart gives its bytes only", async () => {
    await using file = await openSafetensors(fixturePath("foreign.safetensors"));
    assert.equal(file.entry("four").dtype, undefined);
    assert.equal(file.entry("four").storedAs, "F4");
    await assert.rejects(file.read("four"), DTypeError);
    assert.equal((await file.read("eight")).dtype, "f8e4m3");
    assert.equal((await file.readBytes("four")).length, 3);
    assert.deepEqual([...(await file.read("known")).bytes], [1, 2]);
  });

  test("a closed file cannot be read, and closing again is harmless", async () => {
    const file = await openSafetensors(fixturePath("foreign.safetensors"));
    await file.close();
    await file.close();
    await assert.rejects(file.read("known"), DisposedError);
  });

  test("a file cut short, before or after it was opened", async () => {
    const bytes = encodeSafetensors([["x", counting([10_000])]]);
    await assert.rejects(openSafetensors(save("short", bytes.subarray(0, 5000))), FormatError);
    await assert.rejects(openSafetensors(save("tiny", bytes.subarray(0, 5))), FormatError);
    await assert.rejects(openSafetensors(save("none", new Uint8Array(0))), FormatError);
    const path = save("cut", bytes);
    await using file = await openSafetensors(path);
    truncateSync(path, 5000);
    await assert.rejects(file.read("x"), /the file ends at byte 5000; it was cut short/);
  });
});
