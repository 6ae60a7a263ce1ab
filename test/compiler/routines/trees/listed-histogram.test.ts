/** Histograms of listed rows on the CPU engine: fixed point has room for the sums, however threads share the work. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fixedPointOf } from "../../../../src/compiler/routines/trees/listed-histogram.js";
import { tensor, withDevice } from "../../../../src/index.js";
import { histogramByNode } from "../../../../src/tensor/index.js";
import { randomFrom } from "../../../support/random.js";
import { numbersOf } from "../../../support/tensors.js";
import { histogramOracle, packedCodes } from "../../../support/tree-oracle.js";
import { nodeOfPlace, rowsAt } from "../../../support/tree-rows.js";

/** Just below 2, which is the bound that fixed point is relative to. */
const LARGEST = 2 - 2 ** -20;

for (const { what, rows, features, slots, only = null } of [
  { what: "two pieces to a word, one chunk", rows: 90, features: 3, slots: 1 },
  { what: "more rows than are added together", rows: 40_000, features: 4, slots: 1 },
  { what: "a piece to a word", rows: 5000, features: 33, slots: 4 },
  { what: "the largest number in every row", rows: 40_000, features: 1, slots: 1, only: LARGEST },
  { what: "the least number in every row", rows: 40_000, features: 1, slots: 1, only: -LARGEST },
]) {
  test(`${what}: sums of multiples of 2^-20 are exact`, () => {
    const random = randomFrom(rows);
    const numbers = () => Array.from({ length: rows }, () => only ?? random.below(2 ** 21) / 2 ** 20 - 0.25);
    // All rows of the first feature are in one bin.
    const codes = Array.from({ length: features }, (_, f) =>
      Array.from({ length: rows }, () => (f === 0 ? 255 : random.below(256))),
    );
    // Rows of the last place have no slot.
    const places = Array.from({ length: rows }, () => (only === null ? random.below(slots + 1) : 0));
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
        { gradients: tensor(gradients), hessians: tensor(hessians), largest: tensor([LARGEST, LARGEST]) },
        null,
        { slots, isPrecise: false },
      ),
    );
    assert.equal(found.dtype, "f64");
    assert.deepEqual(numbersOf(found), [...want]);
  });
}

test("few rows leave more bits for each; 64 bits hold a sum of hessians and the count", () => {
  for (const rows of [1, 2, 3, 1000, 16_384, 1e7]) {
    const { rows: most, gradientBits, hessianBits, countBits } = fixedPointOf({ rows });
    assert.ok(most >= Math.min(rows, 16_384) && 2 ** countBits > most);
    assert.ok(most * 2 ** gradientBits <= 2 ** 50 && most * 2 ** hessianBits <= 2 ** 49);
    assert.ok(Math.log2(most) + hessianBits + countBits <= 62);
    assert.ok(gradientBits >= 36 && hessianBits >= 32);
  }
  assert.ok(fixedPointOf({ rows: 1000 }).hessianBits > fixedPointOf({ rows: 1e6 }).hessianBits);
});

test("numbers below the normal ones are summed like others", () => {
  const least = 2 ** -149;
  const gradients = [3, 5, -2].map((number) => number * least);
  const slotOfNode = Int32Array.from({ length: nodeOfPlace(1) }, (_, node) => (node === nodeOfPlace(0) ? 0 : -1));
  const found = withDevice("cpu", () =>
    histogramByNode(
      tensor(packedCodes([[4, 4, 9]]), { shape: [1, 3] }),
      rowsAt([0, 0, 0]),
      tensor(slotOfNode),
      { gradients: tensor(gradients), hessians: null, largest: tensor([5 * least, 1]) },
      null,
      { slots: 1, isPrecise: false },
    ),
  );
  const sums = numbersOf(found);
  assert.deepEqual([sums[4], sums[9], sums[256 + 4]], [8 * least, -2 * least, 2]);
});
