/** Types: the bytes that stand for them, and lanes that fill sixteen bytes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { LANES, TYPE_CODE } from "../../src/wasm/types.js";

test("types have the codes of the specification", () => {
  // WebAssembly 2.0, 5.3.1 to 5.3.3.
  assert.deepEqual(TYPE_CODE, { i32: 0x7f, i64: 0x7e, f32: 0x7d, f64: 0x7c, v128: 0x7b });
});

test("the name of a shape says its lanes, which fill a vector", () => {
  for (const [shape, { count, bytes, scalar, isFloat }] of Object.entries(LANES)) {
    const [, letter, bits, lanes] = /^([if])(\d+)x(\d+)$/.exec(shape)!;
    assert.deepEqual([count, 8 * bytes, isFloat], [Number(lanes), Number(bits), letter === "f"], shape);
    assert.equal(count * bytes, 16, shape);
    // Integers of less than 32 bits travel as i32.
    assert.equal(scalar, `${letter}${Math.max(32, Number(bits))}`, shape);
  }
});
