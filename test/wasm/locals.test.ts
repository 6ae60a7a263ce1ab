/** The locals of a body: shared by values whose lives do not overlap, held through loops, declared in runs. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ByteStream } from "../../src/wasm/bytes.js";
import { Locals } from "../../src/wasm/locals.js";
import type { Loop } from "../../src/wasm/value.js";
import { instructions } from "./running.js";

test("values whose lives do not overlap share a local", () => {
  const lines = instructions((f, a) => {
    let x = a;
    for (let i = 0; i < 50; i++) x = f.i32.mul(f.i32.add(x, i), f.i32.add(x, i + 1));
    return x;
  });
  assert.equal(lines[0], "(local i32)", "fifty values, one alive at a time");
});

const loopIn = (parent: Loop | null): Loop => ({ parent, busyLocals: [] });

test("a local that is given back is taken again by a value of its type, and by no other", () => {
  const locals = new Locals(2);
  const [a, b] = [locals.take("i32"), locals.take("i32")];
  assert.deepEqual([a, b], [2, 3]);
  locals.giveBack("i32", a);
  assert.equal(locals.take("f32"), 4);
  assert.equal(locals.take("i32"), 2);
  assert.equal(locals.take("i32"), 5);
});

test("a value made outside of a loop keeps its local until the outermost loop that it was made outside of ends", () => {
  const locals = new Locals(0);
  const body = loopIn(null);
  const outer = loopIn(body);
  const inner = loopIn(outer);
  const slot = locals.take("i32");
  locals.giveBackAfter("i32", slot, body, inner);
  locals.endLoop(inner);
  assert.equal(locals.take("i32"), 1, "the next round of the outer loop needs it");
  locals.endLoop(outer);
  assert.equal(locals.take("i32"), slot);
  locals.giveBackAfter("i32", slot, inner, inner);
  assert.equal(locals.take("i32"), slot, "one made in the loop is free at once");
});

test("a loop gives back what it held once", () => {
  const locals = new Locals(0);
  const [body, loop] = [loopIn(null), loopIn(null)];
  const inner = { ...loop, parent: body };
  locals.giveBackAfter("f64", locals.take("f64"), body, inner);
  locals.endLoop(inner);
  locals.endLoop(inner);
  assert.deepEqual([locals.take("f64"), locals.take("f64")], [0, 1]);
});

test("declarations are runs of one type, in the order they were taken", () => {
  const locals = new Locals(3);
  for (const type of ["i32", "i32", "v128", "i32"] as const) locals.take(type);
  const out = new ByteStream();
  locals.write(out);
  assert.deepEqual([...out.view()], [3, 2, 0x7f, 1, 0x7b, 1, 0x7f]);
});
