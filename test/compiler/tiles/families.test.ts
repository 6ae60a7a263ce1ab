/** The table of families: measured tilings name tiles that exist, and an unknown device has estimates but none of them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TileProfile } from "../../../src/compiler/target/tile-profile.js";
import { allCandidates } from "../../../src/compiler/tiles/candidates.js";
import { familyOf } from "../../../src/compiler/tiles/families.js";
import { describeTiling, type ProductShape, shapeClass } from "../../../src/compiler/tiles/product-shape.js";

/** A product of each class with a measured tiling. */
const MEASURED: readonly ProductShape[] = [
  { batch: 1, m: 100_001, k: 37, n: 53, dtype: "f32" },
  { batch: 64, m: 512, k: 512, n: 512, dtype: "f32" },
];

test("every measured tiling is a candidate of a product of its class, on a device of its family", () => {
  const profile: TileProfile = { kind: "shared", sharedBytes: 49152, maxLanes: 1024, units: 132, family: "nvidia" };
  const { tilings } = familyOf("nvidia");
  assert.deepEqual(MEASURED.map(shapeClass), Object.keys(tilings));
  for (const shape of MEASURED) {
    const words = allCandidates(shape, profile).map((each) => describeTiling(each, shape.k));
    assert.ok(words.includes(tilings[shapeClass(shape)]!), tilings[shapeClass(shape)]);
  }
});

test("a device of another family, or of none, is estimated with NVIDIA's constants and has no measured tilings", () => {
  for (const name of ["a family that nobody measured", undefined]) {
    assert.deepEqual(familyOf(name), { costs: familyOf("nvidia").costs, tilings: {} });
  }
});
