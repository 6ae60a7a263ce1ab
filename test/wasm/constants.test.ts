/** Literals as constants: their bytes, their ranges, and what a module makes of them. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ModuleBuilder } from "../../src/wasm/builder.js";
import { encodeLanes, encodeLiteral } from "../../src/wasm/constants.js";
import type { LaneShape } from "../../src/wasm/types.js";
import { start } from "./running.js";
import { lanesOf } from "./vector-oracle.js";

describe("constants", () => {
  test("come out as they went in, signed or unsigned", () => {
    const m = new ModuleBuilder();
    const integers = [0, 1, -1, 63, 64, -64, -65, 127, 128, 8191, 8192, -8193, 2 ** 31 - 1, -(2 ** 31), 2 ** 32 - 1];
    const wide = [0n, -1n, 63n, 64n, 2n ** 35n, -(2n ** 35n) - 1n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 64n - 1n];
    const floats = [0, -0, 1.1, -1e-45, Infinity, -Infinity, Number.NaN, 5e-324, 2 ** 53 + 2];
    const run = m.function("run", [], [], (f) => {
      for (const [i, x] of integers.entries()) f.i32.store(8 * i, x);
      for (const [i, x] of wide.entries()) f.i64.store(1000 + 8 * i, x);
      for (const [i, x] of floats.entries()) f.f32.store(2000 + 8 * i, x);
      for (const [i, x] of floats.entries()) f.f64.store(3000 + 8 * i, x);
    });
    m.export(run);
    const { view, exports } = start(m);
    exports.run?.();
    for (const [i, x] of integers.entries()) assert.equal(view.getInt32(8 * i, true), x | 0);
    for (const [i, x] of wide.entries()) assert.equal(view.getBigInt64(1000 + 8 * i, true), BigInt.asIntN(64, x));
    for (const [i, x] of floats.entries()) assert.ok(Object.is(view.getFloat32(2000 + 8 * i, true), Math.fround(x)));
    for (const [i, x] of floats.entries()) assert.ok(Object.is(view.getFloat64(3000 + 8 * i, true), x));
  });

  test("vectors are given by lane, or as one literal for all lanes", () => {
    const m = new ModuleBuilder();
    const run = m.function("run", [], [], (f) => {
      f.v128.store(0, f.i8x16.const([...Array(16).keys()]));
      f.v128.store(16, f.i16x8.const(-2));
      f.v128.store(32, f.i32x4.const([1, -1, 2 ** 32 - 1, 7]));
      f.v128.store(48, f.i64x2.const([2n ** 63n, -1]));
      f.v128.store(64, f.f32x4.const(1.5));
      f.v128.store(80, f.f64x2.const([-0, Infinity]));
      f.v128.store(96, f.f32x4.mul(f.f32x4.const([1, 2, 3, 4]), 0.5));
      f.v128.store(112, f.vector(new Uint8Array(16).fill(9)));
    });
    m.export(run);
    const { bytes, exports } = start(m);
    exports.run?.();
    const at = (shape: LaneShape, offset: number) => lanesOf(shape, bytes.slice(offset, offset + 16));
    assert.deepEqual(at("i8x16", 0).map(Number), [...Array(16).keys()]);
    assert.deepEqual(at("i16x8", 16), Array(8).fill(-2n));
    assert.deepEqual(at("i32x4", 32), [1n, -1n, -1n, 7n]);
    assert.deepEqual(at("i64x2", 48), [-(2n ** 63n), -1n]);
    assert.deepEqual(at("f32x4", 64), Array(4).fill(1.5));
    assert.deepEqual(at("f64x2", 80), [-0, Infinity]);
    assert.deepEqual(at("f32x4", 96), [0.5, 1, 1.5, 2]);
    assert.deepEqual(at("i8x16", 112), Array(16).fill(9n));
  });

  test("a literal among a conversion's operands has the lanes it converts from", () => {
    const m = new ModuleBuilder();
    m.export(
      m.function("run", [], [], (f) => {
        f.v128.store(0, f.f32x4.convert_i32x4_s(-3));
      }),
    );
    const { bytes, exports } = start(m);
    exports.run?.();
    assert.deepEqual(lanesOf("f32x4", bytes.slice(0, 16)), Array(4).fill(-3));
  });
});

test("integers are signed or unsigned as long as their bits fit", () => {
  assert.equal(encodeLiteral("i32", 2 ** 32 - 1, "test"), -1);
  assert.equal(encodeLiteral("i32", -(2 ** 31), "test"), -(2 ** 31));
  assert.equal(encodeLiteral("i64", 2n ** 64n - 1n, "test"), -1n);
  assert.equal(encodeLiteral("i32", true, "test"), 1);
  for (const literal of [2 ** 32, -(2 ** 31) - 1, 1.5, Number.NaN]) {
    assert.throws(() => encodeLiteral("i32", literal, "test"), /is not an integer of 32 bits/);
  }
  assert.throws(() => encodeLiteral("i64", 2n ** 64n, "test"), /64 bits/);
  assert.throws(() => encodeLiteral("i64", 2 ** 53, "test"), /write a bigint/);
});

test("floats are numbers, f32 rounded", () => {
  assert.equal(encodeLiteral("f32", 0.1, "test"), Math.fround(0.1));
  assert.equal(encodeLiteral("f64", 0.1, "test"), 0.1);
  for (const literal of [1n, true])
    assert.throws(() => encodeLiteral("f32", literal, "test"), /a float constant is a number/);
});

test("lanes: their number, their ranges, and one NaN", () => {
  assert.deepEqual(
    [...encodeLanes("i16x8", [1, -1, 65535, 256, 0, 0, 0, 2], "test")],
    [1, 0, 255, 255, 255, 255, 0, 1, 0, 0, 0, 0, 0, 0, 2, 0],
  );
  assert.throws(() => encodeLanes("i32x4", [1, 2, 3], "test"), /3 lanes for i32x4, which has 4/);
  assert.throws(() => encodeLanes("i8x16", 256, "test"), /8 bits/);
  assert.deepEqual([...encodeLanes("f32x4", Number.NaN, "test").subarray(0, 4)], [0, 0, 0xc0, 0x7f]);
  assert.deepEqual([...encodeLanes("f64x2", Number.NaN, "test").subarray(0, 8)], [0, 0, 0, 0, 0, 0, 0xf8, 0x7f]);
});
