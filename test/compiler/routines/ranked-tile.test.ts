/** Rows in one tile, ranked by votes of subgroups: interpreted, with races reported. Against JavaScript's stable sort. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { elementWords, type Sorted } from "../../../src/compiler/routines/element-words.js";
import { rankingBytes, sortVotingRowsKernel, type VotingRows } from "../../../src/compiler/routines/ranked-tile.js";
import { DTYPES } from "../../../src/core/dtype.js";
import { interpretKernel } from "../../support/kernel-interpreter.js";
import { randomFrom } from "../../support/random.js";

const settings = { division: "corrected" } as const;

test("values and positions of rows, whole and ragged, with subgroups of 4, 16 and 32", () => {
  const random = randomFrom(5);
  for (const [subgroupSize, extent] of [
    [4, 200],
    [16, 256],
    [32, 250],
  ] as const) {
    const shape: VotingRows = { type: "u32", rows: 2, extent, lanes: 64, perLane: 4, tiles: 1, subgroupSize };
    const values = Int32Array.from({ length: 2 * extent }, () => random.below(90) * 30_000_000 - 2 ** 30);
    for (const result of ["values", "positions"] as const) {
      const sorted: Sorted = { shape: [2, extent], dtype: "i32", keyed: { descending: true }, result };
      const kernel = sortVotingRowsKernel(shape, elementWords(sorted, settings));
      const bytes = kernel.arrays.reduce((sum, { type, size }) => sum + size * DTYPES[type].bytes, 0);
      assert.equal(bytes + 8 * shape.lanes, rankingBytes(shape));
      const out = new Int32Array(2 * extent);
      interpretKernel(kernel, [new Uint8Array(values.buffer.slice(0)), new Uint8Array(out.buffer)]);
      for (const row of [0, 1]) {
        const line = values.subarray(row * extent, (row + 1) * extent);
        const order = [...line.keys()].sort((i, j) => line[j]! - line[i]! || i - j);
        const want = result === "values" ? order.map((i) => line[i]) : order;
        assert.deepEqual([...out.subarray(row * extent, (row + 1) * extent)], want, `${result}, ${subgroupSize} lanes`);
      }
    }
  }
});
