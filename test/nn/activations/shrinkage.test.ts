/** Shrinkage functions. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { tensor } from "../../../src/index.js";
import { activations } from "../../../src/nn/index.js";
import { testAgainstTorch, testCurves } from "../../support/activation-cases.js";
import { numbersOf } from "../../support/tensors.js";

const { softShrink, hardShrink, tanhShrink } = activations;
const ends = [[-0.5, 0], [0.5, 0]] as const; // biome-ignore format: pairs

testCurves({
  softShrink: { f: softShrink, closed: (x) => Math.sign(x) * Math.max(Math.abs(x) - 0.5, 0), corners: ends },
  "softShrink 2": {
    f: (x) => softShrink(x, { lambda: 2 }),
    closed: (x) => Math.sign(x) * Math.max(Math.abs(x) - 2, 0),
  },
  hardShrink: { f: hardShrink, closed: (x) => (Math.abs(x) <= 0.5 ? 0 : x), corners: ends },
  tanhShrink: { f: tanhShrink, closed: (x) => x - Math.tanh(x) },
});

testAgainstTorch({ softShrink, hardShrink, tanhShrink });

test("infinities and NaN stay", () => {
  const x = tensor([-Infinity, Number.NaN, Infinity], { device: "cpu" });
  for (const f of [softShrink, hardShrink, tanhShrink]) assert.deepEqual(numbersOf(f(x)), [-Infinity, NaN, Infinity]);
  assert.throws(() => softShrink(x, { lambda: -1 }), { name: "ArgumentError", message: /^softShrink: lambda/ });
});
