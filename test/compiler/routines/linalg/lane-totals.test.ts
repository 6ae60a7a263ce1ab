/** Sums over lanes of several numbers at once, interpreted: each lane gets every sum, twice in a row. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { LaneTotals, totalNumbers } from "../../../../src/compiler/routines/linalg/lane-totals.js";
import { MatrixKernel } from "../../../../src/compiler/routines/linalg/matrix-kernel.js";
import { undefinedBytes } from "../../../support/interpreted-routine.js";
import { interpretKernel } from "../../../support/kernel-interpreter.js";
import { KINDS, numbersIn, routineNode, settings } from "./matrices.js";

test("of real and complex numbers, for several counts of lanes", () => {
  for (const kind of [KINDS.f64, KINDS.c128]) {
    for (const [lanes, count] of [
      [8, 4],
      [16, 8],
      [64, 5],
    ] as const) {
      // biome-ignore format: a table
      const kernel = new MatrixKernel("totals", 1, lanes, routineNode("qr", kind, [[4, 4]]), settings);
      const { k, f } = kernel;
      const to = f.buffer(true);
      const totals = new LaneTotals(kernel, count);
      // Number i of lane l is l + 10 i, and i its imaginary part.
      const given = Array.from({ length: count }, (_, i) => {
        const re = k.convert("f64", kernel.add(k.lane, 10 * i));
        return { re, im: kind.isComplex ? k.constant("f64", i) : null };
      });
      const again = totals.of(totals.of(given));
      again.forEach((sum, i) => {
        f.store(to, kernel.add(kernel.mul(k.lane, count), i), sum);
      });
      const made = k.finish();
      const parts = kind.isComplex ? 2 : 1;
      const bytes = undefinedBytes(8 * parts * lanes * count);
      interpretKernel(made, [bytes]);
      const found = numbersIn(bytes, "f64");
      for (let at = 0; at < lanes * count; at++) {
        const i = at % count;
        assert.equal(
          found[at * parts],
          lanes * ((lanes * (lanes - 1)) / 2 + lanes * 10 * i),
          `${lanes}, ${count}, ${at}`,
        );
        if (kind.isComplex) assert.equal(found[at * 2 + 1], lanes * lanes * i);
      }
      const size = made.arrays.reduce((sum, array) => sum + array.size, 0) / parts;
      assert.ok(size <= totalNumbers(lanes, count), `${size} numbers`);
    }
  }
});
