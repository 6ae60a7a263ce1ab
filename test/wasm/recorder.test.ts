/** The lowest layer of a function: what it records, what it shares, and what it refuses. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ModuleBuilder } from "../../src/wasm/builder.js";
import type { FunctionBuilder } from "../../src/wasm/function-builder.js";
import type { Value } from "../../src/wasm/value.js";

/** Looks at a function while it is written; it returns its parameter. */
function within(look: (f: FunctionBuilder, a: Value<"i32">) => void): void {
  new ModuleBuilder().function("run", ["i32"], "i32", (f, a) => {
    look(f, a);
    return a;
  });
}

test("instructions by name and by the parts of a name are the same node's", () => {
  within((f, a) => {
    const one = f.op("i32.lt_u", a, 3);
    const two = f.opOf("i32", "lt", "_u", [a, 3]);
    assert.equal(one.type, "i32");
    assert.equal(one.step, two.step);
    assert.throws(() => f.op("i32.nothing", a), /"i32\.nothing" is not an instruction/);
    assert.throws(
      () => f.op("i32x4.extract_lane", f.i32x4.const(1)),
      /has immediates; call it as a method of f\.i32x4/,
    );
    assert.throws(() => f.opOf("i32", "load", "", [a]), /no instruction without immediates/);
  });
});

test("vector constants of the same bytes are one, -0 and 0 are two", () => {
  within((f) => {
    assert.equal(f.f32x4.const(1.5), f.f32x4.const([1.5, 1.5, 1.5, 1.5]));
    assert.equal(f.f32x4.const(1), f.i32x4.const(0x3f800000));
    assert.notEqual(f.f32x4.const(0), f.f32x4.const(-0));
    assert.equal(f.f32x4.const(0), f.i64x2.const(0n));
    assert.equal(f.f32x4.const(-0), f.f32x4.const(-0));
  });
});

test("operands are counted, typed and in scope", () => {
  within((f, a) => {
    assert.throws(() => f.op("i32.add", a), /i32\.add: takes 2 operands, got 1/);
    assert.throws(() => f.op("i64.add", a, 1n), /i64\.add, operand 1 of 2: expected i64, got i32/);
    assert.throws(() => f.op("v128.not", 3), /has no lanes here/);
    let inside: Value<"i32"> | undefined;
    f.if(a, () => {
      inside = f.i32.add(a, 1);
    });
    assert.throws(() => f.i32.add(inside!, 1), /was made inside a branch or loop that has ended/);
    within((other) => {
      assert.throws(() => other.i32.add(a, 1), /belongs to another function/);
    });
  });
});

test("accesses: offsets of 32 bits, alignments up to the size, and exactly that for atomics", () => {
  within((f, a) => {
    assert.throws(() => f.i32.load(a, { offset: -1 }), /an offset is a whole number/);
    assert.throws(() => f.i32.load(a, { offset: 2 ** 32 }), /an offset/);
    assert.throws(() => f.i32.load(a, { align: 8 }), /a power of two up to 4, got 8/);
    assert.throws(() => f.i32.load(a, { align: 3 }), /a power of two/);
    assert.throws(() => f.i32.atomic.load(a, { align: 2 }), /must be 4, got 2/);
    assert.doesNotThrow(() => f.i32.load(a, { align: 1, offset: 2 ** 32 - 1 }));
  });
});

test("lanes are those the shape has", () => {
  within((f) => {
    const v = f.i32x4.const(1);
    assert.throws(() => f.i32x4.extract_lane(v, 4), /lane 4 of 4/);
    assert.throws(() => f.i32x4.extract_lane(v, -1), /lane -1 of 4/);
    assert.throws(() => f.i8x16.shuffle(v, v, [1, 2]), /names 16 lanes, got 2/);
    assert.throws(() => f.i8x16.shuffle(v, v, [...new Array(15).fill(0), 32]), /lane 32 of 32/);
  });
});

test("nothing is recorded after a trap", () => {
  new ModuleBuilder().function("run", ["i32"], "i32", (f, a) => {
    assert.equal(f.isTerminated, false);
    f.unreachable();
    assert.equal(f.isTerminated, true);
    assert.throws(() => f.i32.add(a, 1), /can never run/);
    return undefined as never;
  });
});
