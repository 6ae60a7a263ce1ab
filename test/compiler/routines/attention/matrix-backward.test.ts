/** The kernels of attention's gradients on matrix units, interpreted, against plain loops. */
import { test } from "node:test";
import { matrixKeyKernel, matrixQueryKernel } from "../../../../src/compiler/routines/attention/matrix-backward.js";
import { checkBackward, MATRIX_TRIALS, matrixTile, risingTrial, type Trial } from "./interpreted-attention.js";

/**
 * Inputs are numbers that the dtype holds exactly. Weights and cotangents of scores are rounded before they are multiplied:
 * errors grow with the largest key, `size` beside those of the samples.
 */
function check(tile: ReturnType<typeof matrixTile>, trial: Omit<Trial, "dtype">, size = 1): void {
  const dtype = tile.fragment.operand as "f16" | "bf16";
  type Problem = Parameters<typeof matrixQueryKernel>[0];
  const write = {
    queries: (own: Problem) => matrixQueryKernel(own, tile),
    keys: (own: Problem) => matrixKeyKernel(own, tile),
  };
  checkBackward(write, { ...trial, dtype }, (dtype === "f16" ? 4e-3 : 3e-2) * size);
}

for (const [title, trials] of Object.entries(MATRIX_TRIALS)) {
  test(title, () => {
    for (const [tile, trial] of trials) check(tile, trial);
  });
}

test("scores that are far apart, and a scale that is not the usual one", () => {
  for (const step of [1, 64]) check(matrixTile("f16", 32, 16), risingTrial(step), step);
});
