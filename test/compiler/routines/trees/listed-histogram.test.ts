/** Histograms of listed rows on the CPU engine: the bits of sums that add one row after another, however threads share the work. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { tensor, withDevice } from "../../../../src/index.js";
import { histogramByNode } from "../../../../src/tensor/index.js";
import { randomFrom } from "../../../support/random.js";
import { numbersOf } from "../../../support/tensors.js";
import { histogramOracle, packedCodes } from "../../../support/tree-oracle.js";
import { nodeOfPlace, rowsAt } from "../../../support/tree-rows.js";

for (const [what, rows, features, slots] of [
  ["two pieces to a word, one chunk", 90, 3, 1],
  ["two pieces to a word, several chunks", 40_000, 4, 2],
  ["a piece to a word", 5000, 9, 4],
] as const) {
  test(`${what}: rows are added in their order`, () => {
    const random = randomFrom(rows);
    const numbers = () => Array.from({ length: rows }, () => Math.fround(random.below(2 ** 20) / 2 ** 20 - 0.3));
    const codes = Array.from({ length: features }, () => Array.from({ length: rows }, () => random.below(256)));
    // Rows of the last place have no slot.
    const places = Array.from({ length: rows }, () => random.below(slots + 1));
    const [gradients, hessians] = [numbers(), numbers()];
    const want = histogramOracle(
      { codes, slots: places.map((place) => (place === slots ? -1 : place)), gradients, hessians },
      slots,
    );
    const slotOfNode = new Int32Array(nodeOfPlace(slots + 1)).fill(-1);
    for (let slot = 0; slot < slots; slot++) slotOfNode[nodeOfPlace(slot)] = slot;
    const found = withDevice("cpu", () =>
      histogramByNode(
        tensor(packedCodes(codes), { shape: [Math.ceil(features / 4), rows] }),
        rowsAt(places),
        tensor(slotOfNode),
        { gradients: tensor(gradients), hessians: tensor(hessians), largest: tensor([1, 1]) },
        null,
        { slots, isPrecise: false },
      ),
    );
    assert.equal(found.dtype, "f64");
    assert.deepEqual(numbersOf(found), [...want]);
  });
}
