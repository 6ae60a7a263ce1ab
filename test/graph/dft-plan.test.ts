/** Plans of Fourier transforms: lengths become passes that fit, and tables hold what the plans say. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { longestRow, passesBehindRows, planDft } from "../../src/graph/dft-plan.js";

const LIMITS = { largestRadix: 16, largestOfColumns: 32, longestPass: 4096 };

test("passes multiply to the computed length and fit a row", () => {
  for (const dtype of ["f32", "f64"] as const) {
    for (let n = 1; n < 3e6; n = Math.ceil(n * 1.037)) {
      const { computed, passes, length, isChirp, table } = planDft("complex", n, dtype, LIMITS);
      assert.equal(passes.reduce((a, b) => a * b, 1), computed); // biome-ignore format: one line
      assert.ok(Math.max(...passes) <= longestRow(dtype), `${n}: ${passes}`);
      assert.equal(length, n);
      assert.ok(isChirp ? computed >= 2 * n - 1 : computed === n);
      assert.ok(passes.every((pass) => table.roots.has(pass)));
    }
  }
});

test("powers of two are one pass to the longest row, two to its square", () => {
  assert.deepEqual(planDft("complex", 4096, "f32", LIMITS).passes, [4096]);
  assert.deepEqual(planDft("complex", 65536, "f32", LIMITS).passes, [256, 256]);
  assert.deepEqual(planDft("complex", 2 ** 20, "f32", LIMITS).passes, [1024, 1024]);
  assert.deepEqual(planDft("complex", 2 ** 24, "f32", LIMITS).passes, [4096, 4096]);
  assert.equal(planDft("complex", 2 ** 25, "f32", LIMITS).passes.length, 3);
});

test("a pass of several is no longer than the device's longest, where a row of its own may be", () => {
  const limits = { largestRadix: 16, largestOfColumns: 32, longestPass: 512 };
  assert.deepEqual(planDft("complex", 4096, "f32", limits).passes, [4096]);
  assert.deepEqual(planDft("complex", 2 ** 18, "f32", limits).passes, [512, 512]);
  assert.deepEqual(planDft("complex", 2 ** 20, "f32", limits).passes, [128, 128, 64]);
});

test("long columns have two large butterflies where rows have three", () => {
  const radices = (length: number, isOfColumns: boolean, dtype: "f32" | "f64" = "f32") =>
    planDft("complex", length, dtype, LIMITS, isOfColumns).radices.get(length);
  assert.deepEqual(radices(1024, true), [32, 32]);
  assert.deepEqual(radices(1024, false), [16, 8, 8]);
  assert.deepEqual(radices(1024, true, "f64"), [16, 8, 8]);
  assert.deepEqual(radices(512, true), [8, 8, 8]);
  assert.deepEqual(radices(4096, true), [16, 16, 16]);
});

test("butterflies of f64 are as small as the device asks, of f32 as large as before", () => {
  const limits = { ...LIMITS, largestRadix: 8, largestOfDoubles: 4 };
  const radices = (length: number, dtype: "f32" | "f64") =>
    planDft("complex", length, dtype, limits).radices.get(length);
  assert.deepEqual(radices(1024, "f32"), [8, 8, 4, 4]);
  assert.deepEqual(radices(1024, "f64"), [4, 4, 4, 4, 4]);
  assert.deepEqual(radices(7 * 32, "f64"), [7, 4, 4, 2]);
});

test("real transforms of even length are halved, where their factors are small", () => {
  assert.ok(planDft("real", 1024, "f32", LIMITS).isHalved);
  assert.equal(planDft("half", 1024, "f32", LIMITS).length, 512);
  assert.ok(!planDft("real", 1023, "f32", LIMITS).isHalved);
  assert.ok(!planDft("real", 2 * 1031, "f32", LIMITS).isHalved);
  const long = planDft("real", 2 ** 16, "f32", LIMITS);
  assert.deepEqual(
    [long.isHalved, long.passes, long.table.halves, long.table.order],
    [true, [256, 128], null, 2 ** 16],
  );
});

test("columns behind real rows: one butterfly across as many rows as fit, and what is left of the length", () => {
  const limits = { ...LIMITS, longestPass: 512, mostNumbers: 8192 };
  const passes = (rows: number, columns: number, more = {}) =>
    passesBehindRows(planDft("real", rows, "f32", limits), columns, { ...limits, ...more });
  assert.deepEqual(passes(1024, 1024), [8, 128]);
  assert.deepEqual(passes(4096, 1024), [4, 256]);
  assert.deepEqual(passes(100, 60), [6, 10]);
  assert.deepEqual(planDft("complex", 60, "f32", limits, true, [6, 10]).passes, [6, 10]);
  assert.equal(passes(6000, 1024), null); // two rows would fit
  assert.equal(passes(1023, 1024), null); // rows of an odd length are not halved
  assert.equal(passes(1024, 1021), null);
  assert.equal(passes(1024, 4), null); // nothing is left
  assert.equal(passes(1024, 8192), null);
  assert.equal(passes(1024, 1024, { mostNumbers: 0 }), null);
});
