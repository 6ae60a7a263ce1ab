/** Gauss and Legendre's quadrature against integrals of powers. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { gaussLegendre } from "../../src/core/quadrature.js";

test("n nodes integrate powers up to 2n - 1 exactly, and no further", () => {
  for (const count of [1, 2, 5, 16]) {
    const { nodes, weights } = gaussLegendre(count);
    const sum = (power: number): number => nodes.reduce((all, x, i) => all + weights[i]! * x ** power, 0);
    for (let power = 0; power < 2 * count; power++) {
      const exact = power % 2 === 0 ? 2 / (power + 1) : 0;
      assert.ok(Math.abs(sum(power) - exact) < 1e-14, `${count} nodes, power ${power}: ${sum(power)}, not ${exact}`);
    }
    if (count < 10) assert.ok(Math.abs(sum(2 * count) - 2 / (2 * count + 1)) > 1e-3);
  }
});
