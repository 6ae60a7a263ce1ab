/** Types: each is declared once, whoever asks. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ModuleBuilder } from "../../../src/spirv/index.js";
import { count, kernel, textOf } from "../building.js";

test("asking again gives the same type", () => {
  const m = new ModuleBuilder();
  assert.equal(m.vec(m.f32, 4), m.vec(m.f32, 4));
  assert.equal(m.array(m.u32, 3), m.array(m.u32, 3));
  assert.notEqual(m.array(m.u32, 3), m.array(m.u32, 3, { stride: 4 }));
  assert.equal(m.pointer("Function", m.f32), m.pointer("Function", m.f32));
  assert.notEqual(m.pointer("Function", m.f32), m.pointer("Private", m.f32));
  assert.equal(m.bufferPointer(m.f32), m.bufferPointer(m.f32));
  assert.notEqual(m.bufferPointer(m.f32).pointee, m.bufferPointer(m.f32, { writable: false }).pointee);
  assert.equal(m.struct([["a", m.f32]]), m.struct([["a", m.f32]]));
  assert.notEqual(m.struct([["a", m.f32]]), m.struct([["b", m.f32]]));
  assert.equal(m.int(16, true), m.i16);
});

test("a pointer known to be aligned is the same SPIR-V type", () => {
  const m = new ModuleBuilder();
  const vec4 = m.vec(m.f32, 4);
  assert.notEqual(m.bufferPointer(vec4), m.bufferPointer(vec4, { align: 16 }));
  assert.equal(m.bufferPointer(vec4).id, m.bufferPointer(vec4, { align: 16 }).id);
});

test("a kernel that uses f32 and 1 a hundred times declares them once", () => {
  const text = textOf(
    kernel((f, m) => {
      let x = f.variable(m.f32).load();
      for (let i = 0; i < 100; i++) x = f.add(x, 1);
    }),
  );
  assert.equal(count(text, /OpTypeFloat/), 1);
  assert.equal(count(text, /OpConstant %float/), 1);
  assert.equal(count(text, /OpFAdd/), 100);
});

test("two buffers of one element type share their block type", () => {
  const text = textOf((m) => {
    m.storageBuffer(m.f32, { binding: 0 });
    m.storageBuffer(m.f32, { binding: 1 });
    kernel(() => {})(m);
  });
  assert.equal(count(text, /OpTypeStruct/), 1);
  assert.equal(count(text, /OpVariable/), 2);
});
