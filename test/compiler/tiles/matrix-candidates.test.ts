/** Tiles on matrix units: which numbers they take, at which precision, and which tiles fit a device. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { FragmentShape, MatrixTile, TileProfile } from "../../../src/compiler/target/tile-profile.js";
import { MATRIX_VARIANTS, matrixCandidates, SPLIT_VARIANTS } from "../../../src/compiler/tiles/matrix-candidates.js";
import type { ProductShape } from "../../../src/compiler/tiles/product-shape.js";

const fragment = (operand: FragmentShape["operand"], depth = 16): FragmentShape => ({
  operand,
  rows: 16,
  columns: 16,
  depth,
});
const profile = (change: Partial<TileProfile> = {}): TileProfile => ({
  kind: "shared",
  sharedBytes: 1 << 20,
  maxLanes: 1024,
  units: 132,
  matrices: { subgroupSize: 32, shapes: [fragment("f16"), fragment("bf16"), fragment("i8", 32)] },
  ...change,
});
const product = (dtype: ProductShape["dtype"], precision?: ProductShape["precision"], k = 4096): ProductShape => ({
  batch: 1,
  m: 4096,
  n: 4096,
  k,
  dtype,
  precision,
});
const tilesOf = (shape: ProductShape, own = profile(), isSearch = false) =>
  matrixCandidates(shape, own, isSearch).map(({ tile }) => tile as MatrixTile);

test("narrow numbers are multiplied as they are; f32 only where less than its own precision is asked", () => {
  assert.equal(tilesOf(product("f16"))[0]!.fragment.operand, "f16");
  assert.equal(tilesOf(product("bf16"))[0]!.fragment.operand, "bf16");
  assert.equal(tilesOf({ ...product("i32"), narrow: "i8" })[0]!.fragment.operand, "i8");
  assert.deepEqual(tilesOf(product("i32")), []);
  assert.equal(tilesOf(product("i8"))[0]!.fragment.operand, "i8");
  assert.deepEqual(tilesOf(product("f32")), []);
  assert.deepEqual(tilesOf(product("f32", "highest")), []);
  assert.deepEqual(tilesOf(product("u8")), []);
  const [fast] = tilesOf(product("f32", "fast"));
  assert.deepEqual([fast!.fragment.operand, fast!.parts, fast!.promoted], ["bf16", 1, 0]);
  const [high] = tilesOf(product("f32", "high"));
  // Sums are promoted to f32 after 64 elements: two steps of 32.
  assert.deepEqual([high!.fragment.operand, high!.parts, high!.promoted], ["f16", 2, 2]);
});

test("a device without matrix units has none, and one without f16 does not split f32", () => {
  assert.deepEqual(tilesOf(product("f16"), profile({ matrices: undefined })), []);
  const shapes = [fragment("bf16")];
  assert.deepEqual(tilesOf(product("f32", "high"), profile({ matrices: { subgroupSize: 32, shapes } })), []);
});

test("every variant is offered by a device with room; a search adds others, but none of split numbers", () => {
  assert.equal(tilesOf(product("f16")).length, MATRIX_VARIANTS.length);
  assert.equal(tilesOf(product("f32", "high")).length, SPLIT_VARIANTS.length);
  const known = matrixCandidates(product("f16"), profile(), true).filter(({ isKnown }) => isKnown);
  assert.equal(new Set(known.map(({ tile }) => `${tile.rows}×${tile.columns}`)).size, MATRIX_VARIANTS.length);
  assert.ok(matrixCandidates(product("f16"), profile(), true).some(({ isKnown }) => !isKnown));
  assert.ok(matrixCandidates(product("f32", "high"), profile(), true).every(({ isKnown }) => isKnown));
});

test("lanes, memory and fragments limit the tiles", () => {
  const few = tilesOf(product("f16"), profile({ maxLanes: 128 }));
  assert.ok(few.length > 0 && few.length < MATRIX_VARIANTS.length);
  assert.ok(few.every(({ subgroups }) => subgroups[0] * subgroups[1] * 32 <= 128));
  assert.ok(tilesOf(product("f16"), profile({ sharedBytes: 16384 })).length < MATRIX_VARIANTS.length);
  const wide = { ...fragment("f16"), columns: 64 };
  const cut = tilesOf(product("f16"), profile({ matrices: { subgroupSize: 32, shapes: [wide] } }));
  assert.ok(cut.length > 0 && cut.every(({ columns, subgroups }) => columns % (64 * subgroups[1]) === 0));
});

test("sums on matrix units are at most 16384 long, promoted ones as long as they are", () => {
  const lengths = (shape: ProductShape) => matrixCandidates(shape, profile(), true).map(({ length }) => length);
  assert.ok(lengths(product("f16", undefined, 100_000)).every((length) => length <= 16384));
  assert.ok(lengths(product("f32", "high", 100_000)).includes(100_000));
});
