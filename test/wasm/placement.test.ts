/** Where values are computed: inside their user, where they are first used, before what would change them, or not at all. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { instructions } from "./running.js";

test("an expression used once becomes part of its user", () => {
  assert.deepEqual(
    instructions((f, a, b) => f.i32.mul(f.i32.add(a, 1), f.i32.sub(b, f.i32.load(a)))),
    ["local.get 0", "i32.const 1", "i32.add", "local.get 1", "local.get 0", "i32.load", "i32.sub", "i32.mul"],
  );
});

test("one used again is kept in a local where it is first used", () => {
  assert.deepEqual(
    instructions((f, a, b) => {
      const sum = f.i32.add(a, b);
      return f.i32.mul(sum, sum);
    }),
    ["(local i32)", "local.get 0", "local.get 1", "i32.add", "local.tee 2", "local.get 2", "i32.mul"],
  );
});

test("what nobody uses is not there", () => {
  assert.deepEqual(
    instructions((f, a) => {
      f.i32.load(f.i32.mul(a, a));
      return a;
    }),
    ["local.get 0"],
  );
});

test("a load is computed before a store that follows it, though it is used after", () => {
  const lines = instructions((f, a, b) => {
    const before = f.i32.load(a);
    f.i32.store(a, b);
    return before;
  });
  assert.ok(lines.indexOf("i32.load") < lines.indexOf("i32.store"));
  const free = instructions((f, a, b) => {
    f.i32.store(a, b);
    return f.i32.load(a);
  });
  assert.ok(free.indexOf("i32.store") < free.indexOf("i32.load"));
  assert.ok(!free.some((line) => line.startsWith("(local")), "and takes no local where nothing is in between");
});

test("what is made before a loop and used inside is computed once, before it", () => {
  const lines = instructions((f, a, b) => {
    const product = f.i32.mul(a, b);
    f.for(0, b, 1, (i) => f.i32.store(i, product));
    return a;
  });
  assert.ok(lines.indexOf("i32.mul") < lines.indexOf("loop"));
});

test("a variable is read where it is used, unless it is written before", () => {
  const copied = instructions((f, a, b) => {
    const x = f.variable("i32", a);
    const before = x.get();
    x.set(b);
    return before;
  });
  const plain = instructions((f, a) => {
    const x = f.variable("i32", a);
    return f.i32.add(x.get(), x.get());
  });
  assert.ok(copied.filter((line) => /^local\.(set|tee)/.test(line)).length >= 2, copied.join("; "));
  assert.equal(plain.filter((line) => /^local\.(set|tee)/.test(line)).length, 1, plain.join("; "));
});

test("expressions that lean right are cut before the stack gets deep", () => {
  const lines = instructions((f, a, b) => {
    let x = f.i32.add(a, b);
    for (let i = 0; i < 200; i++) x = f.i32.sub(b, x);
    return x;
  });
  let [depth, deepest] = [0, 0];
  for (const line of lines) {
    if (/^(local\.get|i32\.const)/.test(line)) depth++;
    else if (/^(i32\.(add|sub)|local\.set)/.test(line)) depth--;
    deepest = Math.max(deepest, depth);
  }
  assert.ok(deepest > 10 && deepest <= 70, `${deepest} values on the stack`);
});
