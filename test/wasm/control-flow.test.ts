/** Loops, by what they compute. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ModuleBuilder } from "../../src/wasm/builder.js";
import type { FunctionBuilder } from "../../src/wasm/function-builder.js";
import type { Value } from "../../src/wasm/value.js";
import { compute, start } from "./running.js";

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
