/** Ranges of floats, from the arithmetic that makes them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { rangeOf } from "../../../src/compiler/elements/float-range.js";
import { roundToNarrow } from "../../../src/compiler/elements/narrow-floats.js";
import type { Value } from "../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../src/compiler/ir/kernel-builder.js";

function kernel() {
  const k = new KernelBuilder("ranges", 4);
  const c = (value: number) => k.constant("f32", value);
  const x = k.load(k.buffer("bf16", false), k.row, "f32");
  /** x held between two numbers, as the math library writes it. */
  const held = (low: number, high: number): Value => {
    const below = k.select(k.compare("gt", x, c(high)), c(high), x);
    return k.select(k.compare("lt", below, c(low)), c(low), below);
  };
  return { k, c, x, held };
}

test("a number from memory may be anything, and so may what depends on nothing else", () => {
  const { k, c, x } = kernel();
  const anything = { low: -Infinity, high: Infinity };
  assert.deepEqual(rangeOf(k, x), anything);
  assert.deepEqual(rangeOf(k, k.binary("mul", x, c(0))), anything);
  assert.deepEqual(rangeOf(k, k.binary("sub", k.unary("abs", x), k.unary("abs", x))), anything);
  assert.deepEqual(rangeOf(k, k.unary("sqrt", c(2))), anything);
});

test("limits are seen, and followed through arithmetic", () => {
  const { k, c, held } = kernel();
  const y = held(-2, 3);
  assert.deepEqual(rangeOf(k, y), { low: -2, high: 3 });
  assert.deepEqual(rangeOf(k, k.binary("mul", y, y)), { low: -6, high: 9 });
  assert.deepEqual(rangeOf(k, k.mulAdd(y, c(-2), c(1))), { low: -5, high: 5 });
  assert.deepEqual(rangeOf(k, k.binary("sub", c(1), y)), { low: -2, high: 3 });
  assert.deepEqual(rangeOf(k, k.unary("abs", y)), { low: 0, high: 3 });
  assert.deepEqual(rangeOf(k, k.unary("neg", y)), { low: -3, high: 2 });
  assert.deepEqual(rangeOf(k, k.binary("max", y, c(7))), { low: -2, high: 7 });
});

test("of a choice both sides count, and a limit that is not the chosen one limits nothing", () => {
  const { k, c, x, held } = kernel();
  const isLarge = k.compare("gt", x, c(5));
  assert.deepEqual(rangeOf(k, k.select(isLarge, c(9), held(-2, 3))), { low: -2, high: 9 });
  assert.deepEqual(rangeOf(k, k.select(isLarge, c(4), x)), { low: -Infinity, high: Infinity });
});

test("rounding to bf16 leaves a range by no more than its error", () => {
  const { k, held } = kernel();
  const { low, high } = rangeOf(k, roundToNarrow(k, held(-2, 3), "bf16"));
  assert.ok(low < -2 && low >= -2 * (1 + 2 ** -8) && high > 3 && high <= 3 * (1 + 2 ** -8));
});

test("a chain that is longer than one question goes back may be anything", () => {
  const { k, c, held } = kernel();
  let value = held(0, 1);
  for (let i = 0; i < 100; i++) value = k.binary("add", value, c(1));
  assert.deepEqual(rangeOf(k, value), { low: -Infinity, high: Infinity });
});
