/** Places in memory: how elements are reached, with which alignment, and how often the way is written. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { count, kernel, run, textOf } from "../building.js";

test("loads and stores through an address state their alignment: the scalar's, or more where it is known", () => {
  const text = textOf((m) => {
    const vec4 = m.vec(m.f32, 4);
    const push = m.pushConstants([
      ["p", m.bufferPointer(vec4)],
      ["q", m.bufferPointer(vec4, { align: 16 })],
    ]);
    kernel((f) => {
      push.p.load(0);
      push.q.load(0);
      push.q.load(0, 1);
      push.q.store(0, f.splat(vec4, 1));
    })(m);
  });
  const alignments = [...text.matchAll(/Aligned (\d+)/g)].map((match) => Number(match[1]));
  assert.deepEqual(alignments, [4, 16, 4, 16]);
});

test("an element of a large buffer is reached from its address: distance in bytes, widened by the index's sign", () => {
  const text = textOf((m) => {
    const push = m.pushConstants([
      ["p", m.bufferPointer(m.vec(m.f32, 4), { large: true })],
      ["i", m.i32],
    ]);
    kernel(() => {
      push.p.load(push.i);
      push.p.load(-1);
    })(m);
  });
  assert.match(text, /(%\d+) = OpSConvert %ulong %\d+\n *%\d+ = OpIMul %ulong \1 %ulong_16\n/);
  assert.match(text, /OpIAdd %ulong %\d+ %ulong_18446744073709551600\n *%\d+ = OpConvertUToPtr/);
  assert.equal(count(text, /OpAccessChain %_ptr_PhysicalStorageBuffer/), 0);
});

test("a place used twice writes its access chain once, and again where the first is out of scope", () => {
  const text = textOf((m) => {
    const a = m.storageBuffer(m.f32, { binding: 0 });
    kernel((f) => {
      const inside = a.at(1);
      f.if(true, () => inside.store(1));
      const cell = a.at(0);
      cell.store(f.add(cell.load(), inside.load()));
    })(m);
  });
  assert.equal(count(text, /OpAccessChain/), 3);
});

test("a place inside a place is one access, with its indices in order", () => {
  const [value] = run([0], (f, x, m) => {
    const table = m.array(m.array(m.i32, 3), 2);
    const rows = [
      [1, 2, 3],
      [4, 5, 6],
    ];
    const grid = f.variable(table, m.constant(table, rows));
    grid.at(1).store(0, 40);
    x.store(0, f.add(grid.load(1, 0), grid.at(0).load(1)));
  });
  assert.equal(value, 42);
});
