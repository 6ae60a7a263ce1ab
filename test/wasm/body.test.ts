/** The encoding of bodies: what stays on the stack, what is dropped, what is made once before a loop. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { instructions } from "./running.js";

test("a result used by the next statement stays on the stack; one nobody wants is dropped", () => {
  assert.deepEqual(
    instructions((f, a) => {
      const old = f.i32.atomic.rmw.add(a, 1);
      f.if(f.i32.eq(old, 3), () => {
        f.i32.atomic.rmw.add(a, 2);
      });
      return a;
    }),
    [
      "(local i32)",
      "local.get 0",
      "i32.const 1",
      "i32.atomic.rmw.add",
      "i32.const 3",
      "i32.eq",
      "if",
      "local.get 0",
      "i32.const 2",
    ].concat(["i32.atomic.rmw.add", "drop", "end", "local.get 0"]),
  );
});

test("a vector constant used in a loop is made once, before it", () => {
  const lines = instructions((f, a, b) => {
    f.for(a, b, 16, (at) => f.v128.store(at, f.f32x4.add(f.v128.load(at), 1)));
    return a;
  });
  assert.ok(lines.findIndex((line) => line.startsWith("v128.const")) < lines.indexOf("loop"));
  assert.equal(lines.filter((line) => line.startsWith("v128.const")).length, 1);
});

test("jumps count the blocks between, and blocks that nobody jumps to are not written", () => {
  const lines = instructions((f, a, b) => {
    f.if(a, () => {
      f.if(b, () => f.return(7));
    });
    return b;
  });
  assert.equal(lines.filter((line) => line === "if").length, 2);
  assert.equal(lines.filter((line) => line === "block").length, 0);
  const looping = instructions((f, a, b) => {
    f.for(0, b, 1, (i) => f.i32.store(a, i));
    return a;
  });
  assert.deepEqual(
    looping.filter((line) => /^(block|loop|br)/.test(line)).map((line) => line.replace(/ .*/, "")),
    looping.some((line) => line === "block") ? ["block", "br_if", "loop", "br_if"] : ["loop", "br_if"],
  );
});

test("a body whose end is never reached says so, where a result would have to be there", () => {
  const lines = instructions((f, a) => {
    f.if(
      a,
      () => f.return(1),
      () => f.return(2),
    );
    return undefined;
  });
  assert.equal(lines.at(-1), "unreachable");
});

test("large constants take all their bytes", () => {
  const lines = instructions((f, a) => f.i32.add(a, -2147483648));
  assert.ok(lines.includes("i32.const -2147483648"), lines.join("; "));
});
