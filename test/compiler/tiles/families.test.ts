/** The table of families: measured tilings name tiles that exist, and an unknown device has estimates but none of them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TileProfile } from "../../../src/compiler/target/tile-profile.js";
import { familyOf } from "../../../src/compiler/tiles/families.js";
import { planProduct } from "../../../src/compiler/tiles/plan.js";
import { describeTiling, type ProductShape, shapeClass } from "../../../src/compiler/tiles/product-shape.js";

/** A product of each class with a measured tiling. */
const MEASURED: readonly ProductShape[] = [
  { batch: 1, m: 100_001, k: 37, n: 53, dtype: "f32" },
  { batch: 1, m: 64, k: 100_352, n: 576, dtype: "f32", orders: "w74521072w3a4b865" },
  { batch: 1, m: 128, k: 2048, n: 512, dtype: "f32", orders: "nt" },
  { batch: 1, m: 8192, k: 8192, n: 8192, dtype: "bf16" },
  { batch: 1, m: 2048, k: 2048, n: 2048, dtype: "f64" },
  { batch: 64, m: 512, k: 512, n: 512, dtype: "f32" },
];

test("every measured tiling is the plan of a product of its class, on a device of its family", () => {
  const matrices = { subgroupSize: 32, shapes: [{ operand: "bf16", rows: 16, columns: 16, depth: 16 }] } as const;
  const facts = { kind: "shared", sharedBytes: 49152, maxLanes: 1024, units: 132 } as const;
  const profile: TileProfile = { ...facts, family: "nvidia", matrices };
  const { tilings } = familyOf("nvidia");
  assert.deepEqual(MEASURED.map(shapeClass), Object.keys(tilings));
  for (const shape of MEASURED) {
    const plan = planProduct(shape, profile)!;
    assert.deepEqual([describeTiling(plan, shape.k), plan.reason], [tilings[shapeClass(shape)], "table"]);
  }
});

test("a device of another family, or of none, is estimated with NVIDIA's constants and has no measured tilings", () => {
  for (const name of ["a family that nobody measured", undefined]) {
    assert.deepEqual(familyOf(name), { costs: familyOf("nvidia").costs, tilings: {} });
  }
});
