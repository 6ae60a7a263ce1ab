/** Histograms of gradients against sums in plain JavaScript, and the same bits in every run. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Tensor, tensor } from "../../../../src/index.js";
import { backendFor, histogramByNode } from "../../../../src/tensor/index.js";
import { describeOnTensorDevices, numbersOf } from "../../../support/tensors.js";
import { histogramOracle, packedCodes } from "../../../support/tree-oracle.js";
import { nodeOfPlace, rowsAt } from "../../../support/tree-rows.js";

let state = 7;
const random = (): number => {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  return (state >>> 8) / 2 ** 24;
};

/** Slots of numbered places, as a list by node. */
const slotsByNode = (slots: readonly number[]): Tensor => {
  const list = new Int32Array(nodeOfPlace(slots.length)).fill(-1);
  slots.forEach((slot, place) => {
    list[nodeOfPlace(place)] = slot;
  });
  return tensor(list) as Tensor;
};

describeOnTensorDevices("histograms by node", (device) => {
  for (const { rows, features, slots, hasHessians } of [
    { rows: 1, features: 1, slots: 1, hasHessians: false },
    { rows: 700, features: 5, slots: 3, hasHessians: true },
    { rows: 9000, features: 2, slots: 1, hasHessians: false },
    { rows: 300, features: 9, slots: 16, hasHessians: true },
  ]) {
    test(`${rows} rows of ${features} features in ${slots} slots are summed bin by bin`, () => {
      const list = (make: () => number) => Array.from({ length: rows }, make);
      const codes = Array.from({ length: features }, () => list(() => Math.floor(random() * 256)));
      const nodes = list(() => Math.floor(random() * (slots + 1)));
      const gradients = list(() => Math.fround(random() - 0.5));
      const hessians = hasHessians ? list(() => Math.fround(random())) : null;
      // Node 0 has no slot; the others have them in reverse.
      const slotOf = [-1, ...Array.from({ length: slots }, (_, s) => slots - 1 - s)];
      const want = histogramOracle({ codes, slots: nodes.map((n) => slotOf[n]!), gradients, hessians }, slots);
      const words = Math.ceil(features / 4);
      const found = (isPrecise: boolean): Tensor =>
        histogramByNode(
          tensor(packedCodes(codes), { shape: [words, rows] }),
          rowsAt(nodes),
          slotsByNode(slotOf),
          {
            gradients: tensor(gradients),
            hessians: hessians && tensor(hessians),
            largest: tensor([Math.max(...gradients.map(Math.abs)), Math.max(...(hessians ?? gradients).map(Math.abs))]),
          },
          null,
          { slots, isPrecise },
        );
      const precise = numbersOf(found(true));
      assert.deepEqual(found(true).shape, [slots, 4 * words, hasHessians ? 3 : 2, 256]);
      const worst = (got: readonly number[]) => got.reduce((most, v, i) => Math.max(most, Math.abs(v - want[i]!)), 0);
      assert.ok(worst(precise) < 1e-8, `off by ${worst(precise)}`);
      const coarse = numbersOf(found(false));
      assert.ok(worst(coarse) < 1e-4, `off by ${worst(coarse)}`);
      assert.deepEqual(numbersOf(found(false)), coarse);
    });
  }

  test("siblings get what is left of their parents; slots without a parent are not asked for", () => {
    const [rows, features, channels] = [1500, 3, 2];
    const codes = Array.from({ length: features }, () =>
      Array.from({ length: rows }, () => Math.floor(random() * 256)),
    );
    const gradients = Array.from({ length: rows }, () => Math.fround(random() - 0.5));
    // Nodes 0 and 1 are children of one parent, 2 and 3 of another. Node 2 is summed in slot 0, node 1 in slot 2.
    const nodes = Array.from({ length: rows }, () => Math.floor(random() * 4));
    const sums = (slotOf: readonly number[], slots: number) =>
      Array.from(histogramOracle({ codes, slots: nodes.map((n) => slotOf[n]!), gradients, hessians: null }, slots));
    const size = 4 * 256 * channels;
    const [summed, left, parents] = [sums([-1, 2, 0, -1], 3), sums([2, -1, -1, 0], 3), sums([1, 1, 0, 0], 2)];
    const dtype = backendFor(device).hasDoubles ? "f64" : "f32";
    const histogram = histogramByNode(
      tensor(packedCodes(codes), { shape: [1, rows] }),
      rowsAt(nodes),
      slotsByNode([-1, 2, 0, -1]),
      { gradients: tensor(gradients), hessians: null, largest: tensor([0.5, 1]) },
      {
        histograms: tensor(parents, { dtype, shape: [2, 4, channels, 256] }),
        parentOfSlot: tensor([0, -1, 1], { dtype: "i32" }),
      },
      { slots: 3, isPrecise: true },
    );
    assert.deepEqual(histogram.shape, [6, 4, channels, 256]);
    const found = numbersOf(histogram);
    const isAsked = (at: number) => Math.floor(at / size) % 3 !== 1;
    [...summed, ...left].forEach((value, at) => {
      if (isAsked(at)) assert.ok(Math.abs(found[at]! - value) < (dtype === "f64" ? 1e-8 : 1e-4), `${at}`);
    });
  });
});
