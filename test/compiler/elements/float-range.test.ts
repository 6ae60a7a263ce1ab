/** Ranges of floats, from the arithmetic that makes them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { elementOps } from "../../../src/compiler/elements/elements.js";
import { MODERATE, rangeOf as wholeRange } from "../../../src/compiler/elements/float-range.js";
import { roundToBrainByArithmetic, roundToNarrow } from "../../../src/compiler/elements/narrow-floats.js";
import type { Value } from "../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../src/compiler/ir/kernel-builder.js";

/** Without what it assumes. */
const rangeOf = (k: KernelBuilder, value: Value) => {
  const { low, high } = wholeRange(k, value);
  return { low, high };
};

function kernel() {
  const k = new KernelBuilder("ranges", 4);
  const c = (value: number) => k.constant("f32", value);
  const x = k.load(k.buffer("f32", false), k.row, "f32");
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

test("a number with the sign of another has its size on both sides", () => {
  const { k, c, x, held } = kernel();
  const f32 = (value: Value) => ({ dtype: "f32", value }) as const;
  const signed = elementOps(k, { division: "native" }).withSign(f32(k.unary("abs", held(-2, 3))), f32(x));
  assert.deepEqual(rangeOf(k, signed.value), { low: -3, high: 3 });
  assert.deepEqual(rangeOf(k, k.bitcast("f32", k.bitcast("u32", c(1)))), { low: -Infinity, high: Infinity });
});

test("numbers of bf16 from memory are assumed to be of a moderate size, and a range says of which it is assumed", () => {
  const { k, x } = kernel();
  const slot = k.buffer("bf16", false);
  const [a, b] = [0, 1].map((i) => k.load(slot, k.binary("add", k.row, k.constant("i32", i)), "f32"));
  const product = k.binary("mul", a!, k.binary("mul", a!, b!));
  assert.deepEqual(wholeRange(k, product), { low: -(MODERATE ** 3), high: MODERATE ** 3, assumed: new Set([a, b]) });
  assert.deepEqual([...wholeRange(k, k.binary("add", a!, x)).assumed], []);
});

test("results of moderate numbers are in doubt where those are large, others by themselves", () => {
  const { k, c } = kernel();
  const a = k.load(k.buffer("bf16", false), k.row, "f32");
  const doubtsOf = (value: Value) => roundToBrainByArithmetic(k, value, true).doubts;
  const [half, square] = [k.binary("mul", a, c(0.5)), k.binary("mul", a, a)];
  assert.deepEqual(doubtsOf(half), doubtsOf(square));
  assert.deepEqual(
    doubtsOf(half).map(({ args }) => [args[0]!.args[0], args[1]!.attribute]),
    [[a, MODERATE]],
  );
  const fourth = k.binary("mul", square, square);
  assert.deepEqual(
    doubtsOf(fourth).map(({ args }) => [args[0]!.args[0], args[1]!.attribute]),
    [[fourth, 2 ** 111]],
  );
});
