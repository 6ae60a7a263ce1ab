/** Sorting by merging, and bisection: short rows, equal keys, and the number of passes. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { argsortRoutine, searchSortedRoutine } from "../../../src/compiler/routines/sort.js";
import { cpuProfile } from "../../../src/compiler/target/profile.js";
import { viewBytes } from "../../../src/core/storage.js";
import { Node } from "../../../src/graph/node.js";
import { buffer } from "../../../src/graph/primitives/leaf.js";
import { argsort, searchSorted } from "../../../src/graph/primitives/order.js";
import { make, nowhere } from "../../support/nodes.js";
import { randomFrom } from "../../support/random.js";
import { runRoutine } from "../../support/routine-runs.js";

const keys = (...shape: number[]) => new Node(buffer, { shape, dtype: "u32" }, [], shape, "u32", nowhere);
const settings = { division: "native" } as const;
const sorting = (rows: number, extent: number) =>
  argsortRoutine(make(argsort, [keys(rows, extent)]), cpuProfile, settings);

describe("argsort", () => {
  for (const extent of [1, 2, 7, 8, 9, 16, 17, 100, 300]) {
    test(`rows of ${extent}: stable, and each row by itself`, () => {
      const rows = 3;
      const random = randomFrom(extent);
      const values = Uint32Array.from({ length: rows * extent }, () =>
        random.pick([0, 5, 9, 2 ** 32 - 1, random.below(50)]),
      );
      const got = new Int32Array(runRoutine(sorting(rows, extent), [viewBytes(values)], 4 * values.length).buffer);
      for (let row = 0; row < rows; row++) {
        const own = values.subarray(row * extent, (row + 1) * extent);
        const want = [...own.keys()].sort((a, b) => own[a]! - own[b]! || a - b);
        assert.deepEqual([...got.subarray(row * extent, (row + 1) * extent)], want);
      }
    });
  }

  test("runs of eight take one kernel, and each doubling one more", () => {
    assert.deepEqual(
      [8, 9, 16, 17, 33].map((extent) => sorting(1, extent).steps.length),
      [1, 2, 2, 3, 4],
    );
  });
});

test("searchSorted counts the keys before each wanted one, equal ones only on the right", () => {
  const sorted = Uint32Array.of(1, 3, 3, 3, 8);
  const wanted = Uint32Array.of(0, 1, 3, 4, 8, 9);
  for (const [side, want] of [
    ["left", [0, 0, 1, 4, 4, 5]],
    ["right", [0, 1, 4, 4, 5, 5]],
  ] as const) {
    const plan = searchSortedRoutine(make(searchSorted, [keys(5), keys(6)], { side }), cpuProfile, settings);
    assert.deepEqual([...new Int32Array(runRoutine(plan, [sorted, wanted].map(viewBytes), 24).buffer)], want, side);
  }
});
