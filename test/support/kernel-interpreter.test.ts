/** The interpreter of kernels reports what devices do not: races of lanes and rows, lanes that disagree, indices outside. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { KernelBuilder } from "../../src/compiler/ir/kernel-builder.js";
import { dataOf } from "../../src/core/storage.js";
import { undefinedBytes } from "./interpreted-routine.js";
import { interpretKernel } from "./kernel-interpreter.js";

interface Setting {
  readonly rows?: number;
  readonly lanes?: number;
  readonly subgroupSize?: number;
}

/** Runs a kernel with one result of 64 elements of i32. */
function run({ rows = 1, lanes = 8, subgroupSize = 0 }: Setting, write: (k: KernelBuilder, result: number) => void) {
  const k = new KernelBuilder("small", rows, lanes, subgroupSize);
  write(k, k.buffer("i32", true));
  const bytes = undefinedBytes(256);
  interpretKernel(k.finish(), [bytes]);
  return [...dataOf(bytes, "i32")].map(Number);
}

const i = (k: KernelBuilder, value: number) => k.constant("i32", value);
const besideOf = (k: KernelBuilder) => k.binary("irem", k.binary("add", k.lane, i(k, 1)), i(k, k.lanes));

test("an element of an array that another lane wrote is read after a barrier, not before", () => {
  const exchange = (isGuarded: boolean) =>
    run({}, (k, result) => {
      const array = k.array("i32", 8);
      k.set(array, k.lane, k.lane);
      if (isGuarded) k.barrier();
      k.store(result, k.lane, k.get(array, besideOf(k)), false);
    });
  assert.deepEqual(exchange(true).slice(0, 8), [1, 2, 3, 4, 5, 6, 7, 0]);
  assert.throws(() => exchange(false), /array 0, element \d+: lane \d+ meets \d+ without a barrier/);
});

test("an element that another lane read is written after a barrier, not before", () => {
  const shift = (isGuarded: boolean) =>
    run({}, (k) => {
      const array = k.array("i32", 8);
      k.set(array, k.lane, k.lane);
      k.barrier();
      const found = k.get(array, besideOf(k));
      if (isGuarded) k.barrier();
      k.set(array, k.lane, found);
    });
  shift(true);
  assert.throws(() => shift(false), /meets/);
});

test("two lanes may write the same value, not different ones", () => {
  const write = (isSame: boolean) => run({}, (k) => k.set(k.array("i32", 1), i(k, 0), isSame ? i(k, 5) : k.lane));
  write(true);
  assert.throws(() => write(false), /meets/);
});

test("buffers that a kernel reads and writes need barriers as well", () => {
  const exchange = (isGuarded: boolean) =>
    run({}, (k, result) => {
      k.store(result, k.lane, k.lane, false);
      if (isGuarded) k.barrier();
      const found = k.read(result, besideOf(k), "i32");
      k.barrier();
      k.store(result, k.lane, found, false);
    });
  assert.deepEqual(exchange(true).slice(0, 8), [1, 2, 3, 4, 5, 6, 7, 0]);
  assert.throws(() => exchange(false), /buffer 0.*meets/);
});

test("rows may not touch what another row writes, except for equal stores of a kernel that says so", () => {
  const store = (isRepeating: boolean, isSame: boolean) =>
    run({ rows: 2, lanes: 1 }, (k, result) => {
      k.isRepeating = isRepeating;
      k.store(result, i(k, 0), isSame ? i(k, 5) : k.row);
    });
  store(true, true);
  assert.throws(() => store(true, false), /row 1 meets row 0/);
  assert.throws(() => store(false, true), /row 1 meets row 0/);
  const lookBack = () =>
    run({ rows: 2, lanes: 1 }, (k, result) => {
      k.store(result, k.row, k.row);
      k.store(result, k.binary("add", k.row, i(k, 10)), k.read(result, i(k, 0), "i32"));
    });
  assert.throws(lookBack, /row 1 meets row 0/);
});

test("a constant in place of an index that a lane does not have may lie in another row; what is read there is undefined", () => {
  const read = (isUsed: boolean) =>
    run({ rows: 2, lanes: 1 }, (k, result) => {
      k.store(result, k.row, k.row);
      const isFirst = k.compare("eq", k.row, i(k, 0));
      const found = k.read(result, k.select(isFirst, k.row, i(k, 0)), "i32");
      k.store(result, k.binary("add", k.row, i(k, 10)), isUsed ? found : k.select(isFirst, found, i(k, 7)));
    });
  assert.deepEqual(read(false).slice(10, 12), [0, 7]);
  assert.notEqual(read(true)[11], 0);
});

test("lane loops share their rounds, each lane with its own accumulators", () => {
  const found = run({ lanes: 4 }, (k, result) => {
    const [sum] = k.loop(10, [i(k, 0)], (at, [before]) => [k.binary("add", before!, at)], { isLaneLoop: true });
    k.store(result, k.lane, sum!, false);
    k.store(result, i(k, 4), k.combineLanes("add", sum!), true);
  });
  assert.deepEqual(found.slice(0, 5), [0 + 4 + 8, 1 + 5 + 9, 2 + 6, 3 + 7, 45]);
});

test("private arrays belong to each lane", () => {
  const found = run({}, (k, result) => {
    const own = k.array("i32", 1, true);
    k.set(own, i(k, 0), k.lane);
    k.store(result, k.lane, k.get(own, i(k, 0)), false);
  });
  assert.deepEqual(found.slice(0, 8), [0, 1, 2, 3, 4, 5, 6, 7]);
});

test("a barrier of subgroups orders the lanes of each alone", () => {
  const exchange = (apart: number) =>
    run({ lanes: 8, subgroupSize: 4 }, (k, result) => {
      const array = k.array("i32", 8);
      k.set(array, k.lane, k.lane);
      k.barrier("subgroup");
      const other = k.binary("xor", k.lane, i(k, apart));
      k.store(result, k.lane, k.get(array, other), false);
    });
  assert.deepEqual(exchange(1).slice(0, 8), [1, 0, 3, 2, 5, 4, 7, 6]);
  assert.throws(() => exchange(4), /meets/);
});

test("operations of all lanes that some do not reach, stores that lanes do not agree on, indices outside", () => {
  const some = (write: (k: KernelBuilder, result: number) => void) => () =>
    run({}, (k, result) => {
      k.when(k.compare("lt", k.lane, i(k, 3)), () => {
        write(k, result);
        return [];
      });
    });
  assert.throws(some((k) => k.barrier()), /a barrier that not all lanes reach/); // biome-ignore format: one line
  assert.throws(some((k, result) => k.store(result, i(k, 0), k.combineLanes("add", k.lane), true)), /not all lanes/); // biome-ignore format: one line
  assert.throws(() => run({}, (k, result) => k.store(result, i(k, 0), k.lane, true)), /does not agree/);
  assert.throws(() => run({}, (k, result) => k.store(result, i(k, 64), k.lane, true)), /store at 64 of 64/);
  assert.throws(() => run({}, (k) => k.set(k.array("i32", 4), k.lane, k.lane)), /element 4 of an array of 4/);
});
