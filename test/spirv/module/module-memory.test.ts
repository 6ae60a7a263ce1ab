/** Buffers, push constants and shared memory of a module: their decorations. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { kernel, textOf } from "../building.js";

test("qualifiers become decorations", () => {
  const text = textOf((m) => {
    m.storageBuffer(m.f32, { set: 2, binding: 3, writable: false, restrict: true, coherent: true, name: "a" });
    m.storageBuffer(m.f32, { binding: 4, readable: false, restrict: false, name: "b" });
    kernel(() => {})(m);
  });
  for (const decoration of ["DescriptorSet 2", "Binding 3", "NonWritable", "Restrict", "Coherent"]) {
    assert.match(text, new RegExp(`OpDecorate %a ${decoration}$`, "m"));
  }
  for (const decoration of ["DescriptorSet 0", "Binding 4", "NonReadable", "Aliased"]) {
    assert.match(text, new RegExp(`OpDecorate %b ${decoration}$`, "m"));
  }
  assert.doesNotMatch(text, /OpDecorate %b (NonWritable|Coherent)/);
});

test("an address read-only by type is decorated where it has no variable: on the member", () => {
  const text = textOf((m) => {
    m.pushConstants([["p", m.bufferPointer(m.f32, { writable: false })]]);
    kernel(() => {})(m);
  });
  assert.match(text, /OpMemberDecorate %_struct_\d+ 0 NonWritable/);
});
