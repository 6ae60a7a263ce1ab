/** Small transforms in registers, interpreted, against the definition. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { smallDft } from "../../../../src/compiler/routines/fft/butterfly.js";
import { ComplexOps } from "../../../../src/compiler/routines/fft/complex-values.js";
import { laneValues } from "../../../support/lane-values.js";
import { apart, type C, randomComplex, transformOf } from "./transforms.js";

test("of every length up to 16, there and back", () => {
  for (let n = 1; n <= 16; n++) {
    for (const sign of [1, -1] as const) {
      const given = randomComplex(n, n);
      const inputs = [{ dtype: "f64" as const, values: given.flat() }];
      const found = laneValues({ inputs }, (k) => {
        const load = (at: number) => k.load(0, k.constant("i32", at), "f64");
        const x = given.map((_, at) => ({ re: load(2 * at), im: load(2 * at + 1) }));
        return smallDft(new ComplexOps(k, "f64"), x, sign).flatMap(({ re, im }) => [re, im]);
      });
      const made = given.map((_, at): C => [found[2 * at]![0]!, found[2 * at + 1]![0]!]);
      assert.ok(apart(made, transformOf(given, sign)) < 4e-15, `${n}, sign ${sign}`);
    }
  }
});
