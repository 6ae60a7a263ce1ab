/** The module as a whole: compact, deterministic, quickly written, and of any length. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { WebAssembly } from "../../src/core/webassembly.js";
import { ModuleBuilder } from "../../src/wasm/builder.js";
import { disassemble } from "../../src/wasm/disassemble.js";
import type { FunctionBuilder } from "../../src/wasm/function-builder.js";
import type { Value } from "../../src/wasm/value.js";
import { start } from "./running.js";

test("function types are shared", () => {
  const m = new ModuleBuilder();
  for (let i = 0; i < 5; i++) m.function(`f${i}`, ["i32"], "i32", (_f, x) => x);
  m.function("g", ["i32"], [], () => {});
  assert.equal(disassemble(m.build()).match(/\(type \(;/g)?.length, 2);
});

describe("the same calls give the same bytes", () => {
  test("twice over, and again after adding a function", () => {
    const make = () => {
      const m = new ModuleBuilder();
      m.importFunction("env", "log", ["f64"], []);
      const g = m.global("i64", 3n);
      const run = m.function("run", ["i32", "f32"], "f32", (f, n, x) => {
        f.global(g).set(f.i64.add(f.global(g).get(), 1n));
        const v = f.f32x4.splat(x);
        return f.fold(0, n, 1, x, (i, sum) =>
          f.if(
            f.i32.and(i, 1),
            () => f.f32.add(sum, f.f32x4.extract_lane(f.f32x4.mul(v, Number.NaN), 2)),
            () => f.f32.mul(sum, 2),
          ),
        );
      });
      m.export(run);
      return m;
    };
    const m = make();
    const first = m.build();
    assert.deepEqual(first, make().build());
    assert.deepEqual(first, m.build());
    m.function("more", [], [], () => {});
    assert.notDeepEqual(first, m.build());
    assert.ok(WebAssembly.validate(m.build()));
  });
});

describe("functions of great length", () => {
  const lengths = 10_000;
  const chain = (step: (f: FunctionBuilder, x: Value<"i32">, i: number) => Value<"i32">) => {
    const m = new ModuleBuilder();
    m.export(
      m.function("run", ["i32"], "i32", (f, seed) => {
        let x = seed;
        for (let i = 0; i < lengths; i++) x = step(f, x, i);
        return x;
      }),
    );
    return start(m).exports.run?.(1);
  };

  test("10,000 operations that lean left: one expression, no recursion", () => {
    let expected = 1;
    for (let i = 0; i < lengths; i++) expected = (Math.imul(expected, 3) + i) | 0;
    assert.equal(
      chain((f, x, i) => f.i32.add(f.i32.mul(x, 3), i)),
      expected,
    );
  });

  test("10,000 operations that lean right are cut before the stack gets deep", () => {
    let expected = 1;
    for (let i = 0; i < lengths; i++) expected = (i - expected) | 0;
    assert.equal(
      chain((f, x, i) => f.i32.sub(i, x)),
      expected,
    );
  });

  test("10,000 values that are all used again", () => {
    let expected = 1;
    for (let i = 0; i < lengths; i++) expected = Math.imul(expected, expected + i);
    assert.equal(
      chain((f, x, i) => f.i32.mul(x, f.i32.add(x, i))),
      expected,
    );
  });

  test("10,000 statements, every value alive to the end", () => {
    const m = new ModuleBuilder();
    m.export(
      m.function("run", ["i32"], "i32", (f, seed) => {
        const loads = Array.from({ length: lengths }, (_, i) => {
          f.i32.store(4 * (i % 100), f.i32.add(seed, i));
          return f.i32.load(4 * (i % 100));
        });
        return loads.reduceRight((sum, x) => f.i32.add(x, sum));
      }),
    );
    assert.equal(start(m).exports.run?.(1), lengths + (lengths * (lengths - 1)) / 2);
  });
});

test("2,000 instructions are written in less than 5 ms once warm", () => {
  const write = () => {
    const m = new ModuleBuilder();
    m.function("run", ["i32", "i32"], [], (f, from, to) => {
      f.for(from, to, 16, (at) => {
        let v = f.v128.load(at);
        for (let i = 0; i < 500; i++) v = f.f32x4.add(f.f32x4.mul(v, v), f.f32x4.sub(v, i % 10));
        f.v128.store(at, v);
      });
    });
    return m.build();
  };
  let best = Infinity;
  for (let i = 0; i < 30; i++) {
    const begin = performance.now();
    write();
    best = Math.min(best, performance.now() - begin);
  }
  assert.ok(best < 5, `${best.toFixed(2)} ms`);
});
