/** What types are made of: their scalar, how many of it, and what an index selects. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ModuleBuilder } from "../../../src/spirv/index.js";
import { componentsOf, elementOf, scalarOf } from "../../../src/spirv/module/types.js";

const m = new ModuleBuilder();
const vector = m.vec(m.f32, 3);
const array = m.array(vector, 5);
const struct = m.struct([["a", m.u32]]);

test("arithmetic works on the scalar of scalars, vectors and matrices, and of nothing else", () => {
  assert.equal(scalarOf(m.i8), m.i8);
  assert.equal(scalarOf(m.bool), m.bool);
  assert.equal(scalarOf(vector), m.f32);
  assert.equal(scalarOf(m.matrix(m.f16, 16, 8, "B")), m.f16);
  for (const type of [array, struct, m.void, m.pointer("Function", m.f32)]) assert.equal(scalarOf(type), undefined);
});

test("components are counted for scalars and vectors", () => {
  assert.deepEqual([m.u64, vector, array, struct, m.void].map(componentsOf), [1, 3, 0, 0, 0]);
});

test("an index selects the element of a vector, an array or a matrix", () => {
  assert.equal(elementOf(vector), m.f32);
  assert.equal(elementOf(array), vector);
  assert.equal(elementOf(m.runtimeArray(vector)), vector);
  for (const type of [m.f32, struct]) assert.equal(elementOf(type), undefined);
});
