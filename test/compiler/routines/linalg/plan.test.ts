/** The matrices that one kernel factors: they fit shared memory, and blocks are as large as that allows. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOf } from "../../../../src/compiler/routines/linalg/field.js";
import {
  choleskyOrder,
  isShareable,
  luColumns,
  oneKernel,
  solveOrder,
} from "../../../../src/compiler/routines/linalg/plan.js";
import { cpuProfile, gpuProfile } from "../../../../src/compiler/target/profile.js";
import { gpuOf, KINDS, softwareGpu } from "./matrices.js";

const none = { ...cpuProfile.tiles, kind: "none" } as const;

test("blocks of one kernel fit shared memory, and twice as large ones would not, or are not wanted", () => {
  for (const kind of Object.values(KINDS)) {
    for (const bytes of [4096, 4096, 16384, 32768, 1 << 17]) {
      for (const { tiles, most } of [
        { tiles: gpuOf(64, bytes).tiles, most: 64 },
        { tiles: { ...softwareGpu.tiles, sharedBytes: bytes }, most: 32 },
      ]) {
        const block = oneKernel(kind, tiles);
        const needed = (n: number) => n * (n + 2) * bytesOf(kind);
        assert.ok(block <= most && (block === 8 || needed(block) <= bytes));
        assert.ok(block === most || needed(2 * block) > bytes, `${kind.type}, ${bytes} bytes: ${block}`);
      }
    }
    assert.equal(oneKernel(kind, cpuProfile.tiles), 64);
    assert.equal(oneKernel(kind, none), Number.POSITIVE_INFINITY);
  }
});

test("GPUs factor larger matrices in steps, and solve with them by strips; others cut them into what one kernel does", () => {
  assert.deepEqual([choleskyOrder(KINDS.f32, gpuProfile.tiles), solveOrder(KINDS.f32, gpuProfile.tiles)], [4096, 128]);
  assert.equal(solveOrder(KINDS.f32, gpuOf(256, 49152).tiles), 512);
  // 16 × 64 complex numbers of f64 do not fit.
  const small = gpuOf(64, 4096).tiles;
  for (const order of [choleskyOrder, solveOrder]) {
    assert.equal(order(KINDS.c128, small), oneKernel(KINDS.c128, small));
    assert.equal(order(KINDS.f32, cpuProfile.tiles), 64);
    assert.equal(order(KINDS.f32, softwareGpu.tiles), oneKernel(KINDS.f32, softwareGpu.tiles));
  }
});

test("columns of an LU factorisation fit shared memory while more than four, and the rounds of software", () => {
  for (const kind of Object.values(KINDS)) {
    for (const m of [10, 100, 500, 3000]) {
      const { tiles } = gpuOf(64);
      const columns = luColumns(m, kind, tiles);
      assert.ok(columns <= 4 || isShareable(m, columns, kind, tiles));
      assert.ok(columns === oneKernel(kind, tiles) || !isShareable(m, 2 * columns, kind, tiles));
      const few = luColumns(m, kind, softwareGpu.tiles);
      assert.ok(few === 1 || m * few * Math.max(few, 16) <= 65536 * 4);
      assert.equal(luColumns(m, kind, cpuProfile.tiles), 64);
    }
  }
  assert.ok(luColumns(20000, KINDS.f64, softwareGpu.tiles) < 32);
});

test("lanes share a matrix whose rows, of an odd length, leave 4 KiB; a core's cache holds any", () => {
  const { tiles } = gpuOf(64, 4096 + 8 * 11 * 4);
  assert.ok(isShareable(8, 11, KINDS.f32, tiles) && isShareable(8, 10, KINDS.f32, tiles));
  assert.ok(!isShareable(8, 12, KINDS.f32, tiles) && !isShareable(9, 11, KINDS.f32, tiles));
  assert.ok(!isShareable(8, 11, KINDS.f64, tiles) && isShareable(1e6, 64, KINDS.c128, cpuProfile.tiles));
});
