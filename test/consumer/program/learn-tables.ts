/** A consumer's program: tables and files of `pumice/learn`. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as learn from "pumice/learn";
import type { Calls } from "./methods.js";

const samples = [
  [1, 2],
  [3, 5],
  [4, 4],
  [6, 1],
];
const numbers = [1, 2, 3, 5];
const device = "cpu";

export const learnTableCalls: Calls = {
  categories: () => learn.table({ size: learn.categories(["S", "M"], ["S", "M"]) }),
  parseCsv: () => learn.parseCsv("a,b\n1,x\n").describe(),
  readCsv: async () => {
    const path = join(mkdtempSync(join(tmpdir(), "pumice-consumer-")), "table.csv");
    await learn.writeCsv(path, learn.table({ a: [1], c: ["x"] }));
    return learn.readCsv(path);
  },
  // hyparquet is not installed there: the error says so.
  readParquet: () => learn.readParquet("none.parquet").catch((error: Error) => error.message),
  writeCsv: () =>
    learn.writeCsv(join(mkdtempSync(join(tmpdir(), "pumice-consumer-")), "table.csv"), learn.table({ a: [1] })),
  load: async () => {
    const path = join(mkdtempSync(join(tmpdir(), "pumice-consumer-")), "model.safetensors");
    await learn.save(path, await learn.ridge().fit(samples, numbers, { device }));
    return (await learn.load(path, { like: learn.ridge(), device })).predict(samples);
  },
  save: () => learn.save(join(mkdtempSync(join(tmpdir(), "pumice-consumer-")), "estimator.safetensors"), learn.ridge()),
  csvText: () => learn.csvText(learn.table({ a: [1] })),
};
