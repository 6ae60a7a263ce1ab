/** Classes of products, and tilings in words. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  inParts,
  type ProductShape,
  shapeClass,
  tilingWords,
  wideBytes,
} from "../../../src/compiler/tiles/product-shape.js";

const shape: ProductShape = { batch: 1, m: 4096, k: 4096, n: 4096, dtype: "f32" };
const classOf = (changes: Partial<ProductShape> = {}) => shapeClass({ ...shape, ...changes });

test("extents up to 64 are exact; larger ones fall into four classes to a doubling", () => {
  assert.equal(classOf(), "f32 nn 1×4096×4096×4096");
  assert.equal(classOf({ m: 4400 }), classOf());
  assert.notEqual(classOf({ m: 5120 }), classOf());
  assert.notEqual(classOf({ n: 53 }), classOf({ n: 56 }));
  assert.equal(classOf({ m: 100_003, k: 37, n: 53 }), "f32 nn 1×98304+×37×53");
  const rows = Array.from({ length: 1024 }, (_, i) => classOf({ m: 1024 + i })).filter((each) => !each.includes("+"));
  assert.equal(new Set(rows).size, 4);
});

test("rows that are no whole vectors, dtypes, precisions and orders are classes of their own", () => {
  const all = [
    ...[
      {},
      { m: 4097 },
      { dtype: "f64" },
      { precision: "high" },
      { precision: "fast" },
      { orders: "nt" },
      { batch: 2 },
    ],
  ].map((changes) => classOf(changes as Partial<ProductShape>));
  assert.equal(new Set(all).size, all.length);
  assert.equal(classOf({ precision: "highest" }), classOf());
  assert.equal(classOf({ dtype: "f16", precision: "high" }), classOf({ dtype: "f16" }));
});

test("words come apart into those of the tile and the number of parts", () => {
  assert.deepEqual(tilingWords("128×128×16 of 8×8 in 4 parts"), { tile: "128×128×16 of 8×8", parts: 4 });
  assert.deepEqual(tilingWords("registers 4×4"), { tile: "registers 4×4", parts: 1 });
});

test("a part is whole steps long", () => {
  const tile = { kind: "shared", rows: 8, columns: 8, depth: 16, perLane: [4, 4], buffers: 1, unrolled: 16 } as const;
  assert.equal(inParts(tile, 1, 100).length, 100);
  assert.equal(inParts(tile, 3, 100).length, 48);
  assert.equal(inParts({ kind: "registers", rows: 4, columns: 4 }, 3, 100).length, 34);
});

test("narrow numbers are computed in four bytes", () => {
  assert.deepEqual((["i8", "f16", "f32", "f64"] as const).map(wideBytes), [4, 4, 4, 8]);
});
