/** Numbers that tell things apart: the same for the same, another for another. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { identityOf } from "../../src/core/identity.js";

test("objects, functions and symbols have a name of their own, which stays", () => {
  const things = [{}, {}, () => {}, Symbol("a"), Symbol("a"), Symbol.for("a")];
  const names = things.map(identityOf);
  assert.equal(new Set(names).size, things.length);
  assert.deepEqual(things.map(identityOf), names);
  assert.equal(identityOf(null), "null");
  assert.ok(!names.includes("null"));
});
