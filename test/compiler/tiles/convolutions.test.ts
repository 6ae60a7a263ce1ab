/**
 * Convolutions and their gradients as products in tiles, on the CPU, against plain loops over the definition: windows are read
 * in place by the code that copies panels, and the gradient of the kernels is a long summation that is split. The samples are
 * multiples of a quarter, so that sums of a few thousand products are exact whatever their order.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Tile } from "../../../src/compiler/target/tile-profile.js";
import type { Backend } from "../../../src/runtime/backend.js";
import type { Tensor } from "../../../src/tensor/index.js";
import { valueAndGrad } from "../../../src/transforms/grad.js";
import { tensorOn, withTiles } from "../../support/forced-tiles.js";
import { count, expectTensor, type Plain, sampleValues } from "../../support/tensors.js";
import { type ConvGeometry, convolution, convolutionSlopes } from "../../support/window-oracle.js";

const sample = (shape: readonly number[], seed: number): Plain => ({
  shape,
  values: sampleValues("f32", count(shape), seed),
});

const plain: ConvGeometry = {
  stride: [1, 1],
  padding: [
    [0, 0],
    [0, 0],
  ],
  inputDilation: [1, 1],
  kernelDilation: [1, 1],
  featureGroups: 1,
  batchGroups: 1,
};
const around = (...amounts: readonly (readonly [number, number])[]) => ({ padding: amounts });

/** Inputs, kernels and geometry. Each of the three products has a tile: eight rows and columns at least. */
const cases: readonly (readonly [string, readonly number[], readonly number[], Partial<ConvGeometry>])[] = [
  ["edges kept", [3, 3, 7, 6], [8, 3, 3, 3], around([1, 1], [1, 1])],
  ["rows of whole vectors", [2, 2, 8, 8], [12, 2, 3, 3], around([1, 1], [1, 1])],
  ["one channel", [5, 1, 9, 5], [9, 1, 3, 3], around([1, 1], [1, 1])],
  ["a stride", [4, 3, 9, 11], [10, 3, 3, 2], { stride: [2, 3], ...around([1, 0], [0, 2]) }],
  ["a dilated kernel", [2, 3, 11, 9], [8, 3, 3, 3], { kernelDilation: [2, 3], ...around([2, 1], [3, 3]) }],
  ["a dilated input", [2, 3, 4, 5], [8, 3, 3, 3], { inputDilation: [2, 3], ...around([2, 2], [1, 2]) }],
  ["edges cut off", [2, 3, 9, 8], [8, 3, 3, 3], around([-1, 0], [-2, -1])],
  ["groups", [3, 6, 7, 5], [16, 3, 3, 3], { featureGroups: 2, ...around([1, 1], [1, 1]) }],
  ["groups of the batch", [6, 3, 6, 5], [18, 3, 3, 3], { batchGroups: 2, ...around([1, 1], [0, 1]) }],
  ["all of it at once", [3, 4, 8, 7], [16, 2, 3, 4], { featureGroups: 2, stride: [1, 2], kernelDilation: [2, 1] }],
];

const small: Tile = { kind: "panels", rows: 8, columns: 8, depth: 12, micro: [4, 2], lanes: 4 };
const threes: Tile = { kind: "panels", rows: 6, columns: 8, depth: 40, micro: [3, 2], lanes: 4 };
const ways = [
  { name: "as planned", parts: 1 },
  { name: "in small tiles", tile: small, parts: 1 },
  { name: "in rows of three, in three parts", tile: threes, parts: 3 },
];

for (const { name, ...forced } of ways) {
  describe(`convolutions ${name}`, () => {
    let backend: Backend | undefined;
    const on = (values: Plain) => {
      backend ??= withTiles("cpu", { forced });
      return tensorOn(backend, values, "f32");
    };
    for (const [what, input, kernels, options] of cases) {
      test(what, () => {
        const geometry = { ...plain, ...options };
        const [x, w] = [sample(input, 1), sample(kernels, 2)];
        const expected = convolution(x, w, geometry);
        const slopes = sample(expected.shape, 3);
        const convolve = ([a, b]: [Tensor, Tensor]) => a.conv(b, options);
        const [a, b, c] = [on(x), on(w), on(slopes)];
        const y = convolve([a, b]);
        const names = (backend as Backend).plan([y.node]).steps.map((s) => (s.kind === "kernel" ? s.kernel.name : ""));
        assert.match(names.join(), / in \d+×\d+/);
        expectTensor(y, expected, "f32", {});
        const [, gradients] = valueAndGrad((both: [Tensor, Tensor]) => convolve(both).mul(c).sum())([a, b]);
        convolutionSlopes(x, w, slopes, geometry).forEach((right, i) => {
          expectTensor(gradients[i]!, right, "f32", {});
        });
      });
    }
  });
}
