/** The mapping of rows and lanes to workgroups: no device is needed to decide. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { mappingOf } from "../../../../src/compiler/emit/spirv/mapping.js";
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

test("a barrier, an array or an exchange between lanes keeps a row to its own workgroup", () => {
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
  assert.deepEqual(mappingOf(kernel(100, 16, exchange), 32), alone);
});
