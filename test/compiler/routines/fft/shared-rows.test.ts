/** The kernels of passes on GPUs, interpreted with shares of every kind: results by definition, and no lane meets another. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pass } from "../../../../src/compiler/routines/fft/pass.js";
import { sharedRowsKernel } from "../../../../src/compiler/routines/fft/shared-rows.js";
import type { TargetProfile } from "../../../../src/compiler/target/profile.js";
import { encodeValues } from "../../../../src/core/storage.js";
import { planDft } from "../../../../src/graph/dft-plan.js";
import { undefinedBytes } from "../../../support/interpreted-routine.js";
import { interpretKernel } from "../../../support/kernel-interpreter.js";
import { apart, type C, gpuOf, LIMITS, linesOf, pairsOf, randomComplex, randomNumbers, tableOf, transformOf, wholePass } from "./transforms.js"; // biome-ignore format: one line

const numbersIn = (bytes: Uint8Array) => [...new Float64Array(bytes.slice().buffer)];

/** Complex transforms of [outer, length, inner]; the kernel, for what it has chosen. */
function check(length: number, lines: readonly [number, number], profile: TargetProfile, change: Partial<Pass> = {}) {
  const pass = wholePass(length, lines, change);
  const kernel = sharedRowsKernel(pass, profile);
  const given = randomComplex(length * lines[0] * lines[1], length);
  const target = undefinedBytes(16 * given.length);
  interpretKernel(kernel, [encodeValues(given.flat(), "f64", "source"), tableOf("complex", length, "f64"), target]);
  const found = linesOf(pairsOf(numbersIn(target)), length, lines);
  linesOf(given, length, lines).forEach((line, at) => {
    const limit = 1e-15 * length;
    assert.ok(apart(found[at]!, transformOf(line, pass.sign)) < limit, `${pass.name}, line ${at}`);
  });
  return kernel;
}

const LINES: readonly (readonly [number, number])[] = [[1, 1], [3, 1], [1, 5], [2, 3]]; // biome-ignore format: a table

for (const lanes of [8, 32, 64]) {
  test(`transforms along memory and across it, of one stage and of several; ${lanes} lanes`, () => {
    for (const length of [1, 4, 12, 64, 100]) {
      for (const lines of LINES) for (const sign of [1, -1] as const) check(length, lines, gpuOf(lanes), { sign });
    }
  });
}

test("the parts of numbers change lanes in one array, with fewer transforms where memory is scarce; refused where there is too little", () => {
  const most = check(64, [8, 1], gpuOf(64, 16384));
  assert.equal(most.arrays.length, 1);
  assert.ok(most.arrays[0]!.size >= 64);
  const slow = { ...gpuOf(64, 16384), hasSlowBarriers: true };
  assert.equal(check(64, [8, 1], slow).arrays.length, 2, "both at once where barriers are slow");
  const fewer = check(64, [1, 8], gpuOf(64, 64 * 8 * 3));
  assert.ok(fewer.arrays[0]!.size * 8 <= 64 * 8 * 3);
  assert.throws(() => check(64, [3, 1], gpuOf(8, 64 * 8 - 1)), /64 numbers do not fit 511 bytes/);
});

test("half a spectrum, written from that of pairs, by lanes that take both sides of the middle", () => {
  for (const length of [4, 6, 15, 64]) {
    for (const lanes of [8, 32]) {
      for (const bytes of [16384, length * 8 + 512]) {
        const { halves, roots } = planDft("real", 2 * length, "f64", LIMITS).table;
        const pass = wholePass(length, [3, 1], {
          halves,
          roots: roots.get(length)!,
          reading: { kind: "pairs", extent: 2 * length, positions: length, factor: null, isWindowed: false },
          writing: { kind: "halved", extent: length + 1, factor: null, scale: 1 },
          digits: [{ extent: 3, from: 2 * length, to: length + 1, fromPosition: 0, toPosition: 0 }],
        });
        const given = randomNumbers(6 * length, length);
        const target = undefinedBytes(16 * 3 * (length + 1));
        const kernel = sharedRowsKernel(pass, gpuOf(lanes, bytes));
        interpretKernel(kernel, [encodeValues(given, "f64", "source"), tableOf("real", 2 * length, "f64"), target]);
        for (let line = 0; line < 3; line++) {
          const x = given.slice(2 * length * line, 2 * length * (line + 1)).map((each): C => [each, 0]);
          const found = pairsOf(numbersIn(target)).slice((length + 1) * line, (length + 1) * (line + 1));
          assert.ok(apart(found, transformOf(x, -1).slice(0, length + 1)) < 2e-15 * length, `${pass.name}, ${line}`);
        }
      }
    }
  }
});

test("a thread computes a transform of one butterfly by itself; others share, with no more lanes than there are", () => {
  assert.equal(check(4, [5, 1], gpuOf(64)).lanes, 1);
  assert.equal(check(64, [1, 1], gpuOf(64)).lanes, 16);
  assert.equal(check(64, [1, 1], gpuOf(8)).lanes, 8);
  assert.ok(check(16, [64, 1], gpuOf(64)).lanes <= 64);
});
