/** Values: components by name, text, and where they may be used. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ModuleBuilder, type Value } from "../../../src/spirv/index.js";
import { kernel, textOf } from "../building.js";

test("x, y, z and w are the components 0 to 3", () => {
  const text = textOf(
    kernel((f, m) => {
      const v = f.variable(m.vec(m.f32, 4)).load();
      for (const part of [v.x, v.y, v.z, v.w]) assert.equal(part.type, m.f32);
    }),
  );
  const picks = [...text.matchAll(/OpCompositeExtract %float %\d+ (\d)/g)].map((match) => Number(match[1]));
  assert.deepEqual(picks, [0, 1, 2, 3]);
});

test("a value is shown by its number and type", () => {
  const m = new ModuleBuilder();
  const { id } = m.constant(m.u32, 5);
  assert.equal(String(m.constant(m.u32, 5)), `%${id}: u32`);
});

test("a value made inside a branch is refused outside of it, and so is one of another function", () => {
  const m = new ModuleBuilder();
  let inside: Value | undefined;
  m.entry("main", { localSize: [1] }, (f) => {
    f.if(true, () => {
      inside = f.add(f.builtin("LocalInvocationIndex"), 1);
    });
    assert.throws(() => f.add(inside!, 1));
  });
  m.entry("other", { localSize: [1] }, (f) => {
    assert.throws(() => f.add(inside!, 1));
  });
});
