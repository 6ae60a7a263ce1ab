/** The share of a lane: every row and column once, and no more than registers hold. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { endRows, QUAD, shareOf } from "../../../../../src/compiler/routines/linalg/eigen/tridiagonal-share.js";
import { cpuProfile } from "../../../../../src/compiler/target/profile.js";
import { gpuOf, KINDS, softwareGpu } from "../matrices.js";

test("teams have all rows, and the lanes of a team all columns", () => {
  for (const profile of [gpuOf(16), gpuOf(64), gpuOf(128), softwareGpu]) {
    for (const rows of [1, 16, 33, 90]) {
      const { lanes, team, teams, held, quads, near, padded } = shareOf(rows, profile);
      assert.deepEqual([team * teams, held * teams, quads * QUAD * team, lanes % near], [lanes, padded, padded, 0]);
      assert.ok(padded >= rows && near % team === 0);
    }
  }
});

test("as many rows as fit the registers of a lane: all, where that is more; none on a CPU", () => {
  const large = { ...gpuOf(64), tiles: { ...gpuOf(64).tiles, maxLanes: 1024 } };
  assert.deepEqual(
    [KINDS.f32, KINDS.f64, KINDS.c128].map((kind) => endRows(512, kind, large)),
    [192, 128, 64],
  );
  assert.deepEqual(
    [KINDS.f32, KINDS.f64, KINDS.c128].map((kind) => endRows(512, kind, gpuOf(128))),
    [96, 64, 32],
  );
  assert.equal(endRows(512, KINDS.f32, softwareGpu), 64);
  assert.equal(endRows(512, KINDS.f64, gpuOf(64, 4096)), 32);
  assert.equal(endRows(90, KINDS.f32, large), 90);
  assert.equal(endRows(512, KINDS.f32, cpuProfile), 0);
});
