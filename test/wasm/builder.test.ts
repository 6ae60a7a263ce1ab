/** The module as a whole: compact, deterministic, quickly written, and of any length. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { WebAssembly } from "../../src/core/webassembly.js";
import { ModuleBuilder } from "../../src/wasm/builder.js";
import { disassemble } from "../../src/wasm/disassemble.js";
import type { FunctionBuilder } from "../../src/wasm/function-builder.js";
import type { Value } from "../../src/wasm/value.js";
import { start } from "./running.js";

/** The lines of a function's body, without indentation. */
function instructions(body: (f: FunctionBuilder, ...p: Value<"i32">[]) => Value | undefined): string[] {
  const m = new ModuleBuilder({ names: false });
  m.function("run", ["i32", "i32"], "i32", (f, a, b) => body(f, a, b) as Value<"i32">);
  const text = disassemble(m.build());
  const lines = text.split("\n").map((line) => line.trim());
  return lines.slice(lines.findIndex((line) => line.startsWith("(func")) + 1, lines.lastIndexOf(")") - 1);
}

describe("code is compact", () => {
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

  test("values whose lives do not overlap share a local", () => {
    const lines = instructions((f, a) => {
      let x = a;
      for (let i = 0; i < 50; i++) x = f.i32.mul(f.i32.add(x, i), f.i32.add(x, i + 1));
      return x;
    });
    assert.equal(lines[0], "(local i32)", "fifty values, one alive at a time");
  });

  test("a vector constant used in a loop is made once, before it", () => {
    const lines = instructions((f, a, b) => {
      f.for(a, b, 16, (at) => f.v128.store(at, f.f32x4.add(f.v128.load(at), 1)));
      return a;
    });
    assert.ok(lines.findIndex((line) => line.startsWith("v128.const")) < lines.indexOf("loop"));
    assert.equal(lines.filter((line) => line.startsWith("v128.const")).length, 1);
  });

  test("function types are shared", () => {
    const m = new ModuleBuilder();
    for (let i = 0; i < 5; i++) m.function(`f${i}`, ["i32"], "i32", (_f, x) => x);
    m.function("g", ["i32"], [], () => {});
    assert.equal(disassemble(m.build()).match(/\(type \(;/g)?.length, 2);
  });
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
