/** Branches by a condition and by a number, by what they compute. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ModuleBuilder } from "../../src/wasm/builder.js";
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
