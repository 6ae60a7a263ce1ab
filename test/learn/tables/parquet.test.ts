/** Parquet files that hyparquet-writer makes, and files that are none. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parquetWriteBuffer } from "hyparquet-writer";
import { FormatError } from "../../../src/core/errors.js";
import { readParquet } from "../../../src/learn/index.js";
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
