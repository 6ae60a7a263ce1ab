/** The forward kernel of attention on matrix units, interpreted: outputs and logarithms, against plain loops. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import { matrixForwardKernel, tileStart } from "../../../../src/compiler/routines/attention/matrix-forward.js";
import { dataOf } from "../../../../src/core/storage.js";
import { interpretKernel } from "../../../support/kernel-interpreter.js";
import {
  checkForward,
  MATRIX_TRIALS,
  matrixTile,
  risingTrial,
  spoiltTrial,
  type Trial,
} from "./interpreted-attention.js";

/** Inputs are numbers that the dtype holds exactly, so that only the weights and the result are rounded. */
function check(tile: ReturnType<typeof matrixTile>, trial: Omit<Trial, "dtype">): void {
  const dtype = tile.fragment.operand as "f16" | "bf16";
  const write = (own: Parameters<typeof matrixForwardKernel>[0]) =>
    matrixForwardKernel(own, { division: "native" }, tile);
  checkForward(write, { ...trial, dtype }, dtype === "f16" ? 2e-3 : 1.6e-2);
}

for (const [title, trials] of Object.entries(MATRIX_TRIALS)) {
  test(title, () => {
    for (const [tile, trial] of trials) check(tile, trial);
  });

  test(`${title}; on a device whose lanes hold pairs`, () => {
    for (const [tile, trial] of trials) check({ ...tile, fragment: { ...tile.fragment, pairs: true } }, trial);
  });
}

test("sums are scaled when the largest score grows far, and left alone while it grows a little", () => {
  for (const step of [1, 8, 64]) {
    for (const pairs of [false, true]) check(matrixTile("f16", 32, 16, 32, pairs), risingTrial(step));
  }
});

test("a query whose scores are NaN gives NaN, and no other does", () => {
  for (const pairs of [false, true]) check(matrixTile("f16", 32, 16, 32, pairs), spoiltTrial);
});

test("a tile starts at a multiple of its columns", () => {
  const k = new KernelBuilder("starts", 40, 1);
  const to = k.buffer("i32", true);
  k.store(to, k.row, tileStart(k, k.row, 16), true);
  const bytes = new Uint8Array(4 * 40);
  interpretKernel(k.finish(), [bytes]);
  assert.deepEqual(
    [...dataOf(bytes, "i32")],
    Array.from({ length: 40 }, (_, at) => at - (at % 16)),
  );
});
