/** Variables, globals, choices, calls and returns, by what they compute. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { WebAssembly } from "../../src/core/webassembly.js";
import { ModuleBuilder } from "../../src/wasm/builder.js";
import type { ValueType } from "../../src/wasm/types.js";
import type { Value } from "../../src/wasm/value.js";
import { type Datum, read, write } from "./instruction-runs.js";
import { compute, start } from "./running.js";

describe("variables, globals and the order of effects", () => {
  test("a value read from a variable keeps what it was when the variable changes", () => {
    const run = compute([3], (f, a) => {
      const x = f.variable("i32", a);
      const before = x.get();
      x.set(f.i32.add(x.get(), 1));
      const between = x.get();
      x.set(f.i32.mul(x.get(), 10));
      return f.i32.add(f.i32.mul(before, 10000), f.i32.add(f.i32.mul(between, 100), x.get()));
    });
    assert.equal(run, 30440);
  });

  test("a variable read before a loop that changes it", () => {
    const run = compute([4], (f, n) => {
      const x = f.variable("i32", 1);
      const before = x.get();
      f.for(0, n, 1, () => {
        f.i32.store(0, before);
        x.set(f.i32.add(x.get(), before));
      });
      return f.i32.add(f.i32.mul(x.get(), 10), before);
    });
    assert.equal(run, 51);
  });

  test("a load keeps its value when memory is written before its use", () => {
    const run = compute([], (f) => {
      f.i32.store(0, 1);
      const one = f.i32.load(0);
      f.i32.store(0, 2);
      const two = f.i32.load(0);
      f.memory.fill(0, 0, 4);
      const zero = f.i32.load(0);
      f.i32.atomic.store(0, 7);
      return f.i32.add(f.i32.mul(f.i32.add(f.i32.mul(one, 10), two), 10), f.i32.add(zero, f.i32.load(0)));
    });
    assert.equal(run, 127);
  });

  test("globals keep their value between calls; a call may change them", () => {
    const m = new ModuleBuilder();
    const counter = m.global("i32", 5);
    const limit = m.global("f64", 2.5, { mutable: false, name: "limit" });
    const bump = m.function("bump", [], [], (f) => {
      const g = f.global(counter);
      g.set(f.i32.add(g.get(), 1));
    });
    const run = m.function("run", [], ["i32", "i32", "f64"], (f) => {
      const before = f.global(counter).get();
      f.call(bump);
      f.call(bump);
      return [before, f.global(counter).get(), f.global(limit).get()];
    });
    m.export(run);
    const { exports } = start(m);
    assert.deepEqual(exports.run?.(), [5, 7, 2.5]);
    assert.deepEqual(exports.run?.(), [7, 9, 2.5]);
  });

  test("globals of every type", () => {
    const m = new ModuleBuilder();
    const all = [m.global("i32", -1), m.global("i64", 2n ** 63n), m.global("f32", 0.1), m.global("f64", -0)] as const;
    const [a, b, c, d] = all;
    const run = m.function("run", [], ["i32", "i64", "f32", "f64"], (f) => [
      f.global(a).get(),
      f.global(b).get(),
      f.global(c).get(),
      f.global(d).get(),
    ]);
    m.export(run);
    assert.deepEqual(start(m).exports.run?.(), [-1, -(2n ** 63n), Math.fround(0.1), -0]);
  });
});

describe("select", () => {
  const choices: [ValueType, Datum, Datum][] = [
    ["i32", 1, 2],
    ["i64", 1n, 2n],
    ["f32", 1.5, 2.5],
    ["f64", 1.25, 2.25],
    ["v128", new Uint8Array(16).fill(1), new Uint8Array(16).fill(2)],
  ];
  for (const [type, a, b] of choices) {
    test(`between two ${type}`, () => {
      const m = new ModuleBuilder();
      const run = m.function("run", ["i32"], [], (f, condition) => {
        const chosen = f.select(condition, f.op(`${type}.load`, 0) as Value, f.op(`${type}.load`, 16) as Value);
        f.op(`${type}.store`, 32, chosen);
      });
      m.export(run);
      const { view, exports } = start(m);
      write(view, 0, type, a);
      write(view, 16, type, b);
      for (const condition of [0, 1, -5]) {
        exports.run?.(condition);
        assert.deepEqual(read(view, 32, type), condition === 0 ? b : a);
      }
    });
  }
});

describe("calls", () => {
  test("functions call functions, with one result, several, or none", () => {
    const m = new ModuleBuilder();
    const square = m.function("square", ["f64"], "f64", (f, x) => f.f64.mul(x, x));
    const both = m.function("both", ["f64", "f64"], ["f64", "f64"], (f, x, y) => [f.f64.add(x, y), f.f64.sub(x, y)]);
    const run = m.function("run", ["f64", "f64"], "f64", (f, x, y) => {
      const [sum, difference] = f.call(both, f.call(square, x), f.call(square, y));
      return f.f64.div(sum, difference);
    });
    m.export(run, "ratio");
    assert.equal(start(m).exports.ratio?.(3, 2), 13 / 5);
  });

  test("imported functions come first and are called in order", () => {
    const m = new ModuleBuilder();
    const log = m.importFunction("host", "log", ["i32", "f32"], []);
    const ask = m.importFunction("host", "ask", [], "i32");
    const run = m.function("run", [], "i32", (f) => {
      const first = f.call(ask);
      f.call(log, first, 1.5);
      const second = f.call(ask);
      f.call(log, second, 2.5);
      return f.i32.sub(first, second);
    });
    m.export(run);
    const seen: unknown[] = [];
    let next = 10;
    const imports = { host: { log: (...args: unknown[]) => seen.push(args), ask: () => next++ } };
    assert.equal(start(m, { imports }).exports.run?.(), -1);
    assert.deepEqual(seen, [
      [10, 1.5],
      [11, 2.5],
    ]);
  });

  test("unreachable traps, and so does what would divide by zero, unless nobody wants the quotient", () => {
    assert.throws(() => compute([], (f) => void f.unreachable() as undefined), WebAssembly.RuntimeError);
    assert.throws(() => compute([0], (f, x) => f.i32.div_s(1, x)), WebAssembly.RuntimeError);
    const unused = compute([0], (f, x) => {
      f.i32.div_s(1, x);
      return 3;
    });
    assert.equal(unused, 3);
  });
});
