/** The constants of Fourier transforms: right to the last bit of f32, and of f64 within a bit or two. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { planDft } from "../../src/graph/dft-plan.js";
import { dftTable } from "../../src/graph/dft-table.js";

test("roots of unity are those of the length, rounded", () => {
  for (const n of [1, 2, 8, 12, 13, 100, 4096]) {
    const plan = planDft("complex", n, "f32");
    const table = dftTable(plan, "f32");
    const start = plan.table.roots.get(n) as number;
    for (let k = 0; k < n; k++) {
      const angle = (-2 * Math.PI * k) / n;
      assert.ok(Math.abs(table[2 * (start + k)]! - Math.cos(angle)) < 2 ** -24, `${k} of ${n}`);
      assert.ok(Math.abs(table[2 * (start + k) + 1]! - Math.sin(angle)) < 2 ** -24, `${k} of ${n}`);
    }
  }
});

test("coarse and fine roots multiply to every root of a long transform", () => {
  const plan = planDft("complex", 5000, "f64");
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
  const plan = planDft("complex", n, "f64");
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
