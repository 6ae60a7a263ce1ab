/** What is computed four at a time: decided from the kernel alone. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { canTakeTurns, planVectors } from "../../../../src/compiler/emit/wasm/vector-plan.js";
import { KernelBuilder } from "../../../../src/compiler/ir/kernel-builder.js";
import type { DType } from "../../../../src/core/dtype.js";

type Write = (k: KernelBuilder, source: number, target: number) => void;

function plan(write: Write, dtype: DType = "f32") {
  const k = new KernelBuilder("planned", 64);
  write(k, k.buffer(dtype, false), k.buffer(dtype, true));
  const kernel = k.finish();
  const { isRowVector, loops } = planVectors(kernel);
  return isRowVector ? "rows" : loops.size > 0 ? "rounds" : "none";
}

const doubled =
  (type: "f32" | "f64"): Write =>
  (k, source, target) => {
    const x = k.load(source, k.row, type);
    k.store(target, k.row, k.binary("add", x, x));
  };

/** The sum of a row of 16, whose elements are neighbours along the row (or a stride apart). */
const summed =
  (stride: number, start = 0): Write =>
  (k, source, target) => {
    const i = (value: number) => k.constant("i32", value);
    const [sum] = k.loop(16, [k.constant("f32", start)], (at, [total]) => {
      const index = k.binary("add", k.binary("mul", k.row, i(16)), k.binary("mul", at, i(stride)));
      return [k.binary("add", total!, k.load(source, index, "f32"))];
    });
    k.store(target, k.row, sum!);
  };

describe("four rows at once", () => {
  test("where they are neighbours in memory", () => assert.equal(plan(doubled("f32")), "rows"));
  test("also of half floats, which are computed as f32", () => assert.equal(plan(doubled("f32"), "f16"), "rows"));
  test("but not of 64 bits", () => assert.equal(plan(doubled("f64"), "f64"), "none"));
  test("nor where a store is gated", () => {
    const gated: Write = (k, source, target) => {
      const x = k.load(source, k.row, "f32");
      k.store(target, k.row, x, true, k.compare("gt", x, k.constant("f32", 0)));
    };
    assert.equal(plan(gated), "none");
  });
  test("nor where rows store a stride apart", () => {
    const strided: Write = (k, source, target) => {
      k.store(target, k.binary("mul", k.row, k.constant("i32", 2)), k.load(source, k.row, "f32"));
    };
    assert.equal(plan(strided), "none");
  });
});

describe("four rounds at once", () => {
  // -0 changes no sum; 0 would turn a sum of -0 into 0.
  test("of a sum along memory that begins with -0", () => assert.equal(plan(summed(1, -0)), "rounds"));
  test("but not if it begins with another number, which would count four times", () => {
    assert.notEqual(plan(summed(1, 5)), "rounds");
  });
});

test("short bodies without loops take turns, long ones do not", () => {
  const body = (length: number) => {
    const k = new KernelBuilder("body", 8);
    let x = k.convert("f32", k.row);
    for (let i = 0; i < length; i++) x = k.binary("mul", x, k.constant("f32", 1 + 1 / (i + 2)));
    k.store(k.buffer("f32", true), k.row, x);
    return k.finish().body;
  };
  assert.ok(canTakeTurns(body(20)));
  assert.ok(!canTakeTurns(body(200)));
});
