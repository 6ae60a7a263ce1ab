/** Operations on one value at a time where WebAssembly's own instruction means something else. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { IRType, Value } from "../../../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import { runKernel } from "../../../support/kernels.js";

/** One f64 per row through an operation; a kernel of 64-bit values is never vectorised. */
function mapped(values: readonly number[], rule: (k: KernelBuilder, x: Value) => Value): number[] {
  const k = new KernelBuilder("scalars", values.length);
  const [source, target] = [k.buffer("f64", false), k.buffer("f64", true)];
  const made = rule(k, k.load(source, k.row, "f64"));
  k.store(target, k.row, k.convert("f64", made));
  return [...runKernel("cpu", k.finish(), [Float64Array.from(values), new Float64Array(values.length)])[1]];
}

test("min and max let NaN win on either side, as the language says", () => {
  const nan = [Number.NaN, 1, -1];
  assert.deepEqual(
    mapped(nan, (k, x) => k.binary("min", x, k.constant("f64", 0))),
    [Number.NaN, 0, -1],
  );
  assert.deepEqual(
    mapped(nan, (k, x) => k.binary("max", k.constant("f64", 0), x)),
    [Number.NaN, 1, 0],
  );
});

test("floats beyond an integer's range saturate, and NaN becomes 0", () => {
  const values = [1e20, -1e20, Number.NaN, 1.9, -1.9];
  const limits: Record<string, number[]> = {
    i32: [2 ** 31 - 1, -(2 ** 31), 0, 1, -1],
    u32: [2 ** 32 - 1, 0, 0, 1, 0],
  };
  for (const [type, want] of Object.entries(limits)) {
    assert.deepEqual(
      mapped(values, (k, x) => k.convert(type as IRType, x)),
      want,
      type,
    );
  }
});

test("an f64 goes through its two words and back, whatever its bits", () => {
  const values = [0, -0, 1 / 3, -1e-310, 1.7e308, Infinity];
  const got = mapped(values, (k, x) => k.fromWords(k.word("highWord", x), k.word("lowWord", x)));
  assert.ok(
    values.every((value, i) => Object.is(value, got[i])),
    `${got}`,
  );
});

test("unsigned integers are compared, divided and shifted without their sign", () => {
  const values = [2 ** 31, 7, 2 ** 32 - 1];
  const asWord = (k: KernelBuilder, x: Value) => k.convert("u32", x);
  assert.deepEqual(
    mapped(values, (k, x) => k.binary("idiv", asWord(k, x), k.constant("u32", 2))),
    [2 ** 30, 3, 2 ** 31 - 1],
  );
  assert.deepEqual(
    mapped(values, (k, x) => k.binary("shr", asWord(k, x), k.constant("u32", 1))),
    [2 ** 30, 3, 2 ** 31 - 1],
  );
  assert.deepEqual(
    mapped(values, (k, x) => k.binary("max", asWord(k, x), k.constant("u32", 8))),
    [2 ** 31, 8, 2 ** 32 - 1],
  );
});

test("roundEven rounds halves to even numbers", () => {
  assert.deepEqual(
    mapped([0.5, 1.5, 2.5, -0.5, -1.5], (k, x) => k.unary("roundEven", x)),
    [0, 2, 2, -0, -2],
  );
});
