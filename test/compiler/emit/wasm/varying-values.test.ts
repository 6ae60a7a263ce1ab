/** Which values of a kernel of four lanes differ between the lanes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { spreadValues, valuesOfAllRows, varyingValues } from "../../../../src/compiler/emit/wasm/varying-values.js";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";

test("values that follow from the lane vary; those of the row alone and combined ones do not", () => {
  const k = new KernelBuilder("lanes", 8, 4);
  const target = k.buffer("i32", true);
  const same = k.binary("mul", k.row, k.constant("i32", 3));
  const own = k.binary("add", same, k.lane);
  const combined = k.combineLanes("add", own);
  const after = k.binary("add", combined, same);
  k.store(target, own, after, false);
  const varying = varyingValues(k.finish());
  assert.deepEqual(
    [same, own, combined, after].map(({ id }) => varying.has(id)),
    [false, true, false, false],
  );
});

test("an accumulator varies if any round makes it so, and so does what it leaves", () => {
  const k = new KernelBuilder("rounds", 8, 4);
  const target = k.buffer("i32", true);
  const zero = k.constant("i32", 0);
  const [plain, swapped] = k.loop(5, [zero, zero], (at, [a]) => [k.binary("add", a!, at), k.binary("add", at, k.lane)]);
  k.store(target, k.binary("add", plain!, swapped!), zero, false);
  const varying = varyingValues(k.finish());
  assert.deepEqual(
    [plain, swapped].map((value) => varying.has(value!.id)),
    [false, true],
  );
});

test("lanes that leave a loop in different rounds have different results", () => {
  const k = new KernelBuilder("exits", 8, 4);
  const target = k.buffer("i32", true);
  const [count] = k.loop(9, [k.constant("i32", 0)], (at) => [at], {
    exitWhen: ([now]) => k.compare("ge", now!, k.lane),
  });
  k.store(target, k.lane, count!, false);
  assert.ok(varyingValues(k.finish()).has(count!.id));
});

test("a kernel of one lane has none", () => {
  const k = new KernelBuilder("one", 8);
  k.store(k.buffer("i32", true), k.row, k.binary("add", k.row, k.lane));
  assert.equal(varyingValues(k.finish()).size, 0);
});

test("a number that only varying values use is loaded into all lanes at once", () => {
  const k = new KernelBuilder("spread", 8, 4);
  const [source, target] = [k.buffer("f32", false), k.buffer("f32", true)];
  const array = k.array("f32", 8);
  k.set(array, k.row, k.load(source, k.row, "f32"));
  const [wanted, kept] = [k.get(array, k.row), k.get(array, k.constant("i32", 0))];
  const product = k.binary("mul", wanted, k.load(source, k.lane, "f32"));
  k.store(target, k.lane, product, false);
  k.store(target, k.row, kept, true);
  const kernel = k.finish();
  const spread = spreadValues(kernel, varyingValues(kernel));
  assert.deepEqual(
    [wanted, kept].map(({ id }) => spread.has(id)),
    [true, false],
  );
});

test("what comes of numbers in memory that no row writes is the same for all rows; what loops and rows make is not", () => {
  const k = new KernelBuilder("rows", 8);
  const [source, target] = [k.buffer("f32", false), k.buffer("f32", true)];
  const zero = k.constant("i32", 0);
  const rate = k.load(source, zero, "f32");
  const half = k.binary("mul", rate, k.constant("f32", 0.5));
  const own = k.load(source, k.row, "f32");
  const written = k.load(target, zero, "f32");
  const [sum] = k.loop(5, [k.constant("f32", 0)], (_, [a]) => [k.binary("add", a!, half)]);
  k.store(target, k.row, k.binary("add", k.binary("add", sum!, own), written));
  assert.deepEqual(valuesOfAllRows(k.finish()), [rate, half]);
});
