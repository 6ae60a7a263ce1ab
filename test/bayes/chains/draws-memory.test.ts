/** Draws that cannot be kept are refused before the first of them, with the memory that they would take. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { checkDrawsFit } from "../../../src/bayes/chains/draws-memory.js";
import { samplingOf } from "../../../src/bayes/chains/sampling.js";
import { model, normal } from "../../../src/bayes/index.js";
import { ArgumentError } from "../../../src/core/errors.js";
import { sampled } from "./support.js";

const posterior = model(() => ({ x: normal(0, 1).shape(3) })).given({});
const small = { chains: 4, draws: 10, warmup: 10, dtype: "f64", energies: "f64", device: "cpu" } as const;

test("2e9 draws are refused with the memory they would take", () => {
  // 4 chains × 2e9 draws × (3 scalars + 7 statistics) × 8 bytes = 640e9 bytes.
  assert.throws(
    () => posterior.sample({ ...small, draws: 2e9 }),
    (error: Error) =>
      error instanceof ArgumentError &&
      /^sample: 2000000000 draws of 4 chains, with 3 scalars and 7 statistics each, take 596\.0 GiB, and there are \d+\.\d GiB here\. Draw fewer/.test(
        error.message,
      ),
  );
});

test("the memory is that of the numbers as they are kept, to the byte", () => {
  const sampling = samplingOf(posterior, { ...small, dtype: "f32" });
  const bytes = 4 * 10 * (3 * 4 + 7 * 8);
  assert.doesNotThrow(() => checkDrawsFit("sample", sampling, 10, undefined, bytes));
  assert.throws(() => checkDrawsFit("sample", sampling, 10, undefined, bytes - 1), ArgumentError);
  assert.doesNotThrow(() => checkDrawsFit("sample", sampling, 10, { essBulk: 100 }, bytes - 1), "it ends by itself");
});

test("so is an extension by as many", async () => {
  const fit = await sampled(posterior, small);
  await assert.rejects(async () => fit.extend(2e9), /^ArgumentError: extend: 2000000010 draws of 4 chains/);
  assert.equal(fit.draws.length, 10);
});

test("a warmup of 2e9 draws is refused before its table is made", () => {
  assert.throws(() => posterior.sample({ ...small, warmup: 2e9 }), {
    name: "ArgumentError",
    message: "sample: warmup is 2000000000; it is a whole number from 0 to 16777216.",
  });
});
