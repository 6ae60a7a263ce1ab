/** What holds of all primitives together. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { allPrimitives } from "../support/all-primitives.js";

test("no two primitives have one name: nodes that compute the same are found by it", async () => {
  const primitives = await allPrimitives();
  assert.ok(primitives.size > 100, `only ${primitives.size} primitives were found`);
  const names = [...primitives].map(({ name }) => name);
  const repeated = names.filter((name, i) => names.indexOf(name) !== i);
  assert.deepEqual(repeated, []);
});
