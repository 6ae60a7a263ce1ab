/** Branches, loops, variables, calls and returns, by what they compute. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { WebAssembly } from "../../src/core/webassembly.js";
import { ModuleBuilder } from "../../src/wasm/builder.js";
import type { FunctionBuilder } from "../../src/wasm/function-builder.js";
import type { Value } from "../../src/wasm/value.js";
import { compute, start } from "./running.js";

describe("branches", () => {
  test("if runs one side and yields its value; a literal takes the other side's type", () => {
    const sign = (x: number) =>
      compute([x], (f, a) =>
        f.if(
          f.i32.lt_s(a, 0),
          () => f.i32.const(-1),
          () =>
            f.if(
              f.i32.gt_s(a, 0),
              () => f.i32.add(a, 100),
              () => 7,
            ),
        ),
      );
    assert.deepEqual([-5, 5, 0].map(sign), [-1, 105, 7]);
  });

  test("if yields several values, in order, of several types", () => {
    const m = new ModuleBuilder();
    const run = m.function("run", ["i32", "f64"], ["f64", "i32"], (f, a, b) =>
      f.if(
        f.i32.lt_s(a, 0),
        () => [b, a] as const,
        () => [f.f64.neg(b), 5],
      ),
    );
    m.export(run);
    const { exports } = start(m);
    assert.deepEqual(exports.run?.(-2, 1.5), [1.5, -2]);
    assert.deepEqual(exports.run?.(2, 1.5), [-1.5, 5]);
  });

  test("if without else changes what it assigns, or nothing", () => {
    const clamp = (x: number) =>
      compute([x], (f, a) => {
        const result = f.variable("i32", a);
        f.if(f.i32.gt_s(a, 10), () => result.set(10));
        return result.get();
      });
    assert.deepEqual([3, 30].map(clamp), [3, 10]);
  });

  test("an early return leaves the rest undone", () => {
    const run = (x: number) =>
      compute([x], (f, a) => {
        f.if(f.i32.lt_s(a, 0), () => f.return(-100));
        return f.i32.add(a, 1);
      });
    assert.deepEqual([-1, 1].map(run), [-100, 2]);
  });

  test("both sides returning needs nothing after them", () => {
    const run = (x: number) =>
      compute([x], (f, a) => {
        f.if(
          a,
          () => f.return(1),
          () => f.return(2),
        );
        assert.ok(f.isTerminated);
        return undefined;
      });
    assert.deepEqual([0, 5].map(run), [2, 1]);
  });

  const labels = [
    ["dense", [1, 2, 3, 4]],
    ["from below zero", [-3, -2, 0, 1]],
    ["sparse", [-(2 ** 31), 5, 1000000, 2 ** 31 - 1]],
  ] as const;
  for (const [kind, [a, b, c, d]] of labels) {
    test(`switch, ${kind}: takes the case of its label, or the default, and falls through nowhere`, () => {
      const choose = (x: number) =>
        compute([x], (f, selector) => {
          const seen = f.variable("i32", 0);
          const y = f.switch(
            selector,
            [
              [a, () => f.i32.const(10)],
              [[b, c], () => f.i32.add(selector, 20)],
              [
                d,
                () => {
                  seen.set(1000);
                  return 30;
                },
              ],
            ],
            () => 9,
          );
          return f.i32.add(y, seen.get());
        });
      const expected = (x: number) => (x === a ? 10 : x === b || x === c ? (x + 20) | 0 : x === d ? 1030 : 9);
      for (const x of [a, b, c, d, a - 1, d + 1, 7, -1, 0]) assert.equal(choose(x | 0), expected(x | 0), `${x}`);
    });
  }

  test("switch without a default does nothing for other labels", () => {
    const run = (x: number) =>
      compute([x], (f, selector) => {
        const y = f.variable("i32", 1);
        f.switch(selector, [[3, () => y.set(4)]]);
        return y.get();
      });
    assert.deepEqual([3, 4].map(run), [4, 1]);
  });
});

describe("loops", () => {
  const visited = (from: number, to: number, step: number, options = {}) => {
    const m = new ModuleBuilder();
    const run = (bounds: "literal" | "values") =>
      m.function(bounds, ["i32", "i32"], "i32", (f, start, end) => {
        const count = f.variable("i32", 0);
        const [a, b] = bounds === "literal" ? [from, to] : [start, end];
        f.for(
          a,
          b,
          step,
          (i) => {
            f.i32.store(f.i32.shl(count.get(), 2), i);
            count.set(f.i32.add(count.get(), 1));
          },
          options,
        );
        return count.get();
      });
    m.export(run("literal"));
    m.export(run("values"));
    const { view, exports } = start(m);
    const [literal, values] = ["literal", "values"].map((name) => {
      const count = exports[name]?.(from, to) as number;
      return Array.from({ length: count }, (_, i) => view.getInt32(4 * i, true));
    });
    assert.deepEqual(literal, values, "bounds as literals or as values");
    return values;
  };
  test("for counts up to its end, which is left out", () => assert.deepEqual(visited(2, 9, 3), [2, 5, 8]));
  test("for counts down with a negative step", () => assert.deepEqual(visited(3, -2, -2), [3, 1, -1]));
  test("for over nothing runs nothing", () => assert.deepEqual(visited(3, 3, 1), []));
  test("for from past its end runs nothing", () => assert.deepEqual(visited(5, 3, 1), []));
  test("for compares signed unless told", () => {
    assert.deepEqual(visited(-2, 1, 1), [-2, -1, 0]);
    assert.deepEqual(visited(-2, 1, 1, { unsigned: true }), []);
    assert.deepEqual(visited(0x7fffffff, 0x80000002 | 0, 1, { unsigned: true }), [
      0x7fffffff,
      -(2 ** 31),
      -(2 ** 31) + 1,
    ]);
  });

  test("for counts in i64 too", () => {
    const m = new ModuleBuilder();
    const run = m.function("run", ["i64"], "i64", (f, n) =>
      f.fold(0n, n, 1n, f.i64.const(0), (i, sum) => f.i64.add(sum, i)),
    );
    m.export(run);
    assert.equal(start(m).exports.run?.(100001n), 5000050000n);
  });

  test("fold carries one value or several, all replaced at once", () => {
    const fibonacci = (n: number) =>
      compute([n], (f, end) => {
        const [a] = f.fold(0, end, 1, [f.i32.const(0), f.i32.const(1)], (_i, [p, q]) => [q, f.i32.add(p, q)]);
        return a;
      });
    assert.deepEqual([0, 1, 2, 3, 10, 30].map(fibonacci), [0, 1, 1, 2, 55, 832040]);
    const swapped = compute([], (f) => {
      const [a, b] = f.fold(0, 3, 1, [f.i32.const(1), f.i32.const(2)], (_i, [x, y]) => [y, x]);
      return f.i32.add(f.i32.mul(a, 10), b);
    });
    assert.equal(swapped, 21);
  });

  test("the state of an empty fold is the initial state", () => {
    assert.equal(
      compute([0], (f, n) => f.fold(0, n, 1, f.i32.const(42), (i) => i)),
      42,
    );
    assert.equal(
      compute([], (f) => f.fold(5, 5, 1, f.i32.const(43), (i) => i)),
      43,
    );
  });

  test("nested loops with continue and break", () => {
    const sum = compute([6], (f, end) => {
      const total = f.variable("i32", 0);
      f.for(0, end, 1, (i) => {
        f.continueIf(f.i32.eq(i, 2));
        f.for(0, end, 1, (j) => {
          f.breakIf(f.i32.gt_s(j, i));
          total.set(f.i32.add(total.get(), f.i32.add(f.i32.mul(i, 10), j)));
        });
      });
      return total.get();
    });
    let expected = 0;
    for (let i = 0; i < 6; i++) if (i !== 2) for (let j = 0; j <= i; j++) expected += i * 10 + j;
    assert.equal(sum, expected);
  });

  test("break and continue carry state", () => {
    const run = (n: number) =>
      compute([n], (f, end) =>
        f.fold(0, end, 1, f.i32.const(0), (i, sum) => {
          f.if(f.i32.eq(i, 3), () => f.continue(f.i32.add(sum, 1000)));
          f.if(f.i32.eq(i, 5), () => f.break(f.i32.add(sum, 10000)));
          f.if(f.i32.eq(i, 4), () => f.continue());
          return f.i32.add(sum, i);
        }),
      );
    assert.deepEqual([3, 4, 5, 6, 9].map(run), [3, 1003, 1003, 11003, 11003]);
  });

  test("while looks before each round, loop until it breaks", () => {
    const rounds = (limit: number) =>
      compute([limit], (f, end) => {
        const n = f.variable("i32", 0);
        f.while(
          () => f.i32.lt_s(n.get(), end),
          () => n.set(f.i32.add(n.get(), 1)),
        );
        const k = f.variable("i32", 0);
        f.loop(() => {
          k.set(f.i32.add(k.get(), 1));
          f.breakIf(f.i32.ge_s(k.get(), end));
        });
        return f.i32.add(f.i32.mul(n.get(), 100), k.get());
      });
    assert.deepEqual([0, 1, 5].map(rounds), [1, 101, 505]);
  });

  test("iterate: the greatest common divisor", () => {
    const gcd = (a: number, b: number) =>
      compute([a, b], (f, x, y) => {
        const [result] = f.iterate(
          [x, y],
          ([_p, q]) => q,
          ([p, q]) => [q, f.i32.rem_u(p, q)],
        );
        return result;
      });
    assert.deepEqual([gcd(12, 18), gcd(17, 5), gcd(0, 9), gcd(9, 0)], [6, 1, 9, 9]);
  });

  test("a loop that never ends is no obstacle to a result", () => {
    const run = compute([5], (f, n) => {
      const i = f.variable("i32", 0);
      f.loop(() => {
        i.set(f.i32.add(i.get(), 1));
        f.if(f.i32.eq(i.get(), n), () => f.return(f.i32.mul(i.get(), 7)));
      });
      assert.ok(f.isTerminated);
      return undefined;
    });
    assert.equal(run, 35);
  });

  test("thirty loops inside one another", () => {
    const m = new ModuleBuilder();
    const nest = (f: FunctionBuilder, depth: number, sum: Value<"i32">): Value<"i32"> =>
      depth === 0
        ? f.i32.add(sum, 1)
        : f.fold(0, depth % 5 === 0 ? 2 : 1, 1, sum, (_i, inner) => nest(f, depth - 1, inner));
    m.export(m.function("run", [], "i32", (f) => nest(f, 30, f.i32.const(0))));
    assert.equal(start(m).exports.run?.(), 2 ** 6);
  });
});

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
