/** The tilings that a product may have: what every one of them must keep to, whatever the shape and the device. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { lanesOf, sharedBytesOf, wideBytes } from "../../../src/compiler/target/shared-tile.js";
import type { FragmentShape, Tile, TileProfile } from "../../../src/compiler/target/tile-profile.js";
import { allCandidates, knownCandidates } from "../../../src/compiler/tiles/candidates.js";
import { matrixLanesOf, matrixTileMemory } from "../../../src/compiler/tiles/matrix-tile-memory.js";
import { planProduct } from "../../../src/compiler/tiles/plan.js";
import { describeTiling, type ProductShape } from "../../../src/compiler/tiles/product-shape.js";

const f16: FragmentShape = { operand: "f16", rows: 16, columns: 16, depth: 16 };
const profiles: readonly TileProfile[] = [
  { kind: "shared", sharedBytes: 49152, maxLanes: 1024, units: 128, family: "nvidia" },
  { kind: "shared", sharedBytes: 49152, maxLanes: 1024, units: 128, matrices: { subgroupSize: 32, shapes: [f16] } },
  { kind: "shared", sharedBytes: 16384, maxLanes: 128, units: 16 },
  { kind: "shared", sharedBytes: 32768, maxLanes: 256, units: 8, family: "intel" },
  { kind: "registers", sharedBytes: 32768, maxLanes: 1024, units: 4 },
  { kind: "panels", sharedBytes: 0, maxLanes: 4, units: 2 },
];
const shapes: ProductShape[] = [];
for (const dtype of ["f32", "f64", "f16", "i8"] as const) {
  for (const [m, k, n] of [
    [100_003, 37, 53],
    [128, 262_144, 128],
    [512, 512, 512],
    [9, 4096, 64],
    [2048, 64, 13],
  ] as const) {
    shapes.push({ batch: 1, m, k, n, dtype });
  }
}

/** Lanes and bytes of shared memory that a tile takes. */
function demands(tile: Tile, bytes: number): readonly [lanes: number, bytes: number] {
  if (tile.kind === "shared") return [lanesOf(tile), sharedBytesOf(tile, bytes)];
  if (tile.kind === "matrix") return [matrixLanesOf(tile), 4 * matrixTileMemory(tile).words];
  return [1, 0];
}

test("every candidate fits the device, is whole in itself, and its parts cover the summation", () => {
  for (const profile of profiles) {
    for (const shape of shapes) {
      const found = allCandidates(shape, profile);
      const words = found.map((each) => describeTiling(each, shape.k));
      const said = JSON.stringify({ shape, profile });
      assert.ok(found.length > 1, said);
      for (const [at, { tile, length }] of found.entries()) {
        const [lanes, bytes] = demands(tile, wideBytes(shape.dtype));
        assert.ok(lanes <= profile.maxLanes && bytes <= profile.sharedBytes, `${words[at]} ${said}`);
        assert.ok(length >= 1 && length <= shape.k, words[at]);
        if (tile.kind !== "shared") continue;
        assert.ok(tile.unrolled >= 1 && tile.unrolled <= tile.depth, words[at]);
        assert.equal(lanes % 1, 0, words[at]);
        if (length < shape.k) assert.equal(length % tile.depth, 0, words[at]);
        // Lanes that run in lockstep form whole blocks.
        const [down, aside] = [tile.rows / tile.perLane[0], tile.columns / tile.perLane[1]];
        const side = Math.min(8, aside);
        assert.ok(aside % side === 0 && down % Math.min(32 / side, down) === 0, words[at]);
      }
    }
  }
});

test("different tilings have different words; so words name one tiling", () => {
  for (const profile of profiles) {
    for (const shape of shapes) {
      const byWords = new Map<string, string>();
      for (const { tile, length } of allCandidates(shape, profile)) {
        const words = describeTiling({ tile, length }, shape.k);
        const text = JSON.stringify({ tile, parts: Math.ceil(shape.k / length) });
        assert.equal(byWords.get(words) ?? text, text, words);
        byWords.set(words, text);
      }
    }
  }
});

test("the rule's choice is the known candidate with the least estimate, and is among all of them", () => {
  for (const profile of profiles) {
    for (const shape of shapes) {
      const plan = planProduct(shape, profile);
      if (plan?.reason !== "rule") continue;
      const least = Math.min(...knownCandidates(shape, profile).map(({ estimate }) => estimate));
      const all = allCandidates(shape, profile);
      const same = all.find((each) => describeTiling(each, shape.k) === describeTiling(plan, shape.k));
      assert.equal(same?.estimate, least);
      assert.deepEqual(
        all.map(({ estimate }) => estimate).sort((x, y) => x - y),
        all.map(({ estimate }) => estimate),
      );
    }
  }
});

test("a slim product has tiles of its own width, of its own depth and flat ones", () => {
  const [gpu] = profiles as [TileProfile];
  const own = allCandidates({ batch: 1, m: 100_003, k: 37, n: 53, dtype: "f32" }, gpu).filter(
    ({ tile }) => tile.kind === "shared" && tile.isSpread,
  );
  const extents = own.map(({ tile }) => `${tile.columns}×${tile.kind === "shared" && tile.depth}`);
  assert.deepEqual([...new Set(extents)].sort(), ["56×37", "56×8"]);
});
