/** The constants of Fourier transforms: right to the last bit of f32, and of f64 within a bit or two. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { planDft } from "../../src/graph/dft-plan.js";
import { dftTable } from "../../src/graph/dft-table.js";

const LIMITS = { largestRadix: 16, largestOfColumns: 32, longestPass: 4096 };

test("roots of a pass are in the order of its stages, operands and remainders, rounded", () => {
  for (const n of [12, 13, 100, 1000, 4096]) {
    const plan = planDft("complex", n, "f32", LIMITS);
    const table = dftTable(plan, "f32");
    let at = plan.table.roots.get(n) as number;
    let done = 1;
    for (const radix of plan.radices.get(n) as readonly number[]) {
      for (let j = 1; done > 1 && j < radix; j++) {
        for (let k = 0; k < done; k++, at++) {
          const angle = (-2 * Math.PI * j * k) / (done * radix);
          assert.ok(Math.abs(table[2 * at]! - Math.cos(angle)) < 2 ** -24, `${j}·${k} of ${done * radix}`);
          assert.ok(Math.abs(table[2 * at + 1]! - Math.sin(angle)) < 2 ** -24, `${j}·${k} of ${done * radix}`);
        }
      }
      done *= radix;
    }
    assert.equal(at, plan.table.size > 1 ? plan.table.size : 0);
  }
});

test("coarse and fine roots multiply to every root of a long transform", () => {
  const plan = planDft("complex", 5000, "f64", LIMITS);
  const { fine, coarse, step } = plan.table;
  const table = dftTable(plan, "f64");
  for (let turn = 0; turn < 5000; turn += 7) {
    const [few, many] = [2 * (fine + (turn % step)), 2 * (coarse + Math.floor(turn / step))];
    const re = table[few]! * table[many]! - table[few + 1]! * table[many + 1]!;
    assert.ok(Math.abs(re - Math.cos((2 * Math.PI * turn) / 5000)) < 1e-15);
  }
});

test("the filter is the transform of the chirp: its inverse has the chirp's conjugate at its start", () => {
  const n = 17;
  const plan = planDft("complex", n, "f64", LIMITS);
  const table = dftTable(plan, "f64");
  const { computed } = plan;
  for (let j = 0; j < n; j++) {
    let [re, im] = [0, 0];
    for (let k = 0; k < computed; k++) {
      const angle = (2 * Math.PI * ((j * k) % computed)) / computed;
      const [a, b] = [table[2 * (plan.table.filter + k)]!, table[2 * (plan.table.filter + k) + 1]!];
      re += a * Math.cos(angle) - b * Math.sin(angle);
      im += a * Math.sin(angle) + b * Math.cos(angle);
    }
    const angle = (Math.PI * ((j * j) % (2 * n))) / n;
    assert.ok(Math.hypot(re - Math.cos(angle), im - Math.sin(angle)) < 1e-14, `place ${j}`);
  }
});
