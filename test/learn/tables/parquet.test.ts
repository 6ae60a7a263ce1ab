/** Parquet files that hyparquet-writer makes, and files that are none. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parquetWriteBuffer } from "hyparquet-writer";
import { FormatError } from "../../../src/core/errors.js";
import { readParquet } from "../../../src/learn/index.js";
import { readWithPatience } from "../../../src/learn/tables/parquet.js";
import { mutated } from "../../support/mutations.js";
import { randomFrom } from "../../support/random.js";
import { temporaryFolders } from "../../support/temporary-folder.js";

const folder = temporaryFolders();

test("columns of every kind come as columns; some of them alone, too", async () => {
  const path = join(folder(), "t.parquet");
  const buffer = parquetWriteBuffer({
    columnData: [
      { name: "n", data: [1.5, 2.5, null], type: "DOUBLE" },
      { name: "big", data: [1n, 2n, 3n], type: "INT64" },
      { name: "c", data: ["b", "a", null], type: "STRING" },
      { name: "flag", data: [true, false, true], type: "BOOLEAN" },
      { name: "when", data: [new Date(5), new Date(7), new Date(9)], type: "TIMESTAMP" },
    ],
  });
  writeFileSync(path, new Uint8Array(buffer));
  const made = await readParquet(path);
  assert.deepEqual(made.toColumns(), {
    n: [1.5, 2.5, null],
    big: [1, 2, 3],
    c: ["b", "a", null],
    flag: [1, 0, 1],
    when: [5, 7, 9],
  });
  assert.deepEqual((await readParquet(path, { columns: ["c", "n"] })).names, ["c", "n"]);
  await assert.rejects(readParquet(path, { columns: ["x"] }), /has no column "x"; it has n, big, c, flag, when/);
});

test("a file that is none gets FormatError", async () => {
  const path = join(folder(), "t.parquet");
  writeFileSync(path, "this is text and no Parquet file at all");
  await assert.rejects(readParquet(path), (error: Error) => error instanceof FormatError);
});

test("columns of many pages and row groups are put together in order", async () => {
  const path = join(folder(), "t.parquet");
  const rows = Array.from({ length: 5000 }, (_, i) => i);
  const columns = { n: rows.map((i) => (i % 7 === 0 ? null : i / 3)), c: rows.map((i) => ["a", "bb", "c"][i % 3]!) };
  const columnData = Object.entries(columns).map(([name, data]) => ({ name, data }));
  writeFileSync(path, new Uint8Array(parquetWriteBuffer({ columnData, pageSize: 512, rowGroupSize: 700 })));
  assert.deepEqual((await readParquet(path)).toColumns(), columns);
});

/** A file of one column with other bytes in place of those that encode something. */
function damaged(column: object, found: readonly number[], other: readonly number[]): Uint8Array {
  const columnData = [{ name: "n", ...column }] as Parameters<typeof parquetWriteBuffer>[0]["columnData"];
  const bytes = Buffer.from(parquetWriteBuffer({ columnData, codec: "UNCOMPRESSED" }));
  const at = bytes.indexOf(Buffer.from(found));
  assert.ok(at > 0);
  bytes.set(other, at);
  return bytes;
}

test("a run that is longer than its page is refused before it fills memory", async () => {
  const path = join(folder(), "t.parquet");
  const data = Array.from({ length: 200 }, (_, i) => (i < 100 ? null : 1 + i / 3));
  // Runs of 100 missing and 100 other numbers; the first one gets a length of 2³¹ - 1.
  const whole = damaged({ data, type: "DOUBLE" }, [0xc8, 0x01, 0, 0xc8, 0x01, 1], [0xfe, 0xff, 0xff, 0xff, 0x0f]);
  writeFileSync(path, whole);
  await assert.rejects(readParquet(path), /^FormatError: readParquet: .* cannot be read: .*not extensible/);
});

test("a decoder that runs without end is stopped", async () => {
  const path = join(folder(), "t.parquet");
  const data = Array.from({ length: 200 }, (_, i) => 3 * i);
  // Blocks of 128 differences in 4 parts; with -1 parts, a block ends where it begins.
  const head = [0x80, 0x01, 0x04, 0xc8, 0x01];
  const column = { data, type: "INT32", encoding: "DELTA_BINARY_PACKED" };
  writeFileSync(path, damaged(column, head, [0x80, 0x01, 0xff, 0xff, 0xff, 0xff, 0x0f]));
  await assert.rejects(
    readWithPatience(path, {}, 1),
    /^FormatError: readParquet: .*no page of it is decoded after 1 seconds; it is damaged/,
  );
});

/** PUMICE_FUZZ_COUNT=1000 reads as many of each. */
test("files changed by chance give a table or FormatError", async () => {
  const path = join(folder(), "t.parquet");
  const rows = Array.from({ length: 60 }, (_, i) => i);
  const columnData = [
    { name: "n", data: rows.map((i) => (i % 7 === 0 ? null : i / 3)), type: "DOUBLE" },
    { name: "c", data: rows.map((i) => (i % 5 === 0 ? null : ["a", "bb", "ccc"][i % 3])), type: "STRING" },
    { name: "d", data: rows.map((i) => 3 * i), type: "INT32", encoding: "DELTA_BINARY_PACKED" },
  ] as const;
  for (const codec of ["UNCOMPRESSED", "SNAPPY"] as const) {
    const whole = new Uint8Array(parquetWriteBuffer({ columnData: [...columnData], codec }));
    for (let seed = 1; seed <= Number(process.env.PUMICE_FUZZ_COUNT ?? 12); seed++) {
      writeFileSync(path, mutated(whole, randomFrom(seed)));
      await readWithPatience(path, {}, 2).catch((error: Error) =>
        assert.ok(error instanceof FormatError, `seed ${seed}, ${codec}: ${error}`),
      );
    }
  }
});
