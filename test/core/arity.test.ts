import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { checkCount, parameterCount, refusingSurplus } from "../../src/core/arity.js";

describe("parameters are counted in the text of a function", () => {
  const counted: readonly (readonly [number, (...args: never[]) => unknown])[] = [
    [0, () => 1],
    [1, (x: number) => x],
    [2, (x: number, options = {}) => [x, options]],
    [3, (x = [1, 2], { a, b }: { a?: number; b?: string } = { a: 1, b: ")" }, y = ", (".length) => [x, a, b, y]],
    [1, ({ a = [1, 2], b }: { a?: number[]; b?: number }) => [a, b]],
    [2, async (x: number, y: number) => x + y],
    [Infinity, (...all: number[]) => all],
    [Infinity, (x: number, ...all: number[]) => [x, all]],
    [
      2,
      (
        /* one, two */ x: number,
        // three, four
        y: number,
      ) => x + y,
    ],
  ];
  for (const [count, f] of counted) test(f.toString().split("\n")[0]!, () => assert.equal(parameterCount(f), count));

  test("of methods", () => {
    class Example {
      get(this: Example, key: string, options = {}) {
        return [key, options];
      }
    }
    assert.equal(parameterCount(Example.prototype.get), 2);
  });
});

describe("surplus arguments", () => {
  test("are refused with what was given", () => {
    assert.doesNotThrow(() => checkCount("f", 2, [1, 2]));
    assert.doesNotThrow(() => checkCount("f", 2, [1, 2, undefined]));
    assert.throws(() => checkCount("f", 0, [5]), { message: "f: takes no argument, but got 5; leave it out." });
    assert.throws(() => checkCount("f", 1, [1, {}]), {
      message: "f: takes one argument, but also got an object; leave it out.",
    });
    assert.throws(() => checkCount("f", 2, [1, 2, 3, "x"]), {
      message: 'f: takes 2 arguments at most, but also got 3, "x"; leave them out.',
    });
  });

  test("of a callback come with the way to write it", () => {
    const f = refusingSurplus("f", (x: number) => -x);
    assert.throws(() => [4, 5].map(f), {
      message: "f: takes one argument, but also got 0, [4, 5], as array methods pass them; write xs.map((x) => f(x)).",
    });
    assert.deepEqual([4, 5].map((x) => f(x)), [-4, -5]); // biome-ignore format: one line
  });

  test("a wrapped method keeps its receiver, its name and its length", () => {
    const scaled = refusingSurplus("scaled", function (this: { by: number }, x: number, y = 1) {
      return this.by * x * y;
    });
    assert.equal(scaled.call({ by: 3 }, 2), 6);
    assert.equal(scaled.call({ by: 3 }, 2, 2), 12);
    assert.deepEqual([scaled.name, scaled.length], ["scaled", 1]);
  });

  test("a method with a rest parameter is left as it is", () => {
    const all = (...args: number[]) => args.length;
    assert.equal(refusingSurplus("all", all), all);
  });
});
