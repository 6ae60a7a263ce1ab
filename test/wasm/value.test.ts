/** Nodes of a recording: locals without a place, and whether something was written between two positions. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ModuleBuilder } from "../../src/wasm/builder.js";
import { areMadeAlike, isWrittenBetween, Node, newLocal, type Scope } from "../../src/wasm/value.js";

test("writes between two positions, the ends left out, against a plain search", () => {
  const writes = [2, 3, 7, 7, 11];
  for (let from = -1; from <= 12; from++) {
    for (let to = from; to <= 13; to++) {
      const want = writes.some((at) => at > from && at < to);
      assert.equal(isWrittenBetween({ writes }, from, to), want, `${from} to ${to}`);
    }
  }
  assert.equal(isWrittenBetween({ writes: [] }, 0, 100), false);
});

test("a new local has a type, no place and no writes", () => {
  assert.deepEqual(newLocal("f64"), { type: "f64", slot: -1, writes: [] });
  assert.notEqual(newLocal("i32").writes, newLocal("i32").writes);
});

test("a node is shown by its type and what made it", () => {
  const scope: Scope = { isOpen: true, owner: {}, loop: { parent: null, busyLocals: [] }, locals: [] };
  assert.equal(String(new Node("i32", { kind: "constant", value: 1 }, [], scope, -1, null)), "i32 from constant");
});

test("values are made alike by the same instructions, offsets and constants of the same values", () => {
  const m = new ModuleBuilder();
  m.function("f", ["i32", "i32"], [], (f, x, y) => {
    const place = (a: typeof x, shift: number, offset = 0) => f.i32.load(f.i32.add(a, f.i32.shl(y, shift)), { offset });
    assert.ok(areMadeAlike(place(x, 2), place(x, 2)));
    assert.ok(!areMadeAlike(place(x, 2), place(y, 2)));
    assert.ok(!areMadeAlike(place(x, 2), place(x, 3)));
    assert.ok(!areMadeAlike(place(x, 2), place(x, 2, 4)));
    assert.ok(!areMadeAlike(f.i32.add(x, y), f.i32.sub(x, y)));
    assert.ok(!areMadeAlike(f.f32.const(0), f.f32.const(-0)));
    // Deep ones are not compared to the end: they count as different.
    const sum = () => Array.from({ length: 9 }).reduce((a: typeof x) => f.i32.add(a, y), x);
    assert.ok(!areMadeAlike(sum(), sum()));
  });
});
