/** Indexing arguments, against Python's slicing written out as a loop. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ArgumentError, ShapeError } from "../../src/core/errors.js";
import { type IndexArgument, indexedShape, newAxis, parseIndexing, parseSlice } from "../../src/core/slice.js";

/** The indices that Python's seq[start:stop:step] visits, from the language reference. */
function pythonIndices(start: number | null, stop: number | null, step: number, size: number): number[] {
  const bound = (value: number | null, fallback: number, low: number, high: number) => {
    if (value === null) return fallback;
    const absolute = value < 0 ? value + size : value;
    return absolute < low ? low : absolute > high ? high : absolute;
  };
  const indices: number[] = [];
  if (step > 0) {
    const end = bound(stop, size, 0, size);
    for (let i = bound(start, 0, 0, size); i < end; i += step) indices.push(i);
  } else {
    const end = bound(stop, -1, -1, size - 1);
    for (let i = bound(start, size - 1, -1, size - 1); i > end; i += step) indices.push(i);
  }
  return indices;
}

describe("slices", () => {
  test("select what Python's do: all bounds and steps on axes of 0 to 5", () => {
    const bounds = [null, -7, -5, -4, -2, -1, 0, 1, 2, 4, 5, 7];
    for (let size = 0; size <= 5; size++) {
      for (const start of bounds) {
        for (const stop of bounds) {
          for (const step of [null, 1, 2, 3, 7, -1, -2, -3, -7]) {
            const text = `${start ?? ""}:${stop ?? ""}${step === null ? "" : `:${step}`}`;
            const range = parseSlice(text, size, "at");
            const selected = Array.from({ length: range.count }, (_, i) => range.start + i * range.step);
            assert.deepEqual(selected, pythonIndices(start, stop, step ?? 1, size), `"${text}" of ${size}`);
          }
        }
      }
    }
  });

  test("are described in one way: empty at 0, a single element with step 1", () => {
    assert.deepEqual(parseSlice("9:", 3, "at"), { start: 0, step: 1, count: 0 });
    assert.deepEqual(parseSlice("2:0:-5", 3, "at"), { start: 2, step: 1, count: 1 });
    assert.ok(Object.is(parseSlice("-0:2", 3, "at").start, 0));
  });

  test("may have spaces, and stay exact on huge axes", () => {
    assert.deepEqual(parseSlice(" 1 : -1 : 2 ", 6, "at"), { start: 1, step: 2, count: 2 });
    const size = 2 ** 52;
    assert.deepEqual(parseSlice("-3:", size, "at"), { start: size - 3, step: 1, count: 3 });
  });

  test("that make no sense are refused with a hint", () => {
    assert.throws(() => parseSlice("3", 5, "at"), /^ArgumentError: at: "3" is not a slice; write the number 3 without/);
    assert.throws(() => parseSlice("0,1:5", 5, "at"), /pass each axis as an argument of its own/);
    for (const text of ["a:b", "1:2:3:4", "1.5:2", "1e3:", "--1:", "", "0x1:2", "9999999999999999999:"]) {
      assert.throws(() => parseSlice(text, 5, "at"), /is not a slice; write "start:stop"/, text);
    }
    assert.throws(() => parseSlice("::0", 5, "at"), /step 0/);
  });
});

describe("indexing", () => {
  const whole = (axis: number, count: number) => ({ kind: "slice", axis, start: 0, step: 1, count });

  test("covers every axis, with the rest written out", () => {
    assert.deepEqual(parseIndexing([1], [2, 3], "at"), [{ kind: "index", axis: 0, index: 1 }, whole(1, 3)]);
    assert.deepEqual(parseIndexing([], [2, 3], "at"), [whole(0, 2), whole(1, 3)]);
    assert.deepEqual(parseIndexing([":", ":"], [2, 3], "at"), [whole(0, 2), whole(1, 3)]);
    assert.deepEqual(parseIndexing(["...", -1], [2, 3, 4], "at"), [
      whole(0, 2),
      whole(1, 3),
      { kind: "index", axis: 2, index: 3 },
    ]);
    assert.deepEqual(parseIndexing(["..."], [], "at"), []);
  });

  test("gives the shapes NumPy gives", () => {
    const cases: [IndexArgument[], number[]][] = [
      [
        [0, "1:5", "::-1"],
        [2, 5],
      ],
      [
        ["...", newAxis],
        [4, 3, 5, 1],
      ],
      [
        [newAxis, 1, "...", newAxis, ":2"],
        [1, 3, 1, 2],
      ],
      [["1:1"], [0, 3, 5]],
      [[0, 0, 0], []],
      [
        ["...", "::2"],
        [4, 3, 3],
      ],
    ];
    for (const [args, shape] of cases) assert.deepEqual(indexedShape(parseIndexing(args, [4, 3, 5], "at")), shape);
  });

  test("passes index tensors through with the axes they consume", () => {
    class Fake {
      constructor(readonly rank: number) {}
    }
    const tensors = {
      isItem: (argument: unknown): argument is Fake => argument instanceof Fake,
      axesOf: (item: Fake) => item.rank,
    };
    const mask = new Fake(2);
    assert.deepEqual(parseIndexing<Fake>([mask, "..."], [2, 3, 4], "at", tensors), [
      { kind: "tensor", axis: 0, axes: 2, item: mask },
      whole(2, 4),
    ]);
    assert.throws(() => parseIndexing<Fake>([new Fake(2)], [2], "at", tensors), ShapeError);
  });

  test("refuses what was left out, which is no whole axis", () => {
    for (const nothing of [null, undefined]) {
      const message = `at: index 1 is ${nothing}; write ":" for a whole axis; an index is a whole number, a slice such as "1:5" or { from: 1, to: 5 }, "...", newAxis.`;
      assert.throws(() => parseIndexing([0, nothing as never], [2, 3], "at"), { name: "ArgumentError", message });
    }
  });

  test("refuses too many indices, a second ellipsis, and what is no index", () => {
    assert.throws(() => parseIndexing([0, 0], [2], "at"), /at: 2 indices for shape \[2\], which has 1 axes/);
    assert.throws(() => parseIndexing(["...", "..."], [2], "at"), /"..." can stand only once/);
    assert.throws(() => parseIndexing([2], [2], "at"), /index 2 is out of range for axis 0 of size 2; use -2 to 1/);
    assert.throws(() => parseIndexing([0], [0], "at"), /it is empty/);
    assert.throws(() => parseIndexing([0.5], [2], "at"), ArgumentError);
    assert.throws(() => parseIndexing([true as unknown as number], [2], "at"), /index 0 is true/);
    assert.throws(() => parseIndexing([[0] as unknown as "..."], [2], "at"), /index 0 is \[0\]/);
  });
});
