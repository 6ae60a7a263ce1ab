/** Which bytes a slice needs: against a loop over its elements. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ravelIndex, sizeOf, unravelIndex } from "../../src/core/shape.js";
import { type AxisRange, parseSlice } from "../../src/core/slice.js";
import { byteRuns, groupRuns } from "../../src/io/byte-runs.js";
import { randomFrom } from "../support/random.js";

/** The byte offsets of a slice, one by one. */
function bytesOfSlice(shape: number[], size: number, ranges: AxisRange[]): number[] {
  const counts = ranges.map(({ count }) => count);
  return Array.from({ length: sizeOf(counts) }, (_, position) => {
    const index = unravelIndex(position, counts).map((i, axis) => ranges[axis].start + i * ranges[axis].step);
    const first = ravelIndex(index, shape) * size;
    return Array.from({ length: size }, (_, byte) => first + byte);
  }).flat();
}

function bytesOfRuns({ length, offsets }: ReturnType<typeof byteRuns>): number[] {
  return [...offsets()].flatMap((offset) => Array.from({ length }, (_, byte) => offset + byte));
}

test("runs are the bytes of the slice, in its order, on random shapes and slices", () => {
  for (let seed = 0; seed < 2000; seed++) {
    const random = randomFrom(seed);
    const shape = Array.from({ length: random.below(5) }, () => random.pick([0, 1, 2, 3, 4, 5]));
    const size = random.pick([1, 2, 4]);
    const bound = () => random.pick(["", "", "0", "1", "2", "-1", "-2", "9"]);
    const ranges = shape.map((length) =>
      parseSlice(`${bound()}:${bound()}:${random.pick(["", "", "1", "2", "-1", "-3"])}`, length, "at"),
    );
    const runs = byteRuns(shape, size, ranges);
    assert.deepEqual(bytesOfRuns(runs), bytesOfSlice(shape, size, ranges), `seed ${seed}`);
    assert.equal([...runs.offsets()].length, runs.count);
    for (const [gap, span] of [
      [0, 1],
      [0, 1000],
      [8, 1000],
      [1000, 16],
    ]) {
      const groups = [...groupRuns(runs, gap, span)];
      assert.deepEqual(
        groups.flatMap(({ offsets }) => offsets),
        [...runs.offsets()],
        `seed ${seed}`,
      );
      for (const { start, end, offsets } of groups) {
        assert.equal(start, Math.min(...offsets));
        assert.equal(end, Math.max(...offsets) + runs.length);
        assert.ok(offsets.length === 1 || end - start <= span);
      }
    }
  }
});

describe("runs are long", () => {
  const whole = (count: number) => ({ start: 0, step: 1, count });

  test("a whole array and a block of rows are one run", () => {
    assert.deepEqual(
      { ...byteRuns([10, 20], 4, [whole(10), whole(20)]), offsets: 0 },
      { length: 800, count: 1, offsets: 0 },
    );
    const rows = byteRuns([10, 20], 4, [{ start: 3, step: 1, count: 2 }, whole(20)]);
    assert.deepEqual([rows.length, [...rows.offsets()]], [160, [240]]);
  });

  test("a block of columns is one run per row", () => {
    const columns = byteRuns([3, 20], 4, [whole(3), { start: 5, step: 1, count: 10 }]);
    assert.deepEqual([columns.length, [...columns.offsets()]], [40, [20, 100, 180]]);
  });
});

describe("groups", () => {
  const runsAt = (length: number, ...starts: number[]) => ({
    length,
    count: starts.length,
    *offsets() {
      yield* starts;
    },
  });

  test("join what is near, in either direction, and part what is far", () => {
    const groups = [...groupRuns(runsAt(4, 0, 8, 100, 104, 90, 86), 4, 1000)];
    assert.deepEqual(
      groups.map(({ start, end }) => [start, end]),
      [
        [0, 12],
        [100, 108],
        [86, 94],
      ],
    );
  });

  test("do not join runs that overlap", () => {
    assert.equal([...groupRuns(runsAt(4, 0, 2), 10, 100)].length, 2);
  });
});
