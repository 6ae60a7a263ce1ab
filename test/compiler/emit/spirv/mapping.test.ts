/** The mapping of rows and lanes to workgroups: no device is needed to decide. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { mappingOf } from "../../../../src/compiler/emit/spirv/mapping.js";
import type { Value } from "../../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";

function kernel(rows: number, lanes: number, write: (k: KernelBuilder) => void = () => {}) {
  const k = new KernelBuilder("mapped", rows, lanes);
  write(k);
  return k.finish();
}

test("rows of one lane have a thread each, in larger workgroups where there are many", () => {
  assert.deepEqual(mappingOf(kernel(100, 1), 32), { threads: 64, rowsPerGroup: 64 });
  assert.deepEqual(mappingOf(kernel(1 << 15, 1), 32), { threads: 256, rowsPerGroup: 256 });
});

test("rows whose lanes fit a subgroup share a workgroup", () => {
  assert.deepEqual(mappingOf(kernel(100, 16), 32), { threads: 64, rowsPerGroup: 4 });
  assert.deepEqual(mappingOf(kernel(1 << 12, 32), 32), { threads: 256, rowsPerGroup: 8 });
});

test("rows of more lanes than a subgroup has get a workgroup each; so do all without subgroups", () => {
  assert.deepEqual(mappingOf(kernel(100, 64), 32), { threads: 64, rowsPerGroup: 1 });
  assert.deepEqual(mappingOf(kernel(100, 16), 0), { threads: 16, rowsPerGroup: 1 });
});

test("a barrier or an array keeps a row to its own workgroup; lanes of a subgroup read from one another without", () => {
  const alone = { threads: 16, rowsPerGroup: 1 };
  assert.deepEqual(
    mappingOf(
      kernel(100, 16, (k) => k.barrier()),
      32,
    ),
    alone,
  );
  assert.deepEqual(
    mappingOf(
      kernel(100, 16, (k) => void k.array("f32", 8)),
      32,
    ),
    alone,
  );
  const exchange = (k: KernelBuilder) => {
    const target = k.buffer("i32", true);
    k.store(target, k.lane, k.fromLane(k.lane, k.constant("i32", 0)), false);
  };
  assert.deepEqual(mappingOf(kernel(100, 16, exchange), 32), { threads: 64, rowsPerGroup: 4 });
  assert.deepEqual(mappingOf(kernel(100, 16, exchange), 8), alone);
});

test("so do combinations in a branch, or in a loop that rows leave in different rounds", () => {
  const combined = (k: KernelBuilder) => [k.combineLanes("add", k.binary("add", k.lane, k.row))];
  const kept = (k: KernelBuilder, value: Value | undefined) =>
    k.store(k.buffer("i32", true), k.row, value as Value, true);
  const loop = (isEven: boolean) => (k: KernelBuilder) => {
    const zero = k.constant("i32", 0);
    const exitWhen = ([sum]: readonly Value[]) => k.compare("gt", sum as Value, k.row);
    const body = (round: Value) => [k.combineLanes("add", k.binary("add", k.lane, round))];
    kept(k, k.loop(9, [zero], body, isEven ? {} : { exitWhen })[0]);
  };
  const branch = (k: KernelBuilder) => {
    const isOdd = k.compare("gt", k.row, k.constant("i32", 7));
    const sides = k.when(
      isOdd,
      () => combined(k),
      () => [k.row],
    );
    kept(k, sides[0]);
  };
  const rowsPerGroup = (write: (k: KernelBuilder) => void) => mappingOf(kernel(100, 16, write), 32).rowsPerGroup;
  assert.equal(
    rowsPerGroup((k) => kept(k, combined(k)[0])),
    4,
  );
  assert.equal(rowsPerGroup(loop(true)), 4);
  assert.equal(rowsPerGroup(loop(false)), 1);
  assert.equal(rowsPerGroup(branch), 1);
});
