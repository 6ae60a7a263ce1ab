/** Instructions as methods: the names of the specification cut at the dots, with immediates after the operands. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ModuleBuilder } from "../../src/wasm/builder.js";
import type { FunctionBuilder } from "../../src/wasm/function-builder.js";
import { INSTRUCTIONS } from "../../src/wasm/instructions.js";
import { namespace } from "../../src/wasm/namespaces.js";
import { instructions } from "./running.js";

function within(look: (f: FunctionBuilder) => void): void {
  new ModuleBuilder().function("run", [], [], (f) => look(f));
}

test("every instruction has its method", () => {
  within((f) => {
    for (const name of INSTRUCTIONS.keys()) {
      const method = name.split(".").reduce((at: unknown, step) => (at as Record<string, unknown>)[step], f as unknown);
      assert.equal(typeof method, "function", name);
    }
  });
});

test("a namespace is made once for a function, and is another for another", () => {
  within((f) => {
    assert.equal(f.i32, f.i32);
    assert.equal(f.i32.add, f.i32.add);
    within((other) => {
      assert.notEqual(f.i32, other.i32);
    });
    assert.equal(typeof namespace("memory", f).fill, "function");
  });
});

test("lanes and accesses follow the operands", () => {
  const lines = instructions((f, a) => {
    const v = f.v128.load32_lane(a, f.i32x4.const(0), 2, { offset: 8, align: 1 });
    f.v128.store(a, f.i8x16.shuffle(v, v, [...Array(16).keys()]), { offset: 16 });
    f.i64.atomic.rmw.add(a, 1n, { offset: 24 });
    return f.i32x4.extract_lane(v, 3);
  });
  const text = lines.join("\n");
  assert.match(text, /v128\.load32_lane offset=8 align=1 2/);
  assert.match(text, /v128\.store offset=16/);
  assert.match(text, /i8x16\.shuffle 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15/);
  assert.match(text, /i64\.atomic\.rmw\.add offset=24/);
  assert.match(text, /i32x4\.extract_lane 3/);
});

test("constants: one literal, or one for each lane", () => {
  within((f) => {
    assert.equal(f.i64.const(5n).type, "i64");
    assert.equal(f.f64x2.const([1, 2]).type, "v128");
    assert.throws(() => f.f64x2.const([1, 2, 3]), /3 lanes for f64x2/);
  });
});
