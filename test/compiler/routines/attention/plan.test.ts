/** Plans of attention: which nodes are computed by their definition, and what a tile must fit into. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ATTENTION_TILES,
  type AttentionPass,
  isExpandedAttention,
  planAttention,
  SUBGROUP_TILES,
} from "../../../../src/compiler/routines/attention/plan.js";
import { problemOf } from "../../../../src/compiler/routines/attention/problem.js";
import { cpuProfile, gpuProfile } from "../../../../src/compiler/target/profile.js";
import type { SharedAttentionTile, TileProfile } from "../../../../src/compiler/target/tile-profile.js";
import type { DType } from "../../../../src/core/dtype.js";
import type { Node } from "../../../../src/graph/node.js";
import { attention, attentionGradient } from "../../../../src/graph/primitives/attention.js";
import { g } from "../../../../src/graph/vocabulary.js";
import { make, stored, storedAs } from "../../../support/nodes.js";

const params = {
  ...{ scale: 1, left: Infinity, right: Infinity, emptyRow: 0, outputs: [] },
  ...{ hasBias: false, hasMask: false, hasLength: false },
};

interface Extents {
  readonly heads?: number;
  readonly queries?: number;
  readonly keys?: number;
  readonly width?: number;
  readonly dtype?: DType;
}

/** An attention, or the gradient of one. */
function node(
  { heads = 4, queries = 1024, keys = 1024, width = 64, dtype = "f32" }: Extents,
  isGradient = false,
): Node {
  const rows = (count: number) => storedAs(dtype, 1, heads, count, width);
  const given = [rows(queries), rows(keys), rows(keys)];
  if (!isGradient) return make(attention, given, params);
  const perRow = () => stored(1, heads, queries);
  return make(attentionGradient, [...given, rows(queries), perRow(), perRow()], params);
}

const gpu: TileProfile = { ...gpuProfile.tiles, sharedBytes: 49152, maxLanes: 1024 };
const matrices = { subgroupSize: 32, shapes: [{ operand: "bf16", rows: 16, columns: 16, depth: 16 }] } as const;

test("a GPU has kernels for an attention of many queries; other nodes are no attention", () => {
  assert.equal(isExpandedAttention(node({}), gpu), false);
  assert.equal(isExpandedAttention(g.exp(stored(4)), gpu), false);
  assert.equal(isExpandedAttention(g.exp(stored(4)), { ...gpu, kind: "none" }), false);
});

test("the definition computes few queries, nothing at all, and what no tile can hold", () => {
  assert.equal(isExpandedAttention(node({ queries: 8 }), gpu), true);
  assert.equal(isExpandedAttention(node({ queries: 9 }), gpu), false);
  assert.equal(isExpandedAttention(node({ keys: 0 }), gpu), true);
  assert.equal(isExpandedAttention(node({ width: 4096 }), gpu), true);
  assert.equal(isExpandedAttention(node({}), { ...gpu, kind: "none" }), true);
});

test("elements that 32 bits cannot number are left to the definition", () => {
  const many = { heads: 2 ** 11, queries: 2 ** 14, keys: 16, width: 64 };
  assert.equal(isExpandedAttention(node(many), gpu), true);
  assert.equal(isExpandedAttention(node({ ...many, queries: 2 ** 13 }), gpu), false);
});

test("CPUs and software devices keep few scores in memory, GPUs none on the way forward", () => {
  for (const tiles of [cpuProfile.tiles, { ...gpu, kind: "registers" } as const]) {
    assert.equal(isExpandedAttention(node({}), tiles), true);
    assert.equal(isExpandedAttention(node({ queries: 8192 }), tiles), false);
  }
  assert.equal(isExpandedAttention(node({ heads: 1, queries: 16, keys: 16 }), gpu), false);
});

test("the way back stores scores up to a gigabyte where no matrix units multiply the dtype", () => {
  assert.equal(isExpandedAttention(node({}, true), gpu), true);
  assert.equal(isExpandedAttention(node({ queries: 16384, keys: 8192 }, true), gpu), false);
  const units = { ...gpu, matrices };
  assert.equal(isExpandedAttention(node({ dtype: "bf16" }, true), units), false);
  assert.equal(isExpandedAttention(node({ dtype: "f16" }, true), units), true);
});

test("a forced tile, or the definition, is taken as it is", () => {
  const tile = ATTENTION_TILES[3]!;
  assert.equal(isExpandedAttention(node({ queries: 3 }), { ...gpu, attention: tile }), false);
  assert.equal(isExpandedAttention(node({}), { ...gpu, attention: "definition" }), true);
  assert.equal(planAttention(problemOf(node({})), { ...gpu, attention: tile }, "keys"), tile);
});

test("tiles shrink with shared memory, lanes and the width of rows; doubles take twice the memory", () => {
  const rowsOf = (extents: Extents, tiles: TileProfile, pass: "forward" | "keys" = "forward") => {
    const tile = planAttention(problemOf(node(extents)), tiles, pass);
    return tile?.kind === "shared" ? tile.rows : null;
  };
  assert.equal(rowsOf({}, gpu), 64);
  assert.ok(rowsOf({}, { ...gpu, sharedBytes: 16384 })! < 64);
  assert.ok(rowsOf({}, { ...gpu, maxLanes: 64 })! < 64);
  assert.equal(rowsOf({}, { ...gpu, maxLanes: 15 }), null);
  assert.ok(rowsOf({ dtype: "f64" }, gpu)! < 64);
  assert.ok(rowsOf({ width: 128 }, gpu, "keys")! < rowsOf({ width: 32 }, gpu, "keys")!);
});

test("on the way forward the lanes of an f32 row are in a subgroup, where subgroups are known and large enough", () => {
  const planned = (subgroupSize: number, dtype: DType = "f32", pass: AttentionPass = "forward") =>
    planAttention(problemOf(node({ dtype })), { ...gpu, subgroupSize }, pass);
  assert.deepEqual(planned(32), { ...SUBGROUP_TILES[0], subgroupSize: 32 });
  assert.deepEqual(planned(8), { ...SUBGROUP_TILES[1], subgroupSize: 8 }, "16 lanes are two subgroups of 8");
  assert.equal(ATTENTION_TILES.includes(planned(4) as SharedAttentionTile), true);
  assert.equal(ATTENTION_TILES.includes(planned(32, "f64") as SharedAttentionTile), true);
  assert.equal(ATTENTION_TILES.includes(planned(32, "f32", "keys") as SharedAttentionTile), true);
});

test("matrix units take the largest tile that their memory holds, and only dtypes that they multiply", () => {
  const tileOf = (sharedBytes: number, dtype: DType = "bf16", width = 64, pass: AttentionPass = "forward") => {
    const tile = planAttention(problemOf(node({ dtype, width })), { ...gpu, sharedBytes, matrices }, pass);
    return tile?.kind === "matrix" ? `${tile.rows}×${tile.columns}` : tile?.kind;
  };
  for (const [pass, first, second] of [
    ["forward", "64×32", "32×32"],
    ["keys", "64×64", "64×32"],
  ] as const) {
    assert.equal(tileOf(49152, "bf16", 64, pass), first);
    const [large, small] = [first, second].map((tile) => {
      for (let bytes = 1024; ; bytes += 512) if (tileOf(bytes, "bf16", 64, pass) === tile) return bytes;
    }) as [number, number];
    assert.ok(small < large, `${small} ${large}`);
  }
  assert.equal(tileOf(49152, "f16"), "shared");
  assert.equal(tileOf(49152, "bf16", 60), "shared");
});
