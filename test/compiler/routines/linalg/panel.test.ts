/** The shapes of panels: they fit registers and shared memory, and suit only GPUs with workgroups of some size. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOf } from "../../../../src/compiler/routines/linalg/field.js";
import { luAloneFor, luPanelFor, qrPanelFor, quickDivision } from "../../../../src/compiler/routines/linalg/panel.js";
import { cpuProfile } from "../../../../src/compiler/target/profile.js";
import { gpuOf, KINDS, softwareGpu } from "./matrices.js";

const { tiles } = gpuOf(1024, 49152);

test("panels have all rows, columns in quads, and few enough numbers to a lane", () => {
  for (const kind of Object.values(KINDS)) {
    for (const of of [luPanelFor, qrPanelFor]) {
      for (const m of [1, 65, 500, 2048, 4096, 5000]) {
        const grid = of(m, kind, tiles);
        if (!grid) continue;
        const { lanes, perLane, width } = grid;
        assert.ok(lanes * perLane >= m && width % 4 === 0 && width <= lanes && lanes <= 1024, `${m}`);
        assert.ok(perLane * width * (bytesOf(kind) / 4) <= 128, `${m}: ${perLane} × ${width}`);
      }
      assert.ok(of(2048, kind, tiles), "2048 rows have panels");
      assert.equal(of(1 << 20, kind, tiles), null);
      for (const other of [cpuProfile, softwareGpu, gpuOf(8)]) assert.equal(of(100, kind, other.tiles), null);
    }
  }
});

test("matrices of up to 32 columns are one panel, as far as registers go", () => {
  assert.deepEqual(luAloneFor(32, 32, KINDS.f32, tiles), { lanes: 32, perLane: 1, width: 32, tileLanes: 32 });
  assert.deepEqual(luAloneFor(300, 5, KINDS.f64, tiles), { lanes: 256, perLane: 2, width: 8, tileLanes: 256 });
  for (const [m, n] of [
    [32, 33],
    [5000, 32],
    [0, 3],
    [3, 0],
  ] as const) {
    // biome-ignore format: a table
    assert.equal(luAloneFor(m, n, KINDS.f32, tiles), null);
  }
  assert.equal(luAloneFor(8, 8, KINDS.f32, cpuProfile.tiles), null);
});

test("division is the device's own where that is good", () => {
  const corrected = { division: "corrected" } as const;
  assert.equal(quickDivision(corrected, gpuOf(64)).division, "native");
  assert.equal(quickDivision(corrected, { ...softwareGpu, hasNativeDivision: false }).division, "corrected");
});
