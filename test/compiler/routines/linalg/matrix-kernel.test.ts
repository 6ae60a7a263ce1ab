/** The loops of kernels that factor a matrix, and the lanes that share one. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Value } from "../../../../src/compiler/ir/ir.js";
import { lanesForRows, MatrixKernel, matricesOf } from "../../../../src/compiler/routines/linalg/matrix-kernel.js";
import { encodeValues } from "../../../../src/core/storage.js";
import { interpretKernel } from "../../../support/kernel-interpreter.js";
import { gpuOf, KINDS, numbersIn, PROFILES, routineNode, settings, softwareGpu } from "./matrices.js";

/** The contents of 40 elements of i32, 0 before, after a kernel has run. */
function marks(lanes: number, write: (kernel: MatrixKernel, add: (at: Value, by: Value) => void) => void): number[] {
  const kernel = new MatrixKernel("small", 1, lanes, routineNode("lu", KINDS.f64, [[3, 3]]), settings);
  const { k } = kernel;
  const result = k.buffer("i32", true);
  write(kernel, (at, by) => k.store(result, at, kernel.add(k.read(result, at, "i32"), by), false));
  const bytes = encodeValues(new Array(40).fill(0), "i32", "marks");
  interpretKernel(k.finish(), [bytes]);
  return numbersIn(bytes, "i32");
}

test("lanes: one, eight in software, else a power of two that covers the rows as far as the device goes", () => {
  assert.equal(lanesForRows(50, PROFILES["a CPU"]!), 1);
  assert.equal(lanesForRows(50, softwareGpu), 8);
  assert.deepEqual([1, 32, 33, 64, 65, 1000].map((rows) => lanesForRows(rows, gpuOf(128))), [32, 32, 64, 64, 128, 128]); // biome-ignore format: one line
  assert.equal(lanesForRows(1000, gpuOf(1024)), 256);
});

test("matrices of a node: leading axes are a batch", () => {
  assert.deepEqual(matricesOf(routineNode("lu", KINDS.f64, [[2, 3, 4, 5]]), false), { batch: 6, shape: [4, 5] });
  assert.deepEqual(matricesOf(routineNode("lu", KINDS.c64, [[4, 5]]), true), { batch: 1, shape: [4, 5] });
});

test("each position in every lane, or shared out among the lanes; conditions", () => {
  const expected = Array.from({ length: 40 }, (_, at) => (at < 37 ? 1 : 0));
  assert.deepEqual(marks(1, (kernel, add) => kernel.each(37, (at) => add(at, kernel.i(1)))), expected); // biome-ignore format: one line
  for (const lanes of [1, 8, 32]) {
    const spread = marks(lanes, (kernel, add) => kernel.spread(37, (at) => add(at, kernel.add(kernel.k.lane, 1))));
    assert.deepEqual(spread, Array.from({ length: 40 }, (_, at) => (at < 37 ? (at % lanes) + 1 : 0))); // biome-ignore format: one line
    const some = marks(lanes, (kernel, add) =>
      kernel.spread(37, (at) => kernel.when(kernel.less(at, 5), () => add(at, kernel.mul(at, 3)))),
    );
    assert.deepEqual(some.slice(0, 6), [0, 3, 6, 9, 12, 0]);
  }
});

test("sums of the terms before a position, for none of them and for all", () => {
  for (const lanes of [1, 4]) {
    for (const count of [0, 1, 4, 6]) {
      const found = marks(lanes, (kernel, add) => {
        const { k, f } = kernel;
        const term = (at: Value, which: number) => f.real(k.convert("f64", kernel.add(at, 1 + 10 * which)));
        const sums = kernel.sumsBelow(kernel.i(count), 6, 2, term);
        const whole = [...sums, kernel.sumBelow(kernel.i(count), 6, (at) => term(at, 0))];
        kernel.when(k.compare("eq", k.lane, kernel.i(0)), () => {
          for (const [at, { re }] of whole.entries()) add(kernel.i(at), k.convert("i32", re));
        });
      });
      const sum = (count * (count + 1)) / 2;
      assert.deepEqual(found.slice(0, 3), [sum, sum + 10 * count, sum], `${count} terms, ${lanes} lanes`);
    }
  }
});
