/** SPIR-V for one GPU: grids, tables of addresses, and what a software driver cannot run. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { type GpuDescription, spirvTarget } from "../../../../src/compiler/emit/spirv/target.js";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import { UnsupportedError } from "../../../../src/core/errors.js";
import { commonGpu } from "../../../support/targets.js";

function copy(rows: number, buffers = 2) {
  const k = new KernelBuilder("copy", rows);
  const sources = Array.from({ length: buffers - 1 }, () => k.buffer("f32", false));
  const loaded = sources.map((source) => k.load(source, k.row, "f32"));
  k.store(
    k.buffer("f32", true),
    k.row,
    loaded.reduce((a, b) => k.binary("add", a, b)),
  );
  return k.finish();
}

test("the grid covers all rows, in several rows of workgroups where there are more than a device takes in one", () => {
  const encode = (rows: number, maxColumns: number) =>
    spirvTarget({ ...commonGpu, maxColumns }).encode(copy(rows), null).numbers;
  assert.deepEqual(encode(100, 65535), [2, 1, 1, 0]);
  assert.deepEqual(encode(256 * 100, 65535).slice(0, 2), [400, 1]);
  const [columns, rows] = encode(1 << 20, 1000);
  assert.ok(columns! <= 1000 && columns! * rows! * 256 >= 1 << 20, `${columns} × ${rows}`);
});

test("a kernel of many buffers is marked as one that takes a table of addresses", () => {
  const { encode } = spirvTarget(commonGpu);
  assert.equal(encode(copy(10, 14), null).numbers[3], 0);
  assert.equal(encode(copy(10, 15), null).numbers[3], 1);
});

test("division is corrected, because Vulkan allows errors of a few ulp", () => {
  assert.equal(spirvTarget(commonGpu).settings.division, "corrected");
});

test("a software driver gets no barriers, and is refused kernels whose loops it would cut short", () => {
  const software = spirvTarget({ ...commonGpu, isSoftware: true });
  assert.equal(software.profile.tiles.kind, "registers");
  assert.equal(spirvTarget(commonGpu).profile.tiles.kind, "shared");
  const k = new KernelBuilder("long", 1);
  const target = k.buffer("f32", true);
  const [sum] = k.loop(3000, [k.constant("f32", 0)], (_, [outer]) =>
    k.loop(3000, [outer!], (at, [inner]) => [k.binary("add", inner!, k.convert("f32", at))]),
  );
  k.store(target, k.row, sum!);
  const kernel = k.finish();
  assert.throws(() => software.encode(kernel, null), UnsupportedError);
  assert.ok(spirvTarget(commonGpu).encode(kernel, null).bytes.length > 0);
});

test("sorting knows the lanes that vote, and bands are a share of the memory within bounds", () => {
  const profileOf = (changes: Partial<GpuDescription>) => spirvTarget({ ...commonGpu, ...changes }).profile;
  assert.equal(profileOf({}).sort.subgroupSize, 32);
  assert.equal(profileOf({ votingLanes: 0 }).sort.subgroupSize, undefined);
  assert.equal(profileOf({ isSoftware: true }).sort.lanes, 1, "a software driver sorts by threads");
  const bands = [2 ** 31, 2 ** 34, 140 * 2 ** 30].map((memoryBytes) => profileOf({ memoryBytes }).bandBytes);
  assert.deepEqual(bands, [2 ** 26, 2 ** 28, 2 ** 30]);
});

test("targets that write other code have another identity", () => {
  const identity = (changes: Partial<GpuDescription>) => spirvTarget({ ...commonGpu, ...changes }).identity;
  const all = [{}, { isSoftware: true }, { subgroupSize: 16 }, { atomicFloats: ["f32"] as const }, { maxColumns: 9 }];
  assert.equal(new Set(all.map(identity)).size, all.length);
});
