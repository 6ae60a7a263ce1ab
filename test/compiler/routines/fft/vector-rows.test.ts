/** The kernels of passes on CPUs, interpreted: four transforms side by side, or one, whatever is left over. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { vectorRowsKernel } from "../../../../src/compiler/routines/fft/vector-rows.js";
import { encodeValues } from "../../../../src/core/storage.js";
import { planDft } from "../../../../src/graph/dft-plan.js";
import { undefinedBytes } from "../../../support/interpreted-routine.js";
import { interpretKernel } from "../../../support/kernel-interpreter.js";
import { apart, type C, LIMITS, linesOf, pairsOf, randomComplex, randomNumbers, tableOf, transformOf, wholePass } from "./transforms.js"; // biome-ignore format: one line

const numbersIn = (bytes: Uint8Array) => [...new Float64Array(bytes.slice().buffer)];

test("lines along memory and across it, as many as vectors have lanes, fewer and more", () => {
  for (const length of [1, 2, 8, 15, 64, 96]) {
    for (const lines of [
      [1, 1],
      [3, 1],
      [4, 1],
      [6, 1],
      [1, 5],
      [2, 3],
      [3, 4],
    ] as const) {
      // biome-ignore format: a table
      for (const sign of [1, -1] as const) {
        const pass = wholePass(length, lines, { sign });
        const kernel = vectorRowsKernel(pass);
        assert.equal(kernel.lanes, lines.some((count) => count >= 4) ? 4 : 1); // biome-ignore format: one line
        const given = randomComplex(length * lines[0] * lines[1], length);
        const target = undefinedBytes(16 * given.length);
        const inputs = [encodeValues(given.flat(), "f64", "source"), tableOf("complex", length, "f64")];
        interpretKernel(kernel, [...inputs, target]);
        const found = linesOf(pairsOf(numbersIn(target)), length, lines);
        linesOf(given, length, lines).forEach((line, at) => {
          assert.ok(apart(found[at]!, transformOf(line, sign)) < 1e-15 * length, `${pass.name}, line ${at}`);
        });
      }
    }
  }
});

test("the arrays of a length that is a power of two begin in different sets of a cache, whose lines of a set are 4096 bytes apart", () => {
  let start = 0;
  const sets = vectorRowsKernel(wholePass(1024, [4, 1], { sign: 1 })).arrays.map(({ size }) => {
    const set = start % 4096;
    start += 8 * size;
    return set;
  });
  assert.equal(new Set(sets).size, 4);
});

test("half a spectrum, written from that of pairs", () => {
  for (const length of [2, 6, 15, 64]) {
    const { halves, roots } = planDft("real", 2 * length, "f64", LIMITS).table;
    const pass = wholePass(length, [5, 1], {
      halves,
      roots: roots.get(length)!,
      reading: { kind: "pairs", extent: 2 * length, positions: length, factor: null, isWindowed: false },
      writing: { kind: "halved", extent: length + 1, factor: null, scale: 1 },
      digits: [{ extent: 5, from: 2 * length, to: length + 1, fromPosition: 0, toPosition: 0 }],
    });
    const given = randomNumbers(10 * length, length);
    const target = undefinedBytes(16 * 5 * (length + 1));
    const inputs = [encodeValues(given, "f64", "source"), tableOf("real", 2 * length, "f64")];
    interpretKernel(vectorRowsKernel(pass), [...inputs, target]);
    for (let line = 0; line < 5; line++) {
      const x = given.slice(2 * length * line, 2 * length * (line + 1)).map((each): C => [each, 0]);
      const found = pairsOf(numbersIn(target)).slice((length + 1) * line, (length + 1) * (line + 1));
      assert.ok(apart(found, transformOf(x, -1).slice(0, length + 1)) < 2e-15 * length, `${pass.name}, ${line}`);
    }
  }
});
