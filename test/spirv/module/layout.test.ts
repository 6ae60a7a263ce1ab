/** The layout of values in buffers: packed scalars, each aligned to its size. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { alignOf, byteSizeOf, ModuleBuilder } from "../../../src/spirv/index.js";
import { count, kernel, textOf } from "../building.js";

test("sizes and alignments are those of packed scalars", () => {
  const m = new ModuleBuilder();
  const record = m.struct([
    ["flag", m.u8],
    ["v", m.vec(m.f32, 3)],
    ["wide", m.f64],
    ["tail", m.u16],
  ]);
  const cases: [Parameters<typeof byteSizeOf>[0], number, number][] = [
    [m.u8, 1, 1],
    [m.f16, 2, 2],
    [m.f64, 8, 8],
    [m.vec(m.f32, 3), 12, 4],
    [m.vec(m.u8, 4), 4, 1],
    [m.array(m.vec(m.f32, 3), 5), 60, 4],
    [m.bufferPointer(m.f32), 8, 8],
    [record, 32, 8],
    [m.array(record, 2), 64, 8],
  ];
  for (const [type, size, align] of cases) {
    assert.deepEqual([byteSizeOf(type), alignOf(type)], [size, align], type.name);
  }
});

test("fields of a block get the next aligned offset, or the one they state", () => {
  const text = textOf((m) => {
    m.pushConstants([
      ["a", m.u32],
      ["b", m.u64],
      ["c", m.vec(m.f32, 3)],
      ["d", m.f32],
      ["e", m.f32, 100],
    ]);
    kernel(() => {})(m);
  });
  const offsets = [...text.matchAll(/OpMemberDecorate %_struct_\d+ \d Offset (\d+)/g)].map((match) => Number(match[1]));
  assert.deepEqual(offsets, [0, 8, 16, 28, 100]);
});

test("arrays and structs inside a block are laid out, those in shared memory are not", () => {
  const text = textOf((m) => {
    const pair = m.struct([
      ["x", m.f32],
      ["y", m.array(m.f64, 2)],
    ]);
    m.storageBuffer(pair, { binding: 0 });
    m.shared(m.array(pair, 4));
    kernel(() => {})(m);
  });
  assert.equal(count(text, /ArrayStride 8$/), 1);
  assert.equal(count(text, /ArrayStride 24$/), 1);
  assert.match(text, /OpTypePointer Workgroup %_arr__struct_/);
  assert.equal(count(text, /OpTypeStruct %float/), 2);
});
