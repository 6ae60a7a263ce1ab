/** Constants: each value of each type once, by its bits; literals that do not fit are refused. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ModuleBuilder } from "../../../src/spirv/index.js";
import { encodeLiteral } from "../../../src/spirv/module/constants.js";

test("equal constants are one, 0 and -0 are two, and so are 1 as u32 and as i32", () => {
  const m = new ModuleBuilder();
  assert.equal(m.constant(m.f32, 0.1), m.constant(m.f32, 0.1));
  assert.equal(m.constant(m.u64, 5), m.constant(m.u64, 5n));
  assert.notEqual(m.constant(m.u64, 2n ** 32n), m.constant(m.u64, 1));
  assert.notEqual(m.constant(m.f32, 0), m.constant(m.f32, -0));
  assert.notEqual(m.constant(m.u32, 1), m.constant(m.i32, 1));
  assert.equal(m.constant(m.f32, NaN), m.bits(m.f32, 0x7fc00000));
  assert.notEqual(m.bits(m.f32, 0x7fc00001), m.bits(m.f32, 0x7fc00000));
  assert.equal(m.constant(m.vec(m.f32, 2), 3), m.constant(m.vec(m.f32, 2), [3, 3]));
  assert.equal(m.zero(m.f32), m.zero(m.f32));
});

describe("literals as bits", () => {
  const m = new ModuleBuilder();
  test("integers are two's complement, narrow ones sign-extended to a word", () => {
    assert.deepEqual(encodeLiteral(m.i32, -1), [0xffffffff, 0]);
    assert.deepEqual(encodeLiteral(m.i8, -2), [0xfffffffe, 0]);
    assert.deepEqual(encodeLiteral(m.u16, 65535), [65535, 0]);
    assert.deepEqual(encodeLiteral(m.i64, -1), [0xffffffff, 0xffffffff]);
    assert.deepEqual(encodeLiteral(m.u64, 2 ** 40 + 5), [5, 256]);
  });
  test("floats are IEEE 754", () => {
    assert.deepEqual(encodeLiteral(m.f32, 0.1), [0x3dcccccd, 0]);
    assert.deepEqual(encodeLiteral(m.f64, 0.1), [0x9999999a, 0x3fb99999]);
    assert.deepEqual(encodeLiteral(m.f16, 0.1), [0x2e66, 0]);
    assert.deepEqual(encodeLiteral(m.f32, -0), [0x80000000, 0]);
  });
});
